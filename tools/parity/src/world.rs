//! The tables of the requests: random key schemas and indexes over a small pool of attributes.
//!
//! Names and values come from small pools on purpose, so that requests use the same items.

use serde_json::{Map, Value, json};

use crate::random::Random;

/// Scalar type of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A string.
    S,
    /// A number.
    N,
    /// Binary.
    B,
}

impl Kind {
    /// Returns the letter of the type in an attribute definition.
    #[must_use]
    pub fn letter(self) -> &'static str {
        match self {
            Self::S => "S",
            Self::N => "N",
            Self::B => "B",
        }
    }
}

/// A key attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyAttribute {
    /// Name of the attribute.
    pub name: String,
    /// Type of the attribute.
    pub kind: Kind,
}

/// A secondary index.
#[derive(Debug, Clone)]
pub struct Index {
    /// Name of the index.
    pub name: String,
    /// True for a global index.
    pub global: bool,
    /// Partition key of the index.
    pub hash: KeyAttribute,
    /// Sort key of the index.
    pub range: Option<KeyAttribute>,
    /// Projection in the form of CreateTable.
    pub projection: Value,
}

/// A table.
#[derive(Debug, Clone)]
pub struct Table {
    /// Name of the table.
    pub name: String,
    /// Partition key of the table.
    pub hash: KeyAttribute,
    /// Sort key of the table.
    pub range: Option<KeyAttribute>,
    /// Global and local indexes.
    pub indexes: Vec<Index>,
    /// View type of its stream, if it has one.
    pub stream: Option<&'static str>,
}

impl Table {
    /// Creates a random table with this name.
    pub fn random(random: &mut Random, name: String) -> Self {
        let hash = KeyAttribute { name: "pk".to_owned(), kind: random_kind(random) };
        let range = random.percent(70).then(|| KeyAttribute { name: "sk".to_owned(), kind: random_kind(random) });
        let mut table = Self { name, hash, range, indexes: Vec::new(), stream: random_view(random) };
        for number in 0..random.below(3) {
            let index = random_global(random, &table, number);
            table.indexes.push(index);
        }
        if table.range.is_some() && random.percent(40) {
            let index = random_local(random, &table);
            table.indexes.push(index);
        }
        table
    }

    /// Returns the body of its CreateTable.
    #[must_use]
    pub fn create(&self) -> Value {
        let mut body = json!({
            "TableName": self.name,
            "AttributeDefinitions": self.definitions(),
            "KeySchema": key_schema(&self.hash, self.range.as_ref()),
            "BillingMode": "PAY_PER_REQUEST",
        });
        for (member, global) in [("GlobalSecondaryIndexes", true), ("LocalSecondaryIndexes", false)] {
            let indexes: Vec<Value> = self.indexes.iter().filter(|i| i.global == global).map(Index::create).collect();
            if !indexes.is_empty() {
                body[member] = indexes.into();
            }
        }
        if let Some(view) = self.stream {
            body["StreamSpecification"] = json!({"StreamEnabled": true, "StreamViewType": view});
        }
        body
    }

    fn definitions(&self) -> Vec<Value> {
        let mut seen: Vec<&KeyAttribute> = Vec::new();
        for key in self.all_key_attributes() {
            if !seen.iter().any(|known| known.name == key.name) {
                seen.push(key);
            }
        }
        seen.iter().map(|key| json!({"AttributeName": key.name, "AttributeType": key.kind.letter()})).collect()
    }

    fn all_key_attributes(&self) -> impl Iterator<Item = &KeyAttribute> {
        let indexes = self.indexes.iter().flat_map(|index| std::iter::once(&index.hash).chain(&index.range));
        self.key_attributes().chain(indexes)
    }

    /// Returns the key attributes of the table.
    pub fn key_attributes(&self) -> impl Iterator<Item = &KeyAttribute> {
        std::iter::once(&self.hash).chain(&self.range)
    }

    /// Returns the key attributes of its indexes that are not keys of the table.
    #[must_use]
    pub fn index_attributes(&self) -> Vec<KeyAttribute> {
        let own: Vec<&str> = self.key_attributes().map(|key| key.name.as_str()).collect();
        let mut found: Vec<KeyAttribute> = Vec::new();
        for key in self.all_key_attributes() {
            if !own.contains(&key.name.as_str()) && !found.contains(key) {
                found.push(key.clone());
            }
        }
        found
    }

    /// Returns a random key of the table from a small pool.
    pub fn random_key(&self, random: &mut Random) -> Value {
        let mut key = Map::new();
        key.insert(self.hash.name.clone(), key_value(random, self.hash.kind, 5));
        if let Some(range) = &self.range {
            key.insert(range.name.clone(), key_value(random, range.kind, 8));
        }
        Value::Object(key)
    }
}

impl Index {
    fn create(&self) -> Value {
        json!({
            "IndexName": self.name,
            "KeySchema": key_schema(&self.hash, self.range.as_ref()),
            "Projection": self.projection,
        })
    }
}

fn random_kind(random: &mut Random) -> Kind {
    [Kind::S, Kind::N, Kind::B][random.weighted(&[5, 3, 1])]
}

fn random_view(random: &mut Random) -> Option<&'static str> {
    let views = ["NEW_AND_OLD_IMAGES", "NEW_IMAGE", "OLD_IMAGE", "KEYS_ONLY"];
    random.percent(40).then(|| random.word(&views))
}

fn random_projection(random: &mut Random) -> Value {
    match random.below(3) {
        0 => json!({"ProjectionType": "ALL"}),
        1 => json!({"ProjectionType": "KEYS_ONLY"}),
        _ => json!({"ProjectionType": "INCLUDE", "NonKeyAttributes": ["a", "doc"]}),
    }
}

/// Each index has its own key attributes, so that no attribute is defined with two types.
fn random_global(random: &mut Random, table: &Table, number: usize) -> Index {
    let hash = match random.below(4) {
        0 if table.range.is_some() => table.range.clone().unwrap_or_else(|| table.hash.clone()),
        _ => KeyAttribute { name: format!("g{number}"), kind: random_kind(random) },
    };
    let range = random.percent(60).then(|| KeyAttribute { name: format!("r{number}"), kind: random_kind(random) });
    Index { name: format!("gsi{number}"), global: true, hash, range, projection: random_projection(random) }
}

fn random_local(random: &mut Random, table: &Table) -> Index {
    let range = KeyAttribute { name: "loc".to_owned(), kind: random_kind(random) };
    let projection = random_projection(random);
    Index { name: "lsi".to_owned(), global: false, hash: table.hash.clone(), range: Some(range), projection }
}

/// Returns a key schema of one or two elements.
#[must_use]
pub fn key_schema(hash: &KeyAttribute, range: Option<&KeyAttribute>) -> Value {
    let hash = json!({"AttributeName": hash.name, "KeyType": "HASH"});
    let range = range.map(|range| json!({"AttributeName": range.name, "KeyType": "RANGE"}));
    std::iter::once(hash).chain(range).collect()
}

/// Returns a value for a key from a pool of this size.
pub fn key_value(random: &mut Random, kind: Kind, pool: usize) -> Value {
    let choices = key_pool(kind);
    json!({ kind.letter(): choices[random.below(pool.min(choices.len()))] })
}

/// Returns two values for a key, in order.
pub fn key_bounds(random: &mut Random, kind: Kind) -> [Value; 2] {
    let choices = key_pool(kind);
    let low = random.below(choices.len());
    let high = random.between(low, choices.len() - 1);
    [low, high].map(|index| json!({ kind.letter(): choices[index] }))
}

/// Returns the values of keys, in ascending order.
fn key_pool(kind: Kind) -> [&'static str; 8] {
    match kind {
        Kind::S => ["B", "a", "a#1", "a#2", "ab", "abc", "b", "ü"],
        Kind::N => ["-10", "-1", "0", "1", "2.5", "10", "100", "1e20"],
        Kind::B => ["AA==", "AAE=", "AAEC", "YWJj", "Yg==", "gA==", "/w==", "/wA="],
    }
}
