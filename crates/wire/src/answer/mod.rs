//! Encodes outputs and errors as JSON, one file per family of operations.

mod batch;
mod capacity;
mod error;
mod item;
mod page;
mod resource;
mod statement;
mod stream;
mod table;
mod transaction;

use keyform_core::Output;

use crate::Echo;
use crate::json::Writer;
pub use error::encode_error;

/// Appends the JSON body of a response. `echo` is that of the decoded request.
pub fn encode(echo: &Echo, output: &Output, out: &mut Vec<u8>) {
    let mut writer = Writer::new(out);
    writer.object(|out| write(out, echo, output));
}

fn write(out: &mut Writer<'_>, echo: &Echo, output: &Output) {
    match output {
        Output::PutItem(output) | Output::UpdateItem(output) | Output::DeleteItem(output) => {
            item::write(out, echo, output)
        }
        Output::GetItem(output) => item::get(out, echo, output),
        Output::Query(output) | Output::Scan(output) => page::page(out, echo, output),
        Output::BatchGetItem(output) => batch::get(out, echo, output),
        Output::BatchWriteItem(output) => batch::write(out, echo, output),
        Output::TransactGetItems(output) => transaction::get(out, echo, output),
        Output::TransactWriteItems(output) => transaction::write(out, echo, output),
        Output::ExecuteStatement(output) => statement::execute(out, echo, output),
        Output::BatchExecuteStatement(output) => statement::batch(out, echo, output),
        Output::ExecuteTransaction(output) => statement::transaction(out, echo, output),
        Output::CreateTable(description) | Output::UpdateTable(description) | Output::DeleteTable(description) => {
            table::table(out, "TableDescription", description);
        }
        Output::DescribeTable(description) => table::table(out, "Table", description),
        Output::ListTables(output) => table::list(out, output),
        Output::UpdateTimeToLive(setting) => resource::update_time_to_live(out, setting),
        Output::DescribeTimeToLive(status) => resource::describe_time_to_live(out, status),
        Output::DescribeContinuousBackups(backups) | Output::UpdateContinuousBackups(backups) => {
            resource::describe_backups(out, *backups);
        }
        Output::DescribeLimits(output) => resource::describe_limits(out, output),
        Output::TagResource(()) | Output::UntagResource(()) => {}
        Output::ListTagsOfResource(output) => resource::list_tags(out, output),
        Output::ListStreams(output) => stream::list(out, output),
        Output::DescribeStream(description) => stream::describe(out, description),
        Output::GetShardIterator(iterator) => out.string_member("ShardIterator", iterator),
        Output::GetRecords(output) => stream::records(out, output),
    }
}
