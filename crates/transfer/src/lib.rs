//! Moves the items of tables: between two stores, from a store to files, and from files to a store.
//!
//! - A [`Copier`] copies tables between stores, resumes from a [`Checkpoint`], follows later changes and compares both
//!   sides.
//! - [`export`] writes a table to files and [`import`] reads them, in the formats of DynamoDB.
//! - [`Rehearse`] runs a migration on copies of its tables.
//!
//! Stores are [`Execute`](keyform_core::Execute) implementations, so every pair works: embedded, served, or Amazon
//! DynamoDB. Of the engine this crate uses the functions that create files which other accounts cannot
//! read, and a database in memory for rehearsals.

#![warn(unreachable_pub)]

mod copy;
mod files;
mod rehearse;

pub use copy::{
    Checkpoint, Copier, CopyError, CopyReport, CopySettings, Fingerprint, Follow, Mortal, Phase, Progress, fingerprint,
};
pub use files::{Export, Format, Import, export, import};
pub use rehearse::{Rehearsal, Rehearse, RehearseError, Stage};
