//! Converts the description of a table.

use aws_sdk_dynamodb::primitives::DateTime;
use aws_sdk_dynamodb::types::{
    self, GlobalSecondaryIndexDescription, KeySchemaElement, KeyType, LocalSecondaryIndexDescription,
    ProvisionedThroughputDescription,
};
use keyform_core::Error;
use keyform_core::error::remote;
use keyform_core::table::{
    AttributeDefinitions, BillingMode, GlobalIndex, GlobalIndexDescription, KeySchema, LocalIndex,
    LocalIndexDescription, OnDemandThroughput, Projection, ScalarType, SseDescription, Status, StreamSummary,
    StreamView, TableClass, TableDescription, Throughput, ThroughputDescription, WarmThroughput,
};

/// Converts a table description. Fields that a compatible store leaves out become empty.
pub(crate) fn table(table: types::TableDescription) -> Result<TableDescription, Error> {
    let throughput = throughput_of(table.provisioned_throughput.as_ref());
    Ok(TableDescription {
        stream: stream(&table),
        billing: billing(&table, throughput.units),
        name: table.table_name.unwrap_or_default(),
        id: table.table_id.unwrap_or_default(),
        arn: table.table_arn.unwrap_or_default(),
        status: status(table.table_status.as_ref().map(types::TableStatus::as_str)),
        created_ms: table.creation_date_time.and_then(millis).unwrap_or_default(),
        attributes: definitions(&table.attribute_definitions.unwrap_or_default())?,
        key: key_schema(&table.key_schema.unwrap_or_default()),
        on_demand_since_ms: table
            .billing_mode_summary
            .and_then(|summary| summary.last_update_to_pay_per_request_date_time)
            .and_then(millis),
        throughput,
        on_demand: table.on_demand_throughput.as_ref().map(on_demand),
        warm: table
            .warm_throughput
            .map(|warm| WarmThroughput { read: warm.read_units_per_second, write: warm.write_units_per_second }),
        item_count: unsigned(table.item_count),
        size_bytes: unsigned(table.table_size_bytes),
        global_indexes: table.global_secondary_indexes.unwrap_or_default().into_iter().map(global_index).collect(),
        local_indexes: table.local_secondary_indexes.unwrap_or_default().into_iter().map(local_index).collect(),
        sse: table.sse_description.map(sse),
        class: table.table_class_summary.as_ref().and_then(|summary| summary.table_class.as_ref()).map(class),
        class_since_ms: table.table_class_summary.and_then(|summary| summary.last_update_date_time).and_then(millis),
        deletion_protected: table.deletion_protection_enabled.unwrap_or_default(),
    })
}

fn unsigned(number: Option<i64>) -> u64 {
    number.and_then(|number| u64::try_from(number).ok()).unwrap_or_default()
}

fn millis(time: DateTime) -> Option<u64> {
    time.to_millis().ok().and_then(|millis| u64::try_from(millis).ok())
}

/// Converts the status. Unknown ones become `Updating`, in which a table is not usable.
fn status(name: Option<&str>) -> Status {
    match name {
        Some("ACTIVE") => Status::Active,
        Some("CREATING") => Status::Creating,
        Some("DELETING") => Status::Deleting,
        _ => Status::Updating,
    }
}

fn definitions(all: &[types::AttributeDefinition]) -> Result<AttributeDefinitions, Error> {
    let definition = |definition: &types::AttributeDefinition| {
        let name = definition.attribute_type.as_str();
        let kind =
            ScalarType::from_name(name).ok_or_else(|| remote::malformed(&format!("`{name}` as a key's type")))?;
        Ok((definition.attribute_name.clone(), kind))
    };
    all.iter().map(definition).collect()
}

fn key_schema(elements: &[KeySchemaElement]) -> KeySchema {
    let names = |kind: KeyType| {
        let of_kind = elements.iter().filter(move |element| element.key_type == kind);
        of_kind.map(|element| element.attribute_name.clone()).collect()
    };
    KeySchema { partition: names(KeyType::Hash), sort: names(KeyType::Range) }
}

/// Returns the billing mode. A store that does not report one is provisioned, unless it reports no capacity either.
fn billing(table: &types::TableDescription, units: Throughput) -> BillingMode {
    let described = table.billing_mode_summary.as_ref().and_then(|summary| summary.billing_mode.as_ref());
    match described {
        Some(types::BillingMode::PayPerRequest) => BillingMode::PayPerRequest,
        None if units == Throughput::default() => BillingMode::PayPerRequest,
        _ => BillingMode::Provisioned,
    }
}

fn throughput_of(described: Option<&ProvisionedThroughputDescription>) -> ThroughputDescription {
    let Some(described) = described else { return ThroughputDescription::default() };
    ThroughputDescription {
        units: Throughput {
            read: unsigned(described.read_capacity_units),
            write: unsigned(described.write_capacity_units),
        },
        last_increase_ms: described.last_increase_date_time.and_then(millis),
        last_decrease_ms: described.last_decrease_date_time.and_then(millis),
        decreases_today: unsigned(described.number_of_decreases_today),
    }
}

fn on_demand(limits: &types::OnDemandThroughput) -> OnDemandThroughput {
    OnDemandThroughput { read_max: limits.max_read_request_units, write_max: limits.max_write_request_units }
}

fn projection(projection: Option<types::Projection>) -> Projection {
    let Some(projection) = projection else { return Projection::All };
    match projection.projection_type {
        Some(types::ProjectionType::KeysOnly) => Projection::KeysOnly,
        Some(types::ProjectionType::Include) => Projection::Include(projection.non_key_attributes.unwrap_or_default()),
        _ => Projection::All,
    }
}

fn global_index(index: GlobalSecondaryIndexDescription) -> GlobalIndexDescription {
    let throughput = throughput_of(index.provisioned_throughput.as_ref());
    GlobalIndexDescription {
        index: GlobalIndex {
            name: index.index_name.unwrap_or_default(),
            key: key_schema(&index.key_schema.unwrap_or_default()),
            projection: projection(index.projection),
            throughput: Some(throughput.units).filter(|units| *units != Throughput::default()),
            on_demand: index.on_demand_throughput.as_ref().map(on_demand),
            warm: index
                .warm_throughput
                .map(|warm| WarmThroughput { read: warm.read_units_per_second, write: warm.write_units_per_second }),
        },
        arn: index.index_arn.unwrap_or_default(),
        status: status(index.index_status.as_ref().map(types::IndexStatus::as_str)),
        backfilling: index.backfilling.unwrap_or_default(),
        throughput,
        item_count: unsigned(index.item_count),
        size_bytes: unsigned(index.index_size_bytes),
    }
}

fn local_index(index: LocalSecondaryIndexDescription) -> LocalIndexDescription {
    LocalIndexDescription {
        index: LocalIndex {
            name: index.index_name.unwrap_or_default(),
            key: key_schema(&index.key_schema.unwrap_or_default()),
            projection: projection(index.projection),
        },
        arn: index.index_arn.unwrap_or_default(),
        item_count: unsigned(index.item_count),
        size_bytes: unsigned(index.index_size_bytes),
    }
}

/// Returns the newest stream. The service does not report the view of a disabled one.
fn stream(table: &types::TableDescription) -> Option<StreamSummary> {
    let arn = table.latest_stream_arn.clone()?;
    let setting = table.stream_specification.as_ref();
    let view = setting.and_then(|setting| setting.stream_view_type.as_ref());
    Some(StreamSummary {
        enabled: setting.is_some_and(|setting| setting.stream_enabled),
        view: view.and_then(|view| StreamView::from_name(view.as_str())).unwrap_or(StreamView::KeysOnly),
        label: table.latest_stream_label.clone().unwrap_or_default(),
        arn,
    })
}

fn class(class: &types::TableClass) -> TableClass {
    match class {
        types::TableClass::StandardInfrequentAccess => TableClass::StandardInfrequentAccess,
        _ => TableClass::Standard,
    }
}

fn sse(sse: types::SseDescription) -> SseDescription {
    SseDescription {
        status: sse.status.map(|status| status.as_str().to_owned()).unwrap_or_default(),
        kms_key_arn: sse.kms_master_key_arn.unwrap_or_default(),
    }
}
