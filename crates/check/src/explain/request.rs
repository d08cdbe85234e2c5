//! Formats a request as DynamoDB JSON. Every name and value in an expression is a placeholder, so reserved words cause
//! no conflict.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use keyform_core::expression::{Condition, Printer, Projection, Update};
use keyform_core::operation::{
    BatchGetItem, BatchWriteItem, DeleteItem, GetItem, PutItem, Query, ReturnValues, Scan, Select, TransactAction,
    TransactWriteItems, UpdateItem, WriteOptions, WriteRequest,
};
use keyform_core::{AttributeValue, Attributes};
use serde_json::{Map, Value, json};

use keyform_language::bind::{PageRead, ReadRequest, WriteOperation};

/// Returns the operation name and the JSON of a read's request.
#[must_use]
pub fn of_read(request: &ReadRequest) -> (&'static str, Value) {
    match request {
        ReadRequest::Get(get) => ("GetItem", get_item(get)),
        ReadRequest::BatchGet(batch) => ("BatchGetItem", batch_get(batch)),
        ReadRequest::Page(PageRead::Query(it)) => ("Query", query(it)),
        ReadRequest::Page(PageRead::Scan(it)) => ("Scan", scan(it)),
    }
}

/// Returns the operation name and the JSON of a write's request.
#[must_use]
pub fn of_write(operation: &WriteOperation) -> (&'static str, Value) {
    match operation {
        WriteOperation::Put(put) => ("PutItem", put_item(put)),
        WriteOperation::Update(update) => ("UpdateItem", update_item(update)),
        WriteOperation::Delete(delete) => ("DeleteItem", delete_item(delete)),
        WriteOperation::Batch(batch) => ("BatchWriteItem", batch_write(batch)),
        WriteOperation::Transact(transaction) => ("TransactWriteItems", transact_write(transaction)),
    }
}

/// Formats a value as DynamoDB JSON.
#[must_use]
pub fn value(value: &AttributeValue) -> Value {
    match value {
        AttributeValue::S(text) => json!({ "S": text }),
        AttributeValue::N(number) => json!({ "N": number.to_string() }),
        AttributeValue::B(bytes) => json!({ "B": STANDARD.encode(bytes) }),
        AttributeValue::Bool(value) => json!({ "BOOL": value }),
        AttributeValue::Null => json!({ "NULL": true }),
        AttributeValue::M(parts) => json!({ "M": attributes(parts) }),
        AttributeValue::L(parts) => json!({ "L": parts.iter().map(self::value).collect::<Vec<_>>() }),
        AttributeValue::Ss(texts) => json!({ "SS": texts }),
        AttributeValue::Ns(numbers) => json!({ "NS": numbers.iter().map(ToString::to_string).collect::<Vec<_>>() }),
        AttributeValue::Bs(parts) => {
            json!({ "BS": parts.iter().map(|bytes| STANDARD.encode(bytes)).collect::<Vec<_>>() })
        }
    }
}

fn attributes(attributes: &Attributes) -> Value {
    Value::Object(attributes.iter().map(|(name, of)| (name.clone(), value(of))).collect())
}

/// A request under construction: its members, and the placeholders of its expressions.
struct Body {
    members: Map<String, Value>,
    printer: Printer,
}

impl Body {
    fn of_table(table: &str) -> Self {
        let mut body = Self { members: Map::new(), printer: Printer::default() };
        body.put("TableName", json!(table));
        body
    }

    fn put(&mut self, name: &str, value: Value) {
        self.members.insert(name.to_owned(), value);
    }

    fn put_if(&mut self, is_so: bool, name: &str, value: Value) {
        if is_so {
            self.put(name, value);
        }
    }

    fn condition(&mut self, name: &str, condition: Option<&Condition>) {
        if let Some(condition) = condition {
            let text = self.printer.condition(condition);
            self.put(name, json!(text));
        }
    }

    fn projection(&mut self, projection: Option<&Projection>) {
        if let Some(projection) = projection {
            let text = self.printer.projection(projection);
            self.put("ProjectionExpression", json!(text));
        }
    }

    fn update(&mut self, update: Option<&Update>) {
        if let Some(update) = update {
            let text = self.printer.update(update);
            self.put("UpdateExpression", json!(text));
        }
    }

    fn options(&mut self, options: &WriteOptions) {
        self.condition("ConditionExpression", options.condition.as_ref());
        self.return_values(options.return_values);
        self.on_failure(options.return_item_on_failure);
    }

    fn on_failure(&mut self, returns_item: bool) {
        self.put_if(returns_item, "ReturnValuesOnConditionCheckFailure", json!("ALL_OLD"));
    }

    fn return_values(&mut self, wanted: ReturnValues) {
        let name = match wanted {
            ReturnValues::None => return,
            ReturnValues::AllOld => "ALL_OLD",
            ReturnValues::UpdatedOld => "UPDATED_OLD",
            ReturnValues::AllNew => "ALL_NEW",
            ReturnValues::UpdatedNew => "UPDATED_NEW",
        };
        self.put("ReturnValues", json!(name));
    }

    fn select(&mut self, select: Option<Select>) {
        let name = match select {
            None => return,
            Some(Select::AllAttributes) => "ALL_ATTRIBUTES",
            Some(Select::AllProjectedAttributes) => "ALL_PROJECTED_ATTRIBUTES",
            Some(Select::SpecificAttributes) => "SPECIFIC_ATTRIBUTES",
            Some(Select::Count) => "COUNT",
        };
        self.put("Select", json!(name));
    }

    /// Adds the definitions of the placeholders.
    fn finish(mut self) -> Value {
        if !self.printer.names().is_empty() {
            self.put("ExpressionAttributeNames", json!(self.printer.names()));
        }
        if !self.printer.values().is_empty() {
            let values = self.printer.values().iter().map(|(name, of)| (name.clone(), value(of)));
            let values = Value::Object(values.collect());
            self.put("ExpressionAttributeValues", values);
        }
        Value::Object(self.members)
    }
}

fn get_item(get: &GetItem) -> Value {
    let mut body = Body::of_table(&get.table);
    body.put("Key", attributes(&get.key));
    body.put_if(get.consistent, "ConsistentRead", json!(true));
    body.projection(get.projection.as_ref());
    body.finish()
}

fn batch_get(batch: &BatchGetItem) -> Value {
    let mut tables = Map::new();
    for (table, request) in &batch.tables {
        let mut body = Body { members: Map::new(), printer: Printer::default() };
        body.put("Keys", request.keys.iter().map(attributes).collect());
        body.put_if(request.consistent, "ConsistentRead", json!(true));
        body.projection(request.projection.as_ref());
        tables.insert(table.clone(), body.finish());
    }
    json!({ "RequestItems": tables })
}

fn query(query: &Query) -> Value {
    let mut body = Body::of_table(&query.table);
    let key = body.printer.key_condition(&query.key);
    body.put("KeyConditionExpression", json!(key));
    body.condition("FilterExpression", query.filter.as_ref());
    body.projection(query.projection.as_ref());
    body.put_if(query.index.is_some(), "IndexName", json!(query.index));
    body.put_if(query.limit.is_some(), "Limit", json!(query.limit));
    body.put_if(query.reverse, "ScanIndexForward", json!(false));
    body.put_if(query.consistent, "ConsistentRead", json!(true));
    body.select(query.select);
    if let Some(start) = &query.start {
        body.put("ExclusiveStartKey", attributes(start));
    }
    body.finish()
}

fn scan(scan: &Scan) -> Value {
    let mut body = Body::of_table(&scan.table);
    body.condition("FilterExpression", scan.filter.as_ref());
    body.projection(scan.projection.as_ref());
    body.put_if(scan.index.is_some(), "IndexName", json!(scan.index));
    body.put_if(scan.limit.is_some(), "Limit", json!(scan.limit));
    body.put_if(scan.consistent, "ConsistentRead", json!(true));
    body.select(scan.select);
    if let Some(start) = &scan.start {
        body.put("ExclusiveStartKey", attributes(start));
    }
    body.finish()
}

fn put_item(put: &PutItem) -> Value {
    let mut body = Body::of_table(&put.table);
    body.put("Item", attributes(&put.item));
    body.options(&put.options);
    body.finish()
}

fn update_item(update: &UpdateItem) -> Value {
    let mut body = Body::of_table(&update.table);
    body.put("Key", attributes(&update.key));
    body.update(update.update.as_ref());
    body.options(&update.options);
    body.finish()
}

fn delete_item(delete: &DeleteItem) -> Value {
    let mut body = Body::of_table(&delete.table);
    body.put("Key", attributes(&delete.key));
    body.options(&delete.options);
    body.finish()
}

fn batch_write(batch: &BatchWriteItem) -> Value {
    let request = |request: &WriteRequest| match request {
        WriteRequest::Put(item) => json!({ "PutRequest": { "Item": attributes(item) } }),
        WriteRequest::Delete(key) => json!({ "DeleteRequest": { "Key": attributes(key) } }),
    };
    let table = |(name, requests): &(String, Vec<WriteRequest>)| (name.clone(), requests.iter().map(request).collect());
    json!({ "RequestItems": batch.tables.iter().map(table).collect::<Map<String, Value>>() })
}

fn transact_write(transaction: &TransactWriteItems) -> Value {
    let actions: Vec<Value> = transaction.actions.iter().map(action).collect();
    let mut members = Map::new();
    members.insert("TransactItems".to_owned(), json!(actions));
    if let Some(token) = &transaction.token {
        members.insert("ClientRequestToken".to_owned(), json!(token));
    }
    Value::Object(members)
}

fn action(action: &TransactAction) -> Value {
    let mut body = Body::of_table(action.table());
    let (name, condition, returns_item) = match action {
        TransactAction::Put { item, condition, return_item_on_failure, .. } => {
            body.put("Item", attributes(item));
            ("Put", condition.as_ref(), *return_item_on_failure)
        }
        TransactAction::Update { key, update, condition, return_item_on_failure, .. } => {
            body.put("Key", attributes(key));
            body.update(Some(update));
            ("Update", condition.as_ref(), *return_item_on_failure)
        }
        TransactAction::Delete { key, condition, return_item_on_failure, .. } => {
            body.put("Key", attributes(key));
            ("Delete", condition.as_ref(), *return_item_on_failure)
        }
        TransactAction::Check { key, condition, return_item_on_failure, .. } => {
            body.put("Key", attributes(key));
            ("ConditionCheck", Some(condition), *return_item_on_failure)
        }
    };
    body.condition("ConditionExpression", condition);
    body.on_failure(returns_item);
    json!({ name: body.finish() })
}
