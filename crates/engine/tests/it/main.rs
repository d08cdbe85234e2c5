//! Integration tests of the database and its store.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod background;
mod catalog_faults;
mod corpus;
mod damage;
mod depth;
mod expiry;
mod index_fill;
mod key_paths;
mod names;
mod owner_only;
mod proof;
mod recovery;
mod space;
mod store_basics;
mod store_cut;
mod store_faults;
mod store_group;
mod store_model;
mod store_recovery;
mod streams;
mod support;
mod tables;
mod transaction_bytes;
