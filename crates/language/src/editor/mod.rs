//! What an editor asks while a model is written: where a name is declared, what it means, what could stand here.
//!
//! All of it works on a [`Checked`](crate::Checked) model and a byte offset, also while the text is half written.
//!
//! 1. `place` finds the word at an offset and the declaration around it.
//! 2. [`mod@definition`] says where it is declared, [`mod@hover`] what it means, [`completion`] what could come next.

pub mod completion;
pub mod definition;
pub mod hover;
mod place;

pub use completion::{Completion, CompletionKind, complete};
pub use definition::definition;
pub use hover::{Hover, hover};
