//! The algebra of key templates: do two keys overlap, is one injective, how does it sort, how long can it be.
//!
//! 1. [`class`]: sets of characters.
//! 2. [`language`]: the texts a field can have in a key, by its type and format ([`number`] for ranges of whole numbers).
//! 3. [`shape`]: a template, each piece of it a language; and the shapes of a whole key.
//! 4. `automaton`: texts that two shapes share, or that one can be read in two ways.
//! 5. [`mod@overlap`]: whether two keys can be the same, with two items that show it.
//! 6. [`injective`]: whether a key tells its items apart.
//! 7. [`order`]: whether text sorts as its values do, how long it can be, what begins with what.
//! 8. [`mod@render`] and [`sample`]: values written as keys, and values to show.
//!
//! What is said to be disjoint or injective is so for every item the types allow; what is said to collide comes with two items that render
//! the same key.

mod automaton;
pub mod class;
mod clock;
pub mod injective;
pub mod language;
#[cfg(test)]
pub(crate) mod laws;
pub mod number;
pub mod order;
pub mod overlap;
pub mod render;
pub mod sample;
pub mod shape;

pub use class::Class;
pub use injective::{Ambiguity, ambiguity};
pub use language::Language;
pub use order::{Order, bytes_max, can_be_empty, can_begin_with};
pub use overlap::{Collision, Overlap, overlap, share};
pub use render::{Values, render};
pub use shape::{FieldPiece, KeyShape, Piece, Shape};
