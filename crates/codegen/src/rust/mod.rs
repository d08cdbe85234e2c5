//! Typed Rust for a model: the expansion of `keyform::model!` and the output of `keyform generate rust` (ADR 0018).
//!
//! 1. [`names`] builds identifiers, [`types`] maps fields to types, [`docs`] writes doc comments, [`layout`] breaks
//!    lines as rustfmt does.
//! 2. [`fields`] generates structs; [`entity`] those of entities, with their ids, enums and records, and the enums
//!    over all entities.
//! 3. [`argument`] describes the arguments of a pattern; [`read`] and [`write`] generate a method for each pattern,
//!    with its result and error types.
//! 4. [`handle`] generates the struct that has these methods.
//!
//! The code uses `keyform::typed`, and refers to nothing but that crate, the standard library and itself.

mod argument;
mod docs;
mod entity;
mod fields;
mod handle;
mod layout;
mod names;
mod read;
mod types;
mod write;

use keyform_check::Checked;

use super::CodegenSettings;
use names::{Scope, pascal};
use types::Types;

/// Generates the code of a model.
///
/// # Errors
///
/// Returns an error if the model has errors.
pub(super) fn print(checked: &Checked, _: &CodegenSettings) -> Result<String, String> {
    if checked.has_errors() {
        return Err("the model has errors: run `keyform check`".to_owned());
    }
    let mut types = Types::new(checked);
    let items = Items::take(&mut types);
    let ids = types.make_ids();
    let entities = entity::all(&mut types, &items);
    let caller = handle::caller(&mut types, &items);
    let patterns = handle::patterns(&mut types, &items);
    let handle = handle::print(&types, &items, &patterns.methods);
    let made = std::mem::take(&mut types.unprinted);
    let parts = [HEAD, &handle, &caller, &ids, &entities, &made, &patterns.items, &handle::source(checked, &items)];
    Ok(parts.concat().trim_end().to_owned() + "\n")
}

const HEAD: &str = "// Generated from a model by `keyform generate rust`: change the model, not this file.\n\n";

/// Names of the items that exist once per model.
struct Items {
    handle: String,
    caller: String,
    change: String,
    entity: String,
}

impl Items {
    fn take(types: &mut Types<'_>) -> Self {
        let name = &types.checked.model.name;
        let wanted = if name.is_empty() { "Model".to_owned() } else { pascal(name) };
        let names: &mut Scope = &mut types.names;
        Self {
            handle: names.take(&wanted, "Model"),
            caller: names.take("Caller", "Claims"),
            change: names.take("Change", "Event"),
            entity: names.take("Entity", "Item"),
        }
    }
}
