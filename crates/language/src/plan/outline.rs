//! The outline of an item that a write puts: every attribute it may have, and what fills it.
//!
//! Names, their order, the tag and the types of keys are known before any call. A call copies the outline and fills in values, so that
//! nothing is looked up by its name:
//!
//! ```text
//! attributes   entityType   noteId   pk    sk    title   userId
//! sources      tag          field    key   key   field   field
//! ```

use std::collections::BTreeMap;

use keyform_core::{AttributeValue, Attributes};

use crate::document::ast::KeyType;
use crate::schema::{Entity, EntityKey, FieldId, KeyPart, Table};

/// The outline of an item.
#[derive(Clone, Debug)]
pub struct Outline {
    /// Each attribute that the item may have; that of the tag has its value.
    pub attributes: Attributes,
    /// What fills each attribute, in the same order.
    pub sources: Vec<Source>,
    /// How many of them are keys.
    pub keys: usize,
    /// Of each attribute that is a field, its place among the entity's fields in the order of their names.
    places: Vec<Option<usize>>,
    /// How many fields the entity has.
    fields: usize,
}

/// What fills an attribute.
#[derive(Clone, Debug)]
pub enum Source {
    /// The value of a field.
    Field(FieldId),
    /// The key of the table or of an index. An item that lacks an attribute of an index's key is not in the index; the others are kept,
    /// so that an update that gives the missing field a value need not know theirs.
    Key {
        /// What fills it.
        part: KeyPart,
        /// Its type.
        kind: KeyType,
        /// It is the table's: no item is without.
        required: bool,
        /// The field of its name, which has it where the key has no value.
        field: Option<FieldId>,
    },
    /// The name of the entity, which is there already.
    Tag,
}

impl Outline {
    /// The outline of an item of which these fields may have values.
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
        if let Some((tag, _)) = &table.tag {
            sources.insert(tag, Source::Tag);
            attributes.insert(tag.clone(), entity.tag.as_str().into());
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

    /// The values that the entity's fields have in an item made of the outline, in the order of the fields' names.
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
    use crate::Checked;
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
        let checked = Checked::read(MODEL);
        let (table, entity) = (&checked.model.tables[0], &checked.model.entities[0]);
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
