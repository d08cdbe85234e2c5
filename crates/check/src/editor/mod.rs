//! Editor features: go to definition, find references, rename, hover and completion.
//!
//! They take a [`Checked`](crate::Checked) model and a byte offset, and also work on incomplete text.
//!
//! 1. `place` finds the word at an offset and the enclosing declaration.
//! 2. [`mod@definition`] finds the declaration of a name, [`mod@references`] its uses, [`mod@hover`] describes it,
//!    [`completion`] lists candidates.

pub mod completion;
pub mod definition;
pub mod hover;
mod place;
pub mod references;

pub use completion::{Completion, CompletionKind, complete};
pub use definition::definition;
pub use hover::{Hover, hover};
pub use references::{RenameError, references, rename};
