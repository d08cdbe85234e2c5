//! Read operations. All read a snapshot of the durable state and take no locks on items.
//!
//! * [`get`]: `GetItem`, `BatchGetItem`, `TransactGetItems`: one lookup per key.
//! * [`source`]: the table or index that a page comes from, and its restrictions.
//! * [`bounds`]: the key condition of a Query as a range of store keys.
//! * [`page`]: iterates over the range, filters, projects, counts, and stops at the limit.

mod bounds;
mod get;
mod page;
mod query;
mod scan;
mod source;
mod start;

pub(crate) use get::{decoded, transactional_report};
