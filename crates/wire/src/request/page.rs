//! Requests that return pages: Query and Scan.

use keyform_core::error::constraint::Violations;
use keyform_core::error::request;
use keyform_core::operation::{Query, Scan, Segment};
use keyform_core::{Attributes, Error};

use super::parameters::Parameters;
use super::{Body, choice, item, mixture, table_name};
use crate::expressions::Expressions;
use crate::{Echo, legacy};

const SEGMENT_MAX: i64 = 999_999;
const TOTAL_SEGMENTS_MAX: i64 = 1_000_000;

const QUERY: &[&str] = &[
    "TableName",
    "IndexName",
    "KeyConditionExpression",
    "FilterExpression",
    "ProjectionExpression",
    "ExpressionAttributeNames",
    "ExpressionAttributeValues",
    "Select",
    "Limit",
    "ConsistentRead",
    "ScanIndexForward",
    "ExclusiveStartKey",
    "ReturnConsumedCapacity",
    "KeyConditions",
    "QueryFilter",
    "ConditionalOperator",
    "AttributesToGet",
];

const SCAN: &[&str] = &[
    "TableName",
    "IndexName",
    "FilterExpression",
    "ProjectionExpression",
    "ExpressionAttributeNames",
    "ExpressionAttributeValues",
    "Select",
    "Limit",
    "ConsistentRead",
    "Segment",
    "TotalSegments",
    "ExclusiveStartKey",
    "ReturnConsumedCapacity",
    "ScanFilter",
    "ConditionalOperator",
    "AttributesToGet",
];

/// Reads a Query.
pub(super) fn query(body: Body<'_>) -> Result<(Query, Echo), Error> {
    let (mut parameters, mut echo) = body.read(|reader| Parameters::read(reader, "QueryInput", QUERY))?;
    check_query_constraints(&parameters)?;
    mixture::check_with(&parameters, &["FilterExpression", "KeyConditionExpression"])?;
    let mut expressions = Expressions::of(&mut parameters)?;
    check_select(&parameters)?;
    let start = start_key(&mut parameters)?;
    legacy::check_conditional_operator(&parameters.legacy)?;
    let legacy_projection = legacy::projection(parameters.legacy.attributes_to_get.take())?;
    let legacy_filter = legacy::query_filter(&mut parameters.legacy)?;
    let legacy_key = legacy::key_conditions(&mut parameters.legacy)?;
    if parameters.key_condition.is_none() && legacy_key.is_none() {
        return Err(request::key_condition_missing());
    }
    let filter = expressions.filter(parameters.filter.as_deref())?;
    let key = expressions.key_condition(parameters.key_condition.as_deref())?;
    let projection = expressions.projection(parameters.projection.as_deref())?;
    expressions.finish()?;
    let request = Query {
        index: parameters.index,
        key: key.or(legacy_key).ok_or_else(request::key_condition_missing)?,
        filter: filter.or(legacy_filter),
        projection: projection.or(legacy_projection),
        select: choice::select(parameters.select.as_deref()),
        limit: limit(parameters.limit),
        consistent: parameters.consistent.unwrap_or(false),
        reverse: !parameters.forward.unwrap_or(true),
        start,
        return_capacity: choice::return_capacity(parameters.return_capacity.as_deref()),
        table: echo.resolve(parameters.table),
    };
    Ok((request, echo))
}

/// Reads a Scan.
pub(super) fn scan(body: Body<'_>) -> Result<(Scan, Echo), Error> {
    let (mut parameters, mut echo) = body.read(|reader| Parameters::read(reader, "ScanInput", SCAN))?;
    check_scan_constraints(&parameters)?;
    mixture::check_with(&parameters, &["FilterExpression"])?;
    let mut expressions = Expressions::of(&mut parameters)?;
    check_select(&parameters)?;
    let start = start_key(&mut parameters)?;
    legacy::check_conditional_operator(&parameters.legacy)?;
    let segment = segment(&parameters)?;
    let legacy_projection = legacy::projection(parameters.legacy.attributes_to_get.take())?;
    let legacy_filter = legacy::scan_filter(&mut parameters.legacy)?;
    let filter = expressions.filter(parameters.filter.as_deref())?;
    let projection = expressions.projection(parameters.projection.as_deref())?;
    expressions.finish()?;
    let request = Scan {
        index: parameters.index,
        filter: filter.or(legacy_filter),
        projection: projection.or(legacy_projection),
        select: choice::select(parameters.select.as_deref()),
        limit: limit(parameters.limit),
        consistent: parameters.consistent.unwrap_or(false),
        segment,
        start,
        return_capacity: choice::return_capacity(parameters.return_capacity.as_deref()),
        table: echo.resolve(parameters.table),
    };
    Ok((request, echo))
}

fn check_query_constraints(parameters: &Parameters) -> Result<(), Error> {
    check_numbers(parameters)?;
    let mut violations = Violations::new();
    check_page(&mut violations, parameters);
    legacy::check_operators(&mut violations, "keyConditions", parameters.legacy.key_conditions.as_deref());
    legacy::check_operators(&mut violations, "queryFilter", parameters.legacy.query_filter.as_deref());
    violations.finish()?;
    check_select_name(parameters)
}

fn check_scan_constraints(parameters: &Parameters) -> Result<(), Error> {
    check_numbers(parameters)?;
    let mut violations = Violations::new();
    check_page(&mut violations, parameters);
    legacy::check_operators(&mut violations, "scanFilter", parameters.legacy.scan_filter.as_deref());
    violations.finish()?;
    check_select_name(parameters)
}

/// Checks the ranges of numbers. DynamoDB reports these violations without any others.
fn check_numbers(parameters: &Parameters) -> Result<(), Error> {
    let mut violations = Violations::new();
    check_range(&mut violations, parameters.limit, "Limit", 1, i64::MAX);
    check_range(&mut violations, parameters.segment, "Segment", 0, SEGMENT_MAX);
    check_range(&mut violations, parameters.total_segments, "TotalSegments", 1, TOTAL_SEGMENTS_MAX);
    violations.finish()
}

fn check_select_name(parameters: &Parameters) -> Result<(), Error> {
    let mut violations = Violations::new();
    choice::check_select(&mut violations, parameters);
    violations.finish()
}

fn check_range(violations: &mut Violations, value: Option<i64>, member: &str, least: i64, most: i64) {
    match value {
        Some(value) if value < least => violations.low_unvalued(member, least),
        Some(value) if value > most => violations.high_unvalued(member, most),
        _ => {}
    }
}

fn check_page(violations: &mut Violations, parameters: &Parameters) {
    table_name::check(violations, parameters.table.as_deref());
    choice::check_return_capacity(violations, parameters);
    choice::check_conditional_operator(violations, parameters);
    item::check_attributes_to_get(violations, parameters);
}

fn check_select(parameters: &Parameters) -> Result<(), Error> {
    let named = match parameters {
        Parameters { projection: Some(_), .. } => Some("ProjectionExpression"),
        Parameters { legacy, .. } if legacy.attributes_to_get.is_some() => Some("AttributesToGet"),
        _ => None,
    };
    match (parameters.select.as_deref(), named) {
        (Some("SPECIFIC_ATTRIBUTES"), None) => Err(request::select_without_attributes()),
        (Some(select @ ("COUNT" | "ALL_ATTRIBUTES" | "ALL_PROJECTED_ATTRIBUTES")), Some(member)) => {
            Err(request::select_with_attributes(member, select))
        }
        (Some("ALL_PROJECTED_ATTRIBUTES"), None) if parameters.index.is_none() => Err(request::select_without_index()),
        _ => Ok(()),
    }
}

/// Returns the start key. DynamoDB reports a value with no type or several types as an invalid start key, and other
/// problems without a prefix.
fn start_key(parameters: &mut Parameters) -> Result<Option<Attributes>, Error> {
    let told = |reason: Error| match request::is_about_types(&reason) {
        true => request::invalid_start_key(&reason),
        false => reason,
    };
    parameters.start.take().transpose().map_err(told)
}

fn segment(parameters: &Parameters) -> Result<Option<Segment>, Error> {
    match (parameters.segment, parameters.total_segments) {
        (None, None) => Ok(None),
        (Some(_), None) => Err(request::total_segments_missing()),
        (None, Some(_)) => Err(request::segment_missing()),
        (Some(number), Some(total)) if number >= total => Err(request::segment_too_high()),
        (Some(number), Some(total)) => Ok(Some(Segment { number: number as u32, total: total as u32 })),
    }
}

fn limit(limit: Option<i64>) -> Option<usize> {
    limit.and_then(|limit| usize::try_from(limit).ok())
}
