//! P10: items without a scope show private fields.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Verb;
use keyform_language::schema::{Action, Entity, ExprKind, Field, Origin, Read, Test, Unscoped, ValuePath, Write};

pub(super) static RULE: Rule = Rule {
    code: Code("P10"),
    severity: Severity::Error,
    title: "items without a scope show private fields",
    page: include_str!("../../../../../docs/rules/P10.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for read in &context.model.reads {
        for clause in &read.unscoped {
            findings.extend(shown(context, read, clause).or_else(|| searched(context, read, clause)));
        }
    }
    for write in &context.model.writes {
        findings.extend(write.unscoped.iter().filter_map(|clause| returned(context, write, clause)));
    }
}

/// Reports the first private field of an entity that a read shows to every caller.
fn shown(context: &Context<'_>, read: &Read, clause: &Unscoped) -> Option<Diagnostic> {
    if matches!(read.result, keyform_language::schema::Result::Count(..)) {
        return None;
    }
    let entity = context.model.entity(clause.entity?);
    let Some(selected) = &read.select else {
        // `secret` fields are never returned.
        let fields = entity.fields.iter().filter(|field| field.flags.secret.is_none());
        let (field, word) = fields.into_iter().find_map(|field| Some((field, private(field)?)))?;
        return Some(finding(&read.name, "shows", entity, field, word, clause).help(SELECT));
    };
    let is_selected =
        |field: &&Field| selected.iter().any(|((of, id), _)| context.model.entity(*of).field(*id).name == field.name);
    let (field, word) = entity.fields.iter().filter(is_selected).find_map(|field| Some((field, private(field)?)))?;
    Some(finding(&read.name, "shows", entity, field, word, clause).help(SELECT))
}

const SELECT: &str = "return only public fields, with `select (…)`";

/// Reports the first private field that a read compares for every caller: in `where`, or with a prefix or a range. An
/// equality with a parameter finds only what the caller knows.
fn searched(context: &Context<'_>, read: &Read, clause: &Unscoped) -> Option<Diagnostic> {
    let id = clause.entity?;
    let entity = context.model.entity(id);
    let mut fields = Vec::new();
    if let Some(filter) = &read.filter {
        filter.walk(&mut |part| match &part.kind {
            ExprKind::ValuePath(ValuePath { origin: Origin::Field(of, field), .. }) if *of == id => fields.push(*field),
            _ => {}
        });
    }
    let ranges = read.parameters.iter().filter(|parameter| !matches!(parameter.test, Test::Equal | Test::In));
    fields.extend(ranges.filter_map(|parameter| entity.field_named(&parameter.field_name)));
    let (field, word) =
        fields.into_iter().map(|field| entity.field(field)).find_map(|field| Some((field, private(field)?)))?;
    let finding = finding(&read.name, "compares", entity, field, word, clause);
    Some(finding.help("repeated calls read the value out: remove the comparison, or limit the read to a scope"))
}

/// Reports a write that returns the stored item of an entity, with its private fields, to every caller.
fn returned(context: &Context<'_>, write: &Write, clause: &Unscoped) -> Option<Diagnostic> {
    let id = clause.entity?;
    let is_stored = |action: &&Action| {
        action.entity == Some(id) && matches!(action.verb, Verb::Update | Verb::Upsert | Verb::Delete)
    };
    let is_returned = write.result.as_ref().is_some_and(|result| result.value == Some(id));
    if !is_returned || !write.actions().iter().any(is_stored) {
        return None;
    }
    let entity = context.model.entity(id);
    let fields = entity.fields.iter().filter(|field| field.flags.secret.is_none());
    let (field, word) = fields.into_iter().find_map(|field| Some((field, private(field)?)))?;
    let finding = finding(&write.name, "returns", entity, field, word, clause);
    Some(finding.help(format!("remove `-> {}`: the write then returns nothing", entity.name)))
}

fn finding(pattern: &str, act: &str, entity: &Entity, field: &Field, word: &str, clause: &Unscoped) -> Diagnostic {
    let to = if act == "compares" { "for" } else { "to" };
    let message = format!("`{pattern}` {act} `{}.{}`, which is `{word}`, {to} every caller", entity.name, field.name);
    Diagnostic::error(RULE.code, clause.span, message).also(field.name_span, "the field")
}

fn private(field: &Field) -> Option<&'static str> {
    let flags = &field.flags;
    match (flags.personal, flags.internal, flags.secret) {
        (Some(_), _, _) => Some("personal"),
        (None, Some(_), _) => Some("internal"),
        (None, None, Some(_)) => Some("secret"),
        (None, None, None) => None,
    }
}
