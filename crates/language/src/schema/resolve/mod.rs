//! Resolves every name of a document.
//!
//! Resolving never fails. An unknown name is reported once, with the most similar known one, and becomes a `None` or an
//! `Unknown`, which later passes skip (ADR 0008). One kind of unknown name is left to the rules: a template that refers
//! to a field its entity does not declare (K01).
//!
//! 1. `header`: the `model` line; `names`: all declarations.
//! 2. `table`: tables and indexes.
//! 3. `entity`: fields and, by names alone, `key`s; then `types` with `flags`, and defaults.
//! 4. `guard`, `read`, [`write`]: first their signatures, which others need to call them, then their `expression`s.
//! 5. `change`: consumers and evolutions.

mod action;
mod attribute;
mod change;
mod code;
mod entity;
mod expression;
mod flags;
mod found;
mod guard;
mod header;
mod item;
mod key;
mod mention;
mod names;
mod parameter;
mod read;
mod scope;
mod table;
mod template;
mod types;
mod value;
mod value_path;
mod version;
mod write;

use std::collections::HashMap;

use crate::diagnostic::{Diagnostic, Label};
use crate::document::ast::{self, Document};

use super::field::{Field, Flags, Type};
use super::{Caller, ClaimSource, Entity, Model};
use entity::AllWritten;
use found::Found;
use names::Names;
use types::Types;

pub use code::{CODES, NameCode};

/// Resolves a document and returns the model and the findings.
#[must_use]
pub fn resolve(document: &Document) -> (Model, Vec<Diagnostic>) {
    let mut found = Found::default();
    let names = Names::collect(document, &mut found);
    let mut model = header::resolve(document, &mut found);
    model.tables = table::resolve(&names, &mut found);
    let (entities, written) = entity::outlines(&names, &model.tables, &mut found);
    model.entities = entities;
    key::forget_halves(&mut model);
    entity::types(&names, &mut model, &written, &mut found);
    entity::defaults(&names, &mut model, &written, &mut found);
    key::check_formats(&model, &mut found);
    key::infer_kinds(&mut model);
    attribute::check(&mut model, &mut found);
    patterns(&names, &mut model, &written, &mut found);
    changes(&names, &mut model, &mut found);
    (model, found.finish())
}

fn patterns(names: &Names<'_>, model: &mut Model, written: &AllWritten<'_>, found: &mut Found) {
    let entities: Vec<Entity> = model.entities.clone();
    let types = Types { names, entities: &entities, written };
    model.caller = caller(names, &types, found);
    model.guards = names.guards.iter().map(|guard| guard::outline(names, &types, *guard, found)).collect();
    model.reads = names.reads.iter().map(|read| read::outline(names, &types, *read, found)).collect();
    let guards = names.guards.iter().enumerate();
    model.guards = guards.map(|(number, it)| guard::complete(names, model, number, it.value, found)).collect();
    let reads = names.reads.iter().enumerate();
    model.reads = reads.map(|(number, it)| read::complete(names, model, number, it.value, found)).collect();
    let writes = names.writes.iter();
    model.writes = writes.map(|write| write::resolve(names, &types, model, *write, found)).collect();
    action::verify_scopes(model);
}

fn changes(names: &Names<'_>, model: &mut Model, found: &mut Found) {
    model.consumers = names.consumers.iter().map(|on| change::consumer(names, model, *on, found)).collect();
    model.evolutions = names.evolutions.iter().map(|evolve| change::evolution(names, model, *evolve, found)).collect();
}

fn caller(names: &Names<'_>, types: &Types<'_>, found: &mut Found) -> Option<Caller> {
    let (first, more) = names.callers.split_first()?;
    for second in more {
        let finding = Diagnostic::error(code::MODEL, second.span, "the file has two `caller` lines");
        found.add(finding.also(first.span, "the first").help("put all claims into one line"));
    }
    let mut fields: Vec<Field> = Vec::new();
    let (mut global, mut sources) = (Vec::new(), Vec::new());
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    for it in first.value {
        if let Some(other) = numbers.get(it.name.text.as_str()).map(|number| &fields[*number]) {
            let mut finding = Diagnostic::error(
                code::REPEATED,
                it.name.span,
                format!("the caller has two claims named `{}`", other.name),
            );
            finding.secondary.push(Label { span: other.name_span, text: "the first".into() });
            found.add(finding);
            continue;
        }
        numbers.insert(&it.name.text, fields.len());
        global.extend(it.global.as_ref().map(|reason| (fields.len(), reason.text.clone())));
        fields.push(Field {
            name: it.name.text.clone(),
            name_span: it.name.span,
            span: it.name.span.to(it.kind.span),
            docs: Vec::new(),
            kind: types.convert(&it.kind, found),
            type_span: it.kind.span,
            optional: it.kind.optional,
            null: it.kind.null,
            flags: Flags::default(),
            default: None,
        });
        sources.extend(source(it, fields.last(), found).map(|source| (fields.len() - 1, source)));
    }
    Some(Caller { fields, sources, global, span: first.span })
}

/// Resolves `from "claim" split`.
fn source(it: &ast::CallerField, field: Option<&Field>, found: &mut Found) -> Option<ClaimSource> {
    let from = it.from.as_ref()?;
    let is_list =
        field.is_none_or(|field| matches!(field.kind.resolved(), Type::Set(..) | Type::List(..) | Type::Unknown));
    if from.split && !is_list {
        let message = format!("`split` makes a list of words, but `{}` is a single value", it.name.text);
        found.add(
            Diagnostic::error(code::FLAG, it.kind.span, message).help("declare a `set<string>`, or remove `split`"),
        );
    }
    match ClaimSource::parse(&from.claim.text, from.split) {
        Ok(source) => Some(source),
        Err(reason) => {
            let message = format!("`from` does not name a claim of the token: {reason}");
            let help = "write a name, or names separated by dots as in \"realm_access.roles\"; a name with dots goes \
                in single quotes";
            found.add(Diagnostic::error(code::FORMAT, from.claim.span, message).help(help));
            None
        }
    }
}
