//! Errors about tables, indexes, expiry and tags.

use super::{Error, ErrorCode};
use crate::limits::{GLOBAL_INDEXES_MAX, TAGS_MAX};
use crate::table::Throughput;

/// A data operation addresses a table that does not exist.
pub fn resource_not_found() -> Error {
    Error::new(ErrorCode::ResourceNotFound, "Requested resource not found")
}

/// A table operation addresses a table that does not exist.
pub fn table_not_found(name: &str) -> Error {
    Error::new(ErrorCode::ResourceNotFound, format!("Requested resource not found: Table: {name} not found"))
}

/// DescribeContinuousBackups addresses a table that does not exist.
pub fn no_table_with_backups(name: &str) -> Error {
    Error::new(ErrorCode::TableNotFound, format!("Table not found: {name}"))
}

/// A table with this name already exists.
pub fn already_exists(name: &str) -> Error {
    Error::new(ErrorCode::ResourceInUse, format!("Table already exists: {name}"))
}

/// The table is protected against deletion.
pub fn deletion_protected() -> Error {
    Error::validation(
        "Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.",
    )
}

/// An on-demand table gets provisioned throughput.
pub fn throughput_of_on_demand_table() -> Error {
    Error::validation(
        "One or more parameter values were invalid: Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when \
         BillingMode is PAY_PER_REQUEST",
    )
}

/// A table becomes provisioned without throughput.
pub fn provisioned_without_throughput() -> Error {
    Error::validation(
        "One or more parameter values were invalid: ProvisionedThroughput must be specified when BillingMode is \
         PROVISIONED",
    )
}

/// An index of a provisioned table has no throughput.
pub fn index_without_throughput(index: &str) -> Error {
    Error::validation(format!(
        "One or more parameter values were invalid: ProvisionedThroughput must be specified for index: {index}"
    ))
}

/// The requested throughput of the table equals the current one.
pub fn table_throughput_unchanged(units: Throughput) -> Error {
    throughput_unchanged("the table", "the table", units)
}

/// The requested throughput of the index equals the current one.
pub fn index_throughput_unchanged(index: &str, units: Throughput) -> Error {
    throughput_unchanged(&format!("the index {index}"), "the index", units)
}

fn throughput_unchanged(which: &str, what: &str, units: Throughput) -> Error {
    let Throughput { read, write } = units;
    Error::validation(format!(
        "The provisioned throughput for {which} will not change. The requested value equals the current value. Current \
         ReadCapacityUnits provisioned for {what}: {read}. Requested ReadCapacityUnits: {read}. Current \
         WriteCapacityUnits provisioned for {what}: {write}. Requested WriteCapacityUnits: {write}. Refer to the Amazon \
         DynamoDB Developer Guide for current limits and how to request higher limits."
    ))
}

/// An index with this name already exists.
pub fn index_already_exists(index: &str) -> Error {
    Error::validation(format!("One or more parameter values were invalid: Index already exists: {index}"))
}

/// An update of throughput addresses an index that does not exist.
pub fn no_index_to_update() -> Error {
    Error::validation(
        "This operation cannot be performed with given input values. Please contact DynamoDB service team for more info: \
         Action Blocked: IndexUpdate",
    )
}

/// Another index of the table is still being created or deleted.
pub fn one_online_index() -> Error {
    Error::new(
        ErrorCode::LimitExceeded,
        "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table",
    )
}

/// The table would have too many global secondary indexes.
pub fn too_many_global_indexes() -> Error {
    Error::validation(format!(
        "One or more parameter values were invalid: GlobalSecondaryIndex count exceeds the per-table limit of \
         {GLOBAL_INDEXES_MAX}"
    ))
}

/// A key attribute of a new index has no definition.
pub fn index_key_undefined() -> Error {
    Error::validation("Invalid KeySchema: Some index key attribute have no definition")
}

/// A definition gives an attribute another type than it already has.
pub fn attribute_redefined(name: &str) -> Error {
    Error::validation(format!(
        "One or more parameter values were invalid: Attribute {name} is already defined with a different type"
    ))
}

/// The table already has an enabled stream.
pub fn stream_already_enabled(table: &str) -> Error {
    Error::validation(format!("Table already has an enabled stream: TableName: {table}"))
}

/// The table has no enabled stream to disable.
pub fn stream_already_disabled(table: &str) -> Error {
    Error::validation(format!("Table has no enabled stream to disable: TableName: {table}"))
}

/// Expiry is already enabled.
pub fn expiry_already_enabled() -> Error {
    Error::validation("TimeToLive is already enabled")
}

/// Expiry is already disabled.
pub fn expiry_already_disabled() -> Error {
    Error::validation("TimeToLive is already disabled")
}

/// Expiry is enabled on another attribute than the one in the request.
pub fn expiry_of_other_attribute(attribute: &str) -> Error {
    Error::validation(format!(
        "TimeToLive is active on a different AttributeName: current AttributeName is {attribute}"
    ))
}

/// The ARN of a tag operation is not that of a table.
pub fn invalid_resource_arn(arn: &str) -> Error {
    Error::validation(format!("Invalid TableArn: Invalid ResourceArn provided as input {arn}"))
}

/// The ARN to tag does not name an existing table. The missing letter in the message is DynamoDB's.
pub fn no_resource_to_tag(arn: &str) -> Error {
    Error::new(ErrorCode::ResourceNotFound, format!("Requested resource not found: ResourcArn: {arn} not found"))
}

/// The ARN whose tags are listed does not name an existing table.
pub fn no_tags_to_list(account: &str, arn: &str) -> Error {
    Error::new(
        ErrorCode::AccessDenied,
        format!(
            "User: arn:aws:iam::{account}:root is not authorized to perform: dynamodb:ListTagsOfResource on resource: {arn}"
        ),
    )
}

/// The table would have too many tags.
pub fn too_many_tags() -> Error {
    Error::validation(format!("One or more parameter values were invalid: Too many tags: tag limit is {TAGS_MAX}"))
}

/// A catalog record does not decode.
pub fn catalog_is_corrupt(what: &str) -> Error {
    Error::internal(format!("the catalog cannot be read ({what}): restore the data directory from a backup"))
}

/// A newer version of Keyform wrote the catalog record in an unknown format.
pub fn catalog_is_newer() -> Error {
    Error::internal("a newer program wrote the catalog: use that one, or restore the data directory from a backup")
}
