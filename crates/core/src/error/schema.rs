//! Errors about CreateTable and UpdateTable requests that can be found without the stored table.

use super::Error;

/// The first attribute of a key is not the partition key.
pub fn first_not_hash() -> Error {
    Error::validation("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
}

/// The second attribute of a key is not the sort key.
pub fn second_not_range() -> Error {
    Error::validation("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type")
}

/// The partition key and the sort key are the same attribute.
pub fn hash_is_range() -> Error {
    Error::validation("Both the Hash Key and the Range Key element in the KeySchema have the same name")
}

/// A multi-attribute key contains an attribute twice.
pub fn repeated_key_attribute() -> Error {
    Error::validation("The KeySchema contains multiple key attributes with the same name")
}

/// A key has too many partition (`HASH`) or sort (`RANGE`) attributes.
pub fn too_many_key_attributes(kind: &str) -> Error {
    invalid(format!("The KeySchema exceeds the maximum allowed number of {kind} key attributes"))
}

/// A key has a partition attribute after a sort attribute.
pub fn hash_after_range() -> Error {
    invalid("All HASH key attributes must precede RANGE key attributes in the KeySchema")
}

/// The keys have more attributes than there are definitions.
pub fn definition_missing() -> Error {
    Error::validation("Invalid KeySchema: Some index key attribute have no definition")
}

/// Some key attributes have no definition.
pub fn undefined_attributes(keys: &[&str], definitions: &[&str]) -> Error {
    let (keys, definitions) = (keys.join(", "), definitions.join(", "));
    invalid(format!(
        "Some index key attributes are not defined in AttributeDefinitions. Keys: [{keys}], AttributeDefinitions: [{definitions}]"
    ))
}

/// Some definitions are unused, in a table without indexes.
pub fn unused_attributes() -> Error {
    invalid(
        "Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions",
    )
}

/// Some definitions are unused, in a table with indexes.
pub fn unused_definitions(definitions: &[&str], used: &[&str]) -> Error {
    let (definitions, used) = (definitions.join(", "), used.join(", "));
    invalid(format!(
        "Some AttributeDefinitions are not used. AttributeDefinitions: [{definitions}], keys used: [{used}]"
    ))
}

/// An on-demand table has provisioned throughput.
pub fn throughput_on_demand() -> Error {
    invalid("Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST")
}

/// A provisioned table has no throughput.
pub fn throughput_missing() -> Error {
    invalid("ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED")
}

/// The request has neither throughput nor a billing mode.
pub fn throughput_unspecified() -> Error {
    Error::validation("No provisioned throughput specified for the table")
}

/// A table becomes provisioned without throughput.
pub fn throughput_missing_in_update() -> Error {
    invalid("ProvisionedThroughput must be specified when BillingMode is PROVISIONED")
}

/// The capacity units are out of range; `member` is `ReadCapacityUnits` or `WriteCapacityUnits`.
pub fn throughput_out_of_bounds(units: i64, member: &str) -> Error {
    Error::validation(format!("Given value {units} for {member} is out of bounds"))
}

/// An index of an on-demand table has provisioned throughput.
pub fn index_throughput_on_demand(index: &str) -> Error {
    invalid(format!(
        "ProvisionedThroughput should not be specified for index: {index} when BillingMode is PAY_PER_REQUEST"
    ))
}

/// An index of a provisioned table has no throughput.
pub fn index_throughput_missing(index: &str) -> Error {
    invalid(format!("ProvisionedThroughput must be specified for index: {index}"))
}

/// A list of indexes is empty; `member` is `GlobalSecondaryIndexes` or `LocalSecondaryIndexes`.
pub fn empty_index_list(member: &str) -> Error {
    invalid(format!("List of {member} is empty"))
}

/// Two indexes have the same name.
pub fn duplicate_index_name(index: &str) -> Error {
    invalid(format!("Duplicate index name: {index}"))
}

/// The table has too many global secondary indexes.
pub fn too_many_global_indexes() -> Error {
    invalid("GlobalSecondaryIndex count exceeds the per-table limit of 20")
}

/// The table has too many local secondary indexes.
pub fn too_many_local_indexes() -> Error {
    invalid("Number of LocalSecondaryIndexes exceeds per-table limit of 5")
}

/// A table without a sort key has a local secondary index.
pub fn local_index_without_table_range() -> Error {
    invalid("Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex")
}

/// A local secondary index has another partition key than its table.
pub fn local_index_hash_differs(index: &str, index_hash: &str, table_hash: &str) -> Error {
    invalid(format!(
        "Index KeySchema does not have the same leading hash key as table KeySchema for index: {index}. \
         index hash key: {index_hash}, table hash key: {table_hash}"
    ))
}

/// A local secondary index has no sort key.
pub fn local_index_without_range(index: &str) -> Error {
    invalid(format!("Index KeySchema does not have a range key for index: {index}"))
}

/// A projection has no type.
pub fn projection_unknown() -> Error {
    invalid("Unknown ProjectionType: null")
}

/// An INCLUDE projection names no attributes.
pub fn projection_without_attributes() -> Error {
    invalid("ProjectionType is INCLUDE, but NonKeyAttributes is not specified")
}

/// An ALL or KEYS_ONLY projection names attributes.
pub fn projection_with_attributes(kind: &str) -> Error {
    invalid(format!("ProjectionType is {kind}, but NonKeyAttributes is specified"))
}

/// A table without a stream has a stream view.
pub fn stream_view_without_stream() -> Error {
    invalid("Table is being created with a stream disabled, UpdateViewType should not be specified")
}

/// An UpdateTable contains no change.
pub fn update_without_change() -> Error {
    Error::validation(
        "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates \
         or SSESpecification or ReplicaUpdates is required",
    )
}

/// An index update is empty.
pub fn index_change_missing() -> Error {
    invalid(
        "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, \
         GlobalSecondaryIndexUpdate.Delete must not be null",
    )
}

/// An index update contains several changes.
pub fn index_change_ambiguous() -> Error {
    invalid("Only one of Create or Delete can be specified per GlobalSecondaryIndexUpdate")
}

/// Two updates address the same index.
pub fn index_changed_twice(index: &str) -> Error {
    invalid(format!("Only one global secondary index update per index is allowed simultaneously. Index: {index}"))
}

fn invalid(reason: impl std::fmt::Display) -> Error {
    Error::validation(format!("One or more parameter values were invalid: {reason}"))
}

/// The indexes of the table project too many attributes in total.
pub fn too_many_projected_attributes(attributes: usize) -> Error {
    let text = "One or more parameter values were invalid: Number of attributes projected into all indexes";
    Error::validation(format!("{text} ({attributes}) exceeds the per-table limit of 100"))
}
