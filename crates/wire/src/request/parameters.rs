//! The members that requests about items are made of, as they stand in the JSON. Each request takes some of them.

use std::collections::BTreeMap;

use keyform_core::error::request;
use keyform_core::{AttributeValue, Attributes, Error};

use crate::json::{Kind, Reader};
use crate::legacy::{self, LegacyParameters};
use crate::value::{Checked, attribute_value, attributes};

/// How many elements of a list, or tables of a batch, are kept. No request may have as many: the rest is read, but a body of
/// sixteen megabytes does not become gigabytes.
const KEPT_MAX: usize = 10_000;

/// What `#name` stands for.
pub(crate) type Names = BTreeMap<String, String>;
/// What `:value` stands for.
pub(crate) type Values = BTreeMap<String, AttributeValue>;

/// Why a value of a placeholder is none, in the words of two kinds of requests.
pub(crate) struct BadValue {
    /// Of requests about one item, and of pages: the reason alone.
    pub(crate) alone: Error,
    /// Of transactions: with the placeholder.
    pub(crate) named: Error,
}

impl BadValue {
    /// A value without a type is told with its placeholder everywhere.
    fn new(reason: Error, placeholder: &str) -> Self {
        let named = request::invalid_expression_value(&reason, placeholder);
        let alone = if request::is_about_types(&reason) { named.clone() } else { reason };
        Self { alone, named }
    }
}

/// The members of a request, none of them looked at yet.
#[derive(Default)]
pub(crate) struct Parameters {
    pub(crate) table: Option<String>,
    pub(crate) index: Option<String>,
    pub(crate) key: Option<Checked<Attributes>>,
    pub(crate) item: Option<Checked<Attributes>>,
    pub(crate) start: Option<Checked<Attributes>>,
    pub(crate) condition: Option<String>,
    pub(crate) filter: Option<String>,
    pub(crate) key_condition: Option<String>,
    pub(crate) projection: Option<String>,
    pub(crate) update: Option<String>,
    pub(crate) names: Option<Names>,
    pub(crate) values: Option<Result<Values, BadValue>>,
    pub(crate) legacy: LegacyParameters,
    pub(crate) select: Option<String>,
    pub(crate) return_values: Option<String>,
    pub(crate) return_on_failure: Option<String>,
    pub(crate) return_capacity: Option<String>,
    pub(crate) return_metrics: Option<String>,
    pub(crate) consistent: Option<bool>,
    pub(crate) forward: Option<bool>,
    pub(crate) limit: Option<i64>,
    pub(crate) segment: Option<i64>,
    pub(crate) total_segments: Option<i64>,
}

impl Parameters {
    /// Reads the members of an object that are among `members`; others are ignored.
    pub(crate) fn read(reader: &mut Reader<'_>, class: &str, members: &[&str]) -> Result<Self, Error> {
        let mut parameters = Self::default();
        reader.opt_structure(class, |reader, name| {
            if members.contains(&name) { parameters.member(reader, name) } else { reader.skip() }
        })?;
        Ok(parameters)
    }

    /// Reads the member of that name.
    pub(super) fn member(&mut self, reader: &mut Reader<'_>, name: &str) -> Result<(), Error> {
        match name {
            "TableName" => self.table = reader.opt_string()?,
            "IndexName" => self.index = reader.opt_string()?,
            "Key" => self.key = unambiguous(reader)?,
            "Item" => self.item = unambiguous(reader)?,
            "ExclusiveStartKey" => self.start = attributes(reader)?,
            "ConditionExpression" => self.condition = reader.opt_string()?,
            "FilterExpression" => self.filter = reader.opt_string()?,
            "KeyConditionExpression" => self.key_condition = reader.opt_string()?,
            "ProjectionExpression" => self.projection = reader.opt_string()?,
            "UpdateExpression" => self.update = reader.opt_string()?,
            "ExpressionAttributeNames" => self.names = names(reader)?,
            "ExpressionAttributeValues" => self.values = values(reader)?,
            "Select" => self.select = reader.opt_string()?,
            "ReturnValues" => self.return_values = reader.opt_string()?,
            "ReturnValuesOnConditionCheckFailure" => self.return_on_failure = reader.opt_string()?,
            "ReturnConsumedCapacity" => self.return_capacity = reader.opt_string()?,
            "ReturnItemCollectionMetrics" => self.return_metrics = reader.opt_string()?,
            "ConsistentRead" => self.consistent = reader.opt_bool()?,
            "ScanIndexForward" => self.forward = reader.opt_bool()?,
            "Limit" => self.limit = reader.opt_integer()?,
            "Segment" => self.segment = reader.opt_integer()?,
            "TotalSegments" => self.total_segments = reader.opt_integer()?,
            _ => legacy::member(&mut self.legacy, reader, name)?,
        }
        Ok(())
    }
}

fn names(reader: &mut Reader<'_>) -> Result<Option<Names>, Error> {
    let mut names = Names::new();
    let present = reader.opt_map("String", |reader, name| {
        names.insert(name.to_owned(), reader.opt_string()?.unwrap_or_default());
        Ok(())
    })?;
    Ok(present.then_some(names))
}

/// Attributes, of which one that has several types is refused before anything else is looked at.
fn unambiguous(reader: &mut Reader<'_>) -> Result<Option<Checked<Attributes>>, Error> {
    match attributes(reader)? {
        Some(Err(problem)) if problem == request::ambiguous_attribute_value() => Err(problem),
        checked => Ok(checked),
    }
}

/// Values by placeholder; the first that is none spoils all.
fn values(reader: &mut Reader<'_>) -> Result<Option<Result<Values, BadValue>>, Error> {
    let mut values = Ok(Values::new());
    let present = reader.opt_map("AttributeValue", |reader, name| {
        let value = attribute_value(reader)?;
        if let Ok(known) = &mut values {
            match value {
                Ok(value) => drop(known.insert(name.to_owned(), value)),
                Err(problem) if problem == request::ambiguous_attribute_value() => {
                    return Err(request::invalid_expression_value(&problem, name));
                }
                Err(problem) => values = Err(BadValue::new(problem, name)),
            }
        }
        Ok(())
    })?;
    Ok(present.then_some(values))
}

/// An object at the top of a body; an array or a scalar is none.
pub(crate) fn body_is_object(reader: &mut Reader<'_>, operation: &str) -> Result<(), Error> {
    match reader.peek()? {
        Kind::Object => Ok(()),
        Kind::Array => Err(request::unrecognized_structure(&format!("{operation}Input"))),
        _ => Err(request::unexpected_field_type()),
    }
}

/// A list of what `element` reads, of which so many are kept that one too many shows; nothing where `null` stands.
pub(super) fn checked_list<T>(
    reader: &mut Reader<'_>,
    element: impl Fn(&mut Reader<'_>) -> Result<T, Error>,
) -> Result<Option<Vec<T>>, Error> {
    let mut elements = Vec::new();
    let present = reader.opt_list(|reader| {
        let value = element(reader)?;
        if elements.len() < KEPT_MAX {
            elements.push(value);
        }
        Ok(())
    })?;
    Ok(present.then_some(elements))
}

/// What a batch has for each table, in the order of the request.
pub(super) type ByTable<T> = Option<Vec<(String, T)>>;

/// A batch: `RequestItems` by table, of which `element` reads each, and the other members.
pub(super) fn by_table<T>(
    reader: &mut Reader<'_>,
    class: &str,
    element: impl Fn(&mut Reader<'_>) -> Result<T, Error>,
) -> Result<(ByTable<T>, Parameters), Error> {
    let (mut tables, mut parameters) = (None, Parameters::default());
    reader.opt_structure("BatchInput", |reader, name| match name {
        "RequestItems" => {
            tables = reader.opt_entries(class, KEPT_MAX, &element)?;
            Ok(())
        }
        "ReturnConsumedCapacity" | "ReturnItemCollectionMetrics" => parameters.member(reader, name),
        _ => reader.skip(),
    })?;
    Ok((tables, parameters))
}
