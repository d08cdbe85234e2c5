//! Typed Rust of a model: what `keyform::model!` puts in its place, and `keyform generate rust` prints.
//!
//! 1. [`names`] makes names of Rust, [`types`] says what each field is, [`docs`] what stands above it, [`layout`] breaks lines as rustfmt does.
//! 2. [`fields`] prints structs; [`entity`] those of entities, with their ids, enums and records, and the enums over all entities.
//! 3. [`argument`] says what a pattern takes; [`read`] and [`write`] print a method for each, with what it returns and how it fails.
//! 4. [`handle`] prints what the methods belong to.
//!
//! The code stands on `keyform::typed` and names nothing but that crate, the standard library and itself.

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

use keyform_language::Checked;

use super::Settings;
use names::{Scope, pascal};
use types::Types;

/// Prints a model as Rust.
///
/// # Errors
///
/// If the model has errors.
pub(super) fn print(checked: &Checked, _: &Settings) -> Result<String, String> {
    if checked.has_errors() {
        return Err("the model has errors: see `keyform check`".to_owned());
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

const HEAD: &str = "// Made of a model by `keyform generate rust`: change the model, not this file.\n\n";

/// The names of the items that there is one of.
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
