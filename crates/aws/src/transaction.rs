//! TransactGetItems and TransactWriteItems.

use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{ConditionCheck, Delete, Get, Put, TransactGetItem, TransactWriteItem, Update};
use keyform_core::Error;
use keyform_core::operation::{
    TransactAction, TransactGet, TransactGetItems, TransactGetItemsOutput, TransactWriteItems, TransactWriteItemsOutput,
};

use crate::expressions::Expressions;
use crate::item::on_failure;
use crate::value::attributes_to_sdk;
use crate::{Remote, capacity, failure, value};

impl Remote {
    pub(crate) async fn transact_get_items(&self, reads: TransactGetItems) -> Result<TransactGetItemsOutput, Error> {
        let gets = reads.gets.iter().map(get).collect::<Result<_, _>>().map_err(failure::incomplete)?;
        let request = self
            .client
            .transact_get_items()
            .set_transact_items(Some(gets))
            .set_return_consumed_capacity(capacity::wanted(reads.return_capacity));
        let output = request.send().await.map_err(failure::service_error)?;
        let responses = output.responses.unwrap_or_default();
        Ok(TransactGetItemsOutput {
            responses: responses
                .iter()
                .map(|response| value::optional_item(response.item.as_ref()))
                .collect::<Result<_, _>>()?,
            capacity: capacity::all_consumed(output.consumed_capacity),
        })
    }

    pub(crate) async fn transact_write_items(
        &self,
        writes: TransactWriteItems,
    ) -> Result<TransactWriteItemsOutput, Error> {
        let actions = writes.actions.iter().map(action).collect::<Result<_, _>>().map_err(failure::incomplete)?;
        let request = self
            .client
            .transact_write_items()
            .set_transact_items(Some(actions))
            .set_client_request_token(writes.token)
            .set_return_consumed_capacity(capacity::wanted(writes.return_capacity))
            .set_return_item_collection_metrics(capacity::metrics_wanted(writes.return_metrics));
        let output = request.send().await.map_err(failure::write_error)?;
        Ok(TransactWriteItemsOutput {
            capacity: capacity::all_consumed(output.consumed_capacity),
            metrics: capacity::metrics_by_table(output.item_collection_metrics)?,
        })
    }
}

fn get(read: &TransactGet) -> Result<TransactGetItem, BuildError> {
    let mut expressions = Expressions::default();
    let get = Get::builder()
        .table_name(&read.table)
        .set_key(Some(attributes_to_sdk(&read.key)))
        .set_projection_expression(expressions.projection(read.projection.as_ref()))
        .set_expression_attribute_names(expressions.names())
        .build()?;
    Ok(TransactGetItem::builder().get(get).build())
}

fn action(action: &TransactAction) -> Result<TransactWriteItem, BuildError> {
    let mut expressions = Expressions::default();
    let builder = TransactWriteItem::builder();
    Ok(match action {
        TransactAction::Put { table, item, condition, return_item_on_failure } => {
            let put = Put::builder()
                .table_name(table)
                .set_item(Some(attributes_to_sdk(item)))
                .set_condition_expression(expressions.condition(condition.as_ref()))
                .set_expression_attribute_names(expressions.names())
                .set_expression_attribute_values(expressions.values())
                .set_return_values_on_condition_check_failure(on_failure(*return_item_on_failure));
            builder.put(put.build()?).build()
        }
        TransactAction::Update { table, key, update, condition, return_item_on_failure } => {
            let update = Update::builder()
                .table_name(table)
                .set_key(Some(attributes_to_sdk(key)))
                .set_update_expression(expressions.update(Some(update)))
                .set_condition_expression(expressions.condition(condition.as_ref()))
                .set_expression_attribute_names(expressions.names())
                .set_expression_attribute_values(expressions.values())
                .set_return_values_on_condition_check_failure(on_failure(*return_item_on_failure));
            builder.update(update.build()?).build()
        }
        TransactAction::Delete { table, key, condition, return_item_on_failure } => {
            let delete = Delete::builder()
                .table_name(table)
                .set_key(Some(attributes_to_sdk(key)))
                .set_condition_expression(expressions.condition(condition.as_ref()))
                .set_expression_attribute_names(expressions.names())
                .set_expression_attribute_values(expressions.values())
                .set_return_values_on_condition_check_failure(on_failure(*return_item_on_failure));
            builder.delete(delete.build()?).build()
        }
        TransactAction::Check { table, key, condition, return_item_on_failure } => {
            let check = ConditionCheck::builder()
                .table_name(table)
                .set_key(Some(attributes_to_sdk(key)))
                .set_condition_expression(expressions.condition(Some(condition)))
                .set_expression_attribute_names(expressions.names())
                .set_expression_attribute_values(expressions.values())
                .set_return_values_on_condition_check_failure(on_failure(*return_item_on_failure));
            builder.condition_check(check.build()?).build()
        }
    })
}
