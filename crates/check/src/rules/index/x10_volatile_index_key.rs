//! X10: a field that changes often is part of an index key.

use crate::check::{Context, Rule};
use crate::cost::per_second;
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Verb;
use keyform_language::schema::{Action, Change, ChangeKind, FieldId, Write};
use keyform_language::span::Span;

use super::index_keys;
use crate::rules::key::Keyed;
use crate::rules::show;

/// Rate of changes from which a field counts as changing often.
const OFTEN_PER_SECOND: f64 = 10.0;

pub(super) static RULE: Rule = Rule {
    code: Code("X10"),
    severity: Severity::Warning,
    title: "an index key changes often",
    page: include_str!("../../../../../docs/rules/X10.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (keyed, _, index) in index_keys(context.model) {
        let mut causes: Vec<Cause<'_>> = Vec::new();
        for (field, span) in keyed.places() {
            let Some((write, why)) = changing(context, keyed, field) else { continue };
            match causes.iter_mut().find(|cause| std::ptr::eq(cause.write, write) && cause.why == why) {
                Some(cause) if cause.fields.contains(&field) => {}
                Some(cause) => cause.fields.push(field),
                None => causes.push(Cause { write, why, fields: vec![field], span }),
            }
        }
        findings.extend(causes.iter().map(|cause| finding(keyed, &index.name, cause)));
    }
}

/// A write that moves items in an index, with the fields that cause it.
struct Cause<'a> {
    write: &'a Write,
    why: &'static str,
    fields: Vec<FieldId>,
    /// Span of the first field.
    span: Span,
}

/// Returns a write that often changes the field, with the reason for the message.
fn changing<'a>(context: &Context<'a>, keyed: Keyed<'_>, field: FieldId) -> Option<(&'a Write, &'static str)> {
    let flags = &keyed.entity.field(field).flags;
    let every_write = flags.updated.is_some() || flags.version.is_some();
    context.model.writes.iter().find_map(|write| {
        let actions = write.actions();
        let own = || actions.iter().filter(|action| action.entity == Some(keyed.id) && is_change(action));
        let counted = || own().any(|action| action.changes.iter().any(|change| counts(change, field)));
        let set = || own().any(|action| action.changes.iter().any(|change| sets(change, field)));
        let often = write.rate.is_some_and(|rate| per_second(rate.value) >= OFTEN_PER_SECOND);
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

/// Returns whether the change sets the field. Removals do not count: an item loses a field only once.
fn sets(change: &Change, field: FieldId) -> bool {
    change.written && change.field == Some(field) && !matches!(change.kind, ChangeKind::Remove)
}

fn counts(change: &Change, field: FieldId) -> bool {
    change.field == Some(field) && matches!(change.kind, ChangeKind::Increase(_) | ChangeKind::Decrease(_))
}

fn finding(keyed: Keyed<'_>, index: &str, cause: &Cause<'_>) -> Diagnostic {
    let names = show::listed(cause.fields.iter().map(|field| keyed.entity.field(*field).name.as_str()));
    let verb = if cause.fields.len() == 1 { "moves" } else { "move" };
    let message = format!("{names} {verb} items of {} in `{index}` with every change", keyed.entity.name);
    Diagnostic::warning(RULE.code, keyed.place_of(cause.span), message)
        .label("a changed key costs a delete and a put in the index")
        .also(cause.write.name_span, cause.why)
        .help("key the index by fields that rarely change, or accept the cost: `allow X10` with a reason")
}
