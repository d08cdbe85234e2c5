//! The form before workspaces: one list of items, one of settings and one of members for everybody.
//!
//! 1. [`model`] is the typed code of `legacy/workspaces-v1.kf`: what an application of that time would run.
//! 2. [`data`] makes up records of that form, always the same ones of a seed.
//! 3. [`fill`] writes them, as that application did over the years.
//!
//! The `evolve`s of `workspaces.kf` lead from here to the new form; everything goes into the workspace [`home`].

pub mod data;
pub mod fill;

use keyform::Uuid;

use crate::model::WorkspaceId;

/// The typed code of `legacy/workspaces-v1.kf`.
#[allow(missing_docs, reason = "the model documents what its author wanted to")]
pub mod model {
    keyform::model!("legacy/workspaces-v1.kf");
}

/// The text of the model.
pub const MODEL: &str = include_str!("../../legacy/workspaces-v1.kf");

/// The id of the workspace into which everything of the old form goes, as `workspaces.kf` has it.
const HOME: &str = "00000000-0000-4000-8000-000000000001";

/// The workspace into which everything of the old form goes.
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
