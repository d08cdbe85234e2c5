//! Dispatches each operation to the function that sends it.

use keyform_core::error::remote;
use keyform_core::execute::BoxFuture;
use keyform_core::{Error, Execute, Operation, Output};

use crate::Remote;

impl Execute for Remote {
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>> {
        Box::pin(self.send(operation))
    }
}

impl Remote {
    async fn send(&self, operation: Operation) -> Result<Output, Error> {
        match operation {
            Operation::GetItem(get) => self.get_item(get).await,
            Operation::PutItem(put) => self.put_item(put).await,
            Operation::UpdateItem(update) => self.update_item(update).await,
            Operation::DeleteItem(delete) => self.delete_item(delete).await,
            Operation::Query(query) => self.query(query).await,
            Operation::Scan(scan) => self.scan(scan).await,
            Operation::BatchGetItem(batch) => self.batch_get_item(batch).await,
            Operation::BatchWriteItem(batch) => self.batch_write_item(batch).await,
            Operation::TransactGetItems(reads) => self.transact_get_items(reads).await,
            Operation::TransactWriteItems(writes) => self.transact_write_items(writes).await,
            table => self.send_table(table).await,
        }
    }

    async fn send_table(&self, operation: Operation) -> Result<Output, Error> {
        match operation {
            Operation::CreateTable(create) => self.create_table(create).await,
            Operation::UpdateTable(update) => self.update_table(update).await,
            Operation::DescribeTable { table } => self.describe_table(table).await,
            Operation::DeleteTable { table } => self.delete_table(table).await,
            Operation::ListTables(list) => self.list_tables(list).await,
            Operation::UpdateTimeToLive(update) => self.update_time_to_live(update).await,
            Operation::DescribeTimeToLive { table } => self.describe_time_to_live(table).await,
            Operation::DescribeContinuousBackups { table } => self.describe_continuous_backups(table).await,
            Operation::UpdateContinuousBackups(update) => self.update_continuous_backups(update).await,
            Operation::TagResource(tags) => self.tag_resource(tags).await,
            Operation::UntagResource(tags) => self.untag_resource(tags).await,
            Operation::ListTagsOfResource(list) => self.list_tags_of_resource(list).await,
            stream => self.send_stream(stream).await,
        }
    }

    async fn send_stream(&self, operation: Operation) -> Result<Output, Error> {
        match operation {
            Operation::ListStreams(list) => self.list_streams(list).await,
            Operation::DescribeStream(describe) => self.describe_stream(describe).await,
            Operation::GetShardIterator(get) => self.get_shard_iterator(get).await,
            Operation::GetRecords(get) => self.get_records(get).await,
            other => Err(remote::unsupported(name(&other))),
        }
    }
}

/// Returns the service's name of an operation that is not supported.
fn name(operation: &Operation) -> &'static str {
    match operation {
        Operation::DescribeLimits => "DescribeLimits",
        Operation::ExecuteStatement(_) => "ExecuteStatement",
        Operation::BatchExecuteStatement(_) => "BatchExecuteStatement",
        Operation::ExecuteTransaction(_) => "ExecuteTransaction",
        _ => "the operation",
    }
}
