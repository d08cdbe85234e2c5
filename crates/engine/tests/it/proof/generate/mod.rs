//! Random tables, items, expressions and operations. Values come from small pools, so that operations hit the same
//! items.

pub mod expression;
pub mod item;
mod read;
mod step;
mod table;
mod write;

pub use step::{Plan, Step};
pub use table::Design;
