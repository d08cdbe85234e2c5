//! BatchGetItem and BatchWriteItem, which may succeed in part.

use std::collections::{BTreeMap, HashMap};

use aws_sdk_dynamodb::types::{self, DeleteRequest, KeysAndAttributes, PutRequest};
use keyform_core::Error;
use keyform_core::error::remote;
use keyform_core::operation::{
    BatchGetItem, BatchGetItemOutput, BatchGetRequest, BatchWriteItem, BatchWriteItemOutput, WriteRequest,
};

use crate::expressions::Expressions;
use crate::value::attributes_to_sdk;
use crate::{Remote, capacity, failure, value};

impl Remote {
    pub(crate) async fn batch_get_item(&self, batch: BatchGetItem) -> Result<BatchGetItemOutput, Error> {
        let mut tables = HashMap::new();
        for (table, request) in &batch.tables {
            if tables.insert(table.clone(), keys(request)?).is_some() {
                return Err(remote::unsupported("a BatchGetItem that names a table twice"));
            }
        }
        let request = self
            .client
            .batch_get_item()
            .set_request_items(Some(tables))
            .set_return_consumed_capacity(capacity::wanted(batch.return_capacity));
        let output = request.send().await.map_err(failure::service_error)?;
        let responses = output.responses.unwrap_or_default().into_iter();
        Ok(BatchGetItemOutput {
            responses: responses
                .map(|(table, found)| Ok((table, value::items(&found)?)))
                .collect::<Result<_, Error>>()?,
            unprocessed: unread(&batch.tables, output.unprocessed_keys.unwrap_or_default())?,
            capacity: capacity::all_consumed(output.consumed_capacity),
        })
    }

    pub(crate) async fn batch_write_item(&self, batch: BatchWriteItem) -> Result<BatchWriteItemOutput, Error> {
        let mut tables: HashMap<String, Vec<types::WriteRequest>> = HashMap::new();
        for (table, requests) in batch.tables {
            let requests = requests.iter().map(write).collect::<Result<Vec<_>, _>>()?;
            tables.entry(table).or_default().extend(requests);
        }
        let request = self
            .client
            .batch_write_item()
            .set_request_items(Some(tables))
            .set_return_consumed_capacity(capacity::wanted(batch.return_capacity))
            .set_return_item_collection_metrics(capacity::metrics_wanted(batch.return_metrics));
        let output = request.send().await.map_err(failure::write_error)?;
        let undone = output.unprocessed_items.unwrap_or_default().into_iter();
        Ok(BatchWriteItemOutput {
            unprocessed: undone
                .map(|(table, requests)| Ok((table, requests.iter().map(unwritten).collect::<Result<_, _>>()?)))
                .collect::<Result<_, Error>>()?,
            capacity: capacity::all_consumed(output.consumed_capacity),
            metrics: capacity::metrics_by_table(output.item_collection_metrics)?,
        })
    }
}

fn keys(request: &BatchGetRequest) -> Result<KeysAndAttributes, Error> {
    let mut expressions = Expressions::default();
    KeysAndAttributes::builder()
        .set_keys(Some(request.keys.iter().map(attributes_to_sdk).collect()))
        .set_projection_expression(expressions.projection(request.projection.as_ref()))
        .set_expression_attribute_names(expressions.names())
        .consistent_read(request.consistent)
        .build()
        .map_err(failure::incomplete)
}

/// Returns the positions of the unprocessed keys, by table.
fn unread(
    asked: &[(String, BatchGetRequest)],
    mut unprocessed: HashMap<String, KeysAndAttributes>,
) -> Result<BTreeMap<String, Vec<usize>>, Error> {
    let mut places = BTreeMap::new();
    for (table, request) in asked {
        let Some(left) = unprocessed.remove(table) else { continue };
        let left = left.keys.iter().map(value::attributes_from_sdk).collect::<Result<Vec<_>, _>>()?;
        let of_table = request.keys.iter().enumerate().filter(|(_, key)| left.contains(key));
        places.insert(table.clone(), of_table.map(|(place, _)| place).collect());
    }
    Ok(places)
}

fn write(request: &WriteRequest) -> Result<types::WriteRequest, Error> {
    let builder = types::WriteRequest::builder();
    Ok(match request {
        WriteRequest::Put(item) => {
            let put = PutRequest::builder().set_item(Some(attributes_to_sdk(item))).build();
            builder.put_request(put.map_err(failure::incomplete)?).build()
        }
        WriteRequest::Delete(key) => {
            let delete = DeleteRequest::builder().set_key(Some(attributes_to_sdk(key))).build();
            builder.delete_request(delete.map_err(failure::incomplete)?).build()
        }
    })
}

fn unwritten(request: &types::WriteRequest) -> Result<WriteRequest, Error> {
    match (&request.put_request, &request.delete_request) {
        (Some(put), _) => Ok(WriteRequest::Put(value::attributes_from_sdk(&put.item)?)),
        (None, Some(delete)) => Ok(WriteRequest::Delete(value::attributes_from_sdk(&delete.key)?)),
        (None, None) => Err(remote::malformed("an unprocessed write that is neither put nor delete")),
    }
}
