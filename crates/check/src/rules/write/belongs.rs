//! Fields that name an item of another entity by the name and type of its id, without a `ref`.

use std::collections::BTreeMap;

use keyform_language::schema::{Entity, EntityId, Field, FieldId, Model, Part, TableId, Type};
use keyform_language::scope::{Domain, Domains};

/// A plain field that has the name and the type of another entity's id. It says the same as a `ref`, but no delete and no
/// check knows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlainId {
    /// Entity with the field.
    pub child: EntityId,
    /// The field.
    pub field: FieldId,
    /// Entity whose id it has.
    pub parent: EntityId,
}

/// Returns the plain ids of all entities.
pub(super) fn plain_ids(model: &Model) -> Vec<PlainId> {
    let domains = Domains::of(model);
    let mut by_name: BTreeMap<&str, Vec<EntityId>> = BTreeMap::new();
    for id in model.entity_ids() {
        let entity = model.entity(id);
        if let Some(field) = entity.id_field().map(|field| entity.field(field)).filter(|field| is_plain(field)) {
            by_name.entry(&field.name).or_default().push(id);
        }
    }
    let (aliases, roots) = (aliases(model), roots(model));
    let mut found = Vec::new();
    for child in model.entity_ids() {
        let entity = model.entity(child);
        let below = below(model, &roots, child);
        for field in (0..entity.fields.len()).map(FieldId).filter(|&field| is_plain(entity.field(field))) {
            let named = by_name.get(entity.field(field).name.as_str()).map_or(&[][..], Vec::as_slice);
            let parent = match domains.field(child, field).filter(|_| !named.is_empty()) {
                Some(Domain::Entity(owner)) if owner != child => Some(owner),
                Some(Domain::Named(..)) => named.iter().copied().find(|&id| has_whole_key(model, child, field, id)),
                Some(Domain::Entity(_)) | None => None,
            };
            let aliased =
                || aliases.get(&entity.field(field).name).copied().filter(|&id| is_alias(model, child, field, id));
            let placed = || below.filter(|(of, _)| *of == field).map(|(_, root)| root);
            let parent = parent.or_else(aliased).or_else(placed);
            found.extend(parent.map(|parent| PlainId { child, field, parent }));
        }
    }
    found
}

/// Returns the entities whose id is called `id`, by the names that other entities use for it: `userId`, `user_id`.
fn aliases(model: &Model) -> BTreeMap<String, EntityId> {
    let mut aliases = BTreeMap::new();
    for id in model.entity_ids() {
        let entity = model.entity(id);
        let Some(field) = entity.id_field().filter(|&field| entity.field(field).name == "id") else { continue };
        if entity.field(field).is_generated() || entity.key_fields().len() == 1 {
            let mut letters = entity.name.chars();
            let first: String = letters.next().into_iter().flat_map(char::to_lowercase).collect();
            let name = format!("{first}{}", letters.as_str());
            aliases.entry(format!("{name}_id")).or_insert(id);
            aliases.entry(format!("{name}Id")).or_insert(id);
        }
    }
    aliases
}

fn is_alias(model: &Model, child: EntityId, field: FieldId, parent: EntityId) -> bool {
    let (of, other) = (model.entity(child).field(field), model.entity(parent));
    let id = other.id_field().map(|id| other.field(id).kind.resolved());
    child != parent && id.is_some_and(|id| of.kind.resolved().is_same_kind(id))
}

fn is_plain(field: &Field) -> bool {
    !matches!(field.kind, Type::Ref { .. } | Type::Copy { .. })
}

/// Returns the form of the partition key of an entity: its table, and the template with a mark for the only field.
fn partition_form(entity: &Entity) -> Option<(TableId, String, FieldId)> {
    let [part] = entity.key.as_ref()?.partition.as_slice() else { return None };
    let fields: Vec<FieldId> = part.template.fields().collect();
    let ([field], true) = (fields.as_slice(), part.template.parts.len() > 1) else { return None };
    let form = part.template.parts.iter().map(|part| match part {
        Part::Text(text) => text.clone(),
        Part::Field { format, .. } => format!("{{{format:?}}}"),
        Part::Unknown { name, .. } => format!("{{{name}}}"),
    });
    Some((entity.table?, form.collect(), *field))
}

/// Returns the entities with one item in each of their partitions, by the form of the partition key.
fn roots(model: &Model) -> BTreeMap<(TableId, String), EntityId> {
    let mut roots = BTreeMap::new();
    for id in model.entity_ids() {
        let entity = model.entity(id);
        let is_id = |field: FieldId| entity.id_field() == Some(field) && is_plain(entity.field(field));
        if let Some((table, form, field)) = partition_form(entity)
            && is_id(field)
            && is_alone(entity)
        {
            roots.entry((table, form)).or_insert(id);
        }
    }
    roots
}

/// Returns true if the sort key has no field, so that a partition holds one item of the entity.
fn is_alone(entity: &Entity) -> bool {
    !entity.key.iter().flat_map(|key| &key.sort).any(|part| part.template.fields().next().is_some())
}

/// Returns the plain field of an entity that stands in the place of a root's id in the same partition key, and the root.
fn below(model: &Model, roots: &BTreeMap<(TableId, String), EntityId>, child: EntityId) -> Option<(FieldId, EntityId)> {
    let (table, form, field) = partition_form(model.entity(child))?;
    let root = *roots.get(&(table, form)).filter(|_| !is_alone(model.entity(child)))?;
    let (of, other) = (model.entity(child).field(field), model.entity(root));
    let id = other.field(other.id_field()?);
    (is_plain(of) && of.kind.resolved().is_same_kind(id.kind.resolved())).then_some((field, root))
}

/// Returns true if the child has every field of the key of an entity with several. Of two entities with the same key
/// fields, the first in the file is the one that the other accompanies.
fn has_whole_key(model: &Model, child: EntityId, field: FieldId, parent: EntityId) -> bool {
    let (one, other) = (model.entity(child), model.entity(parent));
    let keys = other.key_fields();
    let repeats = |key: &FieldId| {
        let of = other.field(*key);
        one.field_named(&of.name).is_some_and(|own| one.field(own).kind.resolved().is_same_kind(of.kind.resolved()))
    };
    // A claim names someone whom other items know without this entity: a member of a team is not the user.
    let claims = model.caller.iter().flat_map(|caller| &caller.fields);
    let is_claim = claims.into_iter().any(|claim| claim.name == one.field(field).name);
    let own = one.key_fields();
    let is_before = own.len() != keys.len() || !own.contains(&field) || parent.0 < child.0;
    parent != child && keys.len() > 1 && !is_claim && is_before && keys.iter().all(repeats)
}

/// Returns true if the field is part of the entity's key or of the key of an index.
pub(super) fn is_in_key(entity: &Entity, field: FieldId) -> bool {
    entity.key.iter().chain(&entity.indexes).any(|key| key.fields().any(|of| of == field))
}
