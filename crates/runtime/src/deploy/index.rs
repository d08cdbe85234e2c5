//! Compares indexes: missing, undeclared and different ones.

use keyform_core::operation::CreateTable;
use keyform_core::table::{
    AttributeDefinitions, GlobalIndex, GlobalIndexDescription, KeySchema, Projection, Status, TableDescription,
};

use super::change::{Change, key_words, projection_words};
use super::destroy::Destroy;
use super::plan::TablePlan;

/// Compares global indexes. Removals come before additions; each is a separate step, because the service accepts one
/// index change at a time.
pub(super) fn compare(plan: &mut TablePlan, wanted: &CreateTable, live: &TableDescription, destroy: &mut Destroy<'_>) {
    let mut missing = Vec::new();
    for index in &wanted.global_indexes {
        let found = live.global_indexes.iter().find(|found| found.index.name == index.name);
        match found.filter(|found| found.status != Status::Deleting) {
            None => missing.push(index),
            Some(found) => match difference(wanted, live, index, found) {
                None => await_index(plan, found),
                Some(difference) => replace(plan, live, index, &difference, destroy, &mut missing),
            },
        }
    }
    let is_wanted =
        |found: &GlobalIndexDescription| wanted.global_indexes.iter().any(|index| index.name == found.index.name);
    for stranger in live.global_indexes.iter().filter(|found| !is_wanted(found) && found.status != Status::Deleting) {
        remove(plan, live, &stranger.index.name, destroy);
    }
    missing.into_iter().for_each(|index| add(plan, wanted, live, index));
}

fn await_index(plan: &mut TablePlan, found: &GlobalIndexDescription) {
    if found.status == Status::Creating || found.backfilling {
        plan.step(Change::AwaitIndex(found.index.name.clone()));
    }
}

/// DynamoDB cannot change the key or the projection of an index: it must be deleted and created again.
fn replace<'a>(
    plan: &mut TablePlan,
    live: &TableDescription,
    index: &'a GlobalIndex,
    difference: &str,
    destroy: &mut Destroy<'_>,
    missing: &mut Vec<&'a GlobalIndex>,
) {
    if destroy.index(&live.name, &index.name) {
        let warning = "reads through it fail until it is backfilled";
        plan.warned(Change::DeleteIndex(index.name.clone()), warning);
        missing.push(index);
        return;
    }
    let name = Destroy::name(&live.name, &index.name);
    plan.refuse(
        format!("the index {} {difference}: an index cannot change", index.name),
        format!(
            "create an index with another name, move the reads to it, then remove this one; destroying `{name}` \
            deletes it and creates it again, and reads through it fail meanwhile"
        ),
    );
    plan.destroyable(name);
}

fn remove(plan: &mut TablePlan, live: &TableDescription, name: &str, destroy: &mut Destroy<'_>) {
    if destroy.index(&live.name, name) {
        plan.warned(Change::DeleteIndex(name.to_owned()), "reads through it fail from then on");
    } else {
        let part = Destroy::name(&live.name, name);
        plan.note(format!("its index {name} is not in the model and stays: destroying `{part}` deletes it"));
        plan.destroyable(part);
    }
}

fn add(plan: &mut TablePlan, wanted: &CreateTable, live: &TableDescription, index: &GlobalIndex) {
    let typed = |name: &String| wanted.attributes.get(name).map(|kind| (name.clone(), *kind));
    let attributes: AttributeDefinitions = index.key.attributes().filter_map(typed).collect();
    let change = Change::CreateIndex { index: Box::new(index.clone()), attributes };
    match live.item_count {
        0 => plan.step(change),
        items => plan.warned(change, format!("about {items} items are copied into it")),
    }
}

/// Describes the difference between an existing and a declared index.
fn difference(
    wanted: &CreateTable,
    live: &TableDescription,
    index: &GlobalIndex,
    found: &GlobalIndexDescription,
) -> Option<String> {
    let is = &found.index;
    if is.key != index.key {
        return Some(format!("has the key {}, in the model {}", key_words(&is.key), key_words(&index.key)));
    }
    if let Some((name, is, shall)) = other_type(&index.key, &wanted.attributes, &live.attributes) {
        return Some(format!("has {name} of type {is}, in the model {shall}"));
    }
    projection_difference(&is.projection, &index.projection)
}

fn projection_difference(is: &Projection, shall: &Projection) -> Option<String> {
    let words = |projection| match projection_words(projection) {
        words if words.is_empty() => "everything".to_owned(),
        words => words.trim_start_matches(" of ").trim_start_matches(" with ").to_owned(),
    };
    let same = match (is, shall) {
        (Projection::Include(is), Projection::Include(shall)) => {
            is.len() == shall.len() && is.iter().all(|name| shall.contains(name))
        }
        _ => is == shall,
    };
    (!same).then(|| format!("projects {}, in the model {}", words(is), words(shall)))
}

/// Returns the first key attribute of another type than declared: its name, its type, the declared type.
pub(super) fn other_type(
    key: &KeySchema,
    wanted: &AttributeDefinitions,
    live: &AttributeDefinitions,
) -> Option<(String, &'static str, &'static str)> {
    key.attributes().find_map(|name| {
        let (shall, is) = (wanted.get(name)?, live.get(name)?);
        (shall != is).then(|| (name.clone(), is.name(), shall.name()))
    })
}

/// Compares local indexes, which are created with their table and cannot be changed.
pub(super) fn local_differences(wanted: &CreateTable, live: &TableDescription) -> Vec<String> {
    const NEVER: &str = "local indexes are created with their table and cannot change";
    let mut found = Vec::new();
    for index in &wanted.local_indexes {
        let is = live.local_indexes.iter().find(|is| is.index.name == index.name).map(|is| &is.index);
        match is {
            None => found.push(format!("the local index {} is missing: {NEVER}", index.name)),
            Some(is) if is.key != index.key => found.push(format!(
                "the local index {} has the key {}, in the model {}: {NEVER}",
                index.name,
                key_words(&is.key),
                key_words(&index.key)
            )),
            Some(is) => found.extend(
                projection_difference(&is.projection, &index.projection)
                    .map(|difference| format!("the local index {} {difference}: {NEVER}", index.name)),
            ),
        }
    }
    found
}

/// Notes local indexes that the model does not declare: they can only be removed with their table.
pub(super) fn note_local_strangers(plan: &mut TablePlan, wanted: &CreateTable, live: &TableDescription) {
    let is_wanted = |name: &String| wanted.local_indexes.iter().any(|index| index.name == *name);
    for name in live.local_indexes.iter().map(|is| &is.index.name).filter(|name| !is_wanted(name)) {
        plan.note(format!("its local index {name} is not in the model and stays as long as the table"));
    }
}
