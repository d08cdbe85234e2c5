//! Completes the fields of an item.

use std::collections::BTreeSet;

use keyform_core::AttributeValue;

use crate::bind::when_absent;
use crate::schema::{Entity, FieldId};
use crate::template::parse;

use super::key::KeyFields;
use super::{Misfit, read};

/// Reads the items of one entity.
#[derive(Clone, Debug)]
pub struct Reader {
    /// In the order of the field names.
    fields: Vec<FieldReader>,
    keys: KeyFields,
}

#[derive(Clone, Debug)]
struct FieldReader {
    id: FieldId,
    /// True if a key of the item determines the value.
    is_derived: bool,
    absent: Absent,
}

/// Meaning of an absent attribute.
#[derive(Clone, Debug)]
enum Absent {
    /// No value.
    Nothing,
    /// NULL.
    Null,
    /// The field's constant default.
    Default(AttributeValue),
    /// The item is incomplete.
    Missing,
}

/// Fields that a read asked for. Others may be absent, because the read or the index left them out.
#[derive(Clone, Copy)]
pub enum Wanted<'a> {
    /// All fields.
    All,
    /// The fields for which the function returns true.
    Fields(&'a dyn Fn(FieldId) -> bool),
    /// Only the attributes that are there.
    Present,
}

impl Wanted<'_> {
    fn includes(self, field: FieldId) -> bool {
        match self {
            Self::All => true,
            Self::Fields(are_wanted) => are_wanted(field),
            Self::Present => false,
        }
    }
}

impl Reader {
    /// Prepares to read items of an entity.
    #[must_use]
    pub fn of(entity: &Entity) -> Self {
        let keys = KeyFields::of(entity);
        let derived: BTreeSet<FieldId> = keys.fields(entity).collect();
        let reader = |number| FieldReader::of(entity, FieldId(number), derived.contains(&FieldId(number)));
        let mut fields: Vec<FieldReader> = (0..entity.fields.len()).map(reader).collect();
        fields.sort_unstable_by(|one, other| entity.field(one.id).name.cmp(&entity.field(other.id).name));
        Self { fields, keys }
    }

    /// Converts the stored values to those of the fields' types and adds those that the item lacks. The values are in
    /// the order of the field names. `attribute` returns any attribute of the item.
    ///
    /// # Errors
    ///
    /// Returns the first field that has no value of its type.
    pub fn complete(
        &self,
        entity: &Entity,
        wanted: Wanted<'_>,
        values: &mut [Option<AttributeValue>],
        attribute: impl Fn(&str) -> Option<AttributeValue>,
    ) -> Result<(), Misfit> {
        let mut derived = None;
        for (field, place) in self.fields.iter().zip(values) {
            let of = entity.field(field.id);
            match place {
                Some(AttributeValue::Null) if of.null => continue,
                Some(AttributeValue::Null) if of.optional || matches!(field.absent, Absent::Default(_)) => {
                    *place = None
                }
                Some(_) => {
                    *place = place
                        .take()
                        .map(|value| read(value, &of.kind))
                        .transpose()
                        .map_err(|misfit| misfit.within(&of.name))?;
                    continue;
                }
                None => {}
            }
            if !wanted.includes(field.id) {
                continue;
            }
            if field.is_derived {
                let derived = derived.get_or_insert_with(|| self.keys.values(entity, &attribute));
                *place = derived.get(&field.id).map(|text| parse::attribute(&of.kind, text));
            }
            if place.is_none() {
                *place = field.absent.value(&of.name)?;
            }
        }
        Ok(())
    }
}

impl Reader {
    /// Returns the first field whose attribute has another value than the item's key. Reads return the attribute, and
    /// find the item by its key.
    #[must_use]
    pub fn contradiction<'e>(
        &self,
        entity: &'e Entity,
        attribute: impl Fn(&str) -> Option<AttributeValue>,
    ) -> Option<&'e str> {
        let derived = self.keys.values(entity, &attribute);
        let differs = |field: &&FieldReader| {
            let of = entity.field(field.id);
            let told = derived.get(&field.id).map(|text| parse::attribute(&of.kind, text));
            let stored = attribute(&of.name).and_then(|stored| read(stored, &of.kind).ok());
            told.zip(stored).is_some_and(|(told, stored)| read(told, &of.kind).is_ok_and(|told| told != stored))
        };
        let is_judged = |field: &&FieldReader| field.is_derived && entity.field(field.id).flags.encrypted.is_none();
        self.fields.iter().filter(is_judged).find(differs).map(|field| entity.field(field.id).name.as_str())
    }
}

impl FieldReader {
    fn of(entity: &Entity, id: FieldId, is_derived: bool) -> Self {
        let field = entity.field(id);
        let absent = match when_absent(field) {
            Some(default) => Absent::Default(default),
            None if field.null => Absent::Null,
            None if field.must_have_value() => Absent::Missing,
            None => Absent::Nothing,
        };
        Self { id, is_derived, absent }
    }
}

impl Absent {
    fn value(&self, name: &str) -> Result<Option<AttributeValue>, Misfit> {
        match self {
            Self::Nothing => Ok(None),
            Self::Null => Ok(Some(AttributeValue::Null)),
            Self::Default(value) => Ok(Some(value.clone())),
            Self::Missing => Err(Misfit::missing(name)),
        }
    }
}
