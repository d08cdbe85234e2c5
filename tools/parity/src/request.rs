//! One request as the generator makes it, with what the runner must know to compare and to repair.

use serde_json::Value;

/// A request to send to every server.
#[derive(Debug, Clone)]
pub struct Request {
    /// The operation's name, such as `PutItem`.
    pub operation: String,
    /// Its body.
    pub body: Value,
    /// The items that it may write, so that servers which disagree can be brought together again.
    pub touched: Vec<Touched>,
    /// How its answer is compared.
    pub reading: Reading,
    /// The table whose description it may change.
    pub table_changed: Option<String>,
    /// Requests that are sent when this one succeeded everywhere and its table has settled.
    pub then: Vec<Request>,
}

/// An item that a request may write.
#[derive(Debug, Clone, PartialEq)]
pub struct Touched {
    /// The item's table.
    pub table: String,
    /// The item's key, as DynamoDB JSON.
    pub key: Value,
}

/// How much of the order of an answer is part of the contract.
#[derive(Debug, Clone, PartialEq)]
pub enum Reading {
    /// The answer is compared as it stands.
    Exact,
    /// Pages are followed to the end on each server, and the items compared without their order.
    AnyOrder,
    /// Pages are followed to the end, the values of this attribute must come in the same order, and the items are
    /// compared without theirs: items with equal index keys may come in any order.
    OrderedBy(String),
    /// The request is writes of one item, and its answer the records that they leave in the stream.
    Written,
}

impl Request {
    /// A request that writes nothing and is compared as it stands.
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

    /// The same request, writing an item.
    #[must_use]
    pub fn touching(mut self, table: &str, key: Value) -> Self {
        self.touched.push(Touched { table: table.to_owned(), key });
        self
    }

    /// The same request, compared in another way.
    #[must_use]
    pub fn read(mut self, reading: Reading) -> Self {
        self.reading = reading;
        self
    }

    /// The `X-Amz-Target` of the request.
    #[must_use]
    pub fn target(&self) -> String {
        let service = match self.operation.as_str() {
            "ListStreams" | "DescribeStream" | "GetShardIterator" | "GetRecords" => "DynamoDBStreams_20120810",
            _ => "DynamoDB_20120810",
        };
        format!("{service}.{}", self.operation)
    }
}
