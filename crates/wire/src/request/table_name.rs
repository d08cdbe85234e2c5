//! Table names: their constraints, and the name in an ARN.

use std::fmt;

use keyform_core::Error;
use keyform_core::error::constraint::Violations;
use keyform_core::error::request;

const NAME_LENGTH_MIN: usize = 3;
const NAME_LENGTH_MAX: usize = 255;
const PATTERN: &str = "[a-zA-Z0-9_.-]+";

/// Checks the table of a data operation, which may be a name or an ARN. If both the length and the characters of a
/// name are invalid, DynamoDB reports only the length.
pub(crate) fn check(violations: &mut Violations, table: Option<&str>) {
    match table {
        None => violations.null("tableName"),
        Some("") => violations.unnamed("TableName"),
        Some(table) if name_in_arn(table).is_some() => {}
        Some(table) if has_length(table) || is_well_spelled(table) => check_name(violations, table, "tableName"),
        Some(table) => check_length(violations, table, "tableName"),
    }
}

/// Checks the table of a table operation.
pub(crate) fn check_control(table: Option<&str>) -> Result<(), Error> {
    let table = table.ok_or_else(|| request::parameter_missing("TableName"))?;
    if name_in_arn(table).is_some() {
        return Ok(());
    }
    if !has_length(table) {
        return Err(request::table_name_length());
    }
    let mut violations = Violations::new();
    check_name(&mut violations, table, "tableName");
    violations.finish()
}

/// Checks the name of a table or an index. The member's own name is only formatted on a violation.
pub(crate) fn check_name(violations: &mut Violations, name: &str, member: impl fmt::Display) {
    if !is_well_spelled(name) {
        violations.pattern(name, &member.to_string(), PATTERN);
    }
    check_length(violations, name, member);
}

fn check_length(violations: &mut Violations, name: &str, member: impl fmt::Display) {
    if name.len() < NAME_LENGTH_MIN {
        violations.short(name, &member.to_string(), NAME_LENGTH_MIN);
    }
    if name.len() > NAME_LENGTH_MAX {
        violations.long(name, &member.to_string(), NAME_LENGTH_MAX);
    }
}

/// Returns whether the name contains only allowed characters.
pub(crate) fn is_well_spelled(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
}

/// Returns whether the length of the name is in range.
pub(crate) fn has_length(name: &str) -> bool {
    (NAME_LENGTH_MIN..=NAME_LENGTH_MAX).contains(&name.len())
}

/// Returns the table name, extracted from the ARN if the table is given by ARN.
pub(crate) fn resolve(table: Option<String>) -> String {
    let table = table.unwrap_or_default();
    match name_in_arn(&table) {
        Some(name) => name.to_owned(),
        None => table,
    }
}

/// Returns the name in `arn:aws:dynamodb:region:account:table/NAME`, which may continue with `/index/…`.
pub(crate) fn name_in_arn(arn: &str) -> Option<&str> {
    if !arn.starts_with("arn:") {
        return None;
    }
    let mut parts = arn.splitn(6, ':');
    let (partition, service, resource) = (parts.nth(1)?, parts.next()?, parts.nth(2)?);
    let path = resource.strip_prefix("table/")?;
    let name = path.split_once('/').map_or(path, |(name, _)| name);
    let known = partition.starts_with("aws") && service == "dynamodb";
    (known && is_well_spelled(name) && has_length(name)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_found_in_arns_only() {
        let check = |arn: &str, expected| assert_eq!(name_in_arn(arn), expected, "{arn}");
        check("arn:aws:dynamodb:eu-west-1:123456789012:table/orders", Some("orders"));
        check("arn:aws-cn:dynamodb:cn-north-1:123456789012:table/orders/index/by-day", Some("orders"));
        check("arn:aws:s3:eu-west-1:123456789012:table/orders", None);
        check("arn:aws:dynamodb:eu-west-1:table/orders", None);
        check("arn:aws:dynamodb:eu-west-1:123456789012:table/or", None);
        check("orders", None);
    }
}
