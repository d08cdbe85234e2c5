//! Request members that DynamoDB supports and Keyform does not. A request with one is rejected: ignoring it would
//! report success for work that was not done, such as a table without the vector index that the request asked for.
//!
//! `tests/members.txt` lists every member of every supported request in DynamoDB's model, and `tests/it/members.rs`
//! checks that each one is either read or listed here. A member outside the model is skipped, as DynamoDB does.

/// Structures of DynamoDB's model, each with its unsupported members.
const UNSUPPORTED: &[(&str, &[&str])] = &[
    (
        "CreateTableInput",
        &["GlobalTableSettingsReplicationMode", "GlobalTableSourceArn", "ResourcePolicy", "VectorIndexes"],
    ),
    (
        "UpdateTableInput",
        &[
            "DisassociationProtectionEnabled",
            "GlobalTableSettingsReplicationMode",
            "GlobalTableWitnessUpdates",
            "MultiRegionConsistency",
            "ReplicaUpdates",
            "VectorIndexUpdates",
        ],
    ),
    ("GetShardIteratorInput", &["Timestamp"]),
];

/// Returns the rejected members of a structure.
pub(crate) fn members(class: &str) -> &'static [&'static str] {
    UNSUPPORTED.iter().find(|(known, _)| *known == class).map_or(&[], |(_, members)| members)
}
