//! Common form of imported tables.

use serde_json::Value;

#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    /// Name in the model.
    pub(super) name: String,
    /// Name in the store, with `{variables}`.
    pub(super) physical: Option<String>,
    /// Key attributes: partition, then sort.
    pub(super) key: Vec<Attribute>,
    pub(super) indexes: Vec<Index>,
    pub(super) ttl: Option<String>,
    /// Stream view type, such as `NEW_AND_OLD_IMAGES`.
    pub(super) stream: Option<String>,
    pub(super) kms: Option<Encryption>,
    /// Provisioned read and write units.
    pub(super) provisioned: Option<(u64, u64)>,
    pub(super) infrequent: bool,
    pub(super) recovery: bool,
    pub(super) protected: bool,
    pub(super) entities: Vec<Entity>,
}

/// Encryption other than the default.
#[derive(Clone, Debug)]
pub(super) enum Encryption {
    Managed,
    Key(String),
}

/// An attribute with its DynamoDB type: `S`, `N`, `B` or another.
#[derive(Clone, Debug)]
pub(super) struct Attribute {
    pub(super) name: String,
    pub(super) kind: String,
}

#[derive(Clone, Debug)]
pub(super) struct Index {
    pub(super) name: String,
    pub(super) local: bool,
    pub(super) partition: Vec<Attribute>,
    pub(super) sort: Vec<Attribute>,
    /// Projected attributes besides the keys; `None` projects everything.
    pub(super) projection: Option<Vec<String>>,
}

/// A first entity of the table.
#[derive(Clone, Debug)]
pub(super) struct Entity {
    pub(super) name: String,
    /// Template of each key attribute, if the samples show one.
    pub(super) templates: Vec<String>,
    pub(super) fields: Vec<Attribute>,
}

/// Returns the key attributes of one `KeyType`, with types from `AttributeDefinitions`.
pub(super) fn key_attributes(schema: &Value, definitions: &Value, kind: &str) -> Vec<Attribute> {
    let of_kind = |part: &&Value| part.get("KeyType").and_then(Value::as_str) == Some(kind);
    let parts = schema.as_array().into_iter().flatten().filter(of_kind);
    let names = parts.filter_map(|part| part.get("AttributeName").and_then(Value::as_str));
    names.map(|name| Attribute { name: name.to_owned(), kind: defined(definitions, name) }).collect()
}

fn defined(definitions: &Value, name: &str) -> String {
    let is_it = |definition: &&Value| definition.get("AttributeName").and_then(Value::as_str) == Some(name);
    let found = definitions.as_array().into_iter().flatten().find(is_it);
    found.and_then(|definition| definition.get("AttributeType")).and_then(Value::as_str).unwrap_or("S").to_owned()
}

/// Converts an index in the form that CreateTable, CloudFormation and DescribeTable share.
pub(super) fn index(value: &Value, definitions: &Value, local: bool) -> Option<Index> {
    let schema = value.get("KeySchema")?;
    Some(Index {
        name: value.get("IndexName")?.as_str()?.to_owned(),
        local,
        partition: key_attributes(schema, definitions, "HASH"),
        sort: key_attributes(schema, definitions, "RANGE"),
        projection: projection(value.get("Projection")),
    })
}

/// Returns the projected attributes besides the keys; `None` projects everything.
pub(super) fn projection(value: Option<&Value>) -> Option<Vec<String>> {
    let value = value?;
    match value.get("ProjectionType").and_then(Value::as_str) {
        Some("KEYS_ONLY") => Some(Vec::new()),
        Some("INCLUDE") => Some(strings(value.get("NonKeyAttributes"))),
        _ => None,
    }
}

/// Returns the strings of a list.
pub(super) fn strings(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Returns all indexes of a table description.
pub(super) fn indexes(table: &Value) -> Vec<Index> {
    let none = Value::Null;
    let definitions = table.get("AttributeDefinitions").unwrap_or(&none);
    let of = |name: &str, local: bool| -> Vec<Index> {
        let lines = table.get(name).and_then(Value::as_array).into_iter().flatten();
        lines.filter_map(|line| index(line, definitions, local)).collect()
    };
    [of("GlobalSecondaryIndexes", false), of("LocalSecondaryIndexes", true)].concat()
}

/// Returns the key of a table description: partition, then sort.
pub(super) fn key(table: &Value) -> Vec<Attribute> {
    let none = Value::Null;
    let definitions = table.get("AttributeDefinitions").unwrap_or(&none);
    let schema = table.get("KeySchema").unwrap_or(&none);
    [key_attributes(schema, definitions, "HASH"), key_attributes(schema, definitions, "RANGE")].concat()
}

/// Returns the provisioned units; `None` if they are zero, as DescribeTable reports for on-demand tables.
pub(super) fn provisioned(table: &Value) -> Option<(u64, u64)> {
    let units = |name: &str| table.get("ProvisionedThroughput")?.get(name)?.as_u64();
    units("ReadCapacityUnits").zip(units("WriteCapacityUnits")).filter(|(reads, writes)| *reads > 0 && *writes > 0)
}
