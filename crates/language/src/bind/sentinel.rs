//! Sentinel items, which enforce unique fields.
//!
//! For an item with the unique value `ada@example.com`, a sentinel item exists whose key is derived from that value.
//! The same transaction puts the item and the sentinel, on the condition that the sentinel does not exist. A second
//! item with the same value therefore fails:
//!
//! ```text
//! pk = UNIQUE#User.email#ada@example.com   sk = UNIQUE
//! ```
//!
//! The values of `unique per` fields precede it, with `#` and `%` escaped as `%23` and `%25`. A key that
//! would be too long is truncated and ends in the hash of its full text.

use keyform_core::expression::{Condition, Operand, Path};
use keyform_core::operation::TransactAction;
use keyform_core::{AttributeValue, Attributes, Item, ValueRef};

use crate::document::ast::KeyType;
use crate::schema::{Entity, Field, FieldId, Format, KeyAttribute, Table, Type};
use crate::span::Spanned;
use crate::template::render;

use super::BindError;
use super::expiry::Expiry;
use super::fields::Fields;
use super::value;

/// Prefix of the partition key of every sentinel, and its sort key.
const MARK: &str = "UNIQUE";
/// Maximum length of a sentinel's key, half of DynamoDB's limit for a partition key: short keys are cheaper.
const KEY_BYTES_MAX: usize = 1024;

/// Returns the key of the sentinel for a field's value; `None` if the item has no value there.
pub(super) fn key(
    table: &Table,
    entity: &Entity,
    field: FieldId,
    fields: &Fields,
) -> Result<Option<Attributes>, BindError> {
    let unique = entity.field(field).flags.unique.as_ref();
    let mut text = format!("{MARK}#{}.{}", entity.name, entity.field(field).name);
    for part in unique.iter().flat_map(|unique| &unique.per) {
        let Some(value) = fields.get(*part) else { return Ok(None) };
        text.push_str(&format!("#{}", without_delimiter(&plain(value)?)));
    }
    let Some(value) = fields.get(field) else { return Ok(None) };
    text.push_str(&format!("#{}", plain(value)?));
    let mut key = Attributes::new();
    key.insert(name(table.partition.as_ref())?, short(text).into());
    if table.sort.is_some() {
        key.insert(name(table.sort.as_ref())?, MARK.into());
    }
    Ok(Some(key))
}

fn plain(value: &AttributeValue) -> Result<String, BindError> {
    value::plain(value).ok_or_else(|| BindError::WrongValue(format!("{value:?}")))
}

/// Escapes the delimiter, so that different lists of values never yield the same text.
fn without_delimiter(text: &str) -> String {
    text.replace('%', "%25").replace('#', "%23")
}

/// Truncates a long text and appends the hash of the full text.
fn short(text: String) -> String {
    if text.len() <= KEY_BYTES_MAX {
        return text;
    }
    let hash = render::written(&Type::Json, Format::Hash, &text).unwrap_or_default();
    let end = (0..=KEY_BYTES_MAX / 2).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    format!("{}%{hash}", &text[..end])
}

fn name(attribute: Option<&KeyAttribute>) -> Result<String, BindError> {
    match attribute {
        Some(attribute) if attribute.kind == KeyType::String => Ok(attribute.name.clone()),
        Some(_) => Err(BindError::Inexpressible("a sentinel in a table whose key is not a string".to_owned())),
        None => Err(BindError::Missing("the table's key".to_owned())),
    }
}

/// Returns the action that puts a new sentinel, which must not exist. It expires with its item (ADR 0017).
pub(super) fn claim(
    table: &Table,
    name: String,
    key: Attributes,
    entity: &Entity,
    fields: &Fields,
    expiry: Option<Expiry<'_>>,
) -> TransactAction {
    let absent = key.keys().next().map(|attribute| Condition::AttributeNotExists(Path::attribute(attribute)));
    let condition = absent.map(|absent| match expiry {
        Some(expiry) => expiry.as_absent(absent),
        None => absent,
    });
    TransactAction::Put {
        table: name,
        item: whole(table, key, entity, fields),
        condition,
        return_item_on_failure: false,
    }
}

/// Returns the action that puts a sentinel the item already owns, with the item's new expiry time.
pub(super) fn renew(table: &Table, name: String, key: Attributes, entity: &Entity, fields: &Fields) -> TransactAction {
    let item = whole(table, key, entity, fields);
    TransactAction::Put { table: name, item, condition: None, return_item_on_failure: false }
}

fn whole(table: &Table, mut item: Attributes, entity: &Entity, fields: &Fields) -> Attributes {
    if let Some(Spanned { value: ttl, .. }) = &table.ttl
        && let Some(value) = entity.field_named(ttl).and_then(|field| fields.get(field))
    {
        item.insert(ttl.clone(), value.clone());
    }
    if let Some(tag) = &table.tag {
        item.entry(tag.value.clone()).or_insert_with(|| AttributeValue::from(MARK));
    }
    item
}

/// Returns the sentinels that an item with these fields has in its table.
///
/// # Errors
///
/// Returns an error if a unique value cannot be written in a key.
pub fn sentinels(table: &Table, entity: &Entity, values: &Attributes) -> Result<Vec<Attributes>, BindError> {
    let fields = super::item::known_fields(entity, values);
    let unique = (0..entity.fields.len()).map(FieldId).filter(|field| is_guarded(entity, *field));
    let keys = unique.filter_map(|field| key(table, entity, field, &fields).transpose());
    keys.map(|key| Ok(whole(table, key?, entity, &fields))).collect()
}

/// Returns the action that deletes a sentinel.
pub(super) fn release(name: String, key: Attributes) -> TransactAction {
    TransactAction::Delete { table: name, key, condition: None, return_item_on_failure: false }
}

/// Returns the condition that an item is not a sentinel, judged by the table's partition key.
pub(super) fn is_none(partition: &str) -> Condition {
    let (path, mark) = (Operand::Path(Path::attribute(partition)), AttributeValue::from(format!("{MARK}#")));
    Condition::Not(Box::new(Condition::BeginsWith(path, Operand::Value(mark.into()))))
}

/// Returns true if an item is a sentinel: its key has the form of one, and it has no attributes besides key and expiry
/// time.
pub fn is_sentinel(table: &Table, item: &Item) -> bool {
    let begins = |attribute: &KeyAttribute| matches!(item.get(&attribute.name), Some(ValueRef::S(text)) if text.strip_prefix(MARK).is_some_and(|rest| rest.starts_with('#')));
    let is_mark = |attribute: &KeyAttribute| item.get(&attribute.name) == Some(ValueRef::S(MARK));
    let own = |name: &str| {
        table.key_names().any(|key| key == name) || table.ttl.as_ref().is_some_and(|ttl| ttl.value == name)
    };
    table.partition.as_ref().is_some_and(begins)
        && table.sort.as_ref().is_none_or(is_mark)
        && item.as_map().iter().all(|(name, _)| own(name))
}

/// Returns true if a sentinel enforces the field's uniqueness, rather than the key itself.
pub(super) fn is_guarded(entity: &Entity, field: FieldId) -> bool {
    let is_unique = |field: &Field| field.flags.unique.is_some();
    is_unique(entity.field(field)) && crate::plan::guarded_fields(entity).any(|guarded| guarded == field)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_keys_are_cut_and_stay_different() {
        let long = |end: &str| short(format!("{}{end}", "é".repeat(2000)));
        assert!(long("1").len() <= KEY_BYTES_MAX);
        assert_ne!(long("1"), long("2"));
        assert_eq!(short("short".to_owned()), "short");
    }
}
