//! Moves the items of tables: between two stores, from a store to files, and from files to a store.
//!
//! - A [`Copier`] copies tables between stores, resumes from a [`Checkpoint`], follows later changes and compares both
//!   sides ([`copy`]).
//! - [`export`] writes a table to files and [`import`] reads them, in the formats of DynamoDB ([`files`]).
//! - [`Rehearse`] runs a migration on copies of its tables.
//!
//! Stores are [`Execute`](keyform_core::Execute) implementations, so every pair works: embedded, served, or Amazon
//! DynamoDB. Of the engine this crate uses only the functions that create files which other accounts cannot read.

pub mod copy;
pub mod files;
mod rehearse;

pub use copy::{
    Checkpoint, Copier, CopyError, CopyReport, CopySettings, Fingerprint, Follow, Mortal, Phase, Progress, describe,
    fingerprint, like, page,
};
pub use files::{Export, Format, Import, export, import};
pub use rehearse::{Rehearsal, Rehearse, RehearseError, Stage};
