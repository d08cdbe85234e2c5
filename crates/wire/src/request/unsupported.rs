//! Members that the service's requests have and ours do not. A request with one is refused: ignoring it would be a wrong
//! success, such as a table without the vector index that its creator asked for.
//!
//! `tests/members.txt` lists every member of every request that is served, as the service's model has them, and
//! `tests/members.rs` checks that each one is either read or stands here. A member that the model does not have either is
//! skipped, as the service does.

/// Structures of the service's model, each with those of its members that are not supported.
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

/// Returns the members of a structure that are refused.
pub(crate) fn members(class: &str) -> &'static [&'static str] {
    UNSUPPORTED.iter().find(|(known, _)| *known == class).map_or(&[], |(_, members)| members)
}
