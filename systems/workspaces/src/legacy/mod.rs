//! The form before workspaces: one list each of items, settings and members, shared by all users.
//!
//! 1. [`model`] is the typed code of `legacy/workspaces-v1.kf`, as the old application would run it.
//! 2. [`data`] generates records of that form from a seed.
//! 3. [`fill`] writes them, as that application did over the years.
//!
//! The `evolve` declarations of `workspaces.kf` migrate this form to the new one; everything goes into the workspace
//! [`home`].

pub mod data;
pub mod fill;

use keyform::Uuid;

use crate::model::WorkspaceId;

/// Typed code of `legacy/workspaces-v1.kf`.
#[allow(missing_docs, reason = "the model documents what its author wanted to")]
pub mod model {
    keyform::model!("legacy/workspaces-v1.kf");
}

/// Source of the model.
pub const MODEL: &str = include_str!("../../legacy/workspaces-v1.kf");

/// Id of the workspace that receives all data of the old form; must match `workspaces.kf`.
const HOME: &str = "00000000-0000-4000-8000-000000000001";

/// Returns the workspace that receives all data of the old form.
#[must_use]
pub fn home() -> WorkspaceId {
    Uuid::trusted(HOME.to_owned()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn home_is_where_the_model_says() {
        let sets = crate::MODEL.matches(&format!("workspaceId = \"{HOME}\"")).count();
        assert_eq!(sets, 4, "adoptLegacy and three evolves name it");
    }
}
