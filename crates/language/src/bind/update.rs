//! Builds the update expression of an `update` or `upsert`.

use keyform_core::expression::{Path, SetAction, SetValue, Update, UpdateOperand};
use keyform_core::{AttributeValue, Attributes};

use crate::document::ast::{BinaryOp, Verb};
use crate::schema::{
    Action, Change, ChangeKind, Entity, EntityKey, Expr, ExprKind, Field, FieldId, KeyPart, Origin, PathStep, Table,
    Type, limit,
};
use crate::span::Spanned;

use super::BindError;
use super::constant::when_absent;
use super::evaluate::Scope;
use super::fields::Fields;
use super::limit::members;
use super::sealed::Sealer;
use super::{item, value};

/// An update of one item; the scope holds its key fields.
pub(super) struct Changing<'a> {
    pub(super) scope: &'a Scope<'a>,
    pub(super) table: &'a Table,
    pub(super) entity: &'a Entity,
    pub(super) action: &'a Action,
    /// True if unique values change, so the changed values must be known.
    pub(super) moves_sentinels: bool,
    /// Current item, if it was read.
    pub(super) current: Option<&'a Attributes>,
    /// Encrypts the item's fields.
    pub(super) sealer: &'a Sealer<'a>,
}

impl Changing<'_> {
    /// Returns the update, and the values it sets from which index keys or sentinels are derived.
    pub(super) fn update(&self) -> Result<(Update, Fields), BindError> {
        let mut update = Update { set: Vec::with_capacity(self.action.changes.len()), ..Update::default() };
        let mut known = Fields::new();
        let done = self.set_older(&mut update)?;
        for change in self.action.changes.iter().filter(|change| change.field.is_none_or(|id| !done.contains(&id))) {
            self.change(change, &mut update, &mut known)?;
        }
        let made = if self.action.verb == Verb::Upsert { self.make(&mut update)? } else { Fields::new() };
        self.indexes(&mut update, &known, &made)?;
        Ok((update, known))
    }

    pub(super) fn change(&self, change: &Change, update: &mut Update, known: &mut Fields) -> Result<(), BindError> {
        let (Some(id), Some(place)) = (change.field, &change.place) else { return Ok(()) };
        let field = self.entity.field(id);
        let path = self.scope.path(field.name.clone(), &place.path)?;
        // Inside `json`, any value is allowed that `json` allows.
        let kind = limit::at(&field.kind, &place.path).unwrap_or(&Type::Json);
        match &change.kind {
            ChangeKind::Set(expr) => self.set(change, path, expr, kind, update, known)?,
            ChangeKind::Increase(expr) => self.count(change, path, expr, kind, false, update)?,
            ChangeKind::Decrease(expr) => self.count(change, path, expr, kind, true, update)?,
            ChangeKind::Append(expr) => self.append(change, path, expr, kind, update)?,
            ChangeKind::Add(expr) => {
                update.add.extend(value::set(self.elements(expr, kind, field)?).map(|set| (path, set.into())));
            }
            ChangeKind::Take(expr) => {
                update.delete.extend(value::set(self.elements(expr, kind, field)?).map(|set| (path, set.into())));
            }
            ChangeKind::Remove => update.remove.push(path),
        }
        Ok(())
    }

    fn set(
        &self,
        change: &Change,
        path: Path,
        expr: &Expr,
        kind: &Type,
        update: &mut Update,
        known: &mut Fields,
    ) -> Result<(), BindError> {
        let Some(id) = change.field else { return Ok(()) };
        if expr.has_own_fields() {
            let value = self.sum(expr, kind)?;
            update.set.push(SetAction { path, value });
            return Ok(());
        }
        let whole = change.path().is_empty();
        let field = limit::member_at(self.entity.field(id), change.path());
        match self.scope.new_value(expr, kind, (self.entity, id), change)? {
            Some(value) => {
                if whole && self.is_material(id) {
                    known.insert(id, value.clone());
                }
                let value = if whole { self.sealer.stored(self.entity.field(id), value)? } else { value };
                update.set.push(SetAction { path, value: SetValue::Operand(UpdateOperand::Value(value.into())) });
            }
            None if field.is_some_and(|field| field.null) => {
                known.remove(id);
                let value = SetValue::Operand(UpdateOperand::Value(AttributeValue::Null.into()));
                update.set.push(SetAction { path, value });
            }
            None if field.is_some_and(Field::must_have_value) => {
                return Err(item::without_value(field.unwrap_or(self.entity.field(id)), expr));
            }
            None => {
                if whole {
                    known.remove(id);
                }
                update.remove.push(path);
            }
        }
        Ok(())
    }

    /// Returns true if index keys or sentinels are derived from the field.
    fn is_material(&self, field: FieldId) -> bool {
        let mut of_indexes = self.entity.indexes.iter().flat_map(EntityKey::fields);
        self.moves_sentinels || of_indexes.any(|of| of == field)
    }

    /// Binds an assignment that reads the item: a field, or a sum or difference of two operands.
    fn sum(&self, expr: &Expr, kind: &Type) -> Result<SetValue, BindError> {
        Ok(match &expr.kind {
            ExprKind::Binary(BinaryOp::Plus, left, right) => {
                SetValue::Plus(self.operand(left, kind)?, self.operand(right, kind)?)
            }
            ExprKind::Binary(BinaryOp::Minus, left, right) => {
                SetValue::Minus(self.operand(left, kind)?, self.operand(right, kind)?)
            }
            _ => SetValue::Operand(self.operand(expr, kind)?),
        })
    }

    fn operand(&self, expr: &Expr, kind: &Type) -> Result<UpdateOperand, BindError> {
        if let Some(path) = self.scope.own_path(expr)? {
            return Ok(self.stored(expr, path));
        }
        if expr.has_own_fields() {
            return Err(BindError::Inexpressible("a sum of more than two operands".to_owned()));
        }
        let value = self.scope.fit(expr, &limit::operand(kind), "an operand of a sum")?;
        let value = value.ok_or_else(|| BindError::Missing("an operand of a sum".to_owned()))?;
        Ok(UpdateOperand::Value(value.into()))
    }

    /// Returns the stored value of a field, or its constant default if the item lacks it.
    fn stored(&self, expr: &Expr, path: Path) -> UpdateOperand {
        let default = match &expr.kind {
            ExprKind::ValuePath(place) if place.path.is_empty() => match place.origin {
                Origin::Field(_, field) => when_absent(self.entity.field(field)),
                _ => None,
            },
            _ => None,
        };
        match default {
            Some(default) => UpdateOperand::IfNotExists(path, Box::new(UpdateOperand::Value(default.into()))),
            None => UpdateOperand::Path(path),
        }
    }

    /// Binds `+=` and `-=`. A field that may be absent starts at its default, or at zero.
    fn count(
        &self,
        change: &Change,
        path: Path,
        expr: &Expr,
        kind: &Type,
        minus: bool,
        update: &mut Update,
    ) -> Result<(), BindError> {
        let by = self.operand(expr, kind)?;
        let before = self.before(change, &path, AttributeValue::from(0));
        let value = if minus { SetValue::Minus(before, by) } else { SetValue::Plus(before, by) };
        update.set.push(SetAction { path, value });
        Ok(())
    }

    fn append(
        &self,
        change: &Change,
        path: Path,
        expr: &Expr,
        kind: &Type,
        update: &mut Update,
    ) -> Result<(), BindError> {
        let Some(field) = change.field.map(|id| self.entity.field(id)) else { return Ok(()) };
        let list = UpdateOperand::Value(AttributeValue::L(self.appended(expr, kind, field)?).into());
        let before = self.before(change, &path, AttributeValue::L(Vec::new()));
        let value = SetValue::Operand(UpdateOperand::ListAppend(Box::new(before), Box::new(list)));
        update.set.push(SetAction { path, value });
        Ok(())
    }

    /// Returns the elements that an `append` adds: one, or those of a list if the elements are no lists themselves.
    pub(super) fn appended(&self, expr: &Expr, kind: &Type, field: &Field) -> Result<Vec<AttributeValue>, BindError> {
        let of = if let Type::List(of, _) = kind.resolved() { of } else { &Type::Json };
        let is_one = matches!(of.resolved(), Type::List(..) | Type::Json | Type::Unknown);
        let value = match &expr.kind {
            ExprKind::List(parts) if !is_one => {
                let parts: Result<Vec<_>, _> = parts.iter().map(|part| self.scope.fit(part, of, &field.name)).collect();
                return Ok(parts?.into_iter().flatten().collect());
            }
            _ => self.scope.typed(expr, &Type::Unknown)?,
        };
        match value {
            Some(AttributeValue::L(parts)) if !is_one => self.scope.fit_all(parts, of, (expr, &field.name)),
            Some(_) => Ok(self.scope.fit(expr, of, &field.name)?.into_iter().collect()),
            None => Err(BindError::Missing("an appended value".to_owned())),
        }
    }

    /// Returns the stored value with a fallback if it may be absent.
    fn before(&self, change: &Change, path: &Path, otherwise: AttributeValue) -> UpdateOperand {
        let field = change.field.map(|id| self.entity.field(id));
        match field.and_then(|field| self.stand_in(field, change.path(), otherwise)) {
            Some(value) => UpdateOperand::IfNotExists(path.clone(), Box::new(UpdateOperand::Value(value.into()))),
            None => UpdateOperand::Path(path.clone()),
        }
    }

    /// Returns the value that an absent one stands for: the default, or `otherwise`; `None` if the value cannot be
    /// absent. A version ignores its default and counts from zero, in new items and in those older than the field.
    pub(super) fn stand_in(
        &self,
        field: &Field,
        path: &[PathStep],
        otherwise: AttributeValue,
    ) -> Option<AttributeValue> {
        let is_new = self.action.verb == Verb::Upsert;
        let at = limit::field_at(field, path);
        let default = at.filter(|at| at.flags.version.is_none()).and_then(|at| match path.is_empty() && is_new {
            true => self.scope.typed(at.default.as_ref()?, &at.kind).ok().flatten(),
            false => at.default.as_ref()?.constant().and_then(|default| value::fitted(default, &at.kind)),
        });
        let may_be_absent = is_new || at.is_none_or(|at| !at.must_have_value() || at.flags.version.is_some());
        default.or_else(|| may_be_absent.then_some(otherwise))
    }

    /// Returns the elements that `add` and `remove` name: those of a list or set, or one.
    pub(super) fn elements(&self, expr: &Expr, kind: &Type, field: &Field) -> Result<Vec<AttributeValue>, BindError> {
        let of = if let Type::Set(of, _) = kind.resolved() { of } else { &Type::Unknown };
        let parts = self.scope.typed(expr, &Type::Unknown)?.map(members).unwrap_or_default();
        let mut parts = self.scope.fit_all(parts, of, (expr, &field.name))?;
        let mut number = 0;
        while number < parts.len() {
            if parts[..number].contains(&parts[number]) {
                parts.remove(number);
            } else {
                number += 1;
            }
        }
        Ok(parts)
    }

    /// Adds what an upsert must set on a new item: key fields, defaults and the tag. Returns the defaults, which an
    /// existing item does not get.
    fn make(&self, update: &mut Update) -> Result<Fields, BindError> {
        let mut made = Fields::new();
        let keys: Vec<&str> = self.table.key_names().collect();
        for (number, field) in self.entity.fields.iter().enumerate() {
            let id = FieldId(number);
            let is_changed = self.action.changes.iter().any(|change| change.field == Some(id));
            if is_changed || keys.contains(&field.name.as_str()) {
                continue;
            }
            if let Some(value) = self.scope.item.get(id) {
                update.set.push(assign(&field.name, UpdateOperand::Value(value.clone().into())));
            } else if let Some(value) = self.default(field)? {
                let path = Path::attribute(field.name.clone());
                made.insert(id, value.clone());
                let value = self.sealer.stored(field, value)?;
                let value = UpdateOperand::IfNotExists(path, Box::new(UpdateOperand::Value(value.into())));
                update.set.push(assign(&field.name, value));
            }
        }
        if let Some(Spanned { value: tag, .. }) = &self.table.tag {
            let value = AttributeValue::from(self.entity.tag.as_str());
            update.set.push(assign(tag, UpdateOperand::Value(value.into())));
        }
        Ok(made)
    }

    fn default(&self, field: &Field) -> Result<Option<AttributeValue>, BindError> {
        match &field.default {
            Some(expr) => self.scope.fit(expr, &field.kind, &field.name),
            None if field.null => Ok(Some(AttributeValue::Null)),
            None if field.flags.created.is_some() => Ok(Some(value::moment(self.scope.inputs.now_millis, &field.kind))),
            None => Ok(None),
        }
    }

    /// Updates the index key attributes whose fields change, each attribute independently.
    fn indexes(&self, update: &mut Update, known: &Fields, made: &Fields) -> Result<(), BindError> {
        let mut done: Vec<&str> = Vec::new();
        for key in &self.entity.indexes {
            for part in key.partition.iter().chain(&key.sort) {
                if !self.is_own(&part.attribute) && !done.contains(&part.attribute.as_str()) {
                    done.push(&part.attribute);
                    self.index_attribute(key, part, update, known, made)?;
                }
            }
        }
        Ok(())
    }

    fn index_attribute(
        &self,
        key: &EntityKey,
        part: &KeyPart,
        update: &mut Update,
        known: &Fields,
        made: &Fields,
    ) -> Result<(), BindError> {
        let fields: Vec<FieldId> = part.template.fields().collect();
        let upsert = self.action.verb == Verb::Upsert;
        if !upsert && !fields.iter().any(|field| self.touches(*field)) {
            return Ok(());
        }
        let mut values = self.index_fields(&fields, known);
        let by_default: Vec<FieldId> = fields.into_iter().filter(|field| !values.contains(*field)).collect();
        values.extend(by_default.iter().filter_map(|field| Some((*field, made.get(*field)?.clone()))));
        let name = &part.attribute;
        match item::attribute(self.table, key.index, self.entity, part, &values)? {
            Some(value) if by_default.is_empty() => update.set.push(assign(name, UpdateOperand::Value(value.into()))),
            Some(value) => {
                let value = Box::new(UpdateOperand::Value(value.into()));
                update.set.push(assign(name, UpdateOperand::IfNotExists(Path::attribute(name.clone()), value)));
            }
            None if upsert => {}
            None => update.remove.push(Path::attribute(name.clone())),
        }
        Ok(())
    }

    fn touches(&self, field: FieldId) -> bool {
        self.action.changes.iter().any(|change| change.field == Some(field))
    }

    /// Returns the field values of an index key: new values first, then key fields, then the current item.
    fn index_fields(&self, fields: &[FieldId], known: &Fields) -> Fields {
        let mut values = Fields::new();
        for &field in fields {
            let stays = !self.touches(field);
            let stored = || self.current.filter(|_| stays)?.get(&self.entity.field(field).name);
            let value = known.get(field).or_else(|| self.scope.item.get(field).filter(|_| stays)).cloned();
            if let Some(value) = value.or_else(|| self.sealer.opened(self.entity.field(field), stored()?)) {
                values.insert(field, value);
            }
        }
        values
    }

    /// Returns true if a key attribute is a field or part of the table's key, so it is already written.
    fn is_own(&self, attribute: &str) -> bool {
        self.entity.field_named(attribute).is_some() || self.table.key_names().any(|name| name == attribute)
    }
}

fn assign(attribute: &str, value: UpdateOperand) -> SetAction {
    SetAction { path: Path::attribute(attribute), value: SetValue::Operand(value) }
}
