//! Resolves reads.

use std::mem;

use crate::diagnostic::Diagnostic;
use crate::document::ast::{self, ReadClause, ReadResult};
use crate::schema::expression::Expr;
use crate::schema::field::Type;
use crate::schema::key::{Part, Template};
use crate::schema::pattern::{KeyCondition, KeyTest, Parameter, Permission, Read, Result, Test, Unscoped};
use crate::schema::{EntityId, FieldId, Model};
use crate::span::{Span, Spanned};

use super::expression::Scope;
use super::found::Found;
use super::names::{Declared, Names, index_of};
use super::parameter::{self, Hints};
use super::types::Types;
use super::{code, mention, template};

/// Resolves the signature of a read, which others need to call it.
pub(super) fn outline(
    names: &Names<'_>,
    types: &Types<'_>,
    declared: Declared<'_, ast::Read>,
    found: &mut Found,
) -> Read {
    let it = declared.value;
    let result = match &it.result {
        ReadResult::Count(entity) => Result::Count(names.entity(entity, found), entity.span),
        ReadResult::Parts(parts) => {
            let part = |part: &ast::ResultPart| (names.entity(&part.entity, found), part.number, part.entity.span);
            Result::Parts(parts.iter().map(part).collect())
        }
    };
    Read {
        name: it.name.text.clone(),
        name_span: it.name.span,
        span: declared.span,
        docs: declared.docs.to_vec(),
        parameters: parameter::resolve(types, &it.parameters, &result.entities(), &mention::in_read(it), found),
        result,
        via: None,
        newest_first: None,
        ordered: None,
        page: None,
        all: None,
        strong: None,
        filter: None,
        select: None,
        scan: None,
        with_expired: None,
        key: None,
        rate: None,
        allow: None,
        unscoped: Vec::new(),
    }
}

/// Resolves the clauses, and infers the types of parameters from their use.
pub(super) fn complete(names: &Names<'_>, model: &Model, number: usize, it: &ast::Read, found: &mut Found) -> Read {
    let mut read = model.reads[number].clone();
    let reading =
        Reading { names, model, parameters: &model.reads[number].parameters, entities: read.result.entities() };
    repeated(it, found);
    for line in &it.clauses {
        reading.clause(&mut read, line, found);
    }
    reading.infer(&mut read);
    if !read.result.is_broken() {
        let in_key = in_key(&read);
        for (number, written) in it.parameters.iter().enumerate().filter(|(number, _)| !in_key.contains(number)) {
            parameter::report_unknown(model, written, &mut read.parameters[number], &reading.entities, found);
        }
    }
    if model.caller.is_some() && read.allow.is_none() {
        no_allow(&it.name, found);
    }
    read
}

/// Reports a pattern without `allow` in a model with callers.
pub(super) fn no_allow(name: &ast::Name, found: &mut Found) {
    let message = format!("the model has a `caller`, but `{}` has no `allow`", name.text);
    let finding = Diagnostic::error(code::NO_ALLOW, name.span, message);
    found.add(finding.help("add `allow public`, `allow system` or `allow` with a condition"));
}

/// Reports duplicate clauses.
fn repeated(it: &ast::Read, found: &mut Found) {
    let mut seen: Vec<(mem::Discriminant<ReadClause>, Span)> = Vec::new();
    for line in &it.clauses {
        let kind = match &line.value {
            ReadClause::Allow(_) | ReadClause::Unscoped(_) => continue,
            ReadClause::OldestFirst => mem::discriminant(&ReadClause::NewestFirst),
            other => mem::discriminant(other),
        };
        match seen.iter().find(|(other, _)| *other == kind) {
            Some((_, first)) => {
                let message = format!("`{}` has this clause twice", it.name.text);
                let finding = Diagnostic::error(code::REPEATED, line.span, message).label("the second");
                found.add(finding.also(*first, "the first").help("remove one of them"));
            }
            None => seen.push((kind, line.span)),
        }
    }
}

struct Reading<'a> {
    names: &'a Names<'a>,
    model: &'a Model,
    parameters: &'a [Parameter],
    entities: Vec<EntityId>,
}

impl Reading<'_> {
    fn clause(&self, read: &mut Read, line: &ast::Line<ReadClause>, found: &mut Found) {
        let span = line.span;
        match &line.value {
            ReadClause::Via(name) => read.via = Some(self.via(name, found)),
            ReadClause::NewestFirst => read.newest_first = Some(Spanned::new(true, span)),
            ReadClause::OldestFirst => read.newest_first = Some(Spanned::new(false, span)),
            ReadClause::Ordered { field, descending } => {
                let known = self.field(read, field, found);
                read.ordered = known.map(|field| (field, *descending, span));
            }
            ReadClause::Page(size) => read.page = Some(Spanned::new(*size, span)),
            ReadClause::All => read.all = Some(span),
            ReadClause::Strong => read.strong = Some(span),
            ReadClause::Where(condition) => {
                let broken = read.result.is_broken();
                let by_part = self.entities.len() > 1;
                let scope = Scope { broken, by_part, ..self.scope(self.entities.clone()) };
                let filter = scope.expr(condition, found);
                if by_part {
                    self.check_parts(&filter, found);
                }
                read.filter = Some(filter);
            }
            ReadClause::Select(names) => {
                let known = names.iter().filter_map(|name| Some((self.field(read, name, found)?, name.span)));
                read.select = Some(known.collect());
            }
            ReadClause::Scan => read.scan = Some(span),
            ReadClause::WithExpired => read.with_expired = Some(span),
            ReadClause::Key(key) => read.key = Some(self.key(key, span, found)),
            ReadClause::Rate(rate) => read.rate = Some(Spanned::new(*rate, span)),
            ReadClause::Permit(it) => {
                not_in_a_read(it, span, found);
                read.allow = Some(permission(it, span, &self.scope(Vec::new()), found));
            }
            ReadClause::Unscoped(it) => read.unscoped.push(unscoped(self.names, it, span, found)),
            ReadClause::Allow(_) => {}
        }
    }

    fn scope(&self, items: Vec<EntityId>) -> Scope<'_> {
        Scope { parameters: self.parameters, ..Scope::of_items(self.names, self.model, items) }
    }

    fn via(&self, name: &ast::Name, found: &mut Found) -> (String, Span, Option<crate::schema::IndexId>) {
        let table = self.entities.iter().find_map(|id| self.model.entity(*id).table);
        let index = table.and_then(|table| index_of(self.model.table(table), name, found));
        (name.text.clone(), name.span, index)
    }

    /// Returns the field of the first entity that has it; reports an unknown one.
    fn field(&self, read: &Read, name: &ast::Name, found: &mut Found) -> Option<(EntityId, FieldId)> {
        let entities = || self.entities.iter().map(|id| self.model.entity(*id));
        let field = |name: &str| {
            self.entities.iter().find_map(|id| self.model.entity(*id).field_named(name).map(|field| (*id, field)))
        };
        if read.result.is_broken() {
            return field(&name.text);
        }
        field(&name.text).or_else(|| {
            let titles = entities().map(|entity| format!("`{}`", entity.name)).collect::<Vec<_>>().join(" or ");
            let known = entities().flat_map(|entity| &entity.fields).map(|field| field.name.as_str());
            let message = format!("`{}` is not a field of {titles}", name.text);
            found.unknown(code::FIELD, name, message, known).and_then(field)
        })
    }

    fn key(&self, key: &ast::KeyCondition, span: Span, found: &mut Found) -> KeyCondition {
        KeyCondition {
            partition: self.test(&key.partition, found),
            sort: key.sort.as_ref().map(|test| self.test(test, found)),
            span,
        }
    }

    fn test(&self, it: &ast::KeyTest, found: &mut Found) -> KeyTest {
        let (test, text, upper) = match it {
            ast::KeyTest::Equal(text) => (Test::Equal, text, None),
            ast::KeyTest::Begins(text) => (Test::Begins, text, None),
            ast::KeyTest::After(text) => (Test::After, text, None),
            ast::KeyTest::From(text) => (Test::From, text, None),
            ast::KeyTest::Before(text) => (Test::Before, text, None),
            ast::KeyTest::Until(text) => (Test::Until, text, None),
            ast::KeyTest::Between(text, upper) => (Test::Between, text, Some(upper)),
        };
        let upper = upper.map(|upper| self.template(upper, found));
        KeyTest { test, template: self.template(text, found), upper }
    }

    /// Resolves a template whose names are parameters.
    fn template(&self, text: &ast::Text, found: &mut Found) -> Template {
        let parameters = self.parameters;
        let number = |name: &str| {
            let named = |it: &Parameter| it.arguments.iter().any(|argument| argument == name) || it.field_name == name;
            parameters.iter().position(named).map(FieldId)
        };
        let by_name = |name: &ast::Name, found: &mut Found| {
            number(&name.text).or_else(|| {
                let known = parameters.iter().flat_map(|it| it.arguments.iter().map(String::as_str));
                let message = format!("the read has no parameter `{}`", name.text);
                found.unknown(code::NAME, name, message, known).and_then(number)
            })
        };
        let template = template::resolve(text, found, by_name);
        let kind = |FieldId(number)| (parameters[number].field_name.clone(), parameters[number].kind.clone());
        template::check_formats(&template, kind, found);
        template
    }

    /// Reports conditions of a filter that belong to two parts of the result, and a table whose items do not name
    /// their entity.
    fn check_parts(&self, filter: &Expr, found: &mut Found) {
        for condition in filter.conjuncts() {
            if condition.own_entities().len() > 1 {
                let message = "this condition compares fields of two parts of the result";
                let finding = Diagnostic::error(code::PLACE, condition.span, message);
                found.add(finding.help("filter each part on its own, and join the conditions with `and`"));
            }
        }
        let tables = self.entities.iter().filter_map(|id| self.model.entity(*id).table);
        let untagged = tables.map(|id| self.model.table(id)).find(|table| table.tag.is_none());
        if let Some(table) = untagged.filter(|_| !filter.own_entities().is_empty()) {
            let message = format!("a filter on one part of the result needs the tag of the table {}", table.name);
            let finding = Diagnostic::error(code::PLACE, filter.span, message);
            found.add(finding.help("add `tag entityType` to the table"));
        }
    }

    /// Infers the types of parameters from their use.
    fn infer(&self, read: &mut Read) {
        let mut hints = Hints::default();
        read.filter.iter().for_each(|filter| hints.within(self.model, filter));
        if let Some(Permission::When(condition)) = &read.allow {
            hints.within(self.model, condition);
        }
        for number in in_key(read) {
            if let Some(kind) = self.anywhere(&read.parameters[number].field_name) {
                hints.parameter(number, kind);
            }
        }
        hints.apply(&mut read.parameters);
    }

    /// Returns the type of a field with this name in any entity of the tables read.
    fn anywhere(&self, name: &str) -> Option<Type> {
        let tables: Vec<_> = self.entities.iter().map(|id| self.model.entity(*id).table).collect();
        let near = self.model.entities.iter().filter(|entity| tables.contains(&entity.table));
        near.into_iter().find_map(|entity| Some(entity.field(entity.field_named(name)?).kind.clone()))
    }
}

/// Returns the parameters that the `key` clause uses.
fn in_key(read: &Read) -> Vec<usize> {
    let tests = read.key.iter().flat_map(|key| std::iter::once(&key.partition).chain(&key.sort));
    let templates = tests.flat_map(|test| std::iter::once(&test.template).chain(&test.upper));
    let parts = templates.flat_map(|template| &template.parts);
    let numbers = parts.filter_map(|part| match part {
        Part::Field { field, .. } => Some(field.0),
        Part::Text(_) | Part::Unknown { .. } => None,
    });
    numbers.collect()
}

/// Resolves an `allow` clause.
pub(super) fn permission(it: &ast::Permission, span: Span, scope: &Scope<'_>, found: &mut Found) -> Permission {
    match it {
        ast::Permission::Public => Permission::Public(span),
        ast::Permission::System => Permission::System(span),
        ast::Permission::When(condition) | ast::Permission::Held(condition) | ast::Permission::Before(condition, _) => {
            let scope = Scope { calls: true, fields_first: false, items: Vec::new(), ..scope.clone() };
            Permission::When(scope.expr(condition, found))
        }
    }
}

/// Resolves an `unscoped` clause.
pub(super) fn unscoped(names: &Names<'_>, it: &ast::Unscoped, span: Span, found: &mut Found) -> Unscoped {
    Unscoped { entity: names.entity(&it.entity, found), reason: it.reason.text.clone(), span }
}

/// Reports `held` and `before`, which say when the guards of a write are evaluated.
fn not_in_a_read(it: &ast::Permission, span: Span, found: &mut Found) {
    let word = match it {
        ast::Permission::Public | ast::Permission::System | ast::Permission::When(_) => return,
        ast::Permission::Held(_) => "held",
        ast::Permission::Before(..) => "before",
    };
    let message = format!("`{word}` says when the guards of a write are evaluated, and this is a read");
    found.add(Diagnostic::error(code::PLACE, span, message).help(format!("remove `{word}`")));
}
