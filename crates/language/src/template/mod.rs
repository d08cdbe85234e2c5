//! Algebra of key templates: overlap, injectivity, sort order and maximum length.
//!
//! 1. [`class`]: character sets.
//! 2. [`language`]: the strings a field can have in a key, by its type and format ([`number`] for ranges of whole
//!    numbers).
//! 3. [`shape`]: a template whose pieces are languages, and the shapes of a whole key.
//! 4. `automaton`: strings that two shapes share, or that one shape can split in two ways.
//! 5. [`mod@overlap`]: decides if two keys can be equal, with two items as example.
//! 6. [`injective`]: decides if different items always have different keys.
//! 7. [`order`]: compares text order with value order, and computes maximum lengths and common prefixes.
//! 8. [`mod@render`], [`mod@parse`] and [`sample`]: values written as keys, keys read back, and sample values.
//!
//! "Disjoint" and "injective" hold for every item the types allow. A reported collision comes with two items that
//! render the same key (ADR 0009).

mod automaton;
pub mod class;
pub mod injective;
pub mod language;
#[cfg(test)]
pub(crate) mod laws;
pub mod number;
pub mod order;
pub mod overlap;
pub mod parse;
pub mod prefixes;
pub mod render;
pub mod sample;
pub mod shape;

pub use class::Class;
pub use injective::{Ambiguity, ambiguity};
pub use language::Language;
pub use order::{Order, bytes_max, can_be_empty, can_begin_with};
pub use overlap::{Collision, Overlap, overlap, share};
pub use prefixes::Prefixes;
pub use render::{Values, render};
pub use shape::{FieldPiece, KeyShape, Piece, Shape};
