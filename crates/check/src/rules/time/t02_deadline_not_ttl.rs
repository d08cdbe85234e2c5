//! T02: a field is named like a deadline, but items do not expire by it.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::{DeclarationKind, Table, TableEntry};
use keyform_language::schema::{Entity, Field, FieldId, Model};
use keyform_language::span::Spanned;

use super::ttl_field;

pub(super) static RULE: Rule = Rule {
    code: Code("T02"),
    severity: Severity::Warning,
    title: "a deadline is not the TTL attribute",
    page: include_str!("../../../../../docs/rules/T02.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for declaration in &context.document.declarations {
        if let DeclarationKind::Table(table) = &declaration.value {
            findings.extend(second_ttl(table));
        }
    }
    for entity in &context.model.entities {
        for (number, field) in entity.fields.iter().enumerate() {
            if is_deadline(field) && !is_settled(context.model, entity, FieldId(number)) {
                findings.push(finding(context.model, entity, field));
            }
        }
    }
}

fn second_ttl(table: &Table) -> Option<Diagnostic> {
    let mut lines = table.body.lines.iter().filter(|line| matches!(line.value, TableEntry::Ttl(_)));
    let (first, second) = (lines.next()?, lines.next()?);
    Some(
        Diagnostic::error(
            RULE.code,
            second.span,
            format!("table {} has two TTL attributes; a table can have one", table.name.text),
        )
        .also(first.span, "the first")
        .help("keep one and let both fields set it"),
    )
}

fn is_deadline(field: &Field) -> bool {
    let name = field.name.to_lowercase().replace('_', "");
    let names =
        ["expires", "expiresat", "expiry", "expiration", "expireat", "expiredat", "ttl", "validuntil", "expiresin"];
    field.kind.is_time() && names.contains(&name.as_str())
}

/// Returns whether the field is the TTL attribute, or one of the two is derived from the other.
fn is_settled(model: &Model, entity: &Entity, field: FieldId) -> bool {
    let Some((ttl, expiry)) = ttl_field(model, entity) else { return false };
    let made_of_it =
        |made: &Field, of: FieldId| made.default.as_ref().is_some_and(|default| default.own_fields().contains(&of));
    ttl == field || made_of_it(expiry, field) || made_of_it(entity.field(field), ttl)
}

fn finding(model: &Model, entity: &Entity, field: &Field) -> Diagnostic {
    let name = &field.name;
    let message = format!("`{name}` of {} is a deadline, but nothing deletes the item then", entity.name);
    let finding = Diagnostic::warning(RULE.code, field.name_span, message);
    let Some(table) = entity.table.map(|table| model.table(table)) else { return finding };
    match &table.ttl {
        None => finding.label("the table has no TTL attribute").help(format!(
            "add `ttl {name}` to table {} and make the field an `epoch`, or check it on every read",
            table.name
        )),
        Some(Spanned { value: ttl, span }) => finding.also(*span, "items expire by this attribute").help(format!(
            "add the TTL attribute to {}: `{ttl}: epoch = {name} + 1d`, or use `{ttl}` alone",
            entity.name
        )),
    }
}
