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
        let name = operation.name();
        Ok(match operation {
            Operation::GetItem(request) => Output::GetItem(self.get_item(request).await?),
            Operation::PutItem(request) => Output::PutItem(self.put_item(request).await?),
            Operation::Query(request) => Output::Query(self.query(request).await?),
            Operation::UpdateItem(request) => Output::UpdateItem(self.update_item(request).await?),
            Operation::DeleteItem(request) => Output::DeleteItem(self.delete_item(request).await?),
            Operation::BatchGetItem(request) => Output::BatchGetItem(self.batch_get_item(request).await?),
            Operation::BatchWriteItem(request) => Output::BatchWriteItem(self.batch_write_item(request).await?),
            Operation::TransactWriteItems(request) => {
                Output::TransactWriteItems(self.transact_write_items(request).await?)
            }
            Operation::TransactGetItems(request) => Output::TransactGetItems(self.transact_get_items(request).await?),
            Operation::Scan(request) => Output::Scan(self.scan(request).await?),
            Operation::GetRecords(request) => Output::GetRecords(self.get_records(request).await?),
            Operation::GetShardIterator(request) => Output::GetShardIterator(self.get_shard_iterator(request).await?),
            Operation::DescribeStream(request) => Output::DescribeStream(self.describe_stream(request).await?),
            Operation::ListStreams(request) => Output::ListStreams(self.list_streams(request).await?),
            Operation::DescribeTable(request) => Output::DescribeTable(self.describe_table(request).await?),
            Operation::ListTables(request) => Output::ListTables(self.list_tables(request).await?),
            Operation::CreateTable(request) => Output::CreateTable(self.create_table(request).await?),
            Operation::UpdateTable(request) => Output::UpdateTable(self.update_table(request).await?),
            Operation::DeleteTable(request) => Output::DeleteTable(self.delete_table(request).await?),
            Operation::UpdateTimeToLive(request) => Output::UpdateTimeToLive(self.update_time_to_live(request).await?),
            Operation::DescribeTimeToLive(request) => {
                Output::DescribeTimeToLive(self.describe_time_to_live(request).await?)
            }
            Operation::DescribeContinuousBackups(request) => {
                Output::DescribeContinuousBackups(self.describe_continuous_backups(request).await?)
            }
            Operation::UpdateContinuousBackups(request) => {
                Output::UpdateContinuousBackups(self.update_continuous_backups(request).await?)
            }
            Operation::TagResource(request) => Output::TagResource(self.tag_resource(request).await?),
            Operation::UntagResource(request) => Output::UntagResource(self.untag_resource(request).await?),
            Operation::ListTagsOfResource(request) => {
                Output::ListTagsOfResource(self.list_tags_of_resource(request).await?)
            }
            Operation::ExecuteStatement(_)
            | Operation::BatchExecuteStatement(_)
            | Operation::ExecuteTransaction(_)
            | Operation::DescribeLimits(_) => return Err(remote::unsupported(name)),
        })
    }
}
