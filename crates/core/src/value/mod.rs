//! Attribute values in two forms: a tree to build and change, and encoded bytes to store, compare and serialize.
//! ADR 0002 explains why.
//!
//! * [`AttributeValue`] is the tree, [`Attributes`] a map of them.
//! * [`Item`] and [`Value`] are immutable encoded bytes; [`ValueRef`] is a zero-copy view into them.
//! * The encoding is canonical: maps are sorted by name, sets sorted, numbers normalised. Two values are equal if and
//!   only if their bytes are.
//!
//! See [`encoding`] for the byte format, [`number`] for numbers, [`name`] for attribute names, and [`size`] for sizes
//! by DynamoDB's rules.

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
