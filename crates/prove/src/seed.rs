//! Items of the two tenants: one of each entity, and what gives further persons rights.

use keyform_core::Attributes;
use keyform_language::bind;
use keyform_language::schema::{EntityId, FieldId, Model};
use keyform_language::scope::call::{caller_parameters, is_tied};

use super::caller::Owner;
use super::vocabulary::Vocabulary;

/// Item of a world.
#[derive(Clone, Debug)]
pub(super) struct Seeded {
    pub(super) entity: EntityId,
    /// Table in the store, and primary key.
    pub(super) place: Place,
    pub(super) item: Attributes,
    /// Person whose rights the item states, if it is not an ordinary item of the tenant.
    pub(super) person: Owner,
}

/// Table in the store, and primary key as text.
pub(super) type Place = (String, String);

/// Creates the items of a tenant.
pub(super) fn of_tenant(model: &Model, vocabulary: &Vocabulary<'_>, tenant: Owner) -> Vec<Seeded> {
    let mut items: Vec<Seeded> =
        model.entity_ids().flat_map(|id| seeded(model, vocabulary, id, tenant, tenant)).collect();
    let persons: &[Owner] = if tenant == Owner::Caller { &[Owner::Member, Owner::Both] } else { &[Owner::Both] };
    for &person in persons {
        // The roles of further persons differ from the owner's, and those of a person in both tenants differ.
        let is_shifted = person == Owner::Member || tenant == Owner::Other;
        let shifted = shifted(vocabulary, usize::from(is_shifted));
        let more = authorities(model).flat_map(|id| seeded(model, &shifted, id, tenant, person));
        for item in more.collect::<Vec<_>>() {
            if items.iter().all(|other| other.place != item.place) {
                items.push(item);
            }
        }
    }
    items
}

/// Returns the entities that guards read to decide about a caller.
pub(super) fn authorities(model: &Model) -> impl Iterator<Item = EntityId> {
    let callers = caller_parameters(model);
    let is_read = move |id: EntityId| {
        let mut guards = model.guards.iter().zip(&callers);
        guards.any(|(guard, callers)| guard.entity == Some(id) && is_tied(guard, callers))
    };
    model.entity_ids().filter(move |id| is_read(*id))
}

/// Returns the same vocabulary with the enumerations, numbers and times of a later seed.
pub(super) fn shifted<'a>(vocabulary: &Vocabulary<'a>, by: usize) -> Vocabulary<'a> {
    let mut variant = vocabulary.variant;
    variant.round += by;
    Vocabulary { model: vocabulary.model, concepts: vocabulary.concepts, variant, crossed: vocabulary.crossed.clone() }
}

/// Creates an item of an entity, with the sentinels of its unique fields. An entity whose key has no sample has none.
fn seeded(model: &Model, vocabulary: &Vocabulary<'_>, id: EntityId, tenant: Owner, person: Owner) -> Vec<Seeded> {
    let entity = model.entity(id);
    let Some(table) = entity.table.map(|table| model.table(table)) else { return Vec::new() };
    let fields = fields(model, vocabulary, id, tenant, person);
    let Ok(item) = bind::item(table, entity, &fields) else { return Vec::new() };
    let sentinels = bind::sentinels(table, entity, &fields).unwrap_or_default();
    let place = |item: &Attributes| (table.physical.clone(), place(model, &table.physical, item));
    let items = [item].into_iter().chain(sentinels);
    items.map(|item| Seeded { entity: id, place: place(&item), item, person }).collect()
}

fn fields(model: &Model, vocabulary: &Vocabulary<'_>, id: EntityId, tenant: Owner, person: Owner) -> Attributes {
    let entity = model.entity(id);
    let ttl = entity.table.and_then(|table| model.table(table).ttl.as_ref()).map(|ttl| ttl.value.as_str());
    let value = |number: usize| {
        let field = &entity.fields[number];
        if ttl == Some(field.name.as_str()) {
            return vocabulary.expiry(&field.kind);
        }
        vocabulary.field(id, FieldId(number), tenant, person)
    };
    let keys: Vec<FieldId> =
        entity.key.iter().chain(&entity.indexes).flat_map(|key| key.fields()).chain(entity.key_fields()).collect();
    let is_there = |number: &usize| {
        let field = &entity.fields[*number];
        let is_later = vocabulary.variant.lacks_later && field.constant_default().is_some();
        let is_left_out = is_later || field.optional && !vocabulary.variant.has_optional;
        // Only the table's key is needed of an optional field: without the others, the item is not in the index.
        let in_key = if field.optional { entity.key_fields() } else { keys.clone() };
        !is_left_out || in_key.contains(&FieldId(*number))
    };
    let there = (0..entity.fields.len()).filter(is_there);
    there.map(|number| (entity.fields[number].name.clone(), value(number))).collect()
}

/// Returns the primary key of an item.
pub(super) fn key(model: &Model, table: &str, item: &Attributes) -> Attributes {
    let table = model.tables.iter().find(|of| of.physical == table);
    let names = table.iter().flat_map(|table| table.key_names());
    names.filter_map(|name| Some((name.to_owned(), item.get(name)?.clone()))).collect()
}

/// Returns the primary key of an item as text.
pub(super) fn place(model: &Model, table: &str, item: &Attributes) -> String {
    format!("{:?}", key(model, table, item))
}
