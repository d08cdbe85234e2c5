//! Attribute values in two forms: a tree to build and change, and compact bytes to keep, compare and print.
//!
//! * [`AttributeValue`] is the tree, [`Attributes`] a map of them.
//! * [`Item`] and [`Value`] are immutable encoded bytes; [`ValueRef`] is a view into them that copies nothing.
//! * Encoding is canonical: maps are sorted by name, sets and numbers normalised. Two values are equal exactly when their
//!   bytes are.
//!
//! The bytes are described in [`encoding`]; numbers in [`number`]; names in [`name`]; sizes as the service counts them in [`size`].

pub mod encoding;
pub mod item;
pub mod name;
pub mod number;
pub mod size;
mod tree;
mod view;

pub use item::{CorruptItem, Item, Value};
pub use number::{Number, NumberError};
pub use tree::{AttributeType, AttributeValue, Attributes};
pub use view::{Elements, Entries, ListRef, MapRef, SetRef, ValueRef};
