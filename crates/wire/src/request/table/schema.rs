//! Checks combinations of members of CreateTable and UpdateTable that do not depend on the stored table.

use keyform_core::Error;
use keyform_core::error::schema;
use keyform_core::limits::{GLOBAL_INDEXES_MAX, INDEX_KEY_ATTRIBUTES_MAX, LOCAL_INDEXES_MAX, PROJECTED_ATTRIBUTES_MAX};

use super::shape::{RawAttribute, RawIndex, RawIndexChange, RawKeyElement, RawProjection, RawTable, RawThroughput};

/// Maximum provisioned capacity units of a table.
const UNITS_MAX: i64 = 1_000_000_000_000;

/// Checks a CreateTable; its single members must have passed their constraints.
pub(super) fn check_create(raw: &RawTable) -> Result<(), Error> {
    check_billing(raw)?;
    let definitions = definitions(raw.attributes.as_deref());
    let key = raw.key.as_deref().unwrap_or_default();
    check_table_key(key, &definitions)?;
    check_lists(raw)?;
    let (local, global) = (raw.local_indexes.as_deref(), raw.global_indexes.as_deref());
    check_local_indexes(local.unwrap_or_default(), key, &definitions)?;
    check_global_indexes(global.unwrap_or_default(), &definitions)?;
    check_index_names(local.unwrap_or_default().iter().chain(global.unwrap_or_default()))?;
    check_reserved(raw)?;
    global.unwrap_or_default().iter().try_for_each(|index| check_index_throughput(index, raw))?;
    check_definitions_used(raw, &definitions)?;
    check_projected(raw)?;
    check_new_stream(raw)
}

/// Checks an UpdateTable; its single members must have passed their constraints.
pub(super) fn check_update(raw: &RawTable) -> Result<(), Error> {
    if !changes_something(raw) {
        return Err(schema::update_without_change());
    }
    match (raw.billing.as_deref(), &raw.throughput) {
        (Some("PAY_PER_REQUEST"), Some(_)) => return Err(schema::throughput_on_demand()),
        (Some("PROVISIONED"), None) => return Err(schema::throughput_missing_in_update()),
        _ => check_units(raw.throughput.as_ref())?,
    }
    let definitions = definitions(raw.attributes.as_deref());
    let mut changed: Vec<&str> = Vec::new();
    for change in raw.index_changes.iter().flatten() {
        let name = check_index_change(change, &definitions)?;
        if changed.contains(&name) {
            return Err(schema::index_changed_twice(name));
        }
        changed.push(name);
    }
    Ok(())
}

fn changes_something(raw: &RawTable) -> bool {
    raw.billing.is_some()
        || raw.throughput.is_some()
        || raw.on_demand.is_some()
        || raw.warm.is_some()
        || raw.stream.is_some()
        || raw.sse.is_some()
        || raw.class.is_some()
        || raw.deletion_protected.is_some()
        || raw.index_changes.as_ref().is_some_and(|changes| !changes.is_empty())
}

/// Checks one change and returns the name of its index.
fn check_index_change<'a>(change: &'a RawIndexChange, definitions: &[&str]) -> Result<&'a str, Error> {
    let index = match (&change.create, &change.update, &change.delete) {
        (None, None, None) => return Err(schema::index_change_missing()),
        (Some(index), None, None) => {
            check_global_key(index, definitions)?;
            check_projection(index.projection.as_ref())?;
            index
        }
        (None, Some(index), None) | (None, None, Some(index)) => index,
        _ => return Err(schema::index_change_ambiguous()),
    };
    check_units(index.throughput.as_ref())?;
    Ok(index.name.as_deref().unwrap_or_default())
}

fn definitions(attributes: Option<&[RawAttribute]>) -> Vec<&str> {
    attributes.unwrap_or_default().iter().filter_map(|attribute| attribute.name.as_deref()).collect()
}

fn names(key: &[RawKeyElement]) -> Vec<&str> {
    key.iter().filter_map(|element| element.name.as_deref()).collect()
}

fn is_hash(element: &RawKeyElement) -> bool {
    element.kind.as_deref() == Some("HASH")
}

fn check_billing(raw: &RawTable) -> Result<(), Error> {
    match (raw.billing.as_deref(), &raw.throughput) {
        (Some("PAY_PER_REQUEST"), Some(_)) => Err(schema::throughput_on_demand()),
        (Some("PROVISIONED"), None) => Err(schema::throughput_missing()),
        (_, throughput) => check_units(throughput.as_ref()),
    }
}

/// Checks that a table without a billing mode has throughput, because the default mode is provisioned.
fn check_reserved(raw: &RawTable) -> Result<(), Error> {
    let unspecified = raw.billing.is_none() && raw.throughput.is_none();
    if unspecified { Err(schema::throughput_unspecified()) } else { Ok(()) }
}

fn check_units(throughput: Option<&RawThroughput>) -> Result<(), Error> {
    let Some(throughput) = throughput else { return Ok(()) };
    for (member, units) in [("ReadCapacityUnits", throughput.read), ("WriteCapacityUnits", throughput.write)] {
        if let Some(units) = units.filter(|units| *units > UNITS_MAX) {
            return Err(schema::throughput_out_of_bounds(units, member));
        }
    }
    Ok(())
}

fn check_lists(raw: &RawTable) -> Result<(), Error> {
    let lists = [("GlobalSecondaryIndexes", &raw.global_indexes), ("LocalSecondaryIndexes", &raw.local_indexes)];
    match lists.into_iter().find(|(_, list)| list.as_ref().is_some_and(Vec::is_empty)) {
        Some((member, _)) => Err(schema::empty_index_list(member)),
        None => Ok(()),
    }
}

fn check_table_key(key: &[RawKeyElement], definitions: &[&str]) -> Result<(), Error> {
    check_order(key)?;
    if key.len() > definitions.len() {
        return Err(schema::definition_missing());
    }
    let undefined = names(key).into_iter().any(|name| !definitions.contains(&name));
    match (undefined, key) {
        (true, [_]) => Err(schema::undefined_attributes(&names(key), definitions)),
        (true, _) => Err(schema::definition_missing()),
        (false, [hash, range]) if hash.name == range.name => Err(schema::hash_is_range()),
        (false, _) => Ok(()),
    }
}

/// Checks that a key is a partition attribute and an optional sort attribute.
fn check_order(key: &[RawKeyElement]) -> Result<(), Error> {
    if key.first().is_some_and(|first| !is_hash(first)) {
        return Err(schema::first_not_hash());
    }
    if key.get(1).is_some_and(is_hash) {
        return Err(schema::second_not_range());
    }
    Ok(())
}

fn check_defined(key: &[RawKeyElement], definitions: &[&str]) -> Result<(), Error> {
    let names = names(key);
    if definitions.is_empty() {
        return Err(schema::definition_missing());
    }
    if names.iter().any(|name| !definitions.contains(name)) {
        return Err(schema::undefined_attributes(&names, definitions));
    }
    Ok(())
}

fn check_local_indexes(indexes: &[RawIndex], table_key: &[RawKeyElement], definitions: &[&str]) -> Result<(), Error> {
    if indexes.is_empty() {
        return Ok(());
    }
    if table_key.len() < 2 {
        return Err(schema::local_index_without_table_range());
    }
    for index in indexes {
        check_local_key(index, table_key, definitions)?;
        check_projection(index.projection.as_ref())?;
    }
    if indexes.len() > LOCAL_INDEXES_MAX {
        return Err(schema::too_many_local_indexes());
    }
    Ok(())
}

fn check_local_key(index: &RawIndex, table_key: &[RawKeyElement], definitions: &[&str]) -> Result<(), Error> {
    let (name, key) = (index.name.as_deref().unwrap_or_default(), index.key.as_deref().unwrap_or_default());
    check_defined(key, definitions)?;
    check_order(key)?;
    let hash = |key: &[RawKeyElement]| key.first().and_then(|element| element.name.clone()).unwrap_or_default();
    match key {
        [first, second] if first.name == second.name => Err(schema::hash_is_range()),
        _ if hash(key) != hash(table_key) => Err(schema::local_index_hash_differs(name, &hash(key), &hash(table_key))),
        [_] => Err(schema::local_index_without_range(name)),
        _ => Ok(()),
    }
}

fn check_global_indexes(indexes: &[RawIndex], definitions: &[&str]) -> Result<(), Error> {
    for index in indexes {
        check_global_key(index, definitions)?;
        check_projection(index.projection.as_ref())?;
    }
    if indexes.len() > GLOBAL_INDEXES_MAX {
        return Err(schema::too_many_global_indexes());
    }
    Ok(())
}

fn check_global_key(index: &RawIndex, definitions: &[&str]) -> Result<(), Error> {
    let key = index.key.as_deref().unwrap_or_default();
    check_defined(key, definitions)?;
    if key.first().is_some_and(|first| !is_hash(first)) {
        return Err(schema::first_not_hash());
    }
    let hashes = key.iter().filter(|element| is_hash(element)).count();
    if hashes > INDEX_KEY_ATTRIBUTES_MAX {
        return Err(schema::too_many_key_attributes("HASH"));
    }
    if key.len() - hashes > INDEX_KEY_ATTRIBUTES_MAX {
        return Err(schema::too_many_key_attributes("RANGE"));
    }
    if key.iter().skip(hashes).any(is_hash) {
        return Err(schema::hash_after_range());
    }
    check_distinct(key)
}

fn check_distinct(key: &[RawKeyElement]) -> Result<(), Error> {
    let names = names(key);
    if (1..names.len()).all(|place| !names[..place].contains(&names[place])) {
        return Ok(());
    }
    match key {
        [hash, range] if is_hash(hash) && !is_hash(range) => Err(schema::hash_is_range()),
        _ => Err(schema::repeated_key_attribute()),
    }
}

fn check_index_throughput(index: &RawIndex, raw: &RawTable) -> Result<(), Error> {
    let name = index.name.as_deref().unwrap_or_default();
    match (raw.billing.as_deref(), &index.throughput) {
        (Some("PAY_PER_REQUEST"), Some(_)) => Err(schema::index_throughput_on_demand(name)),
        (Some("PAY_PER_REQUEST"), None) => Ok(()),
        (_, None) => Err(schema::index_throughput_missing(name)),
        (_, throughput) => check_units(throughput.as_ref()),
    }
}

fn check_projection(projection: Option<&RawProjection>) -> Result<(), Error> {
    let Some(projection) = projection else { return Err(schema::projection_unknown()) };
    match (projection.kind.as_deref(), &projection.attributes) {
        (None, _) => Err(schema::projection_unknown()),
        (Some("INCLUDE"), None) => Err(schema::projection_without_attributes()),
        (Some("INCLUDE"), Some(_)) | (Some(_), None) => Ok(()),
        (Some(kind), Some(_)) => Err(schema::projection_with_attributes(kind)),
    }
}

/// Checks the number of projected attributes. An attribute counts once for each index that projects it.
fn check_projected(raw: &RawTable) -> Result<(), Error> {
    let projections = raw.local_indexes.iter().chain(&raw.global_indexes).flatten().filter_map(|index| {
        let projection = index.projection.as_ref()?;
        projection.attributes.as_ref()
    });
    let attributes: usize = projections.map(Vec::len).sum();
    if attributes > PROJECTED_ATTRIBUTES_MAX { Err(schema::too_many_projected_attributes(attributes)) } else { Ok(()) }
}

fn check_index_names<'a>(indexes: impl Iterator<Item = &'a RawIndex>) -> Result<(), Error> {
    let mut known: Vec<&str> = Vec::new();
    for name in indexes.filter_map(|index| index.name.as_deref()) {
        if known.contains(&name) {
            return Err(schema::duplicate_index_name(name));
        }
        known.push(name);
    }
    Ok(())
}

fn check_definitions_used(raw: &RawTable, definitions: &[&str]) -> Result<(), Error> {
    let indexes = || raw.local_indexes.iter().chain(&raw.global_indexes).flatten();
    let keys = raw.key.iter().chain(indexes().filter_map(|index| index.key.as_ref()));
    let mut used: Vec<&str> = keys.flat_map(|key| names(key)).collect();
    used.sort_unstable();
    used.dedup();
    match (definitions.len() > used.len(), indexes().next()) {
        (false, _) => Ok(()),
        (true, None) => Err(schema::unused_attributes()),
        (true, Some(_)) => Err(schema::unused_definitions(definitions, &used)),
    }
}

fn check_new_stream(raw: &RawTable) -> Result<(), Error> {
    match &raw.stream {
        Some(stream) if stream.enabled == Some(false) && stream.view.is_some() => {
            Err(schema::stream_view_without_stream())
        }
        _ => Ok(()),
    }
}
