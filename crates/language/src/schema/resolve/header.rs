//! Resolves the `model` line and the suppressed warnings.

use crate::diagnostic::Diagnostic;
use crate::document::ast::{self, DeclarationKind, Document};
use crate::schema::{Allow, Model};
use crate::span::Span;

use super::code;
use super::found::Found;

/// Creates a model with its name, documentation and suppressed warnings only.
pub(super) fn resolve(document: &Document, found: &mut Found) -> Model {
    let mut model = Model { allows: allows(document), ..Model::default() };
    let mut named = false;
    for line in &document.declarations {
        let DeclarationKind::Model(name) = &line.value else { continue };
        if named {
            let second = Diagnostic::error(code::MODEL, line.span, "the file has two `model` lines");
            found.add(second.also(model.name_span, "the first").help("remove one of them"));
            continue;
        }
        named = true;
        model.name.clone_from(&name.text);
        model.name_span = name.span;
        model.docs.clone_from(&line.notes.docs);
    }
    if !named && !document.declarations.is_empty() {
        let first = document.declarations.first().map(|line| line.span).unwrap_or_default();
        let place = Span::new(first.start, first.start);
        found.add(
            Diagnostic::error(code::MODEL, place, "the file has no `model` line").help("begin it with `model NAME`"),
        );
    }
    model
}

fn allows(document: &Document) -> Vec<Allow> {
    let mut list = Vec::new();
    for line in &document.declarations {
        let within = Some(line.span);
        let mut add = |allow: &ast::Allow, span: Span, within: Option<Span>| {
            list.push(Allow { code: allow.code.text.clone(), reason: allow.reason.text.clone(), span, within });
        };
        match &line.value {
            DeclarationKind::Allow(allow) => add(allow, line.span, None),
            DeclarationKind::Table(table) => table.body.lines.iter().for_each(|entry| {
                if let ast::TableEntry::Allow(allow) = &entry.value {
                    add(allow, entry.span, within);
                }
            }),
            DeclarationKind::Entity(entity) => entity.body.lines.iter().for_each(|entry| {
                if let ast::EntityEntry::Allow(allow) = &entry.value {
                    add(allow, entry.span, within);
                }
            }),
            DeclarationKind::Read(read) => read.clauses.iter().for_each(|clause| {
                if let ast::ReadClause::Allow(allow) = &clause.value {
                    add(allow, clause.span, within);
                }
            }),
            DeclarationKind::Write(write) => write_allows(write, &mut |allow, span| add(allow, span, within)),
            DeclarationKind::Evolve(evolve) => evolve.body.lines.iter().for_each(|entry| {
                if let ast::EvolveEntry::Allow(allow) = &entry.value {
                    add(allow, entry.span, within);
                }
            }),
            DeclarationKind::Model(_)
            | DeclarationKind::Caller(_)
            | DeclarationKind::Shape(_)
            | DeclarationKind::Guard(_)
            | DeclarationKind::On(_) => {}
        }
    }
    list
}

fn write_allows(write: &ast::Write, add: &mut dyn FnMut(&ast::Allow, Span)) {
    for clause in &write.clauses {
        if let ast::WriteClause::Allow(allow) = &clause.value {
            add(allow, clause.span);
        }
    }
    step_allows(&write.body, add);
}

fn step_allows(block: &ast::Block<ast::Step>, add: &mut dyn FnMut(&ast::Allow, Span)) {
    for line in &block.lines {
        match &line.value {
            ast::Step::Allow(allow) => add(allow, line.span),
            ast::Step::For(each) => step_allows(&each.body, add),
            ast::Step::Let(_)
            | ast::Step::Permit(_)
            | ast::Step::Unscoped(_)
            | ast::Step::Require(_)
            | ast::Step::Action(_) => {}
        }
    }
}
