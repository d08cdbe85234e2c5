//! Store view in which every table name gets a prefix that users of the view do not see.

use std::collections::BTreeMap;
use std::sync::Arc;

use keyform_core::execute::BoxFuture;
use keyform_core::operation::TransactAction;
use keyform_core::{Error, Execute, Operation, Output};

/// Store view that adds a prefix to all table names.
pub(super) struct Beside {
    pub(super) store: Arc<dyn Execute>,
    pub(super) prefix: String,
}

impl Beside {
    /// Returns the name of a table in the underlying store.
    pub(super) fn name(&self, table: &str) -> String {
        format!("{}{table}", self.prefix)
    }

    fn put(&self, table: &mut String) {
        table.insert_str(0, &self.prefix);
    }

    fn strip(&self, table: &mut String) {
        if let Some(rest) = table.strip_prefix(&self.prefix) {
            *table = rest.to_owned();
        }
    }

    fn stripped<V>(&self, tables: BTreeMap<String, V>) -> BTreeMap<String, V> {
        let named = |(mut table, value): (String, V)| {
            self.strip(&mut table);
            (table, value)
        };
        tables.into_iter().map(named).collect()
    }

    /// Adds the prefix to a request. Lists, tags, PartiQL and streams name tables in other ways, and no migration uses
    /// them.
    fn beside(&self, mut operation: Operation) -> Result<Operation, Error> {
        match &mut operation {
            Operation::CreateTable(request) => self.put(&mut request.table),
            Operation::UpdateTable(request) => self.put(&mut request.table),
            Operation::UpdateTimeToLive(request) => self.put(&mut request.table),
            Operation::UpdateContinuousBackups(request) => self.put(&mut request.table),
            Operation::DescribeTable { table }
            | Operation::DeleteTable { table }
            | Operation::DescribeTimeToLive { table }
            | Operation::DescribeContinuousBackups { table } => self.put(table),
            Operation::PutItem(request) => self.put(&mut request.table),
            Operation::GetItem(request) => self.put(&mut request.table),
            Operation::UpdateItem(request) => self.put(&mut request.table),
            Operation::DeleteItem(request) => self.put(&mut request.table),
            Operation::Query(request) => self.put(&mut request.table),
            Operation::Scan(request) => self.put(&mut request.table),
            Operation::BatchGetItem(request) => request.tables.iter_mut().for_each(|(table, _)| self.put(table)),
            Operation::BatchWriteItem(request) => request.tables.iter_mut().for_each(|(table, _)| self.put(table)),
            Operation::TransactGetItems(request) => request.gets.iter_mut().for_each(|get| self.put(&mut get.table)),
            Operation::TransactWriteItems(request) => request.actions.iter_mut().for_each(|action| match action {
                TransactAction::Put { table, .. }
                | TransactAction::Update { table, .. }
                | TransactAction::Delete { table, .. }
                | TransactAction::Check { table, .. } => self.put(table),
            }),
            Operation::DescribeLimits => {}
            Operation::ListTables(_)
            | Operation::TagResource(_)
            | Operation::UntagResource(_)
            | Operation::ListTagsOfResource(_)
            | Operation::ExecuteStatement(_)
            | Operation::BatchExecuteStatement(_)
            | Operation::ExecuteTransaction(_)
            | Operation::ListStreams(_)
            | Operation::DescribeStream(_)
            | Operation::GetShardIterator(_)
            | Operation::GetRecords(_) => return Err(Error::internal("a rehearsal has no such request")),
        }
        Ok(operation)
    }

    /// Removes the prefix from table names in an answer.
    fn answer(&self, output: Output) -> Output {
        match output {
            Output::Table(mut description) => {
                self.strip(&mut description.name);
                Output::Table(description)
            }
            Output::BatchGetItem(mut output) => {
                output.responses = self.stripped(output.responses);
                output.unprocessed = self.stripped(output.unprocessed);
                Output::BatchGetItem(output)
            }
            Output::BatchWriteItem(mut output) => {
                output.unprocessed = self.stripped(output.unprocessed);
                Output::BatchWriteItem(output)
            }
            output => output,
        }
    }
}

impl Execute for Beside {
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>> {
        Box::pin(async move { Ok(self.answer(self.store.execute(self.beside(operation)?).await?)) })
    }
}
