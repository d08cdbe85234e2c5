//! UpdateTable.

use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::operation::update_table::builders::UpdateTableFluentBuilder;
use aws_sdk_dynamodb::types::{
    self, CreateGlobalSecondaryIndexAction, DeleteGlobalSecondaryIndexAction, GlobalSecondaryIndexUpdate,
    StreamSpecification, UpdateGlobalSecondaryIndexAction,
};
use keyform_core::Error;
use keyform_core::operation::{GlobalIndexChange, StreamChange, UpdateTable};
use keyform_core::table::{GlobalIndex, TableDescription};

use crate::table::{definitions, described, key_schema, on_demand, projection, sse, stream, throughput, warm};
use crate::{Remote, failure};

impl Remote {
    pub(crate) async fn update_table(&self, update: UpdateTable) -> Result<Box<TableDescription>, Error> {
        let request = change(&self.client, update).map_err(failure::incomplete)?;
        let output = request.send().await.map_err(failure::service_error)?;
        described(output.table_description)
    }
}

fn change(client: &aws_sdk_dynamodb::Client, update: UpdateTable) -> Result<UpdateTableFluentBuilder, BuildError> {
    let attributes = definitions(&update.attributes)?;
    let indexes = update.indexes.iter().map(index_change).collect::<Result<Vec<_>, _>>()?;
    Ok(client
        .update_table()
        .table_name(update.table)
        .set_attribute_definitions(Some(attributes).filter(|all| !all.is_empty()))
        .set_billing_mode(update.billing.map(|billing| types::BillingMode::from(billing.name())))
        .set_provisioned_throughput(update.throughput.map(throughput).transpose()?)
        .set_on_demand_throughput(update.on_demand.map(on_demand))
        .set_warm_throughput(update.warm.map(warm))
        .set_global_secondary_index_updates(Some(indexes).filter(|all| !all.is_empty()))
        .set_stream_specification(update.stream.map(stream_change).transpose()?)
        .set_sse_specification(update.sse.map(sse))
        .set_table_class(update.class.map(|class| types::TableClass::from(class.name())))
        .set_deletion_protection_enabled(update.deletion_protected))
}

fn stream_change(change: StreamChange) -> Result<StreamSpecification, BuildError> {
    match change {
        StreamChange::Enable(view) => stream(view),
        StreamChange::Disable => StreamSpecification::builder().stream_enabled(false).build(),
    }
}

fn index_change(change: &GlobalIndexChange) -> Result<GlobalSecondaryIndexUpdate, BuildError> {
    let builder = GlobalSecondaryIndexUpdate::builder();
    Ok(match change {
        GlobalIndexChange::Create(index) => builder.create(creation(index)?),
        GlobalIndexChange::Update { name, throughput: units, on_demand: limits, warm: warmed } => builder.update(
            UpdateGlobalSecondaryIndexAction::builder()
                .index_name(name)
                .set_provisioned_throughput(units.map(throughput).transpose()?)
                .set_on_demand_throughput(limits.map(on_demand))
                .set_warm_throughput(warmed.map(warm))
                .build()?,
        ),
        GlobalIndexChange::Delete { name } => {
            builder.delete(DeleteGlobalSecondaryIndexAction::builder().index_name(name).build()?)
        }
    }
    .build())
}

fn creation(index: &GlobalIndex) -> Result<CreateGlobalSecondaryIndexAction, BuildError> {
    CreateGlobalSecondaryIndexAction::builder()
        .index_name(&index.name)
        .set_key_schema(Some(key_schema(&index.key)?))
        .projection(projection(&index.projection))
        .set_provisioned_throughput(index.throughput.map(throughput).transpose()?)
        .set_on_demand_throughput(index.on_demand.map(on_demand))
        .set_warm_throughput(index.warm.map(warm))
        .build()
}
