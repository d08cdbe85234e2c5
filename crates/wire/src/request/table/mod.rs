//! Table requests: CreateTable, DescribeTable, UpdateTable, DeleteTable, ListTables.
//!
//! 1. `shape` reads the members from JSON without checking them.
//! 2. `constraint` checks single members, `schema` checks combinations of members.
//! 3. `convert` converts them to the types of the operation.

mod constraint;
mod convert;
mod schema;
mod shape;

use keyform_core::Error;
use keyform_core::error::constraint::Violations;
use keyform_core::operation::{CreateTable, DeleteTable, DescribeTable, ListTables, StreamChange, UpdateTable};
use keyform_core::table::BillingMode;

use super::{Body, resource, table_name};
use crate::Echo;
use crate::json::Reader;
use shape::RawTable;

const LIST_LIMIT_MAX: i64 = 100;

/// Reads a CreateTable.
pub(super) fn create(body: Body<'_>) -> Result<(CreateTable, Echo), Error> {
    let (raw, echo) = body.read(RawTable::read_create)?;
    constraint::check_create(&raw)?;
    schema::check_create(&raw)?;
    let tags = resource::check_tags(raw.tags.unwrap_or_default())?;
    let stream = match convert::stream(raw.stream) {
        Some(StreamChange::Enable(view)) => Some(view),
        Some(StreamChange::Disable) | None => None,
    };
    let request = CreateTable {
        table: table_name::resolve(raw.table),
        attributes: convert::attributes(raw.attributes),
        key: convert::key(raw.key),
        global_indexes: raw.global_indexes.unwrap_or_default().into_iter().map(convert::global_index).collect(),
        local_indexes: raw.local_indexes.unwrap_or_default().into_iter().map(convert::local_index).collect(),
        billing: convert::billing(raw.billing.as_deref()).unwrap_or(BillingMode::Provisioned),
        throughput: convert::throughput(raw.throughput),
        on_demand: raw.on_demand,
        warm: raw.warm,
        stream,
        sse: convert::encryption(raw.sse),
        class: convert::class(raw.class.as_deref()),
        deletion_protected: raw.deletion_protected.unwrap_or(false),
        tags,
    };
    Ok((request, echo))
}

/// Reads an UpdateTable.
pub(super) fn update(body: Body<'_>) -> Result<(UpdateTable, Echo), Error> {
    let (raw, echo) = body.read(RawTable::read_update)?;
    constraint::check_update(&raw)?;
    schema::check_update(&raw)?;
    let request = UpdateTable {
        table: table_name::resolve(raw.table),
        attributes: convert::attributes(raw.attributes),
        billing: convert::billing(raw.billing.as_deref()),
        throughput: convert::throughput(raw.throughput),
        on_demand: raw.on_demand,
        warm: raw.warm,
        indexes: convert::index_changes(raw.index_changes),
        stream: convert::stream(raw.stream),
        sse: convert::encryption(raw.sse),
        class: convert::class(raw.class.as_deref()),
        deletion_protected: raw.deletion_protected,
    };
    Ok((request, echo))
}

/// Reads a DescribeTable.
pub(super) fn describe(body: Body<'_>) -> Result<(DescribeTable, Echo), Error> {
    let (table, echo) = body.read(read_name)?;
    table_name::check_control(table.as_deref())?;
    Ok((DescribeTable { table: table_name::resolve(table) }, echo))
}

/// Reads a DeleteTable.
pub(super) fn delete(body: Body<'_>) -> Result<(DeleteTable, Echo), Error> {
    let (table, echo) = body.read(read_name)?;
    table_name::check_control(table.as_deref())?;
    Ok((DeleteTable { table: table_name::resolve(table) }, echo))
}

/// Reads a ListTables.
pub(super) fn list(body: Body<'_>) -> Result<(ListTables, Echo), Error> {
    let ((start, limit), echo) = body.read(read_list)?;
    let mut violations = Violations::new();
    if let Some(start) = &start {
        table_name::check_name(&mut violations, start, "exclusiveStartTableName");
    }
    match limit {
        Some(limit) if limit < 1 => violations.low(limit, "limit", 1),
        Some(limit) if limit > LIST_LIMIT_MAX => violations.high(limit, "limit", LIST_LIMIT_MAX),
        _ => {}
    }
    violations.finish()?;
    let limit = limit.and_then(|limit| usize::try_from(limit).ok());
    Ok((ListTables { start, limit }, echo))
}

fn read_name(reader: &mut Reader<'_>) -> Result<Option<String>, Error> {
    let mut table = None;
    reader.opt_structure("TableNameInput", |reader, name| {
        match name {
            "TableName" => table = reader.opt_string()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(table)
}

fn read_list(reader: &mut Reader<'_>) -> Result<(Option<String>, Option<i64>), Error> {
    let (mut start, mut limit) = (None, None);
    reader.opt_structure("ListTablesInput", |reader, name| {
        match name {
            "ExclusiveStartTableName" => start = reader.opt_string()?,
            "Limit" => limit = reader.opt_integer()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok((start, limit))
}
