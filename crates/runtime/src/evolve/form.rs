//! The old and the new form of one entity: classifies items and converts them.
//!
//! An evolution is *in place* if the key stays the same: an item has the old form if converting it changes it.
//! Otherwise items *move*: an item whose key matches the old templates has the old form; after it was migrated it
//! stays at its old key, marked, until the cut-over (`mark`).

use std::collections::BTreeMap;
use std::sync::Arc;

use keyform_core::{AttributeValue, Attributes};

use crate::run::fits;
use crate::seal::{Keyring, SealError, Sealing};
use keyform_language::bind::evolve::value_over;
use keyform_language::bind::{self, BindError, Inputs};
use keyform_language::bind::{Seal as _, SealedField};
use keyform_language::scalar::Scalar;
use keyform_language::schema::{
    Entity, EntityId, EntityKey, Evolution, Expr, ExprKind, Field, FieldId, Flags, KeyPart, Model, Part, Table, Type,
};
use keyform_language::template::parse::{attribute, key_text, parse};
use keyform_language::template::render::Values;

use super::derived::Derived;
use super::mark::{MARK, Mark, sum};

/// Entity on one side of its evolution.
#[derive(Clone, Debug)]
pub struct Side {
    /// Table of this side.
    pub table: Table,
    /// Name of the table in the store.
    pub name: String,
    /// Entity with the fields and keys of this side.
    pub entity: Entity,
}

/// Evolution of one entity, ready to convert items.
#[derive(Clone, Debug)]
pub struct Form {
    /// Entity that evolves.
    pub entity: EntityId,
    /// Old side. Its fields are those of the entity, followed by those that only old items have.
    pub old: Side,
    /// New side.
    pub new: Side,
    /// Set if the key stays the same.
    pub in_place: bool,
    model: Model,
    evolution: Evolution,
    keys: Option<Arc<Keyring>>,
}

/// Classification of an item by an evolution.
#[derive(Clone, Debug, PartialEq)]
pub enum Class {
    /// Not an item of the entity.
    Other,
    /// New form: nothing to migrate.
    New,
    /// Old form without a mark: authoritative, and still to migrate.
    Old,
    /// Old form, marked as moved: the new item is authoritative.
    Moved(Mark),
}

impl Side {
    /// Returns the primary key of an item.
    #[must_use]
    pub fn key_of(&self, item: &Attributes) -> Attributes {
        let names = self.table.key_names();
        names.filter_map(|name| Some((name.to_owned(), item.get(name)?.clone()))).collect()
    }

    /// Returns every attribute that is part of a key, of the table or of an index.
    fn key_attributes(&self) -> impl Iterator<Item = &str> {
        let indexes = self.table.indexes.iter().flat_map(|index| index.partition.iter().chain(&index.sort));
        let all = self.table.partition.iter().chain(&self.table.sort).chain(indexes);
        all.map(|key| key.name.as_str())
    }

    /// Parses the attributes of a key into field values; `None` if they do not match the templates.
    #[must_use]
    pub(crate) fn read_key(&self, key: &EntityKey, item: &Attributes) -> Option<Attributes> {
        let mut values = Attributes::new();
        for part in key.parts() {
            let Some(value) = item.get(&part.attribute) else { continue };
            let read = parse(&part.template.parts, &key_text(value)?, &self.entity.fields, &Values::new())?;
            for (field, text) in read {
                let field = self.entity.field(field);
                let value = attribute(&field.kind, &text);
                if values.get(&field.name).is_some_and(|other| *other != value) {
                    return None;
                }
                values.insert(field.name.clone(), value);
            }
        }
        Some(values)
    }

    /// Returns whether the primary key of an item matches the entity's templates.
    #[must_use]
    pub fn has_key(&self, item: &Attributes) -> bool {
        let Some(key) = &self.entity.key else { return false };
        key.parts().all(|part| item.contains_key(&part.attribute)) && self.read_key(key, item).is_some()
    }

    /// Decides by the tag, if the item has one, and by its key.
    fn is_entity(&self, item: &Attributes) -> bool {
        if is_sentinel(&self.table, item) {
            return false;
        }
        match self.table.tag.as_ref().and_then(|tag| item.get(&tag.value)) {
            Some(AttributeValue::S(tag)) => *tag == self.entity.tag && self.has_key(item),
            _ => self.has_key(item),
        }
    }
}

/// Returns whether an item is the sentinel of a unique field.
fn is_sentinel(table: &Table, item: &Attributes) -> bool {
    let text = |name: &str| item.get(name).and_then(key_text).unwrap_or_default();
    let marked = table.partition.as_ref().is_some_and(|key| text(&key.name).starts_with("UNIQUE#"));
    marked && table.sort.as_ref().is_none_or(|key| text(&key.name) == "UNIQUE")
}

impl Form {
    /// Returns the evolutions of a model. `variables` are the values of the variables in table names.
    #[must_use]
    pub fn all(model: &Model, variables: &BTreeMap<String, String>) -> Vec<Self> {
        model.evolutions.iter().filter_map(|evolution| Self::new(model, evolution, variables)).collect()
    }

    fn new(model: &Model, evolution: &Evolution, variables: &BTreeMap<String, String>) -> Option<Self> {
        let id = evolution.entity?;
        let entity = model.entity(id).clone();
        let (new_table, old_table) = (entity.table?, evolution.table.or(entity.table)?);
        let mut before = entity.clone();
        before.fields.extend(evolution.old_fields.iter().map(|name| old_field(name, evolution, &entity)));
        before.key = evolution.key.clone().or_else(|| onto(entity.key.as_ref()?, model.table(old_table)));
        before.indexes = evolution.indexes.clone();
        before.table = Some(old_table);
        let alike = |old: &EntityKey, new: &EntityKey| {
            old.parts().zip(new.parts()).all(|(old, new)| old.template.parts_alike(&new.template))
        };
        let in_place =
            new_table == old_table && before.key.as_ref().zip(entity.key.as_ref()).is_some_and(|(a, b)| alike(a, b));
        let mut extended = model.clone();
        extended.entities[id.0] = before.clone();
        let side = |table, entity| {
            let table: &Table = model.table(table);
            Side { table: table.clone(), name: bind::table_name(table, variables), entity }
        };
        Some(Self {
            entity: id,
            old: side(old_table, before),
            new: side(new_table, entity),
            in_place,
            model: extended,
            evolution: evolution.clone(),
            keys: None,
        })
    }

    /// Returns the same form with the keys of encrypted fields. A value that moves is decrypted and encrypted again,
    /// because its key is part of the associated data (ADR 0014).
    #[must_use]
    pub fn with_keys(self, keys: Option<Arc<Keyring>>) -> Self {
        Self { keys, ..self }
    }

    /// Classifies an item of the old side's table.
    #[must_use]
    pub fn class(&self, item: &Attributes) -> Class {
        if self.in_place {
            return match self.new.is_entity(item) {
                true if self.is_current(item) => Class::New,
                true => Class::Old,
                false => Class::Other,
            };
        }
        if self.old.is_entity(item) && !self.is_also_new(item) {
            return Mark::of(item).map_or(Class::Old, Class::Moved);
        }
        let here = self.old.name == self.new.name;
        if here && self.new.is_entity(item) { Class::New } else { Class::Other }
    }

    /// Returns whether an item of the new side's table has the new form.
    #[must_use]
    pub fn is_new(&self, item: &Attributes) -> bool {
        match self.old.name == self.new.name {
            true => self.class(item) == Class::New,
            false => self.new.is_entity(item),
        }
    }

    fn is_current(&self, item: &Attributes) -> bool {
        self.converted(item, 0).is_ok_and(|converted| converted == *item)
    }

    /// The keys of both forms may look alike: an item is new if its own fields produce its key.
    fn is_also_new(&self, item: &Attributes) -> bool {
        if self.old.name != self.new.name || !self.new.has_key(item) {
            return false;
        }
        let made = bind::item(&self.new.table, &self.new.entity, item);
        made.is_ok_and(|made| self.new.key_of(&made) == self.new.key_of(item))
    }

    /// Converts an old item to the new form.
    ///
    /// # Errors
    ///
    /// Returns an error if a part of the new key has no value, or an encrypted field cannot be decrypted.
    pub fn converted(&self, old: &Attributes, now_millis: i64) -> Result<Attributes, BindError> {
        let mut before = self.old_fields(old);
        let moves = |name: &str| !self.in_place || self.evolution.renames.iter().any(|(from, _, _)| from == name);
        self.open(&self.old, &self.old.key_of(old), &mut before, moves)?;
        let mut fields = self.renamed(old, &before);
        self.set(old, &before, &mut fields, now_millis)?;
        self.fill(old, &mut fields, now_millis)?;
        let mut item = self.extras(old);
        item.extend(bind::item(&self.new.table, &self.new.entity, &fields)?);
        self.seal(&self.new, &mut item, |name| !self.in_place || !old.contains_key(name))?;
        Ok(item)
    }

    /// Decrypts the encrypted fields that will move. Values that were never encrypted stay as they are.
    fn open(
        &self,
        side: &Side,
        key: &Attributes,
        fields: &mut Attributes,
        moves: impl Fn(&str) -> bool,
    ) -> Result<(), BindError> {
        for field in side.entity.encrypted_fields().filter(|field| moves(&field.name)) {
            let Some(value) = fields.get_mut(&field.name) else { continue };
            let place = SealedField { table: &side.name, key, entity: &side.entity.name, field: &field.name };
            let named = || format!("`{}.{}`", side.entity.name, field.name);
            let keys = self.keys.as_ref().ok_or_else(|| BindError::Missing(format!("the key of {}", named())))?;
            match keys.open(&place, value) {
                Ok(opened) => *value = opened,
                Err(SealError::NotSealed { .. }) => {}
                Err(_) => return Err(BindError::WrongValue(named())),
            }
        }
        Ok(())
    }

    /// Encrypts fields for the item's key. The salt is derived from the key, so converting the same item twice gives
    /// the same bytes.
    fn seal(&self, side: &Side, item: &mut Attributes, is_open: impl Fn(&str) -> bool) -> Result<(), BindError> {
        let key = side.key_of(item);
        for field in side.entity.encrypted_fields().filter(|field| is_open(&field.name)) {
            let Some(value) = item.get_mut(&field.name) else { continue };
            let named = || BindError::Missing(format!("the key of `{}.{}`", side.entity.name, field.name));
            let sealing = Sealing { ring: self.keys.as_ref().ok_or_else(named)?, salt: sum(&key) };
            let place = SealedField { table: &side.name, key: &key, entity: &side.entity.name, field: &field.name };
            *value = sealing.seal(&place, value);
        }
        Ok(())
    }

    /// Returns the field values of an old item: its attributes, and those that only its key contains.
    #[must_use]
    pub fn old_fields(&self, old: &Attributes) -> Attributes {
        let of_key = self.old.entity.key.as_ref().and_then(|key| self.old.read_key(key, old));
        let mut values = of_key.unwrap_or_default();
        for field in &self.old.entity.fields {
            if let Some(value) = old.get(&field.name) {
                values.insert(field.name.clone(), value.clone());
            }
        }
        values
    }

    fn renamed(&self, old: &Attributes, before: &Attributes) -> Attributes {
        let mut fields = Attributes::new();
        for field in &self.new.entity.fields {
            let left = self.evolution.renames.iter().any(|(from, _, _)| *from == field.name);
            if let Some(value) = before.get(&field.name).filter(|_| !left || self.in_place) {
                fields.insert(field.name.clone(), value.clone());
            }
        }
        for (from, to, _) in &self.evolution.renames {
            let name = &self.new.entity.field(*to).name;
            let has = self.in_place && old.contains_key(name);
            if let Some(value) = before.get(from).filter(|_| !has) {
                fields.insert(name.clone(), value.clone());
            }
        }
        fields
    }

    /// Applies `set`. For fields of a new key it always applies; for others only if the item lacks the field or its
    /// value does not match the type.
    fn set(
        &self,
        old: &Attributes,
        before: &Attributes,
        fields: &mut Attributes,
        now_millis: i64,
    ) -> Result<(), BindError> {
        for (id, expr, _) in &self.evolution.sets {
            let field = self.new.entity.field(*id);
            let is_sealed = self.in_place && field.flags.encrypted.is_some();
            let stays = fields.get(&field.name).is_some_and(|value| is_sealed || fits(value, &field.kind));
            if stays && !self.decides(*id) {
                continue;
            }
            let mut seen = fields.clone();
            seen.extend(before.clone());
            match self.value(expr, &field.kind, seen, old, now_millis)? {
                Some(value) => fields.insert(field.name.clone(), value),
                None => fields.remove(&field.name),
            };
        }
        Ok(())
    }

    /// Returns whether a `set` of the field applies to every old item.
    fn decides(&self, field: FieldId) -> bool {
        !self.in_place && self.new.entity.key_fields().contains(&field)
    }

    /// Adds deterministic defaults to missing required fields. A missing version starts at 1.
    fn fill(&self, old: &Attributes, fields: &mut Attributes, now_millis: i64) -> Result<(), BindError> {
        for field in self.new.entity.fields.iter().filter(|field| field.is_required()) {
            if field.flags.version.is_some() {
                fields.entry(field.name.clone()).or_insert_with(|| 1.into());
            }
            let Some(default) = field.default.as_ref().filter(|default| is_steady(default)) else { continue };
            if !fields.contains_key(&field.name)
                && let Some(value) = self.value(default, &field.kind, fields.clone(), old, now_millis)?
            {
                fields.insert(field.name.clone(), value);
            }
        }
        Ok(())
    }

    fn value(
        &self,
        expr: &Expr,
        kind: &Type,
        seen: Attributes,
        old: &Attributes,
        now_millis: i64,
    ) -> Result<Option<AttributeValue>, BindError> {
        let fresh = Derived::of(&self.old.key_of(old));
        let inputs = Inputs {
            arguments: Default::default(),
            caller: Default::default(),
            lets: Vec::new(),
            current: Vec::new(),
            variables: BTreeMap::new(),
            start: None,
            token: None,
            now_millis,
            fresh: &fresh,
            sealing: None,
        };
        value_over(&self.model, expr, kind, &seen, &inputs)
    }

    /// Returns the attributes that are neither fields nor keys. They are copied unchanged.
    fn extras(&self, old: &Attributes) -> Attributes {
        let tag = |side: &Side| side.table.tag.as_ref().map(|tag| tag.value.clone());
        let is_key = |name: &str| {
            let keys = self.old.key_attributes().chain(self.new.key_attributes());
            keys.into_iter().any(|key| key == name)
        };
        let is_field = |name: &str| self.old.entity.fields.iter().any(|field| field.name == name);
        let tags = [tag(&self.old), tag(&self.new)];
        let is_extra = |name: &String| {
            !is_key(name) && !is_field(name) && name != MARK && !tags.iter().flatten().any(|tag| tag == name)
        };
        old.iter().filter(|(name, _)| is_extra(name)).map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// Converts a new item back to the old form, as far as it can represent it. `base` is the old item that it came
    /// from.
    ///
    /// # Errors
    ///
    /// Returns an error if a part of the old key has no value, or an encrypted field cannot be decrypted.
    pub fn reverted(&self, new: &Attributes, base: Option<&Attributes>) -> Result<Attributes, BindError> {
        let mut fields = base.map(|base| self.old_fields(base)).unwrap_or_default();
        if let Some(base) = base {
            self.open(&self.old, &self.old.key_of(base), &mut fields, |_| true)?;
        }
        let sealed = new;
        let mut new = new.clone();
        let is_renamed =
            |name: &str| self.evolution.renames.iter().any(|(_, to, _)| self.new.entity.field(*to).name == name);
        self.open(&self.new, &self.new.key_of(sealed), &mut new, |name| !self.in_place || is_renamed(name))?;
        let new = &new;
        let is_set = |id: FieldId| self.evolution.sets.iter().any(|(set, _, _)| *set == id);
        for (number, field) in self.new.entity.fields.iter().enumerate() {
            let renamed = self.evolution.renames.iter().find(|(_, to, _)| *to == FieldId(number));
            if renamed.is_none() && is_set(FieldId(number)) && !self.in_place {
                continue;
            }
            let name = renamed.map_or(&field.name, |(from, _, _)| from);
            match new.get(&field.name) {
                Some(value) => fields.insert(name.clone(), value.clone()),
                None => fields.remove(name),
            };
        }
        let mut item = self.extras(new);
        let renamed_away = |name: &String| {
            self.evolution.renames.iter().any(|(_, to, _)| self.new.entity.field(*to).name == *name)
                && self.old.entity.field_named(name).is_some()
        };
        fields.retain(|name, _| !renamed_away(name));
        item.extend(bind::item(&self.old.table, &self.old.entity, &fields)?);
        // Index keys without old templates in the model keep their values.
        if let Some(kept) = base.or(Some(new).filter(|_| self.in_place)) {
            for name in self.old.key_attributes() {
                if let (false, Some(value)) = (item.contains_key(name), kept.get(name)) {
                    item.insert(name.to_owned(), value.clone());
                }
            }
        }
        self.seal(&self.old, &mut item, |name| !self.in_place || !sealed.contains_key(name))?;
        // An item that had no tag gets none.
        if let (Some(base), Some(tag)) = (base, &self.old.table.tag)
            && !base.contains_key(&tag.value)
        {
            item.remove(&tag.value);
        }
        Ok(item)
    }

    /// Returns the fields of an old item that follow from these new fields; `None` if no old item converts to them.
    #[must_use]
    pub(crate) fn known_before(&self, new: &Attributes) -> Option<Attributes> {
        let mut known = Attributes::new();
        for (number, field) in self.new.entity.fields.iter().enumerate() {
            let Some(value) = new.get(&field.name) else { continue };
            let id = FieldId(number);
            let set = self.evolution.sets.iter().find(|(set, _, _)| *set == id);
            let renamed = self.evolution.renames.iter().find(|(_, to, _)| *to == id);
            match (renamed, set) {
                (_, Some((_, expr, _))) if self.decides(id) => {
                    if let Some(of) = known_of(expr, value)? {
                        known.insert(self.old.entity.field(of).name.clone(), value.clone());
                    }
                }
                (Some((from, _, _)), _) if !self.in_place => _ = known.insert(from.clone(), value.clone()),
                // The value may come from either name, or from a `set`.
                (Some(_), _) | (_, Some(_)) => {}
                (None, None) => _ = known.insert(field.name.clone(), value.clone()),
            }
        }
        Some(known)
    }

    /// Returns the old fields that are known if these new fields are.
    pub(super) fn known_names(&self, new: &[FieldId]) -> Vec<FieldId> {
        let mut known = Vec::new();
        for id in new {
            let set = self.evolution.sets.iter().find(|(set, _, _)| set == id).filter(|_| self.decides(*id));
            let renamed = self.evolution.renames.iter().find(|(_, to, _)| to == id).filter(|_| !self.in_place);
            match (set, renamed) {
                (Some((_, expr, _)), _) => known.extend(match &expr.kind {
                    ExprKind::ValuePath(keyform_language::schema::ValuePath {
                        origin: keyform_language::schema::Origin::Field(_, field),
                        ..
                    }) => Some(*field),
                    _ => None,
                }),
                (None, Some((from, _, _))) => known.extend(self.old.entity.field_named(from)),
                (None, None) => known.push(*id),
            }
        }
        known
    }

    /// Returns whether the new key of an item follows from its old key alone, so that any image of the old item, even a
    /// stale one in an index, tells which item it becomes.
    pub(super) fn key_follows_from_key(&self) -> bool {
        let old: Vec<FieldId> = self.old.entity.key_fields();
        self.new.entity.key_fields().into_iter().all(|id| {
            let set = self.evolution.sets.iter().find(|(set, _, _)| *set == id);
            let renamed = self.evolution.renames.iter().find(|(_, to, _)| *to == id);
            match (set, renamed) {
                (Some((_, expr, _)), _) => expr.own_fields().iter().all(|field| old.contains(field)),
                (None, Some((from, _, _))) => self.old.entity.field_named(from).is_some_and(|from| old.contains(&from)),
                (None, None) => old.contains(&id),
            }
        })
    }

    /// Returns whether old items already have the right keys in an index of the new form.
    #[must_use]
    pub fn fills(&self, index: keyform_language::schema::IndexId) -> bool {
        let Some(now) = self.new.entity.key_of(Some(index)) else { return true };
        let then = self.evolution.indexes.iter().find(|key| key.index == Some(index));
        if let Some(then) = then {
            let mut pairs = then.parts().zip(now.parts());
            return self.in_place && pairs.all(|(then, now)| then.template.parts_alike(&now.template));
        }
        let touched = |id: FieldId| {
            self.evolution.sets.iter().any(|(set, _, _)| *set == id)
                || self.evolution.renames.iter().any(|(_, to, _)| *to == id)
        };
        let is_plain = |part: &KeyPart| match part.template.parts.as_slice() {
            [Part::Field { field, .. }] => self.new.entity.field(*field).name == part.attribute && !touched(*field),
            _ => false,
        };
        self.in_place && now.parts().all(is_plain)
    }

    /// Returns a description of the evolution, from which the migration's id is derived.
    #[must_use]
    pub fn words(&self) -> String {
        let key = |side: &Side| {
            let name = |id: FieldId| side.entity.field(id).name.as_str();
            let key = side.entity.key.iter().chain(&side.entity.indexes);
            let texts: Vec<String> = key.flat_map(EntityKey::parts).map(|part| part.template.text(name)).collect();
            format!("{}:{}", side.name, texts.join(","))
        };
        let renames: Vec<String> = self
            .evolution
            .renames
            .iter()
            .map(|(from, to, _)| format!("{from}>{}", self.new.entity.field(*to).name))
            .collect();
        let sets: Vec<String> = self
            .evolution
            .sets
            .iter()
            .map(|(field, expr, _)| format!("{}={}", self.new.entity.field(*field).name, shown(expr)))
            .collect();
        format!(
            "{} {} {} {} {}",
            self.new.entity.name,
            key(&self.old),
            key(&self.new),
            renames.join(","),
            sets.join(",")
        )
    }
}

/// Returns what `set field = expr` implies about the old item for this value: the old field with the same value,
/// nothing, or (`None`) that no such item exists.
fn known_of(expr: &Expr, value: &AttributeValue) -> Option<Option<FieldId>> {
    let is = |literal: &str| key_text(value).is_some_and(|value| value == literal);
    match &expr.kind {
        ExprKind::Text(literal) | ExprKind::Number(literal) => is(literal).then_some(None),
        ExprKind::Bool(literal) => is(&literal.to_string()).then_some(None),
        ExprKind::ValuePath(keyform_language::schema::ValuePath {
            origin: keyform_language::schema::Origin::Field(_, field),
            path,
        }) if path.is_empty() => Some(Some(*field)),
        _ => Some(None),
    }
}

/// Formats an expression without source positions.
fn shown(expr: &Expr) -> String {
    let mut words = String::new();
    expr.walk(&mut |part| match &part.kind {
        ExprKind::Text(text) => words.push_str(&format!("{text:?}")),
        ExprKind::Number(number) => words.push_str(number),
        ExprKind::Duration(seconds) => words.push_str(&format!("{seconds}s")),
        ExprKind::Bool(value) => words.push_str(&value.to_string()),
        ExprKind::Call { function, .. } => words.push_str(function),
        ExprKind::ValuePath(place) => words.push_str(&match &place.origin {
            keyform_language::schema::Origin::Field(_, field) => format!("${}", field.0),
            _ => "?".to_owned(),
        }),
        ExprKind::Binary(op, ..) => words.push_str(&format!("{op:?}")),
        _ => words.push('.'),
    });
    words
}

/// Returns whether an expression gives the same value each time.
pub(super) fn is_steady(expr: &Expr) -> bool {
    let mut steady = true;
    expr.walk(&mut |part| {
        if let ExprKind::Call { function, arguments } = &part.kind {
            let fresh = matches!(function.as_str(), "now" | "today" | "ulid" | "code" | "token");
            steady &= !(fresh || function == "uuid" && arguments.is_empty());
        }
    });
    steady
}

fn old_field(name: &str, evolution: &Evolution, entity: &Entity) -> Field {
    let renamed = evolution.renames.iter().find(|(from, _, _)| from == name);
    let kind = renamed.map_or(Scalar::String.into(), |(_, to, _)| entity.field(*to).kind.clone());
    let encrypted = renamed.and_then(|(_, to, _)| entity.field(*to).flags.encrypted);
    Field {
        name: name.to_owned(),
        name_span: evolution.span,
        span: evolution.span,
        docs: Vec::new(),
        kind,
        type_span: evolution.span,
        optional: true,
        null: false,
        flags: Flags { encrypted, ..Flags::default() },
        default: None,
    }
}

/// Applies the same templates to the key attributes of another table.
fn onto(key: &EntityKey, table: &Table) -> Option<EntityKey> {
    let rename =
        |parts: &[KeyPart], attribute: Option<&keyform_language::schema::KeyAttribute>| match (parts, attribute) {
            ([part], Some(attribute)) => Some(vec![KeyPart { attribute: attribute.name.clone(), ..part.clone() }]),
            ([], None) => Some(Vec::new()),
            _ => None,
        };
    Some(EntityKey {
        partition: rename(&key.partition, table.partition.as_ref())?,
        sort: rename(&key.sort, table.sort.as_ref())?,
        ..key.clone()
    })
}
