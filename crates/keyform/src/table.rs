//! Keys, indexes, settings and descriptions of tables.

pub use keyform_core::table::{
    AttributeDefinitions, BillingMode, GlobalIndex, GlobalIndexDescription, KeySchema, LocalIndex,
    LocalIndexDescription, OnDemandThroughput, Projection, ScalarType, SseDescription, SseSpecification, Status,
    StreamSummary, StreamView, TableClass, TableDescription, Tag, Throughput, ThroughputDescription, WarmThroughput,
};
