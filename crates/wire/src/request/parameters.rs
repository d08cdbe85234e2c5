//! Members shared by the item requests, before they are checked. Each request uses some of them.

use std::collections::BTreeMap;

use keyform_core::error::request;
use keyform_core::{AttributeValue, Attributes, Error};

use crate::json::{Kind, Reader};
use crate::legacy::{self, LegacyParameters};
use crate::value::{Checked, attribute_value, attributes};

/// Maximum number of list elements, or tables of a batch, that are kept in memory. It is above every limit of a
/// request, so a list that is too long is still detected. Further elements are parsed and dropped, so that a body of
/// 16 MB does not expand to gigabytes.
const KEPT_MAX: usize = 10_000;

/// Attribute names by `#name` placeholder.
pub(crate) type Names = BTreeMap<String, String>;
/// Values by `:value` placeholder.
pub(crate) type Values = BTreeMap<String, AttributeValue>;

/// Error of an invalid placeholder value, in the wording of two kinds of requests.
pub(crate) struct BadValue {
    /// For single-item requests and pages: the reason alone.
    pub(crate) alone: Error,
    /// For transactions: the reason with the placeholder.
    pub(crate) named: Error,
}

impl BadValue {
    /// Creates the error. A value with no type or several types is reported with its placeholder in all requests.
    fn new(reason: Error, placeholder: &str) -> Self {
        let named = request::invalid_expression_value(&reason, placeholder);
        let alone = if request::is_about_types(&reason) { named.clone() } else { reason };
        Self { alone, named }
    }
}

/// Members of a request before they are checked.
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
    /// Reads the members of an object that are in `members`; skips others.
    pub(crate) fn read(reader: &mut Reader<'_>, class: &str, members: &[&str]) -> Result<Self, Error> {
        let mut parameters = Self::default();
        reader.opt_structure(class, |reader, name| {
            if members.contains(&name) { parameters.member(reader, name) } else { reader.skip() }
        })?;
        Ok(parameters)
    }

    /// Reads the member with this name.
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

/// Reads attributes. A value with several types is rejected immediately, before any other check.
fn unambiguous(reader: &mut Reader<'_>) -> Result<Option<Checked<Attributes>>, Error> {
    match attributes(reader)? {
        Some(Err(problem)) if problem == request::ambiguous_attribute_value() => Err(problem),
        checked => Ok(checked),
    }
}

/// Reads values by placeholder; keeps the first problem.
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

/// Checks that the body is an object, not an array or a scalar.
pub(crate) fn body_is_object(reader: &mut Reader<'_>, operation: &str) -> Result<(), Error> {
    match reader.peek()? {
        Kind::Object => Ok(()),
        Kind::Array => Err(request::unrecognized_structure(&format!("{operation}Input"))),
        _ => Err(request::unexpected_field_type()),
    }
}

/// Reads a list and keeps up to [`KEPT_MAX`] elements; returns `None` for `null`.
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

/// Contents of a batch by table, in request order.
pub(super) type ByTable<T> = Option<Vec<(String, T)>>;

/// Reads a batch: `RequestItems` by table, where `element` reads each entry, and the other members.
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
