//! Literal beginnings of the keys of a table or an index, by which a key condition finds the entities that it may match.
//!
//! Without them, every read would be compared with every entity of its table.

use std::collections::BTreeMap;

use crate::schema::{EntityId, IndexId, KeyPart, Model, TableId};
use crate::template::Prefixes;

/// Beginnings of all keys of a model.
#[derive(Clone, Debug, Default)]
pub struct Beginnings(BTreeMap<(TableId, Option<IndexId>), Keys>);

/// Beginnings of the keys of a table or an index.
#[derive(Clone, Debug)]
struct Keys {
    entities: Vec<EntityId>,
    partition: Prefixes,
    sort: Prefixes,
}

impl Beginnings {
    pub(crate) fn of(model: &Model) -> Self {
        let mut keys: BTreeMap<_, Vec<(EntityId, String, String)>> = BTreeMap::new();
        for id in model.entity_ids() {
            let entity = model.entity(id);
            let Some(table) = entity.table else { continue };
            for key in entity.key.iter().chain(&entity.indexes) {
                let place = keys.entry((table, key.index)).or_default();
                place.push((id, beginning(&key.partition), beginning(&key.sort)));
            }
        }
        let indexed = |keys: Vec<(EntityId, String, String)>| Keys {
            entities: keys.iter().map(|(id, _, _)| *id).collect(),
            partition: Prefixes::new(keys.iter().map(|(_, partition, _)| partition.clone())),
            sort: Prefixes::new(keys.into_iter().map(|(_, _, sort)| sort)),
        };
        Self(keys.into_iter().map(|(place, keys)| (place, indexed(keys))).collect())
    }

    /// Returns the entities, in order, whose partition key or whose sort key may begin like the given text, whichever
    /// are fewer.
    pub(super) fn candidates(&self, place: (TableId, Option<IndexId>), partition: &str, sort: &str) -> Vec<EntityId> {
        let Some(keys) = self.0.get(&place) else { return Vec::new() };
        let by_sort = keys.sort.count(sort) < keys.partition.count(partition);
        let numbers = if by_sort { keys.sort.compatible(sort) } else { keys.partition.compatible(partition) };
        numbers.into_iter().map(|number| keys.entities[number]).collect()
    }
}

/// Returns the literal beginning of the first attribute.
fn beginning(parts: &[KeyPart]) -> String {
    parts.first().map(|part| part.template.prefix().to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::Compiled;
    use crate::schema::TableId;

    /// Counts candidates instead of measuring time: they would be quadratic if every pair were compared.
    #[test]
    fn a_thousand_reads_of_one_table_are_compared_with_few_entities() {
        for key in ["\"E{n}#{id}\", \"META\"", "\"USER#{id}\", \"E{n}#\""] {
            let entity = |n: usize| {
                let key = key.replace("{n}", &n.to_string());
                format!("entity E{n} in T {{\n  key {key}\n  id: ulid\n}}\n")
            };
            let text = format!("model m\ntable T {{ key pk, sk }}\n{}", (0..1000).map(entity).collect::<String>());
            let model = Compiled::read(&text).model;
            let beginnings = |n: usize| {
                let [partition, sort] = [0, 1].map(|place| key.split("\", \"").nth(place).unwrap_or_default());
                let text = |part: &str| part.replace("{n}", &n.to_string()).replace("{id}", "").replace('"', "");
                model.beginnings().candidates((TableId(0), None), &text(partition), &text(sort)).len()
            };
            let compared: usize = (0..1000).map(beginnings).sum();
            assert!((1000..2000).contains(&compared), "{compared} comparisons for {key}");
        }
    }
}
