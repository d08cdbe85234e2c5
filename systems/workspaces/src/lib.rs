//! Workspaces with members, items and settings, each workspace in one partition; and the form before workspaces, with
//! the migration from it.
//!
//! `workspaces.kf` defines all data access: keys, guards, transactions. [`model`] is its typed code. The other modules
//! combine several patterns:
//!
//! 1. [`mine`]: the workspaces of a person, each once, with their names.
//! 2. [`invitation`]: creating, previewing and using invites.
//! 3. [`old_link`]: an item by its id from before workspaces.
//! 4. [`legacy`]: the form before workspaces, and data of that form. `evolve` in the model migrates it to the new one.
//! 5. [`application`](fn@application) serves all of it, with [sample](sample::make) data for new users.

pub mod invitation;
pub mod legacy;
mod limits;
pub mod mine;
pub mod old_link;
pub mod sample;

mod application;

/// Typed code of `workspaces.kf`.
#[allow(missing_docs, reason = "the model documents what its author wanted to")]
pub mod model {
    keyform::model!("workspaces.kf");
}

pub use application::application;

/// Source of the model.
pub const MODEL: &str = include_str!("../workspaces.kf");
