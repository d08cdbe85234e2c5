//! Responses of the table operations.

use keyform_core::operation::ListTablesOutput;
use keyform_core::table::{
    BillingMode, GlobalIndexDescription, KeySchema, LocalIndexDescription, OnDemandThroughput, Projection, Status,
    TableDescription, ThroughputDescription, WarmThroughput,
};

use crate::json::Writer;

/// Writes the response of CreateTable, DescribeTable, UpdateTable and DeleteTable, which name the member differently.
pub(super) fn table(out: &mut Writer<'_>, member: &str, description: &TableDescription) {
    out.object_member(member, |out| {
        identity(out, description);
        structure(out, description);
        cost(out, description);
        features(out, description);
    });
}

/// Writes the ListTables response.
pub(super) fn list(out: &mut Writer<'_>, output: &ListTablesOutput) {
    out.name("TableNames");
    out.array(&output.tables, |out, table| out.string(table));
    if let Some(last) = &output.last {
        out.string_member("LastEvaluatedTableName", last);
    }
}

/// Writes the KeySchema member.
pub(super) fn key_schema(out: &mut Writer<'_>, key: &KeySchema) {
    let partition = key.partition.iter().map(|name| (name, "HASH"));
    let sort = key.sort.iter().map(|name| (name, "RANGE"));
    out.name("KeySchema");
    out.array(partition.chain(sort), |out, (name, kind)| {
        out.object(|out| {
            out.string_member("AttributeName", name);
            out.string_member("KeyType", kind);
        });
    });
}

fn identity(out: &mut Writer<'_>, description: &TableDescription) {
    out.string_member("TableName", &description.name);
    out.string_member("TableId", &description.id);
    out.string_member("TableArn", &description.arn);
    out.string_member("TableStatus", description.status.name());
    out.moment_member("CreationDateTime", description.created_ms);
    out.whole_member("ItemCount", description.item_count);
    out.whole_member("TableSizeBytes", description.size_bytes);
}

fn structure(out: &mut Writer<'_>, description: &TableDescription) {
    out.name("AttributeDefinitions");
    out.array(&description.attributes, |out, (name, kind)| {
        out.object(|out| {
            out.string_member("AttributeName", name);
            out.string_member("AttributeType", kind.name());
        });
    });
    key_schema(out, &description.key);
    if !description.global_indexes.is_empty() {
        out.name("GlobalSecondaryIndexes");
        out.array(&description.global_indexes, |out, index| out.object(|out| global_index(out, index)));
    }
    if !description.local_indexes.is_empty() {
        out.name("LocalSecondaryIndexes");
        out.array(&description.local_indexes, |out, index| out.object(|out| local_index(out, index)));
    }
}

fn cost(out: &mut Writer<'_>, description: &TableDescription) {
    throughput(out, &description.throughput);
    if description.billing == BillingMode::PayPerRequest || description.on_demand_since_ms.is_some() {
        out.object_member("BillingModeSummary", |out| {
            out.string_member("BillingMode", description.billing.name());
            if let Some(since) = description.on_demand_since_ms {
                out.moment_member("LastUpdateToPayPerRequestDateTime", since);
            }
        });
    }
    on_demand(out, description.on_demand.as_ref());
    warm(out, description.warm.as_ref(), description.status);
    if let Some(class) = description.class {
        out.object_member("TableClassSummary", |out| {
            out.string_member("TableClass", class.name());
            if let Some(since) = description.class_since_ms {
                out.moment_member("LastUpdateDateTime", since);
            }
        });
    }
}

fn features(out: &mut Writer<'_>, description: &TableDescription) {
    if let Some(stream) = &description.stream {
        if stream.enabled {
            out.object_member("StreamSpecification", |out| {
                out.boolean_member("StreamEnabled", true);
                out.string_member("StreamViewType", stream.view.name());
            });
        }
        out.string_member("LatestStreamLabel", &stream.label);
        out.string_member("LatestStreamArn", &stream.arn);
    }
    if let Some(sse) = &description.sse {
        out.object_member("SSEDescription", |out| {
            out.string_member("Status", &sse.status);
            out.string_member("SSEType", "KMS");
            out.string_member("KMSMasterKeyArn", &sse.kms_key_arn);
        });
    }
    out.boolean_member("DeletionProtectionEnabled", description.deletion_protected);
}

fn global_index(out: &mut Writer<'_>, description: &GlobalIndexDescription) {
    out.string_member("IndexName", &description.index.name);
    key_schema(out, &description.index.key);
    projection(out, &description.index.projection);
    out.string_member("IndexStatus", description.status.name());
    if description.backfilling {
        out.boolean_member("Backfilling", true);
    }
    throughput(out, &description.throughput);
    on_demand(out, description.index.on_demand.as_ref());
    warm(out, description.index.warm.as_ref(), description.status);
    index_size(out, description.size_bytes, description.item_count, &description.arn);
}

fn local_index(out: &mut Writer<'_>, description: &LocalIndexDescription) {
    out.string_member("IndexName", &description.index.name);
    key_schema(out, &description.index.key);
    projection(out, &description.index.projection);
    index_size(out, description.size_bytes, description.item_count, &description.arn);
}

fn index_size(out: &mut Writer<'_>, size_bytes: u64, item_count: u64, arn: &str) {
    out.whole_member("IndexSizeBytes", size_bytes);
    out.whole_member("ItemCount", item_count);
    out.string_member("IndexArn", arn);
}

fn projection(out: &mut Writer<'_>, projection: &Projection) {
    out.object_member("Projection", |out| match projection {
        Projection::All => out.string_member("ProjectionType", "ALL"),
        Projection::KeysOnly => out.string_member("ProjectionType", "KEYS_ONLY"),
        Projection::Include(attributes) => {
            out.string_member("ProjectionType", "INCLUDE");
            out.name("NonKeyAttributes");
            out.array(attributes, |out, attribute| out.string(attribute));
        }
    });
}

fn throughput(out: &mut Writer<'_>, throughput: &ThroughputDescription) {
    out.object_member("ProvisionedThroughput", |out| {
        if let Some(since) = throughput.last_increase_ms {
            out.moment_member("LastIncreaseDateTime", since);
        }
        if let Some(since) = throughput.last_decrease_ms {
            out.moment_member("LastDecreaseDateTime", since);
        }
        out.whole_member("NumberOfDecreasesToday", throughput.decreases_today);
        out.whole_member("ReadCapacityUnits", throughput.units.read);
        out.whole_member("WriteCapacityUnits", throughput.units.write);
    });
}

fn on_demand(out: &mut Writer<'_>, limits: Option<&OnDemandThroughput>) {
    if let Some(limits) = limits {
        out.object_member("OnDemandThroughput", |out| {
            out.signed_member("MaxReadRequestUnits", limits.read_max.unwrap_or(-1));
            out.signed_member("MaxWriteRequestUnits", limits.write_max.unwrap_or(-1));
        });
    }
}

fn warm(out: &mut Writer<'_>, warm: Option<&WarmThroughput>, status: Status) {
    if let Some(warm) = warm {
        out.object_member("WarmThroughput", |out| {
            for (member, units) in [("ReadUnitsPerSecond", warm.read), ("WriteUnitsPerSecond", warm.write)] {
                if let Some(units) = units {
                    out.signed_member(member, units);
                }
            }
            out.string_member("Status", status.name());
        });
    }
}
