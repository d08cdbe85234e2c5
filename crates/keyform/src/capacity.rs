//! Capacity that a request consumed.

pub use keyform_core::capacity::{CapacityDetail, ConsumedCapacity, ReturnConsumedCapacity};
