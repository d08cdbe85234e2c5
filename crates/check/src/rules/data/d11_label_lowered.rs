//! D11: a protected value is stored in a field that is protected less.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Verb;
use keyform_language::schema::{ChangeKind, Entity, Expr, Field, Model, PathStep, Type};

use super::label::{Label, Revealed, revealed};
use super::site::{Site, sites};

pub(super) static RULE: Rule = Rule {
    code: Code("D11"),
    severity: Severity::Error,
    title: "a protected value is stored in a field that is protected less",
    page: include_str!("../../../../../docs/rules/D11.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for entity in &context.model.entities {
        findings.extend(entity.fields.iter().filter_map(|field| lowered_copy(context.model, entity, field)));
    }
    for site in sites(context) {
        findings.extend(in_keys(&site));
        for (change, _, field) in site.changes().filter(|(_, _, field)| !matches!(field.kind, Type::Copy { .. })) {
            let value: &Expr = match &change.kind {
                ChangeKind::Set(value)
                | ChangeKind::Increase(value)
                | ChangeKind::Decrease(value)
                | ChangeKind::Append(value)
                | ChangeKind::Add(value) => value,
                ChangeKind::Take(_) | ChangeKind::Remove => continue,
            };
            let lower = |revealed: &Revealed<'_>| !revealed.label.may_flow_to(Label::of(field));
            findings.extend(revealed(&site, value).filter(lower).map(|revealed| finding(&site, field, &revealed)));
        }
    }
}

/// Reports the values that an `upsert` stores as the item's key, and those that become the keys of a map.
fn in_keys<'a>(site: &Site<'a>) -> Vec<Diagnostic> {
    let stored = site.action.keys.iter().filter(|_| site.action.verb == Verb::Upsert);
    let keys = stored.map(|(id, expr)| (site.entity.field(*id), expr));
    let entries = site.changes().filter(|(change, ..)| !matches!(change.kind, ChangeKind::Remove));
    let entries = entries.flat_map(|(change, _, field)| {
        change.path().iter().filter_map(move |step| match step {
            PathStep::Element(key) => Some((field, &**key)),
            PathStep::Member(_) => None,
        })
    });
    let lowered = |(field, expr): (&'a Field, &'a Expr)| {
        let revealed = revealed(site, expr).filter(|revealed| !revealed.label.may_flow_to(Label::of(field)))?;
        Some(finding(site, field, &revealed))
    };
    keys.chain(entries).filter_map(lowered).collect()
}

/// Reports a `copy` that is protected less than its source.
fn lowered_copy(model: &Model, entity: &Entity, field: &Field) -> Option<Diagnostic> {
    let Type::Copy { entity: Some(source), field: Some(original), .. } = &field.kind else { return None };
    let source = model.entity(*source);
    let original = source.field(*original);
    let label = Label::of(original);
    let message = format!(
        "`{}` of {} copies `{}.{}`, which is {}",
        field.name,
        entity.name,
        source.name,
        original.name,
        label.word()
    );
    (!label.may_flow_to(Label::of(field))).then(|| {
        Diagnostic::error(RULE.code, field.type_span, message)
            .also(original.name_span, format!("`{}`", label.word()))
            .help(format!("make the copy `{}` too", label.word()))
    })
}

fn finding(site: &Site<'_>, field: &Field, revealed: &Revealed<'_>) -> Diagnostic {
    let word = revealed.label.word();
    let message = format!(
        "`{}` stores `{}`, which is {word}, in `{}` of {}",
        site.write.name, revealed.field.name, field.name, site.entity.name
    );
    let help = match revealed.label {
        Label::Secret => "make the field `secret`, or store `hash(…)` of the value".to_owned(),
        Label::Encrypted | Label::Personal | Label::Plain => format!("make the field `{word}` too"),
    };
    Diagnostic::error(RULE.code, revealed.span, message)
        .also(revealed.field.name_span, format!("`{word}`"))
        .also(field.name_span, format!("`{}`", Label::of(field).word()))
        .help(help)
}
