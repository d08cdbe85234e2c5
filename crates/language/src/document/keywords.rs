//! Keywords of the language by place, for editors.

pub use super::parse::declaration::DECLARATIONS;
pub use super::parse::entity::ENTRIES as ENTITY_ENTRIES;
pub use super::parse::field::{FLAGS, TYPES};
pub use super::parse::table::ENTRIES as TABLE_ENTRIES;
pub use super::parse::write::STEPS;
