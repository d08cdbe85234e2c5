//! Workspaces with members, items and settings, each workspace in one partition; and the form before workspaces, with the way out of it.
//!
//! Everything that touches data is said in `workspaces.kf`: keys, guards, what is one transaction. [`model`] is the typed code of it; what needs more
//! than one pattern stands beside it:
//!
//! 1. [`mine`]: the workspaces of a person, each once, with their names.
//! 2. [`invitation`]: inviting, what an invite is for, joining.
//! 3. [`old_link`]: an item by the id that it had before workspaces.
//! 4. [`legacy`]: the form before workspaces, and data of that form. `evolve` in the model leads from it to the new one.
//! 5. [`application`](fn@application) serves all of it, with [sample](sample::make) data for newcomers.

pub mod invitation;
pub mod legacy;
mod limits;
pub mod mine;
pub mod old_link;
pub mod sample;

mod application;

/// The typed code of `workspaces.kf`.
#[allow(missing_docs, reason = "the model documents what its author wanted to")]
pub mod model {
    keyform::model!("workspaces.kf");
}

pub use application::application;

/// The text of the model.
pub const MODEL: &str = include_str!("../workspaces.kf");
