//! Record of an accepted model: one item of the table `keyform-models`, and parts if the model is large.
//!
//! The JSON form is compressed. An item holds at most 400 KB, so a larger form is stored in items of its own, which are
//! written before the record that refers to them and deleted after the next record has replaced it.
//!
//! ```text
//! id                          attributes
//! model chat stage=prod       generation 7, hash 9f2c…, compatible [41d0…, …], json (or parts 3)
//! model chat stage=prod 9f2c… 0   json
//! ```

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use keyform_core::expression::{Comparator, Condition, Operand, Path};
use keyform_core::operation::{CreateTable, DeleteItem, GetItem, PutItem, WriteOptions};
use keyform_core::table::{BillingMode, KeySchema, ScalarType};
use keyform_core::{AttributeValue, Attributes, Error, ErrorCode, Execute, ExecuteExt};
use keyform_language::bookkeeping::MODELS;

/// Bytes of compressed JSON in one item; leaves room for the other attributes within 400 KB.
const PART_BYTES_MAX: usize = 350_000;
/// Bytes of JSON that a record may expand to, which protects the reader from a damaged one.
const JSON_BYTES_MAX: u64 = 256 << 20;
/// Older versions that a record remembers as compatible.
const COMPATIBLE_MAX: usize = 64;

/// Accepted version of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Name of the model and the variables in its table names: see [`Candidate`](super::Candidate).
    pub id: String,
    /// Number of this version, starting at one.
    pub generation: i64,
    /// Hash of the accepted version.
    pub hash: String,
    /// Hashes of older versions that may still run, the oldest first.
    pub compatible: Vec<String>,
    /// Number of items that hold the JSON form; zero if the record itself holds it.
    parts: usize,
    /// Compressed JSON form, if it fits into the record.
    json: Vec<u8>,
}

impl Record {
    /// Makes the record that follows `before`. `keeps` is set if older versions may still run.
    pub(super) fn after(before: Option<&Self>, id: &str, hash: &str, keeps: bool) -> Self {
        let mut compatible: Vec<String> = match before {
            Some(before) if keeps => before.compatible.iter().cloned().chain([before.hash.clone()]).collect(),
            _ => Vec::new(),
        };
        compatible.retain(|older| older != hash);
        compatible.drain(..compatible.len().saturating_sub(COMPATIBLE_MAX));
        let generation = before.map_or(1, |before| before.generation + 1);
        Self { id: id.to_owned(), generation, hash: hash.to_owned(), compatible, parts: 0, json: Vec::new() }
    }

    /// Returns whether an instance with this version of the model may run.
    #[must_use]
    pub fn permits(&self, hash: &str) -> bool {
        self.hash == hash || self.compatible.iter().any(|older| older == hash)
    }

    fn attributes(&self) -> Attributes {
        let mut item = key(&self.id);
        item.insert("generation".to_owned(), self.generation.into());
        item.insert("hash".to_owned(), self.hash.as_str().into());
        let compatible = self.compatible.iter().map(|hash| hash.as_str().into()).collect();
        item.insert("compatible".to_owned(), AttributeValue::L(compatible));
        match self.parts {
            0 => item.insert("json".to_owned(), AttributeValue::B(self.json.clone())),
            parts => item.insert("parts".to_owned(), i64::try_from(parts).unwrap_or(i64::MAX).into()),
        };
        item
    }

    fn of(id: &str, item: &Attributes) -> Self {
        let text = |value: &AttributeValue| match value {
            AttributeValue::S(text) => Some(text.clone()),
            _ => None,
        };
        let compatible = match item.get("compatible") {
            Some(AttributeValue::L(list)) => list.iter().filter_map(text).collect(),
            _ => Vec::new(),
        };
        Self {
            id: id.to_owned(),
            generation: number(item, "generation"),
            hash: item.get("hash").and_then(text).unwrap_or_default(),
            compatible,
            parts: usize::try_from(number(item, "parts")).unwrap_or(0),
            json: bytes(item),
        }
    }
}

/// Loads a record with the start of its JSON form; `None` if the model has no record.
///
/// # Errors
///
/// Returns an error if the store fails; `ResourceNotFound` if it has no table of models.
pub async fn load(store: &dyn Execute, id: &str) -> Result<Option<Record>, Error> {
    Ok(get(store, id).await?.map(|item| Record::of(id, &item)))
}

/// Loads the JSON form of a record; `None` if a part is missing or damaged, which happens if another record has just
/// replaced it.
///
/// # Errors
///
/// Returns an error if the store fails.
pub async fn load_json(store: &dyn Execute, record: &Record) -> Result<Option<String>, Error> {
    let mut compressed = record.json.clone();
    for number in 0..record.parts {
        match get(store, &part_id(record, number)).await? {
            Some(item) => compressed.extend(bytes(&item)),
            None => return Ok(None),
        }
    }
    Ok(expanded(&compressed))
}

/// Writes a record if the store still has the generation before it; returns whether it was written. Retries are safe: a
/// record that was written by the first of two requests is recognised by its hash.
///
/// # Errors
///
/// Returns an error if the store fails.
pub async fn save(store: &dyn Execute, record: Record, json: &str, before: Option<&Record>) -> Result<bool, Error> {
    save_in_parts(store, record, json, before, PART_BYTES_MAX).await
}

async fn save_in_parts(
    store: &dyn Execute,
    mut record: Record,
    json: &str,
    before: Option<&Record>,
    part_bytes_max: usize,
) -> Result<bool, Error> {
    let compressed = compressed(json);
    if compressed.len() <= part_bytes_max {
        record.json = compressed;
    } else {
        // The parts come first: a reader of the record finds all of them.
        for part in compressed.chunks(part_bytes_max) {
            let mut item = key(&part_id(&record, record.parts));
            item.insert("json".to_owned(), AttributeValue::B(part.to_vec()));
            store.call(PutItem { table: MODELS.to_owned(), item, options: WriteOptions::default() }).await?;
            record.parts += 1;
        }
    }
    let options = unchanged(before).into();
    match store.call(PutItem { table: MODELS.to_owned(), item: record.attributes(), options }).await {
        Ok(_) => {}
        Err(error) if error.code() == ErrorCode::ConditionalCheckFailed => return Ok(false),
        Err(error) => return Err(error),
    }
    if let Some(before) = before.filter(|before| before.hash != record.hash) {
        delete_parts(store, before).await?;
    }
    Ok(true)
}

/// Writes a record that differs only in the versions that may still run.
///
/// # Errors
///
/// Returns an error if the store fails.
pub(super) async fn save_same_json(store: &dyn Execute, record: &Record, before: &Record) -> Result<bool, Error> {
    let record = Record { parts: before.parts, json: before.json.clone(), ..record.clone() };
    let options = unchanged(Some(before)).into();
    match store.call(PutItem { table: MODELS.to_owned(), item: record.attributes(), options }).await {
        Ok(_) => Ok(true),
        Err(error) if error.code() == ErrorCode::ConditionalCheckFailed => Ok(false),
        Err(error) => Err(error),
    }
}

fn unchanged(before: Option<&Record>) -> Condition {
    match before {
        None => Condition::AttributeNotExists(Path::attribute("id")),
        Some(before) => Condition::Compare {
            left: Operand::Path(Path::attribute("generation")),
            comparator: Comparator::Equal,
            right: Operand::Value(AttributeValue::from(before.generation).into()),
        },
    }
}

async fn delete_parts(store: &dyn Execute, record: &Record) -> Result<(), Error> {
    for number in 0..record.parts {
        let key = key(&part_id(record, number));
        store.call(DeleteItem { table: MODELS.to_owned(), key, options: WriteOptions::default() }).await?;
    }
    Ok(())
}

/// Returns the request that creates the table of models.
#[must_use]
pub fn model_table() -> CreateTable {
    CreateTable {
        attributes: [("id".to_owned(), ScalarType::S)].into(),
        key: KeySchema { partition: vec!["id".to_owned()], sort: Vec::new() },
        billing: BillingMode::PayPerRequest,
        ..CreateTable::named(MODELS)
    }
}

async fn get(store: &dyn Execute, id: &str) -> Result<Option<Attributes>, Error> {
    let get = GetItem { table: MODELS.to_owned(), key: key(id), consistent: true, ..GetItem::default() };
    Ok(store.call(get).await?.item.map(|item| item.to_attributes()))
}

fn key(id: &str) -> Attributes {
    [("id".to_owned(), id.into())].into()
}

fn part_id(record: &Record, number: usize) -> String {
    format!("{} {} {number}", record.id, record.hash)
}

fn number(item: &Attributes, name: &str) -> i64 {
    match item.get(name) {
        Some(AttributeValue::N(number)) => number.to_i64().unwrap_or(0),
        _ => 0,
    }
}

fn bytes(item: &Attributes) -> Vec<u8> {
    match item.get("json") {
        Some(AttributeValue::B(bytes)) => bytes.clone(),
        _ => Vec::new(),
    }
}

fn compressed(json: &str) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(json.as_bytes()).and_then(|()| encoder.finish());
    written.expect("memory accepts every write")
}

fn expanded(bytes: &[u8]) -> Option<String> {
    let mut json = String::new();
    ZlibDecoder::new(bytes).take(JSON_BYTES_MAX).read_to_string(&mut json).ok()?;
    Some(json)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::pin::pin;
    use std::sync::Mutex;
    use std::task::{Context, Poll, Waker};

    use keyform_core::execute::BoxFuture;
    use keyform_core::operation::{GetItemOutput, WriteItemOutput};
    use keyform_core::{Item, Operation, Output};

    use super::*;

    /// Items by id, without conditions.
    #[derive(Default)]
    struct Items(Mutex<BTreeMap<String, Attributes>>);

    impl Items {
        fn ids(&self) -> Vec<String> {
            self.0.lock().expect("one thread").keys().cloned().collect()
        }
    }

    fn id_of(key: &Attributes) -> String {
        match &key["id"] {
            AttributeValue::S(id) => id.clone(),
            other => panic!("{other:?}"),
        }
    }

    impl Execute for Items {
        fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>> {
            let mut items = self.0.lock().expect("one thread");
            let output = match operation {
                Operation::GetItem(get) => {
                    let item = items.get(&id_of(&get.key)).map(Item::from);
                    Output::GetItem(GetItemOutput { item, capacity: None })
                }
                Operation::PutItem(put) => {
                    items.insert(id_of(&put.item), put.item);
                    Output::PutItem(WriteItemOutput::default())
                }
                Operation::DeleteItem(delete) => {
                    items.remove(&id_of(&delete.key));
                    Output::DeleteItem(WriteItemOutput::default())
                }
                other => panic!("{other:?}"),
            };
            Box::pin(std::future::ready(Ok(output)))
        }
    }

    fn now<T>(work: impl Future<Output = T>) -> T {
        match pin!(work).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => value,
            Poll::Pending => panic!("the items are at hand"),
        }
    }

    #[test]
    fn a_large_form_is_stored_in_parts_that_the_next_record_removes() {
        let store = Items::default();
        let json: String = (0..2000).map(|number| format!("{{\"field\":{}}}", number * 7919 % 10_007)).collect();
        let first = Record::after(None, "model m", "one", true);
        assert_eq!(now(save_in_parts(&store, first, &json, None, 1000)), Ok(true));
        let stored = now(load(&store, "model m")).expect("it loads").expect("a record");
        assert!(stored.parts > 2 && stored.json.is_empty(), "{stored:?}");
        assert_eq!(now(load_json(&store, &stored)), Ok(Some(json)));

        let next = Record::after(Some(&stored), "model m", "two", true);
        assert_eq!((next.generation, next.compatible.as_slice()), (2, ["one".to_owned()].as_slice()));
        assert_eq!(now(save_in_parts(&store, next, "{}", Some(&stored), 1000)), Ok(true));
        assert_eq!(store.ids(), ["model m"], "the parts are gone");
        let stored = now(load(&store, "model m")).expect("it loads").expect("a record");
        assert!(stored.permits("one") && stored.permits("two") && !stored.permits("three"));
        assert_eq!(now(load_json(&store, &stored)), Ok(Some("{}".to_owned())));
    }

    #[test]
    fn a_missing_part_is_no_model() {
        let store = Items::default();
        let record = Record { parts: 1, ..Record::after(None, "model m", "one", true) };
        assert_eq!(now(load_json(&store, &record)), Ok(None));
        assert_eq!(expanded(b"damaged"), None);
    }
}
