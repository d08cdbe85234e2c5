//! The hot paths, and the ways to call them.

use std::fmt;

/// The hot path of a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HotPath {
    /// discord: a member posts a message.
    PostMessage,
    /// workspaces: reads a whole workspace with one query.
    LoadAggregate,
    /// helpmaton: reserves credit, then settles it.
    ReserveAndSettle,
    /// helpmaton: reads the permission of a user.
    CheckPermission,
    /// t3nets: finds the tenant of a channel.
    ResolveChannel,
    /// agencies: checks a membership.
    CheckMembership,
}

impl HotPath {
    pub const ALL: [Self; 6] = [
        Self::PostMessage,
        Self::LoadAggregate,
        Self::ReserveAndSettle,
        Self::CheckPermission,
        Self::ResolveChannel,
        Self::CheckMembership,
    ];
}

impl fmt::Display for HotPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PostMessage => "discord: post a message",
            Self::LoadAggregate => "workspaces: load a workspace of 100 items",
            Self::ReserveAndSettle => "helpmaton: reserve and settle credits",
            Self::CheckPermission => "helpmaton: check a permission",
            Self::ResolveChannel => "t3nets: resolve a channel",
            Self::CheckMembership => "agencies: check a membership",
        })
    }
}

/// Calls a path once; the error describes the failure.
pub type Caller<'a> = Box<dyn FnMut(HotPath) -> Result<(), String> + 'a>;

/// A way to call the paths.
pub trait Way: Sync {
    /// Name in the table.
    fn name(&self) -> String;

    /// One of many concurrent callers.
    fn caller(&self, number: usize) -> Caller<'_>;
}
