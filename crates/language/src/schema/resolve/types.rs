//! Resolves types, following references to their plain type.

use std::collections::HashSet;

use crate::diagnostic::Diagnostic;
use crate::document::ast::{self, ExprKind, TypeKind, TypeRef};
use crate::schema::field::{Field, Type};
use crate::schema::{self, Entity, EntityId, Expr, FieldId};

use super::entity::AllWritten;
use super::found::Found;
use super::names::{Names, field_in};
use super::{code, flags};

/// Context for following references.
pub(super) struct Types<'a> {
    pub(super) names: &'a Names<'a>,
    pub(super) entities: &'a [Entity],
    pub(super) written: &'a AllWritten<'a>,
}

/// A field of an entity.
type At = (EntityId, FieldId);

/// Fields being followed, outermost first; detects cycles.
type Path = Vec<At>;

impl Types<'_> {
    /// Resolves the type of a field.
    pub(super) fn of_field(&self, at: At, kind: &TypeRef, found: &mut Found) -> Type {
        self.follow(kind, &mut vec![at], found)
    }

    /// Resolves a type outside an entity's fields.
    pub(super) fn convert(&self, kind: &TypeRef, found: &mut Found) -> Type {
        self.follow(kind, &mut Path::new(), found)
    }

    fn follow(&self, kind: &TypeRef, path: &mut Path, found: &mut Found) -> Type {
        let TypeKind::Type(kind) = &kind.kind else { return Type::Unknown };
        match kind {
            ast::Type::Ref { entity, field, plain: () } => {
                let target = self.target(entity, field.as_ref(), found);
                let plain = Box::new(self.plain(target, path, found));
                Type::Ref { entity: self.known(entity, target), field: target.map(|(_, field)| field), plain }
            }
            ast::Type::Copy { entity, field, plain: () } => {
                let target = self.target(entity, Some(field), found);
                let plain = Box::new(self.plain(target, path, found));
                Type::Copy { entity: self.known(entity, target), field: target.map(|(_, field)| field), plain }
            }
            ast::Type::List(of, bounds) => Type::List(Box::new(self.follow(of, path, found)), *bounds),
            ast::Type::Map(of, bounds) => Type::Map(Box::new(self.follow(of, path, found)), *bounds),
            ast::Type::Set(of, bounds) => Type::Set(Box::new(self.follow(of, path, found)), *bounds),
            ast::Type::Record(fields) => Type::Record(self.record(fields, path, found)),
            ast::Type::Scalar(scalar, bounds) => Type::Scalar(*scalar, *bounds),
            ast::Type::OneOf(texts) => Type::OneOf(texts.iter().map(|text| text.text.clone()).collect()),
            ast::Type::Json => Type::Json,
            ast::Type::Unknown => Type::Unknown,
        }
    }

    fn record(&self, fields: &[ast::Field], path: &mut Path, found: &mut Found) -> Vec<Field> {
        let mut list: Vec<Field> = Vec::new();
        let mut names = HashSet::new();
        for it in fields {
            if !names.insert(it.name.text.as_str()) {
                let message = format!("the record has two fields named `{}`", it.name.text);
                found.error(code::REPEATED, it.name.span, message);
                continue;
            }
            let kind = self.follow(&it.kind, path, found);
            list.push(Field {
                name: it.name.text.clone(),
                name_span: it.name.span,
                span: it.name.span.to(it.kind.span),
                docs: Vec::new(),
                flags: flags::resolve(it, &kind, found),
                kind,
                type_span: it.kind.span,
                optional: it.kind.optional,
                null: it.kind.null,
                default: it.default.as_ref().and_then(literal),
            });
        }
        list
    }

    /// Returns the plain type behind a reference.
    fn plain(&self, target: Option<At>, path: &mut Path, found: &mut Found) -> Type {
        let Some(at) = target else { return Type::Unknown };
        if let Some(start) = path.iter().position(|other| *other == at) {
            self.cycle(&path[start..], found);
            return Type::Unknown;
        }
        let Some(field) = self.written.get(at.0.0).and_then(|fields| fields.get(at.1.0)) else { return Type::Unknown };
        path.push(at);
        let kind = self.follow(&field.field.kind, path, found);
        path.pop();
        kind.resolved().clone()
    }

    /// Reports a cycle, always at the same field, so that it is reported once.
    fn cycle(&self, circle: &[At], found: &mut Found) {
        let Some(first) = circle.iter().min() else { return };
        let place = self.written[first.0.0][first.1.0].field.kind.span;
        let start = circle.iter().position(|at| at == first).unwrap_or_default();
        let named = circle[start..].iter().chain(&circle[..start]).chain([first]).map(|at| self.title(*at));
        let round = named.collect::<Vec<_>>().join(" → ");
        let finding =
            Diagnostic::error(code::CYCLE, place, format!("the type of `{}` refers to itself", self.title(*first)));
        found.add(finding.note(format!("the cycle is {round}")).help("give one of these fields a type of its own"));
    }

    fn title(&self, (entity, field): At) -> String {
        let entity = &self.entities[entity.0];
        format!("{}.{}", entity.name, entity.field(field).name)
    }

    /// Returns the entity of a reference, which may be known even if the field is not.
    fn known(&self, name: &ast::Name, target: Option<At>) -> Option<EntityId> {
        let named = || self.names.entity_named(&name.text);
        target.map(|(entity, _)| entity).or_else(named)
    }

    /// Returns the field a reference points to: the named one, or the entity's id.
    fn target(&self, entity: &ast::Name, field: Option<&ast::Name>, found: &mut Found) -> Option<At> {
        let id = self.names.entity(entity, found)?;
        let it = self.entities.get(id.0)?;
        let Some(field) = field else { return self.id_of(id, entity, found) };
        field_in(it, field, found).map(|field| (id, field))
    }

    /// Returns the id field of an entity; does not report a key that was already reported.
    fn id_of(&self, id: EntityId, name: &ast::Name, found: &mut Found) -> Option<At> {
        let entity = &self.entities[id.0];
        let key = entity.key.as_ref()?;
        let fields = entity.key_fields();
        let made = fields.iter().find(|field| self.is_generated(id, **field));
        if let Some(field) = made {
            return Some((id, *field));
        }
        if key.partition.iter().chain(&key.sort).any(|part| part.template.is_broken()) {
            return None;
        }
        if fields.is_empty() {
            let message = format!("nothing can refer to `{}`: its key contains no field", entity.name);
            found.add(Diagnostic::error(code::NO_ID, name.span, message).also(key.span, "this key is constant"));
        }
        let present = fields.iter().rfind(|field| !entity.field(**field).optional);
        present.or(fields.last()).map(|field| (id, *field))
    }

    fn is_generated(&self, entity: EntityId, field: FieldId) -> bool {
        let default = self.written[entity.0][field.0].field.default.as_ref();
        matches!(default.map(|default| default.kind.as_ref()), Some(ExprKind::Call(name, _))
            if matches!(name.text.as_str(), "ulid" | "uuid" | "code" | "token"))
    }
}

/// Resolves the default of a field of a record, which has no names to resolve: a literal.
fn literal(expr: &ast::Expr) -> Option<Expr> {
    let kind = match expr.kind.as_ref() {
        ExprKind::Text(text) => schema::ExprKind::Text(text.clone()),
        ExprKind::Number(text) => schema::ExprKind::Number(text.clone()),
        ExprKind::Duration(seconds) => schema::ExprKind::Duration(*seconds),
        ExprKind::Bool(value) => schema::ExprKind::Bool(*value),
        ExprKind::List(parts) => schema::ExprKind::List(parts.iter().map(literal).collect::<Option<_>>()?),
        ExprKind::Record(parts) => {
            let part = |(name, part): &(ast::Name, ast::Expr)| Some((name.text.clone(), literal(part)?));
            schema::ExprKind::Record(parts.iter().map(part).collect::<Option<_>>()?)
        }
        _ => return None,
    };
    Some(Expr { kind, span: expr.span })
}
