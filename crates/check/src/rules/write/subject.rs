//! Names the values that conditions test, so that two mentions of one value have one name.
//!
//! A field of an item is named by the item's entity and key: `role` in the guard `exists Member(orgId, caller.userId)`
//! and `role` in the step `update Member(orgId, caller.userId)` are one value, and so is `member.role` after
//! `let member = memberOf(orgId, caller.userId)`.

use std::fmt::Write as _;

use keyform_language::document::ast::BinaryOp;
use keyform_language::schema::{
    Action, EntityId, Expr, ExprKind, FieldId, Guard, Model, Origin, Parameter, PathStep, Type, ValuePath, Write,
};

use super::origin::{argument, is_of_many, source};

/// A tested value.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) name: String,
    /// Declared type; `None` if the value is computed or inside another one.
    pub(super) kind: Option<Type>,
    /// Item that holds the value.
    pub(super) item: Option<String>,
}

/// Surroundings of a condition: what its names refer to.
#[derive(Clone, Debug)]
pub(super) struct Place<'a> {
    model: &'a Model,
    parameters: &'a [Parameter],
    /// Names of the arguments of a guard's parameters; `None` outside guards.
    arguments: Option<Vec<Option<String>>>,
    write: Option<&'a Write>,
    /// Item whose fields the condition names.
    item: Option<String>,
}

impl<'a> Place<'a> {
    /// Returns the place of the filter of a read, or of a guard's condition by itself.
    pub(super) fn of_pattern(model: &'a Model, parameters: &'a [Parameter]) -> Self {
        Self { model, parameters, arguments: None, write: None, item: None }
    }

    /// Returns the place of `allow` and `require` of a write.
    pub(super) fn of_write(model: &'a Model, write: &'a Write) -> Self {
        Self { write: Some(write), ..Self::of_pattern(model, &write.parameters) }
    }

    /// Returns the place of the conditions of a step.
    pub(super) fn of_action(model: &'a Model, write: &'a Write, action: &Action) -> Self {
        let place = Self::of_write(model, write);
        let item = action.entity.and_then(|id| place.item_of(id, &action.keys));
        Self { item, ..place }
    }

    /// Returns the place of the condition of a guard that is called here.
    pub(super) fn of_guard(&self, guard: &'a Guard, arguments: &[Expr]) -> Self {
        let names = arguments.iter().map(|argument| self.subject(argument).map(|subject| subject.name)).collect();
        let place = Self { arguments: Some(names), ..Self::of_pattern(self.model, &guard.parameters) };
        let item = guard.entity.and_then(|id| place.item_of(id, &guard.keys));
        Self { item, ..place }
    }

    /// Returns the item whose fields the condition names.
    pub(super) fn item(&self) -> Option<String> {
        self.item.clone()
    }

    fn item_of(&self, id: EntityId, keys: &[(FieldId, Expr)]) -> Option<String> {
        let mut name = format!("{}", id.0);
        for key in self.model.entity(id).key_fields() {
            let (_, value) = keys.iter().find(|(field, _)| *field == key)?;
            write!(name, "/{}", self.subject(value)?.name).ok()?;
        }
        Some(name)
    }

    /// Returns the value that an expression is; `None` for expressions that are not understood.
    pub(super) fn subject(&self, expr: &Expr) -> Option<Subject> {
        let plain = |name: String| Some(Subject { name, kind: None, item: None });
        match &expr.kind {
            ExprKind::Text(text) => plain(format!("{text:?}")),
            ExprKind::Number(text) => plain(text.clone()),
            ExprKind::Bool(value) => plain(value.to_string()),
            ExprKind::Duration(seconds) => plain(format!("{seconds}s")),
            ExprKind::Call { function, arguments } if !expr.is_fresh() => {
                let names: Option<Vec<String>> =
                    arguments.iter().map(|argument| self.subject(argument).map(|subject| subject.name)).collect();
                plain(format!("{function}({})", names?.join(",")))
            }
            ExprKind::Binary(op @ (BinaryOp::Plus | BinaryOp::Minus), left, right) => {
                plain(format!("({} {} {})", self.subject(left)?.name, op.symbol(), self.subject(right)?.name))
            }
            ExprKind::ValuePath(path) => self.value(path),
            _ => None,
        }
    }

    fn value(&self, path: &ValuePath) -> Option<Subject> {
        let mut subject = self.origin(&path.origin)?;
        for step in &path.path {
            subject.kind = None;
            match step {
                PathStep::Member(name) => write!(subject.name, ".{name}").ok()?,
                PathStep::Element(key) => write!(subject.name, "[{}]", self.subject(key)?.name).ok()?,
            }
        }
        Some(subject)
    }

    fn origin(&self, origin: &Origin) -> Option<Subject> {
        match origin {
            Origin::Field(id, field) => {
                let item = self.item.clone();
                let holder = item.clone().unwrap_or_else(|| format!("item{}", id.0));
                Some(Subject { item, ..self.field(&holder, *id, *field) })
            }
            Origin::Parameter(number) => {
                let kind = self.parameters.get(*number).map(|parameter| parameter.kind.clone());
                let name = match &self.arguments {
                    Some(names) => names.get(*number)?.clone()?,
                    None => format!("p{number}"),
                };
                Some(Subject { name, kind, item: None })
            }
            Origin::Caller(number) => {
                let claim = self.model.caller.as_ref().and_then(|caller| caller.fields.get(*number));
                Some(Subject { name: format!("caller{number}"), kind: claim.map(|of| of.kind.clone()), item: None })
            }
            Origin::Element(depth) => Some(Subject { name: format!("element{depth}"), kind: None, item: None }),
            Origin::Let { number, entity: Some(id), field: Some(field) } => {
                let holder = self.read_item(*number, *id).unwrap_or_else(|| format!("let{number}"));
                Some(self.field(&holder, *id, *field))
            }
            Origin::Let { number, .. } => Some(Subject { name: format!("let{number}"), kind: None, item: None }),
            Origin::Read { read, arguments, field: Some(field) } => {
                let names: Option<Vec<String>> =
                    arguments.iter().map(|argument| self.subject(argument).map(|subject| subject.name)).collect();
                let id = *self.model.read(*read).result.entities().first()?;
                Some(self.field(&format!("read{}({})", read.0, names?.join(",")), id, *field))
            }
            Origin::Read { .. } => None,
        }
    }

    fn field(&self, holder: &str, id: EntityId, field: FieldId) -> Subject {
        let kind = Some(self.model.entity(id).field(field).kind.clone());
        Subject { name: format!("{holder}.{}", field.0), kind, item: None }
    }

    /// Returns the item that a `let` has read by its whole key.
    fn read_item(&self, number: usize, id: EntityId) -> Option<String> {
        let (read, arguments) = source(self.model, self.write?.lets.get(number)?)?;
        if is_of_many(read) || read.via.is_some() {
            return None;
        }
        let mut name = format!("{}", id.0);
        for key in self.model.entity(id).key_fields() {
            let value = argument(read, arguments, &self.model.entity(id).field(key).name)?;
            write!(name, "/{}", self.subject(value)?.name).ok()?;
        }
        Some(name)
    }
}
