//! Derives fields from the keys that contain them.

use std::collections::BTreeSet;

use keyform_core::AttributeValue;

use crate::schema::{Entity, FieldId, KeyPart, Part};
use crate::template::injective::tells;
use crate::template::parse::{self, is_lossless};
use crate::template::render::Values;
use crate::template::shape::Shape;

/// Key attributes of an entity that determine fields, in the order in which they are parsed.
#[derive(Clone, Debug)]
pub(super) struct KeyFields {
    parts: Vec<KeyPart>,
}

impl KeyFields {
    /// Selects the attributes whose template has a single reading. Values that one attribute determines are known in
    /// the next. The table's key comes first, because every item has it.
    pub(super) fn of(entity: &Entity) -> Self {
        let mut known = BTreeSet::new();
        let keys = entity.key.iter().chain(&entity.indexes);
        let mut open: Vec<&KeyPart> = keys.flat_map(|key| key.parts()).collect();
        let mut parts: Vec<KeyPart> = Vec::new();
        loop {
            let told = open
                .iter()
                .position(|part| Shape::of(&part.template, &entity.fields).is_some_and(|shape| tells(&shape, &known)));
            let Some(told) = told else { return Self { parts } };
            let part = open.remove(told);
            let before = known.len();
            known.extend(recovered(entity, part));
            if known.len() > before {
                parts.push(part.clone());
            }
        }
    }

    /// Iterates over the fields that the keys determine.
    pub(super) fn fields<'a>(&'a self, entity: &'a Entity) -> impl Iterator<Item = FieldId> + 'a {
        self.parts.iter().flat_map(|part| recovered(entity, part))
    }

    /// Parses the keys of an item. Skips attributes that the item lacks or that its template cannot produce.
    pub(super) fn values(&self, entity: &Entity, attribute: impl Fn(&str) -> Option<AttributeValue>) -> Values {
        let mut values = Values::new();
        for part in &self.parts {
            let text = attribute(&part.attribute).as_ref().and_then(parse::key_text);
            let parsed = text.and_then(|text| parse::parse(&part.template.parts, &text, &entity.fields, &values));
            values.extend(parsed.into_iter().flatten());
        }
        values
    }
}

/// Returns the fields of a template whose format keeps the value.
fn recovered<'a>(entity: &'a Entity, part: &'a KeyPart) -> impl Iterator<Item = FieldId> + 'a {
    part.template.parts.iter().filter_map(|part| match part {
        Part::Field { field, format, .. } if is_lossless(&entity.field(*field).kind, *format) => Some(*field),
        Part::Field { .. } | Part::Text(_) | Part::Unknown { .. } => None,
    })
}
