//! Callers of the trial: everyone who may or may not belong to the caller's tenant.

use std::fmt;

/// Owner of values: a tenant, or a person of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Owner {
    /// Tenant of the caller, and the person who owns it.
    Caller,
    /// Tenant whose data must stay isolated.
    Other,
    /// Second person in the caller's tenant.
    Member,
    /// Person who belongs to both tenants.
    Both,
    /// Person who no longer belongs to the caller's tenant.
    Removed,
    /// Person of no tenant.
    Stranger,
    /// Nothing that exists.
    Unknown,
}

impl Owner {
    /// Returns the number of the owner's sample values.
    pub(super) const fn number(self) -> usize {
        match self {
            Self::Caller => 1,
            Self::Other => 2,
            Self::Member => 3,
            Self::Both => 4,
            Self::Removed => 5,
            Self::Stranger => 6,
            Self::Unknown => 7,
        }
    }
}

/// Caller of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Persona {
    /// Owner of the caller's tenant.
    Owner,
    /// Another member of the caller's tenant, with another role.
    Member,
    /// Former member: has the claims, and no item that gives rights.
    Removed,
    /// Member of both tenants.
    Both,
    /// Belongs to no tenant.
    Stranger,
    /// The owner, with a token that lacks the optional claims.
    Bare,
    /// The owner, with every boolean claim true except those with `global`.
    Flagged,
    /// Owner of the other tenant.
    Other,
}

impl Persona {
    /// Callers of the sampled calls.
    pub(super) const SAMPLED: [Self; 7] =
        [Self::Owner, Self::Member, Self::Removed, Self::Both, Self::Stranger, Self::Bare, Self::Flagged];

    /// Returns the owner of the claims that identify the person.
    pub(super) const fn person(self) -> Owner {
        match self {
            Self::Owner | Self::Bare | Self::Flagged => Owner::Caller,
            Self::Member => Owner::Member,
            Self::Removed => Owner::Removed,
            Self::Both => Owner::Both,
            Self::Stranger => Owner::Stranger,
            Self::Other => Owner::Other,
        }
    }

    /// Returns the owner of the claims that identify the tenant, and of the caller's own arguments.
    pub(super) const fn tenant(self) -> Owner {
        match self {
            Self::Owner | Self::Bare | Self::Flagged | Self::Member | Self::Removed | Self::Both => Owner::Caller,
            Self::Stranger => Owner::Stranger,
            Self::Other => Owner::Other,
        }
    }
}

impl fmt::Display for Persona {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Owner => "owner",
            Self::Member => "member",
            Self::Removed => "removed member",
            Self::Both => "member of both tenants",
            Self::Stranger => "stranger",
            Self::Bare => "owner without optional claims",
            Self::Flagged => "owner with boolean claims set",
            Self::Other => "owner of the other tenant",
        })
    }
}
