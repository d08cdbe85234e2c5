//! PartiQL requests with parsed statements.

use crate::capacity::{ConsumedCapacity, ReturnConsumedCapacity};
use crate::error::Error;
use crate::statement::Statement;
use crate::value::Item;

/// Runs one PartiQL statement.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecuteStatement {
    /// Parsed statement, with its parameters bound.
    pub statement: Statement,
    /// Strongly consistent read.
    pub consistent: bool,
    /// Maximum number of items to read, before the filter.
    pub limit: Option<usize>,
    /// Token of the previous page.
    pub next: Option<String>,
    /// Returns the existing item if the condition fails.
    pub return_item_on_failure: bool,
    /// Level of detail of the reported capacity.
    pub return_capacity: ReturnConsumedCapacity,
}

/// Response of ExecuteStatement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExecuteStatementOutput {
    /// Items that a SELECT found, or that a write returned.
    pub items: Vec<Item>,
    /// Token of the next page; `None` after the last page.
    pub next: Option<String>,
    /// Key at which the page ended.
    pub last_key: Option<Item>,
    /// Consumed capacity, if the request asked for it.
    pub capacity: Option<ConsumedCapacity>,
}

/// Runs up to 25 statements independently of each other.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchExecuteStatement {
    /// Statements to run. One that does not parse fails alone; the others still run.
    pub statements: Vec<BatchedStatement>,
    /// Level of detail of the reported capacity.
    pub return_capacity: ReturnConsumedCapacity,
}

/// One statement of a batch or a transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchedStatement {
    /// Parsed statement, or its syntax error.
    pub statement: Result<Statement, Error>,
    /// Strongly consistent read.
    pub consistent: bool,
    /// Returns the existing item if the condition fails.
    pub return_item_on_failure: bool,
}

/// Response to one statement of a batch.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementResponse {
    /// Table of the statement, if it parsed.
    pub table: Option<String>,
    /// Item that the statement read, or its error.
    pub result: Result<Option<Item>, Error>,
}

/// Response of BatchExecuteStatement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchExecuteStatementOutput {
    /// One response per statement, in request order.
    pub responses: Vec<StatementResponse>,
    /// Consumed capacity of each table.
    pub capacity: Vec<ConsumedCapacity>,
}

/// Runs up to 100 statements atomically; either all of them read or all of them write.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecuteTransaction {
    /// Statements to run, in order.
    pub statements: Vec<BatchedStatement>,
    /// Idempotency token: a repeated request with the same token has no further effect.
    pub token: Option<String>,
    /// Level of detail of the reported capacity.
    pub return_capacity: ReturnConsumedCapacity,
}

/// Response of ExecuteTransaction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExecuteTransactionOutput {
    /// One item per statement, in request order.
    pub responses: Vec<Option<Item>>,
    /// Consumed capacity of each table.
    pub capacity: Vec<ConsumedCapacity>,
}
