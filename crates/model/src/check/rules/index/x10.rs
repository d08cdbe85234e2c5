//! X10: a field that changes with many writes is part of an index key.

use crate::check::{Context, Rule};
use crate::cost::per_second;
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::document::ast::Verb;
use crate::schema::{Action, Change, ChangeKind, FieldId, Write};
use crate::span::Span;

use super::index_keys;
use crate::check::rules::key::Keyed;

/// From so many changes a second an index key changes often.
const OFTEN_PER_SECOND: f64 = 10.0;

pub(super) static RULE: Rule = Rule {
    code: Code("X10"),
    severity: Severity::Warning,
    title: "an index key that keeps changing",
    page: include_str!("../../../../../../docs/rules/X10.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (keyed, _, index) in index_keys(context.model) {
        let mut seen = Vec::new();
        for (field, span) in keyed.places() {
            if seen.contains(&field) {
                continue;
            }
            seen.push(field);
            if let Some((write, why)) = changing(context, keyed, field) {
                findings.push(finding(keyed, &index.name, (field, span), write, why));
            }
        }
    }
}

/// A write that often changes the field, and how.
fn changing<'a>(context: &Context<'a>, keyed: Keyed<'_>, field: FieldId) -> Option<(&'a Write, &'static str)> {
    let flags = &keyed.entity.field(field).flags;
    let every_write = flags.updated.is_some() || flags.version.is_some();
    context.model.writes.iter().find_map(|write| {
        let actions = write.actions();
        let own = || actions.iter().filter(|action| action.entity == Some(keyed.id) && is_change(action));
        let counted = || own().any(|action| action.changes.iter().any(|change| counts(change, field)));
        let set = || own().any(|action| action.changes.iter().any(|change| sets(change, field)));
        let often = write.rate.as_ref().is_some_and(|(rate, _)| per_second(*rate) >= OFTEN_PER_SECOND);
        if every_write && own().next().is_some() {
            Some((write, "every change of an item changes it"))
        } else if counted() {
            Some((write, "counts it"))
        } else if often && set() {
            Some((write, "sets it many times a second"))
        } else {
            None
        }
    })
}

fn is_change(action: &Action) -> bool {
    matches!(action.verb, Verb::Update | Verb::Upsert)
}

/// Taking the field away happens once to an item.
fn sets(change: &Change, field: FieldId) -> bool {
    change.written && change.field == Some(field) && !matches!(change.kind, ChangeKind::Remove)
}

fn counts(change: &Change, field: FieldId) -> bool {
    change.field == Some(field) && matches!(change.kind, ChangeKind::Increase(_) | ChangeKind::Decrease(_))
}

fn finding(keyed: Keyed<'_>, index: &str, place: (FieldId, Span), write: &Write, why: &str) -> Diagnostic {
    let field = keyed.entity.field(place.0);
    let message = format!("`{}` moves items of {} in `{index}` with every change", field.name, keyed.entity.name);
    Diagnostic::warning(RULE.code, keyed.place_of(place.1), message)
        .label("a changed key is a delete and a put in the index")
        .also(write.name_span, why)
        .help("key the index by what seldom changes, or accept the cost: `allow X10` with the reason")
}
