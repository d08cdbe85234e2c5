//! Reads. All come from a snapshot of what is durable and take no lock.
//!
//! * [`get`]: GetItem, BatchGetItem, TransactGetItems: one lookup for each key.
//! * [`source`]: which table or index a page comes from and what may be asked of it.
//! * [`bounds`]: the key condition of a Query as a range of the store.
//! * [`page`]: walks the range, filters, projects, counts, stops.

mod bounds;
mod get;
mod page;
mod query;
mod scan;
mod source;
mod start;

pub(crate) use get::{decoded, transactional_report};
