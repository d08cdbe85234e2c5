//! Store view in which every table name gets a prefix that users of the view do not see.

use std::sync::Arc;

use keyform_core::execute::BoxFuture;
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

    fn strip(&self, table: &mut String) {
        if let Some(rest) = table.strip_prefix(&self.prefix) {
            *table = rest.to_owned();
        }
    }

    /// Adds the prefix to a request. Lists, tags, PartiQL and streams name tables in other ways, and no migration uses
    /// them.
    fn beside(&self, mut operation: Operation) -> Result<Operation, Error> {
        match operation.rename_tables(&mut |table| table.insert_str(0, &self.prefix)) {
            true => Ok(operation),
            false => Err(Error::internal("a rehearsal has no such request")),
        }
    }

    /// Removes the prefix from table names in an answer.
    fn answer(&self, mut output: Output) -> Output {
        output.rename_tables(&mut |table| self.strip(table));
        output
    }
}

impl Execute for Beside {
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>> {
        Box::pin(async move { Ok(self.answer(self.store.execute(self.beside(operation)?).await?)) })
    }
}
