//! Batch requests, whose items succeed or fail on their own: BatchGetItem and BatchWriteItem.

use std::collections::HashSet;
use std::fmt;

use keyform_core::error::constraint::Violations;
use keyform_core::error::request;
use keyform_core::limits::{BATCH_GET_KEYS_MAX, BATCH_WRITE_REQUESTS_MAX};
use keyform_core::operation::{BatchGetItem, BatchGetRequest, BatchWriteItem, WriteRequest};
use keyform_core::{Attributes, Error, Item};

use super::parameters::{Parameters, by_table, checked_list};
use super::{Body, choice, mixture, shown, table_name};
use crate::expressions::Expressions;
use crate::json::Reader;
use crate::value::{Checked, attributes};
use crate::{Echo, UnreadKeys, legacy};

const KEYS_MEMBERS: &[&str] =
    &["ProjectionExpression", "ExpressionAttributeNames", "ConsistentRead", "AttributesToGet"];

/// Keys of one table before they are checked.
struct KeysAndAttributes {
    keys: Option<Vec<Checked<Attributes>>>,
    parameters: Parameters,
}

/// One write before it is checked.
#[derive(Default)]
struct RawWrite {
    put: Option<Option<Checked<Attributes>>>,
    delete: Option<Option<Checked<Attributes>>>,
}

/// Reads a BatchGetItem.
pub(super) fn get(body: Body<'_>) -> Result<(BatchGetItem, Echo), Error> {
    let ((tables, parameters), mut echo) =
        body.read(|reader| by_table(reader, "KeysAndAttributes", keys_and_attributes))?;
    check_get_constraints(tables.as_deref(), &parameters)?;
    let tables = tables.unwrap_or_default();
    let count: usize = tables.iter().map(|(_, table)| table.keys.as_ref().map_or(0, Vec::len)).sum();
    if count > BATCH_GET_KEYS_MAX {
        return Err(request::batch_get_too_large());
    }
    let mut requests = Vec::with_capacity(tables.len());
    for (table, raw) in tables {
        let (request, unread) = get_request(raw)?;
        let name = table_name::resolve(Some(table.clone()));
        echo.add_table(&name, table, Some(unread));
        requests.push((name, request));
    }
    let return_capacity = choice::return_capacity(parameters.return_capacity.as_deref());
    Ok((BatchGetItem { tables: requests, return_capacity }, echo))
}

/// Reads a BatchWriteItem.
pub(super) fn write(body: Body<'_>) -> Result<(BatchWriteItem, Echo), Error> {
    let ((tables, parameters), mut echo) = body.read(|reader| by_table(reader, "WriteRequest", raw_writes))?;
    check_write_constraints(tables.as_deref(), &parameters)?;
    let tables = tables.filter(|tables| !tables.is_empty()).ok_or_else(request::batch_write_empty)?;
    let count: usize = tables.iter().map(|(_, writes)| writes.len()).sum();
    if count > BATCH_WRITE_REQUESTS_MAX {
        return Err(request::batch_write_too_large());
    }
    let mut requests = Vec::with_capacity(tables.len());
    for (table, writes) in tables {
        let writes = writes.into_iter().map(write_request).collect::<Result<_, _>>()?;
        let name = table_name::resolve(Some(table.clone()));
        echo.add_table(&name, table, None);
        requests.push((name, writes));
    }
    let request = BatchWriteItem {
        tables: requests,
        return_capacity: choice::return_capacity(parameters.return_capacity.as_deref()),
        return_metrics: choice::return_metrics(parameters.return_metrics.as_deref()),
    };
    Ok((request, echo))
}

fn keys_and_attributes(reader: &mut Reader<'_>) -> Result<KeysAndAttributes, Error> {
    let mut raw = KeysAndAttributes { keys: None, parameters: Parameters::default() };
    reader.opt_structure("KeysAndAttributes", |reader, name| match name {
        "Keys" => {
            raw.keys = checked_list(reader, |reader| Ok(attributes(reader)?.unwrap_or_else(|| Ok(Attributes::new()))))?;
            Ok(())
        }
        name if KEYS_MEMBERS.contains(&name) => raw.parameters.member(reader, name),
        _ => reader.skip(),
    })?;
    Ok(raw)
}

fn raw_writes(reader: &mut Reader<'_>) -> Result<Vec<RawWrite>, Error> {
    Ok(checked_list(reader, raw_write)?.unwrap_or_default())
}

fn raw_write(reader: &mut Reader<'_>) -> Result<RawWrite, Error> {
    let mut raw = RawWrite::default();
    reader.opt_structure("WriteRequest", |reader, name| {
        match name {
            "PutRequest" => raw.put = member(reader, "PutRequest", "Item")?,
            "DeleteRequest" => raw.delete = member(reader, "DeleteRequest", "Key")?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(raw)
}

/// Reads an object with a single member that holds attributes.
fn member(reader: &mut Reader<'_>, class: &str, member: &str) -> Result<Option<Option<Checked<Attributes>>>, Error> {
    let mut found = None;
    let present = reader.opt_structure(class, |reader, name| {
        if name == member {
            found = attributes(reader)?;
            Ok(())
        } else {
            reader.skip()
        }
    })?;
    Ok(present.then_some(found))
}

fn check_get_constraints(tables: Option<&[(String, KeysAndAttributes)]>, parameters: &Parameters) -> Result<(), Error> {
    let mut violations = Violations::new();
    match tables {
        None => violations.null("requestItems"),
        Some([]) => violations.few("RequestItems", 1),
        Some(tables) => check_tables(&mut violations, tables, shown_keys),
    }
    choice::check_return_capacity(&mut violations, parameters);
    for (table, raw) in tables.unwrap_or_default() {
        check_keys(&mut violations, table, raw);
    }
    violations.finish()
}

fn check_keys(violations: &mut Violations, table: &str, raw: &KeysAndAttributes) {
    match raw.keys.as_ref().map(Vec::len) {
        None => violations.null(&format!("requestItems.{table}.member.keys")),
        Some(0) => violations.few(&format!("RequestItems.{table}.member.Keys"), 1),
        Some(count) if count > BATCH_GET_KEYS_MAX => {
            violations.many(&format!("RequestItems.{table}.member.Keys"), BATCH_GET_KEYS_MAX);
        }
        Some(_) => {}
    }
}

fn check_write_constraints(tables: Option<&[(String, Vec<RawWrite>)]>, parameters: &Parameters) -> Result<(), Error> {
    let mut violations = Violations::new();
    match tables {
        None => violations.null("requestItems"),
        Some(tables) => {
            check_tables(&mut violations, tables, shown_writes);
            check_write_counts(&mut violations, tables);
        }
    }
    choice::check_return_capacity(&mut violations, parameters);
    choice::check_return_metrics(&mut violations, parameters);
    for (table, writes) in tables.unwrap_or_default() {
        for (place, write) in writes.iter().enumerate() {
            check_write(&mut violations, format_args!("requestItems.{table}.member.{}.member", place + 1), write);
        }
    }
    violations.finish()
}

fn check_write_counts(violations: &mut Violations, tables: &[(String, Vec<RawWrite>)]) {
    if tables.iter().any(|(_, writes)| writes.is_empty() || writes.len() > BATCH_WRITE_REQUESTS_MAX) {
        violations.list_lengths(&shown_writes(tables), "requestItems", BATCH_WRITE_REQUESTS_MAX);
    }
}

fn check_write(violations: &mut Violations, member: fmt::Arguments<'_>, write: &RawWrite) {
    if matches!(write.put, Some(None)) {
        violations.null(&format!("{member}.putRequest.item"));
    }
    if matches!(write.delete, Some(None)) {
        violations.null(&format!("{member}.deleteRequest.key"));
    }
}

fn check_tables<T>(violations: &mut Violations, tables: &[(String, T)], shown: fn(&[(String, T)]) -> String) {
    let is_name = |table: &str| table_name::is_well_spelled(table) && table_name::has_length(table);
    if !tables.iter().all(|(table, _)| is_name(table) || table_name::name_in_arn(table).is_some()) {
        violations.table_keys(&shown(tables), "requestItems");
    }
}

/// Formats all keys as DynamoDB's error messages do.
fn shown_keys(tables: &[(String, KeysAndAttributes)]) -> String {
    shown::map(tables.iter().map(|(table, raw)| {
        let keys = raw.keys.iter().flatten().map(|key| shown::attributes(Some(key)));
        let attributes = raw.parameters.legacy.attributes_to_get.as_ref();
        let fields = [
            ("keys", shown::list(keys)),
            ("attributesToGet", attributes.map_or_else(shown::null, |names| shown::list(names.iter().cloned()))),
            ("consistentRead", raw.parameters.consistent.map_or_else(shown::null, |value| value.to_string())),
            ("projectionExpression", shown::string(raw.parameters.projection.as_ref())),
            ("expressionAttributeNames", shown::names(raw.parameters.names.as_ref())),
        ];
        (table.clone(), shown::object("KeysAndAttributes", &fields))
    }))
}

/// Formats all writes as DynamoDB's error messages do.
fn shown_writes(tables: &[(String, Vec<RawWrite>)]) -> String {
    shown::map(tables.iter().map(|(table, writes)| (table.clone(), shown::list(writes.iter().map(shown_write)))))
}

fn shown_write(write: &RawWrite) -> String {
    let put = shown_request("PutRequest", "item", write.put.as_ref());
    let delete = shown_request("DeleteRequest", "key", write.delete.as_ref());
    shown::object("WriteRequest", &[("putRequest", put), ("deleteRequest", delete)])
}

fn shown_request(class: &str, member: &str, request: Option<&Option<Checked<Attributes>>>) -> String {
    let Some(attributes) = request else { return shown::null() };
    let fields = [(member, shown::attributes(attributes.as_ref())), ("workloadProfileName", shown::null())];
    shown::object(class, &fields)
}

fn get_request(raw: KeysAndAttributes) -> Result<(BatchGetRequest, UnreadKeys), Error> {
    let KeysAndAttributes { keys, mut parameters } = raw;
    mixture::check(&parameters)?;
    let keys = keys.unwrap_or_default().into_iter().collect::<Result<Vec<_>, _>>()?;
    let legacy_projection = legacy::projection(parameters.legacy.attributes_to_get.clone())?;
    let unread = UnreadKeys {
        keys: keys.clone(),
        projection: parameters.projection.clone(),
        names: parameters.names.clone(),
        consistent: parameters.consistent,
        attributes: parameters.legacy.attributes_to_get.take(),
    };
    let mut expressions = Expressions::of(&mut parameters)?;
    let projection = expressions.projection(parameters.projection.as_deref())?;
    expressions.finish()?;
    let mut seen = HashSet::new();
    if !keys.iter().all(|key| seen.insert(Item::from(key).as_bytes().clone())) {
        return Err(request::duplicate_keys());
    }
    let consistent = parameters.consistent.unwrap_or(false);
    Ok((BatchGetRequest { keys, projection: projection.or(legacy_projection), consistent }, unread))
}

fn write_request(raw: RawWrite) -> Result<WriteRequest, Error> {
    match (raw.put.flatten(), raw.delete.flatten()) {
        (Some(item), None) => Ok(WriteRequest::Put(item?)),
        (None, Some(key)) => Ok(WriteRequest::Delete(key?)),
        (Some(_), Some(_)) => Err(request::ambiguous_attribute_value()),
        (None, None) => Err(request::empty_attribute_value()),
    }
}
