//! Outline of an item that a write puts: every attribute it may have, and the source of each value.
//!
//! Attribute names, their order, the tag and the key types are known before any call. A call clones the outline and
//! fills in values, so it looks up nothing by name:
//!
//! ```text
//! attributes   entityType   noteId   pk    sk    title   userId
//! sources      tag          field    key   key   field   field
//! ```

use std::collections::BTreeMap;

use keyform_core::{AttributeValue, Attributes};

use crate::document::ast::KeyType;
use crate::schema::{Entity, EntityKey, FieldId, KeyPart, Table};

/// Precomputed attributes of an item.
#[derive(Clone, Debug)]
pub struct Outline {
    /// Attributes the item may have; only the tag attribute already has its value.
    pub attributes: Attributes,
    /// Source of each attribute, in the same order.
    pub sources: Vec<Source>,
    /// Number of sources that are keys.
    pub keys: usize,
    /// For each attribute that is a field, its index among the entity's fields sorted by name.
    places: Vec<Option<usize>>,
    /// Number of fields of the entity.
    fields: usize,
}

/// Source of an attribute's value.
#[derive(Clone, Debug)]
pub enum Source {
    /// Value of a field.
    Field(FieldId),
    /// Key attribute of the table or of an index. An item that lacks one attribute of an index key is not in the index.
    /// Its other key attributes are stored anyway, so that an update that sets the missing field need not know their
    /// values.
    Key {
        /// Template of the attribute.
        part: KeyPart,
        /// Type of the attribute.
        kind: KeyType,
        /// True for the table's key, which every item has.
        required: bool,
        /// Field with the attribute's name, which supplies the value if the key has none.
        field: Option<FieldId>,
    },
    /// Tag of the entity, already set in the outline.
    Tag,
}

impl Outline {
    /// Builds the outline of an item in which only the fields accepted by `may_have` can have values.
    #[must_use]
    pub fn of(table: &Table, entity: &Entity, may_have: impl Fn(FieldId) -> bool) -> Self {
        let mut sources: BTreeMap<&str, Source> = BTreeMap::new();
        for (number, field) in entity.fields.iter().enumerate().filter(|(number, _)| may_have(FieldId(*number))) {
            sources.insert(&field.name, Source::Field(FieldId(number)));
        }
        for key in entity.indexes.iter().chain(&entity.key) {
            for part in key.parts().filter(|part| key.index.is_none() || part.template.fields().all(&may_have)) {
                sources.insert(&part.attribute, of_key(table, entity, key, part));
            }
        }
        let mut attributes: Attributes =
            sources.keys().map(|name| ((*name).to_owned(), AttributeValue::Null)).collect();
        if let Some(tag) = &table.tag {
            sources.insert(&tag.value, Source::Tag);
            attributes.insert(tag.value.clone(), entity.tag.as_str().into());
        }
        let mut names: Vec<&String> = entity.fields.iter().map(|field| &field.name).collect();
        names.sort_unstable();
        Self {
            places: attributes.keys().map(|name| names.binary_search(&name).ok()).collect(),
            fields: names.len(),
            keys: sources.values().filter(|source| matches!(source, Source::Key { .. })).count(),
            sources: sources.into_values().collect(),
            attributes,
        }
    }

    /// Returns the values of the entity's fields in an item built from the outline, sorted by field name.
    #[must_use]
    pub fn values_of(&self, item: &Attributes) -> Vec<Option<AttributeValue>> {
        let mut values: Vec<_> = std::iter::repeat_with(|| None).take(self.fields).collect();
        let is_whole = item.len() == self.attributes.len();
        let mut whole = item.values();
        for (name, place) in self.attributes.keys().zip(&self.places) {
            let value = if is_whole { whole.next() } else { item.get(name) };
            if let Some(place) = place {
                values[*place] = value.cloned();
            }
        }
        values
    }
}

fn of_key(table: &Table, entity: &Entity, key: &EntityKey, part: &KeyPart) -> Source {
    Source::Key {
        part: part.clone(),
        kind: table.key_type(key.index, &part.attribute),
        required: key.index.is_none(),
        field: entity.field_named(&part.attribute),
    }
}

#[cfg(test)]
mod tests {
    use crate::Compiled;
    use crate::schema::FieldId;

    use super::*;

    const MODEL: &str = r#"
model notes

table Notes "notes" {
  key  pk, sk
  tag  entityType
  index byTitle (title, sk)
}

entity Note in Notes {
  key  "USER#{userId}", "NOTE#{noteId}"

  userId:  ulid
  noteId:  ulid = ulid()
  title:   string(1..100)
  text:    string(..4000)?
}
"#;

    #[test]
    fn names_are_in_order_and_each_has_its_source() {
        let compiled = Compiled::read(MODEL);
        let (table, entity) = (&compiled.model.tables[0], &compiled.model.entities[0]);
        let outline = Outline::of(table, entity, |field| field != FieldId(3));
        let sources: Vec<(&str, &str)> =
            outline.attributes.keys().map(String::as_str).zip(outline.sources.iter().map(word)).collect();
        let expected = [
            ("entityType", "tag"),
            ("noteId", "field"),
            ("pk", "key"),
            ("sk", "key"),
            ("title", "key"),
            ("userId", "field"),
        ];
        assert_eq!(sources, expected);
    }

    fn word(source: &Source) -> &'static str {
        match source {
            Source::Field(_) => "field",
            Source::Key { .. } => "key",
            Source::Tag => "tag",
        }
    }
}
