//! Requests that create, describe, list and delete tables, and TTL.

use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{
    self, AttributeDefinition, GlobalSecondaryIndex, KeySchemaElement, KeyType, LocalSecondaryIndex,
    ProvisionedThroughput, ScalarAttributeType, StreamSpecification, StreamViewType, TimeToLiveSpecification,
};
use keyform_core::Error;
use keyform_core::error::remote;
use keyform_core::operation::{
    CreateTable, DeleteTable, DescribeTable, DescribeTimeToLive, ListTables, ListTablesOutput, TimeToLive,
    TimeToLiveStatus, UpdateTimeToLive,
};
use keyform_core::table::{
    AttributeDefinitions, GlobalIndex, KeySchema, LocalIndex, OnDemandThroughput, Projection, ScalarType,
    SseSpecification, StreamView, TableDescription, Tag, Throughput, WarmThroughput,
};

use crate::{Remote, description, failure};

impl Remote {
    pub(crate) async fn create_table(&self, create: CreateTable) -> Result<Box<TableDescription>, Error> {
        let request = creation(&self.client, create).map_err(failure::incomplete)?;
        let output = request.send().await.map_err(failure::service_error)?;
        described(output.table_description)
    }

    pub(crate) async fn describe_table(&self, describe: DescribeTable) -> Result<Box<TableDescription>, Error> {
        let output =
            self.client.describe_table().table_name(describe.table).send().await.map_err(failure::service_error)?;
        described(output.table)
    }

    pub(crate) async fn delete_table(&self, delete: DeleteTable) -> Result<Box<TableDescription>, Error> {
        let output =
            self.client.delete_table().table_name(delete.table).send().await.map_err(failure::service_error)?;
        described(output.table_description)
    }

    pub(crate) async fn list_tables(&self, list: ListTables) -> Result<ListTablesOutput, Error> {
        let request = self
            .client
            .list_tables()
            .set_exclusive_start_table_name(list.start)
            .set_limit(list.limit.map(|limit| i32::try_from(limit).unwrap_or(i32::MAX)));
        let output = request.send().await.map_err(failure::service_error)?;
        Ok(ListTablesOutput { tables: output.table_names.unwrap_or_default(), last: output.last_evaluated_table_name })
    }

    pub(crate) async fn update_time_to_live(&self, update: UpdateTimeToLive) -> Result<TimeToLive, Error> {
        let setting = TimeToLiveSpecification::builder()
            .attribute_name(update.setting.attribute)
            .enabled(update.setting.enabled)
            .build()
            .map_err(failure::incomplete)?;
        let request = self.client.update_time_to_live().table_name(update.table).time_to_live_specification(setting);
        let output = request.send().await.map_err(failure::service_error)?;
        let setting = output.time_to_live_specification.ok_or_else(|| remote::malformed("no time to live"))?;
        Ok(TimeToLive { attribute: setting.attribute_name, enabled: setting.enabled })
    }

    pub(crate) async fn describe_time_to_live(&self, describe: DescribeTimeToLive) -> Result<TimeToLiveStatus, Error> {
        let request = self.client.describe_time_to_live().table_name(describe.table);
        let setting = request.send().await.map_err(failure::service_error)?.time_to_live_description;
        Ok(TimeToLiveStatus { attribute: setting.filter(is_on).and_then(|setting| setting.attribute_name) })
    }
}

/// Treats TTL that is being disabled as disabled.
fn is_on(setting: &types::TimeToLiveDescription) -> bool {
    use types::TimeToLiveStatus::{Disabled, Disabling};
    !matches!(setting.time_to_live_status, Some(Disabled | Disabling))
}

pub(crate) fn described(table: Option<types::TableDescription>) -> Result<Box<TableDescription>, Error> {
    let table = table.ok_or_else(|| remote::malformed("no description of the table"))?;
    Ok(Box::new(description::table(table)?))
}

type Creation = aws_sdk_dynamodb::operation::create_table::builders::CreateTableFluentBuilder;

fn creation(client: &aws_sdk_dynamodb::Client, create: CreateTable) -> Result<Creation, BuildError> {
    let global = create.global_indexes.iter().map(global_index).collect::<Result<Vec<_>, _>>()?;
    let local = create.local_indexes.iter().map(local_index).collect::<Result<Vec<_>, _>>()?;
    let tags = create.tags.iter().map(tag).collect::<Result<Vec<_>, _>>()?;
    Ok(client
        .create_table()
        .table_name(create.table)
        .set_attribute_definitions(Some(definitions(&create.attributes)?))
        .set_key_schema(Some(key_schema(&create.key)?))
        .set_global_secondary_indexes(Some(global).filter(|all| !all.is_empty()))
        .set_local_secondary_indexes(Some(local).filter(|all| !all.is_empty()))
        .billing_mode(types::BillingMode::from(create.billing.name()))
        .set_provisioned_throughput(create.throughput.map(throughput).transpose()?)
        .set_on_demand_throughput(create.on_demand.map(on_demand))
        .set_warm_throughput(create.warm.map(warm))
        .set_stream_specification(create.stream.map(stream).transpose()?)
        .set_sse_specification(create.sse.map(sse))
        .set_table_class(create.class.map(|class| types::TableClass::from(class.name())))
        .set_deletion_protection_enabled(create.deletion_protected.then_some(true))
        .set_tags(Some(tags).filter(|all| !all.is_empty())))
}

pub(crate) fn definitions(attributes: &AttributeDefinitions) -> Result<Vec<AttributeDefinition>, BuildError> {
    let definition = |(name, kind): (&String, &ScalarType)| {
        let kind = ScalarAttributeType::from(kind.name());
        AttributeDefinition::builder().attribute_name(name).attribute_type(kind).build()
    };
    attributes.iter().map(definition).collect()
}

pub(crate) fn key_schema(key: &KeySchema) -> Result<Vec<KeySchemaElement>, BuildError> {
    let partition = key.partition.iter().map(|name| (name, KeyType::Hash));
    let sort = key.sort.iter().map(|name| (name, KeyType::Range));
    let element =
        |(name, kind): (&String, KeyType)| KeySchemaElement::builder().attribute_name(name).key_type(kind).build();
    partition.chain(sort).map(element).collect()
}

pub(crate) fn projection(projection: &Projection) -> types::Projection {
    let builder = types::Projection::builder();
    match projection {
        Projection::All => builder.projection_type(types::ProjectionType::All),
        Projection::KeysOnly => builder.projection_type(types::ProjectionType::KeysOnly),
        Projection::Include(names) => {
            builder.projection_type(types::ProjectionType::Include).set_non_key_attributes(Some(names.clone()))
        }
    }
    .build()
}

fn global_index(index: &GlobalIndex) -> Result<GlobalSecondaryIndex, BuildError> {
    GlobalSecondaryIndex::builder()
        .index_name(&index.name)
        .set_key_schema(Some(key_schema(&index.key)?))
        .projection(projection(&index.projection))
        .set_provisioned_throughput(index.throughput.map(throughput).transpose()?)
        .set_on_demand_throughput(index.on_demand.map(on_demand))
        .set_warm_throughput(index.warm.map(warm))
        .build()
}

fn local_index(index: &LocalIndex) -> Result<LocalSecondaryIndex, BuildError> {
    LocalSecondaryIndex::builder()
        .index_name(&index.name)
        .set_key_schema(Some(key_schema(&index.key)?))
        .projection(projection(&index.projection))
        .build()
}

pub(crate) fn throughput(throughput: Throughput) -> Result<ProvisionedThroughput, BuildError> {
    let units = |units: u64| i64::try_from(units).unwrap_or(i64::MAX);
    ProvisionedThroughput::builder()
        .read_capacity_units(units(throughput.read))
        .write_capacity_units(units(throughput.write))
        .build()
}

pub(crate) fn on_demand(limits: OnDemandThroughput) -> types::OnDemandThroughput {
    types::OnDemandThroughput::builder()
        .set_max_read_request_units(limits.read_max)
        .set_max_write_request_units(limits.write_max)
        .build()
}

pub(crate) fn warm(warm: WarmThroughput) -> types::WarmThroughput {
    types::WarmThroughput::builder().set_read_units_per_second(warm.read).set_write_units_per_second(warm.write).build()
}

pub(crate) fn stream(view: StreamView) -> Result<StreamSpecification, BuildError> {
    StreamSpecification::builder().stream_enabled(true).stream_view_type(StreamViewType::from(view.name())).build()
}

pub(crate) fn sse(sse: SseSpecification) -> types::SseSpecification {
    types::SseSpecification::builder().enabled(sse.enabled).set_kms_master_key_id(sse.kms_key).build()
}

pub(crate) fn tag(tag: &Tag) -> Result<types::Tag, BuildError> {
    types::Tag::builder().key(&tag.key).value(&tag.value).build()
}
