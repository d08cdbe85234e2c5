//! Resolves names with a path: `address.city`, `reactions[emoji]`, `invite.serverId`, `caller.userId`.

use crate::diagnostic::Diagnostic;
use crate::document::ast::{self, Argument, Name, Number};
use crate::scalar::Scalar;
use crate::schema::expression::{ExprKind, Origin, PathStep, ValuePath};
use crate::schema::field::Type;
use crate::schema::pattern::{Read, Result};
use crate::schema::{EntityId, FieldId};
use crate::span::Span;

use super::code;
use super::found::Found;
use super::names::field_of;
use super::scope::{Content, Meaning, Scope};

/// A step of a path in source form.
#[derive(Clone, Copy)]
pub(super) enum Written<'e> {
    Member(&'e Name),
    Element(&'e ast::Expr),
}

/// Returns the innermost expression and the steps from there outwards.
fn unroll(expr: &ast::Expr) -> (&ast::Expr, Vec<Written<'_>>) {
    let mut steps = Vec::new();
    let mut base = expr;
    loop {
        base = match base.kind.as_ref() {
            ast::ExprKind::Member(of, name) => {
                steps.push(Written::Member(name));
                of
            }
            ast::ExprKind::Element(of, key) => {
                steps.push(Written::Element(key));
                of
            }
            _ => break,
        };
    }
    steps.reverse();
    (base, steps)
}

const BROKEN: (ExprKind, Type) = (ExprKind::Unknown, Type::Unknown);

impl Scope<'_> {
    /// Resolves a name with an optional path.
    pub(super) fn chain(&self, expr: &ast::Expr, found: &mut Found) -> (ExprKind, Type) {
        let (base, steps) = unroll(expr);
        match base.kind.as_ref() {
            ast::ExprKind::Name(name) => self.named(name, &steps, found),
            ast::ExprKind::Call(name, arguments) if self.names.read_named(&name.text).is_some() => {
                self.read(name, arguments, base.span, &steps, found)
            }
            ast::ExprKind::Call(name, arguments) if self.is_unknown_call(name) => {
                let near = self.unknown_call(name, found).filter(|near| self.names.read_named(near).is_some());
                match near {
                    Some(near) => self.read(&Name { text: near, span: name.span }, arguments, base.span, &steps, found),
                    None => BROKEN,
                }
            }
            _ => {
                let (inner, kind) = self.typed(base, found);
                if !matches!(inner.kind, ExprKind::Unknown) && !matches!(kind, Type::Unknown) {
                    found.error(code::PLACE, expr.span, "only a field, a parameter or a result of a read has parts");
                }
                BROKEN
            }
        }
    }

    /// Resolves a path that a step changes; it must begin with a field of the entity.
    pub(super) fn target(
        &self,
        entity: EntityId,
        path: &ast::Expr,
        found: &mut Found,
    ) -> Option<(FieldId, ValuePath, Type)> {
        let (base, steps) = unroll(path);
        let ast::ExprKind::Name(name) = base.kind.as_ref() else {
            found.error(code::PLACE, path.span, "a change must begin with a field");
            return None;
        };
        let field = field_of(self.model, entity, name, found)?;
        let kind = self.model.entity(entity).field(field).kind.clone();
        let (path, kind) = self.steps(&name.text, kind, &steps, found)?;
        Some((field, ValuePath { origin: Origin::Field(entity, field), path }, kind))
    }

    fn named(&self, name: &Name, steps: &[Written<'_>], found: &mut Found) -> (ExprKind, Type) {
        let into = matches!(steps.first(), Some(Written::Member(_)));
        let meaning = self.meaning(&name.text, into);
        if meaning.is_none() && name.text == "caller" {
            return self.caller(name, steps, found);
        }
        if self.by_part {
            match (meaning, self.part(name, steps, found)) {
                (None, Some(field)) => return field,
                (Some(Meaning::Field(..)), _) => return self.partless(name, found),
                _ => {}
            }
        }
        match meaning.or_else(|| self.unknown(name, found)) {
            None => BROKEN,
            Some(Meaning::Field(entity, field)) => {
                let fields = &self.model.entity(entity).fields;
                let kind = fields.get(field.0).map_or(Type::Unknown, |field| field.kind.clone());
                self.place(Origin::Field(entity, field), &name.text, kind, steps, found)
            }
            Some(Meaning::Parameter(number)) => {
                self.place(Origin::Parameter(number), &name.text, self.parameter_type(number), steps, found)
            }
            Some(Meaning::Let(number)) => self.read_before_now(number, name, steps, found),
            Some(Meaning::Element(depth)) => {
                let content = &self.elements[depth].content;
                self.inside(Origin::Element(depth), content, name, steps, found)
            }
        }
    }

    /// Resolves a field that is named with its entity: `Member.status`.
    fn part(&self, name: &Name, steps: &[Written<'_>], found: &mut Found) -> Option<(ExprKind, Type)> {
        let entity = self.items.iter().find(|id| self.model.entity(**id).name == name.text)?;
        let (Written::Member(member), rest) = steps.split_first()? else { return None };
        let Some(field) = field_of(self.model, *entity, member, found) else { return Some(BROKEN) };
        let kind = self.model.entity(*entity).field(field).kind.clone();
        Some(self.place(Origin::Field(*entity, field), &member.text, kind, rest, found))
    }

    /// Reports a field without its entity, in the filter of a read that returns several.
    fn partless(&self, name: &Name, found: &mut Found) -> (ExprKind, Type) {
        let has = |id: &&EntityId| self.model.entity(**id).field_named(&name.text).is_some();
        let parts = self.items.iter().filter(has).map(|id| format!("`{}.{}`", self.model.entity(*id).name, name.text));
        let help = format!("write {}", parts.collect::<Vec<_>>().join(" or "));
        let message = format!("the read returns several entities, so the filter must name that of `{}`", name.text);
        found.add(
            Diagnostic::error(code::PLACE, name.span, message)
                .note("A filter applies to the items of one entity. The other parts of the result are not filtered.")
                .help(help),
        );
        BROKEN
    }

    fn caller(&self, name: &Name, steps: &[Written<'_>], found: &mut Found) -> (ExprKind, Type) {
        let Some(caller) = &self.model.caller else {
            let finding = Diagnostic::error(code::CALLER, name.span, "the model has no `caller`");
            found.add(finding.help("declare the claims of a caller's token: `caller userId: ulid`"));
            return BROKEN;
        };
        let Some((Written::Member(claim), rest)) = steps.split_first() else {
            let finding = Diagnostic::error(code::CALLER, name.span, "`caller` alone is not a value");
            found.add(finding.help("name one of its claims, such as `caller.userId`"));
            return BROKEN;
        };
        let number = |name: &str| caller.fields.iter().position(|field| field.name == name);
        let known = number(&claim.text).or_else(|| {
            let known = caller.fields.iter().map(|field| field.name.as_str());
            found
                .unknown(code::CALLER, claim, format!("the caller has no claim `{}`", claim.text), known)
                .and_then(number)
        });
        let Some(number) = known else { return BROKEN };
        self.place(Origin::Caller(number), &claim.text, caller.fields[number].kind.clone(), rest, found)
    }

    fn read_before_now(
        &self,
        number: usize,
        name: &Name,
        steps: &[Written<'_>],
        found: &mut Found,
    ) -> (ExprKind, Type) {
        let content = &self.lets[number].content;
        let origin = |entity, field| Origin::Let { number, entity, field };
        match (content, steps.split_first()) {
            (Content::Item(entity), Some((Written::Member(member), rest))) => {
                let Some(field) = field_of(self.model, *entity, member, found) else { return BROKEN };
                let kind = self.model.entity(*entity).field(field).kind.clone();
                self.place(origin(Some(*entity), Some(field)), &member.text, kind, rest, found)
            }
            (Content::Item(entity) | Content::Items(entity), _) => {
                self.inside(origin(Some(*entity), None), content, name, steps, found)
            }
            (Content::Value(_) | Content::Unknown, _) => self.inside(origin(None, None), content, name, steps, found),
        }
    }

    /// Resolves a path into a `let`, a loop element or a read.
    fn inside(
        &self,
        origin: Origin,
        content: &Content,
        name: &Name,
        steps: &[Written<'_>],
        found: &mut Found,
    ) -> (ExprKind, Type) {
        match (content, steps) {
            (Content::Value(kind), _) => self.place(origin, &name.text, kind.clone(), steps, found),
            (Content::Item(entity), [Written::Member(member), rest @ ..])
            | (Content::Items(entity), [Written::Element(_), Written::Member(member), rest @ ..]) => {
                let Some(field) = field_of(self.model, *entity, member, found) else { return BROKEN };
                let kind = self.model.entity(*entity).field(field).kind.clone();
                let kind = self.steps(&member.text, kind, rest, found).map_or(Type::Unknown, |(_, kind)| kind);
                let path = self.unchecked(steps, found);
                (ExprKind::ValuePath(ValuePath { origin, path }), kind)
            }
            (Content::Items(_), [Written::Member(member), ..]) => {
                let message = format!("`{}` is a list, so it has no `{}`", name.text, member.text);
                let finding = Diagnostic::error(code::PLACE, member.span, message);
                found.add(finding.help(format!("iterate over it: `for x in {} max 20 {{ … }}`", name.text)));
                BROKEN
            }
            _ => (ExprKind::ValuePath(ValuePath { origin, path: self.unchecked(steps, found) }), Type::Unknown),
        }
    }

    /// Resolves the call of a read with an optional path into its result.
    pub(super) fn read(
        &self,
        name: &Name,
        arguments: &[Argument],
        span: Span,
        steps: &[Written<'_>],
        found: &mut Found,
    ) -> (ExprKind, Type) {
        let Some(read) = self.names.read_named(&name.text) else { return BROKEN };
        let parameters = self.model.reads.get(read.0).map_or(&[][..], |read| &read.parameters);
        let arguments = self.arguments(name, parameters, arguments, span, found);
        if !self.calls {
            return (self.misplaced(name, "read", found), Type::Unknown);
        }
        let content = self.model.reads.get(read.0).map_or(Content::Unknown, content);
        match (content, steps.split_first()) {
            (Content::Item(entity), Some((Written::Member(member), rest))) => {
                let Some(field) = field_of(self.model, entity, member, found) else { return BROKEN };
                let kind = self.model.entity(entity).field(field).kind.clone();
                self.place(Origin::Read { read, arguments, field: Some(field) }, &member.text, kind, rest, found)
            }
            (content, _) => self.inside(Origin::Read { read, arguments, field: None }, &content, name, steps, found),
        }
    }

    fn place(
        &self,
        origin: Origin,
        title: &str,
        kind: Type,
        steps: &[Written<'_>],
        found: &mut Found,
    ) -> (ExprKind, Type) {
        match self.steps(title, kind, steps, found) {
            Some((path, kind)) => (ExprKind::ValuePath(ValuePath { origin, path }), kind),
            None => BROKEN,
        }
    }

    /// Resolves steps into a value and returns the type they lead to.
    fn steps(
        &self,
        title: &str,
        mut kind: Type,
        steps: &[Written<'_>],
        found: &mut Found,
    ) -> Option<(Vec<PathStep>, Type)> {
        let mut title = title.to_owned();
        for step in steps {
            kind = match step {
                Written::Member(name) => member(&title, &kind, name, found)?,
                Written::Element(key) => element(&title, &kind, key.span, found)?,
            };
            title = match step {
                Written::Member(name) => format!("{title}.{}", name.text),
                Written::Element(_) => format!("{title}[…]"),
            };
        }
        Some((self.unchecked(steps, found), kind))
    }

    fn unchecked(&self, steps: &[Written<'_>], found: &mut Found) -> Vec<PathStep> {
        let values = Scope { fields_first: false, ..self.clone() };
        let step = |step: &Written<'_>| match step {
            Written::Member(name) => PathStep::Member(name.text.clone()),
            Written::Element(key) => PathStep::Element(Box::new(values.expr(key, found))),
        };
        steps.iter().map(step).collect()
    }
}

/// Returns the type of a named part.
fn member(title: &str, kind: &Type, name: &Name, found: &mut Found) -> Option<Type> {
    match kind.resolved() {
        Type::Record(fields) => {
            let find = |name: &str| fields.iter().find(|field| field.name == name);
            let field = find(&name.text).or_else(|| {
                let known = fields.iter().map(|field| field.name.as_str());
                let message = format!("`{title}` has no field `{}`", name.text);
                found.unknown(code::FIELD, name, message, known).and_then(find)
            });
            field.map(|field| field.kind.clone())
        }
        Type::Map(of, _) => Some(of.as_ref().clone()),
        Type::Json | Type::Unknown => Some(Type::Unknown),
        _ => {
            found.error(
                code::FIELD,
                name.span,
                format!("`{title}` has no fields, so there is no `{}` in it", name.text),
            );
            None
        }
    }
}

/// Returns the type of an element.
fn element(title: &str, kind: &Type, key: Span, found: &mut Found) -> Option<Type> {
    match kind.resolved() {
        Type::List(of, _) | Type::Map(of, _) => Some(of.as_ref().clone()),
        Type::Record(_) | Type::Json | Type::Unknown => Some(Type::Unknown),
        _ => {
            found.error(code::PLACE, key, format!("`{title}` is neither a list nor a map, so it has no elements"));
            None
        }
    }
}

/// Returns the content of a read's result as a name refers to it.
pub(super) fn content(read: &Read) -> Content {
    match &read.result {
        Result::Count(..) => Content::Value(Scalar::Int.into()),
        Result::Parts(parts) => match parts.as_slice() {
            [(Some(entity), Number::Many, _)] => Content::Items(*entity),
            [(Some(entity), Number::One | Number::Maybe, _)] => Content::Item(*entity),
            _ => Content::Unknown,
        },
    }
}
