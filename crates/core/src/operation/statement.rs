//! PartiQL requests, with the statements parsed.

use crate::capacity::{ConsumedCapacity, ReturnConsumedCapacity};
use crate::error::Error;
use crate::statement::Statement;
use crate::value::Item;

/// Runs one statement.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecuteStatement {
    /// The statement.
    pub statement: Statement,
    /// Whether the newest state is wanted.
    pub consistent: bool,
    /// How many items to read at the most.
    pub limit: Option<usize>,
    /// Where the last page ended.
    pub next: Option<String>,
    /// Whether a failed condition carries the item that is there.
    pub return_item_on_failure: bool,
    /// How much of the consumption is wanted.
    pub return_capacity: ReturnConsumedCapacity,
}

/// The answer of ExecuteStatement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExecuteStatementOutput {
    /// The items.
    pub items: Vec<Item>,
    /// Where the next page starts, if there may be one.
    pub next: Option<String>,
    /// The key at which the page ended.
    pub last_key: Option<Item>,
    /// What it consumed.
    pub capacity: Option<ConsumedCapacity>,
}

/// Runs up to 25 statements, each for itself.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchExecuteStatement {
    /// The statements: one that cannot be parsed fails alone, as the others run.
    pub statements: Vec<BatchedStatement>,
    /// How much of the consumption is wanted.
    pub return_capacity: ReturnConsumedCapacity,
}

/// One statement of a batch or a transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchedStatement {
    /// The statement, or why it is none.
    pub statement: Result<Statement, Error>,
    /// Whether the newest state is wanted.
    pub consistent: bool,
    /// Whether a failed condition carries the item that is there.
    pub return_item_on_failure: bool,
}

/// The answer to one statement of a batch.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementResponse {
    /// The table of the statement, where it is known.
    pub table: Option<String>,
    /// The item, or why there is none.
    pub result: Result<Option<Item>, Error>,
}

/// The answer of BatchExecuteStatement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchExecuteStatementOutput {
    /// One answer for each statement, in order.
    pub responses: Vec<StatementResponse>,
    /// What each table consumed.
    pub capacity: Vec<ConsumedCapacity>,
}

/// Runs up to a hundred statements, all or none; all read or all write.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecuteTransaction {
    /// The statements.
    pub statements: Vec<BatchedStatement>,
    /// The idempotency token.
    pub token: Option<String>,
    /// How much of the consumption is wanted.
    pub return_capacity: ReturnConsumedCapacity,
}

/// The answer of ExecuteTransaction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExecuteTransactionOutput {
    /// One answer for each statement, in order.
    pub responses: Vec<Option<Item>>,
    /// What each table consumed.
    pub capacity: Vec<ConsumedCapacity>,
}
