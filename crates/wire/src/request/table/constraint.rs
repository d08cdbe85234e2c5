//! Constraints on single members of CreateTable and UpdateTable, in the order in which DynamoDB lists them.

use keyform_core::Error;
use keyform_core::error::constraint::Violations;
use keyform_core::error::request;
use keyform_core::limits::KEY_NAME_BYTES_MAX;

use super::shape::{
    RawAttribute, RawIndex, RawIndexChange, RawKeyElement, RawProjection, RawStream, RawTable, RawThroughput,
};
use crate::request::{choice, table_name};

const TABLE_KEY_LENGTH_MAX: usize = 2;
const GLOBAL_KEY_LENGTH_MAX: usize = 8;
const NON_KEY_ATTRIBUTES_MAX: usize = 20;
const VIEWS: &[&str] = &["NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES", "KEYS_ONLY"];

/// Checks the members of a CreateTable.
pub(super) fn check_create(raw: &RawTable) -> Result<(), Error> {
    check_new_name(raw.table.as_deref())?;
    let mut violations = Violations::new();
    match &raw.attributes {
        None => violations.null("attributeDefinitions"),
        Some(attributes) => check_attributes(&mut violations, attributes),
    }
    check_key(&mut violations, "keySchema", raw.key.as_deref(), TABLE_KEY_LENGTH_MAX);
    check_indexes(&mut violations, "localSecondaryIndexes", raw.local_indexes.as_deref(), TABLE_KEY_LENGTH_MAX);
    check_indexes(&mut violations, "globalSecondaryIndexes", raw.global_indexes.as_deref(), GLOBAL_KEY_LENGTH_MAX);
    check_settings(&mut violations, raw);
    violations.finish()
}

/// Checks the members of an UpdateTable.
pub(super) fn check_update(raw: &RawTable) -> Result<(), Error> {
    table_name::check_control(raw.table.as_deref())?;
    let mut violations = Violations::new();
    check_attributes(&mut violations, raw.attributes.as_deref().unwrap_or_default());
    for (place, change) in raw.index_changes.iter().flatten().enumerate() {
        check_index_change(&mut violations, &format!("globalSecondaryIndexUpdates.{}.member", place + 1), change);
    }
    check_settings(&mut violations, raw);
    violations.finish()
}

fn check_new_name(table: Option<&str>) -> Result<(), Error> {
    let table = table.ok_or_else(|| request::parameter_missing("TableName"))?;
    if table_name::name_in_arn(table).is_some() {
        return Ok(());
    }
    let mut violations = Violations::new();
    table_name::check_name(&mut violations, table, "tableName");
    violations.finish()
}

fn check_settings(violations: &mut Violations, raw: &RawTable) {
    choice::check(violations, raw.billing.as_deref(), "billingMode", &["PROVISIONED", "PAY_PER_REQUEST"]);
    check_throughput(violations, "provisionedThroughput", raw.throughput.as_ref());
    let classes = &["STANDARD", "STANDARD_INFREQUENT_ACCESS"];
    choice::check(violations, raw.class.as_deref(), "tableClass", classes);
    check_stream(violations, raw.stream.as_ref());
    let encryption = raw.sse.as_ref().and_then(|sse| sse.kind.as_deref());
    choice::check(violations, encryption, "sSESpecification.sSEType", &["AES256", "KMS"]);
}

fn check_attributes(violations: &mut Violations, attributes: &[RawAttribute]) {
    for (place, attribute) in attributes.iter().enumerate() {
        let member = format!("attributeDefinitions.{}.member", place + 1);
        check_attribute_name(violations, &member, attribute.name.as_deref());
        check_kind(violations, &format!("{member}.attributeType"), attribute.kind.as_deref(), &["B", "N", "S"]);
    }
}

fn check_key(violations: &mut Violations, member: &str, key: Option<&[RawKeyElement]>, length_max: usize) {
    match key {
        None => violations.null(member),
        Some([]) => violations.short("[]", member, 1),
        Some(key) if key.len() > length_max => violations.long(&shown_key(key), "keySchema", length_max),
        Some(_) => {}
    }
    for (place, element) in key.unwrap_or_default().iter().enumerate() {
        let member = format!("{member}.{}.member", place + 1);
        check_attribute_name(violations, &member, element.name.as_deref());
        check_kind(violations, &format!("{member}.keyType"), element.kind.as_deref(), &["HASH", "RANGE"]);
    }
}

/// Formats a key schema as DynamoDB's error messages do.
fn shown_key(key: &[RawKeyElement]) -> String {
    let shown = |element: &RawKeyElement| {
        let (name, kind) = (element.name.as_deref().unwrap_or("null"), element.kind.as_deref().unwrap_or("null"));
        format!("KeySchemaElement(attributeName={name}, keyType={kind})")
    };
    let elements: Vec<String> = key.iter().map(shown).collect();
    format!("[{}]", elements.join(", "))
}

fn check_attribute_name(violations: &mut Violations, member: &str, name: Option<&str>) {
    let member = format!("{member}.attributeName");
    match name {
        None => violations.null(&member),
        Some("") => violations.short("", &member, 1),
        Some(name) if name.len() > KEY_NAME_BYTES_MAX => violations.long(name, &member, KEY_NAME_BYTES_MAX),
        Some(_) => {}
    }
}

fn check_kind(violations: &mut Violations, member: &str, kind: Option<&str>, kinds: &[&str]) {
    match kind {
        None => violations.null(member),
        Some(_) => choice::check(violations, kind, member, kinds),
    }
}

fn check_indexes(violations: &mut Violations, member: &str, indexes: Option<&[RawIndex]>, key_length_max: usize) {
    for (place, index) in indexes.unwrap_or_default().iter().enumerate() {
        check_index(violations, &format!("{member}.{}.member", place + 1), index, key_length_max);
    }
}

fn check_index(violations: &mut Violations, member: &str, index: &RawIndex, key_length_max: usize) {
    check_key(violations, &format!("{member}.keySchema"), index.key.as_deref(), key_length_max);
    check_projection(violations, &format!("{member}.projection"), index.projection.as_ref());
    check_index_name(violations, &format!("{member}.indexName"), index.name.as_deref());
    check_throughput(violations, &format!("{member}.provisionedThroughput"), index.throughput.as_ref());
}

fn check_index_name(violations: &mut Violations, member: &str, name: Option<&str>) {
    match name {
        None => violations.null(member),
        Some(name) => table_name::check_name(violations, name, member),
    }
}

fn check_projection(violations: &mut Violations, member: &str, projection: Option<&RawProjection>) {
    let Some(projection) = projection else { return violations.null(member) };
    let kinds = &["ALL", "INCLUDE", "KEYS_ONLY"];
    choice::check(violations, projection.kind.as_deref(), format_args!("{member}.projectionType"), kinds);
    let member = format!("{member}.nonKeyAttributes");
    match projection.attributes.as_deref() {
        Some([]) => violations.short("[]", &member, 1),
        Some(names) if names.len() > NON_KEY_ATTRIBUTES_MAX => {
            violations.long(&format!("[{}]", names.join(", ")), &member, NON_KEY_ATTRIBUTES_MAX);
        }
        _ => {}
    }
    let is_name = |name: &String| (1..=KEY_NAME_BYTES_MAX).contains(&name.len());
    if let Some(names) = projection.attributes.as_deref().filter(|names| !names.iter().all(is_name)) {
        violations.member_lengths(&format!("[{}]", names.join(", ")), &member, KEY_NAME_BYTES_MAX);
    }
}

fn check_throughput(violations: &mut Violations, member: &str, throughput: Option<&RawThroughput>) {
    let Some(throughput) = throughput else { return };
    for (name, units) in [("writeCapacityUnits", throughput.write), ("readCapacityUnits", throughput.read)] {
        match units {
            None => violations.null(&format!("{member}.{name}")),
            Some(units) if units < 1 => violations.low(units, &format!("{member}.{name}"), 1),
            Some(_) => {}
        }
    }
}

fn check_stream(violations: &mut Violations, stream: Option<&RawStream>) {
    let Some(stream) = stream else { return };
    if stream.enabled.is_none() {
        violations.null("streamSpecification.streamEnabled");
    }
    choice::check(violations, stream.view.as_deref(), "streamSpecification.streamViewType", VIEWS);
}

fn check_index_change(violations: &mut Violations, member: &str, change: &RawIndexChange) {
    if let Some(index) = &change.create {
        check_index(violations, &format!("{member}.create"), index, GLOBAL_KEY_LENGTH_MAX);
    }
    if let Some(index) = &change.update {
        let member = format!("{member}.update");
        check_index_name(violations, &format!("{member}.indexName"), index.name.as_deref());
        if index.throughput.is_none() && index.on_demand.is_none() && index.warm.is_none() {
            violations.null(&format!("{member}.provisionedThroughput"));
        }
        check_throughput(violations, &format!("{member}.provisionedThroughput"), index.throughput.as_ref());
    }
    if let Some(index) = &change.delete {
        check_index_name(violations, &format!("{member}.delete.indexName"), index.name.as_deref());
    }
}
