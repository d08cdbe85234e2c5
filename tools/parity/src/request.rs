//! A generated request, with what the runner needs to compare and to repair.

use serde_json::Value;

/// A request for every server.
#[derive(Debug, Clone)]
pub struct Request {
    /// Name of the operation, such as `PutItem`.
    pub operation: String,
    /// Body without server-specific names.
    pub body: Value,
    /// Items that it may write, so that servers which disagree can be repaired.
    pub touched: Vec<Touched>,
    /// Comparison of its answer.
    pub reading: Reading,
    /// Table whose description it may change.
    pub table_changed: Option<String>,
    /// Requests to send after this one succeeded everywhere and its table has settled.
    pub then: Vec<Request>,
}

/// An item that a request may write.
#[derive(Debug, Clone, PartialEq)]
pub struct Touched {
    /// Table of the item.
    pub table: String,
    /// Key of the item in DynamoDB JSON.
    pub key: Value,
}

/// Part of an answer's order that is part of the contract.
#[derive(Debug, Clone, PartialEq)]
pub enum Reading {
    /// Compares the answer unchanged.
    Exact,
    /// Follows all pages on each server, and compares the items without their order.
    AnyOrder,
    /// Follows all pages. The values of this attribute must have the same order; the items are compared without theirs,
    /// because items with equal index keys may have any order.
    OrderedBy(String),
    /// The request writes one item several times, and its answer is the resulting records of the stream.
    Written,
}

impl Request {
    /// Creates a request that writes nothing and is compared unchanged.
    #[must_use]
    pub fn new(operation: &str, body: Value) -> Self {
        Self {
            operation: operation.to_owned(),
            body,
            touched: Vec::new(),
            reading: Reading::Exact,
            table_changed: None,
            then: Vec::new(),
        }
    }

    /// Returns the request with an item that it writes.
    #[must_use]
    pub fn touching(mut self, table: &str, key: Value) -> Self {
        self.touched.push(Touched { table: table.to_owned(), key });
        self
    }

    /// Returns the request with another comparison.
    #[must_use]
    pub fn read(mut self, reading: Reading) -> Self {
        self.reading = reading;
        self
    }

    /// Returns the `X-Amz-Target` of the request.
    #[must_use]
    pub fn target(&self) -> String {
        let service = match self.operation.as_str() {
            "ListStreams" | "DescribeStream" | "GetShardIterator" | "GetRecords" => "DynamoDBStreams_20120810",
            _ => "DynamoDB_20120810",
        };
        format!("{service}.{}", self.operation)
    }
}
