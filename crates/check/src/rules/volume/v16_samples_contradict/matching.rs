//! Determines the entity of each sample item.

use crate::samples::{Item, Samples};
use keyform_language::diagnostic::Diagnostic;
use keyform_language::schema::{Entity, EntityId, Model, Table};
use keyform_language::template::Shape;

use super::RULE;

/// Sample items with the entities that they match.
pub(super) struct Matched<'a> {
    of: Vec<(Vec<EntityId>, &'a Item)>,
}

impl<'a> Matched<'a> {
    /// Returns the items that match this entity and no other.
    pub(super) fn of(&self, entity: EntityId) -> Vec<&'a Item> {
        self.of.iter().filter(|(entities, _)| *entities == [entity]).map(|(_, item)| *item).collect()
    }
}

pub(super) fn matched<'a>(model: &Model, samples: &'a Samples) -> Matched<'a> {
    Matched { of: samples.items.iter().map(|item| (entities(model, item), item)).collect() }
}

fn entities(model: &Model, item: &Item) -> Vec<EntityId> {
    let tagged: Vec<EntityId> = model.entity_ids().filter(|&id| has_tag(model, model.entity(id), item)).collect();
    if !tagged.is_empty() {
        return tagged;
    }
    model.entity_ids().filter(|&id| has_key(model.entity(id), item)).collect()
}

fn has_tag(model: &Model, entity: &Entity, item: &Item) -> bool {
    let tag = entity.table.and_then(|table| model.table(table).tag.as_ref());
    tag.is_some_and(|tag| item.get(&tag.value).and_then(|value| value.text()) == Some(&entity.tag))
        && has_key(entity, item)
}

/// Returns whether the entity's templates can produce each key attribute of the item.
fn has_key(entity: &Entity, item: &Item) -> bool {
    let Some(key) = &entity.key else { return false };
    key.parts().all(|part| {
        let text = item.get(&part.attribute).and_then(|value| value.text());
        let shape = Shape::of(&part.template, &entity.fields);
        text.zip(shape).is_some_and(|(text, shape)| shape.holds(text))
    })
}

/// Reports items that match no entity, and items that match two.
pub(super) fn strangers(model: &Model, samples: &Samples, matched: &Matched<'_>) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    let is_own = |item: &Item| model.tables.iter().any(|table| is_sentinel(table, item));
    let strangers = matched.of.iter().filter(|(entities, item)| entities.is_empty() && !is_own(item));
    let none: Vec<&Item> = strangers.map(|(_, item)| *item).collect();
    if let Some(example) = none.first() {
        let message = format!("{} of {} items match no entity", none.len(), samples.items.len());
        findings.push(
            Diagnostic::warning(RULE.code, model.name_span, message)
                .note(format!("For example: {}.", shown(example)))
                .help("declare an entity for it, or correct the key template that should match"),
        );
    }
    if let Some((entities, example)) = matched.of.iter().find(|(entities, _)| entities.len() > 1) {
        let (first, second) = (model.entity(entities[0]), model.entity(entities[1]));
        findings.push(
            Diagnostic::warning(
                RULE.code,
                second.name_span,
                format!("an item can be a {} or a {}", first.name, second.name),
            )
            .also(first.name_span, "the other")
            .note(format!("{}.", shown(example)))
            .help("give the table a `tag` attribute, or the keys different prefixes"),
        );
    }
    findings
}

/// Returns whether an item is the sentinel of a unique field.
fn is_sentinel(table: &Table, item: &Item) -> bool {
    let text = |name: &str| item.get(name).and_then(|value| value.text()).unwrap_or_default();
    let is_marked = table.partition.as_ref().is_some_and(|key| text(&key.name).starts_with("UNIQUE#"));
    is_marked && table.sort.as_ref().is_none_or(|key| text(&key.name) == "UNIQUE")
}

/// Formats the first text attributes of an item for a note.
pub(super) fn shown(item: &Item) -> String {
    let parts = item.iter().filter_map(|(name, value)| value.text().map(|text| format!("{name} = \"{text}\"")));
    parts.take(3).collect::<Vec<_>>().join(", ")
}
