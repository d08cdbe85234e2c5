//! GetItem, PutItem, UpdateItem and DeleteItem.

use aws_sdk_dynamodb::types::{self, ReturnValue, ReturnValuesOnConditionCheckFailure};
use keyform_core::Error;
use keyform_core::operation::{DeleteItem, GetItem, GetItemOutput, PutItem, ReturnValues, UpdateItem, WriteItemOutput};

use crate::expressions::Expressions;
use crate::value::{SdkAttributes, attributes_to_sdk};
use crate::{Remote, capacity, failure, resend, value};

impl Remote {
    pub(crate) async fn get_item(&self, get: GetItem) -> Result<GetItemOutput, Error> {
        let mut expressions = Expressions::default();
        let request = self
            .client
            .get_item()
            .table_name(get.table)
            .set_key(Some(attributes_to_sdk(&get.key)))
            .set_projection_expression(expressions.projection(get.projection.as_ref()))
            .set_expression_attribute_names(expressions.names())
            .consistent_read(get.consistent)
            .set_return_consumed_capacity(capacity::wanted(get.return_capacity));
        let output = request.send().await.map_err(failure::service_error)?;
        Ok(GetItemOutput {
            item: value::optional_item(output.item.as_ref())?,
            capacity: output.consumed_capacity.map(capacity::consumed),
        })
    }

    pub(crate) async fn put_item(&self, put: PutItem) -> Result<WriteItemOutput, Error> {
        let again = resend::may_put_again(&put);
        let mut expressions = Expressions::default();
        let request = self
            .client
            .put_item()
            .table_name(put.table)
            .set_item(Some(attributes_to_sdk(&put.item)))
            .set_condition_expression(expressions.condition(put.options.condition.as_ref()))
            .set_expression_attribute_names(expressions.names())
            .set_expression_attribute_values(expressions.values())
            .set_return_values(return_values(put.options.return_values))
            .set_return_values_on_condition_check_failure(on_failure(put.options.return_item_on_failure))
            .set_return_consumed_capacity(capacity::wanted(put.options.return_capacity))
            .set_return_item_collection_metrics(capacity::metrics_wanted(put.options.return_metrics));
        let request = request.customize();
        let request = if again { request } else { request.config_override(resend::only_if_not_applied()) };
        let output = request.send().await.map_err(failure::write_error)?;
        written(output.attributes, output.consumed_capacity, output.item_collection_metrics)
    }

    pub(crate) async fn delete_item(&self, delete: DeleteItem) -> Result<WriteItemOutput, Error> {
        let again = resend::may_delete_again(&delete);
        let mut expressions = Expressions::default();
        let request = self
            .client
            .delete_item()
            .table_name(delete.table)
            .set_key(Some(attributes_to_sdk(&delete.key)))
            .set_condition_expression(expressions.condition(delete.options.condition.as_ref()))
            .set_expression_attribute_names(expressions.names())
            .set_expression_attribute_values(expressions.values())
            .set_return_values(return_values(delete.options.return_values))
            .set_return_values_on_condition_check_failure(on_failure(delete.options.return_item_on_failure))
            .set_return_consumed_capacity(capacity::wanted(delete.options.return_capacity))
            .set_return_item_collection_metrics(capacity::metrics_wanted(delete.options.return_metrics));
        let request = request.customize();
        let request = if again { request } else { request.config_override(resend::only_if_not_applied()) };
        let output = request.send().await.map_err(failure::write_error)?;
        written(output.attributes, output.consumed_capacity, output.item_collection_metrics)
    }

    pub(crate) async fn update_item(&self, update: UpdateItem) -> Result<WriteItemOutput, Error> {
        let again = resend::may_update_again(&update);
        let mut expressions = Expressions::default();
        let request = self
            .client
            .update_item()
            .table_name(update.table)
            .set_key(Some(attributes_to_sdk(&update.key)))
            .set_update_expression(expressions.update(update.update.as_ref()))
            .set_condition_expression(expressions.condition(update.options.condition.as_ref()))
            .set_expression_attribute_names(expressions.names())
            .set_expression_attribute_values(expressions.values())
            .set_return_values(return_values(update.options.return_values))
            .set_return_values_on_condition_check_failure(on_failure(update.options.return_item_on_failure))
            .set_return_consumed_capacity(capacity::wanted(update.options.return_capacity))
            .set_return_item_collection_metrics(capacity::metrics_wanted(update.options.return_metrics));
        let request = request.customize();
        let request = if again { request } else { request.config_override(resend::only_if_not_applied()) };
        let output = request.send().await.map_err(failure::write_error)?;
        written(output.attributes, output.consumed_capacity, output.item_collection_metrics)
    }
}

/// Requests the current item with a failed condition.
pub(crate) fn on_failure(wanted: bool) -> Option<ReturnValuesOnConditionCheckFailure> {
    wanted.then_some(ReturnValuesOnConditionCheckFailure::AllOld)
}

fn return_values(wanted: ReturnValues) -> Option<ReturnValue> {
    match wanted {
        ReturnValues::None => None,
        ReturnValues::AllOld => Some(ReturnValue::AllOld),
        ReturnValues::UpdatedOld => Some(ReturnValue::UpdatedOld),
        ReturnValues::AllNew => Some(ReturnValue::AllNew),
        ReturnValues::UpdatedNew => Some(ReturnValue::UpdatedNew),
    }
}

fn written(
    attributes: Option<SdkAttributes>,
    consumed: Option<types::ConsumedCapacity>,
    metrics: Option<types::ItemCollectionMetrics>,
) -> Result<WriteItemOutput, Error> {
    Ok(WriteItemOutput {
        attributes: value::optional_item(attributes.as_ref())?,
        capacity: consumed.map(capacity::consumed),
        metrics: metrics.as_ref().map(capacity::metrics).transpose()?,
    })
}
