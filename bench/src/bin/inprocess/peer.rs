//! dynoxide's library.

use std::collections::HashMap;
use std::path::Path;

use dynoxide::AttributeValue;
use dynoxide::Database;
use dynoxide::actions::get_item::GetItemRequest;
use dynoxide::actions::put_item::PutItemRequest;
use dynoxide::actions::query::QueryRequest;
use dynoxide::actions::update_item::UpdateItemRequest;

use crate::subject::Subject;

/// dynoxide, as its library comes.
pub struct Dynoxide {
    database: Database,
}

impl Dynoxide {
    /// Opens it in a folder or in memory, and loads it.
    pub fn open(folder: Option<&Path>) -> Self {
        let database = match folder {
            None => Database::memory(),
            Some(folder) => Database::new(folder.join("dynoxide.db").to_str().expect("a plain path")),
        };
        let database = database.expect("dynoxide opens");
        let table = serde_json::json!({
            "TableName": "bench",
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}, {"AttributeName": "sk", "AttributeType": "S"}],
            "BillingMode": "PAY_PER_REQUEST"
        });
        database.create_table(serde_json::from_value(table).expect("a request")).expect("a table is made");
        let subject = Self { database };
        crate::load(&subject);
        subject
    }

    fn put_item(&self, mut item: HashMap<String, AttributeValue>, data: String) {
        item.insert("data".to_owned(), AttributeValue::S(data));
        let request = PutItemRequest { table_name: "bench".to_owned(), item, ..Default::default() };
        self.database.put_item(request).expect("the call succeeds");
    }
}

fn key(partition: String, sort: String) -> HashMap<String, AttributeValue> {
    [("pk".to_owned(), AttributeValue::S(partition)), ("sk".to_owned(), AttributeValue::S(sort))].into()
}

impl Subject for Dynoxide {
    fn put(&self, number: usize) {
        self.put_item(key(format!("item-{number}"), "0".to_owned()), "x".repeat(1000));
    }

    fn put_small(&self, partition: usize, sort: usize) {
        self.put_item(key(format!("partition-{partition}"), format!("{sort:04}")), "x".repeat(150));
    }

    fn get(&self, number: usize) {
        let key = key(format!("item-{number}"), "0".to_owned());
        let request = GetItemRequest { table_name: "bench".to_owned(), key, ..Default::default() };
        self.database.get_item(request).expect("the call succeeds");
    }

    fn query(&self, partition: usize) {
        let values = [(":p".to_owned(), AttributeValue::S(format!("partition-{partition}")))].into();
        let request = QueryRequest {
            table_name: "bench".to_owned(),
            key_condition_expression: Some("pk = :p".to_owned()),
            expression_attribute_values: Some(values),
            scan_index_forward: false,
            limit: Some(50),
            ..Default::default()
        };
        self.database.query(request).expect("the call succeeds");
    }

    fn add_hot(&self) {
        let request = UpdateItemRequest {
            table_name: "bench".to_owned(),
            key: key("hot".to_owned(), "0".to_owned()),
            update_expression: Some("ADD n :one".to_owned()),
            expression_attribute_values: Some([(":one".to_owned(), AttributeValue::N("1".to_owned()))].into()),
            ..Default::default()
        };
        self.database.update_item(request).expect("the call succeeds");
    }
}
