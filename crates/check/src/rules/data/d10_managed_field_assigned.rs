//! D10: a write sets a `created`, `updated` or `version` field, which Keyform manages.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Change, ChangeKind, Expr, ExprKind, Field, FieldId, Origin, ValuePath};

use super::site::{Site, sites};

pub(super) static RULE: Rule = Rule {
    code: Code("D10"),
    severity: Severity::Error,
    title: "a write sets a field that is managed",
    page: include_str!("../../../../../docs/rules/D10.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for site in sites(context) {
        for (change, id, field) in site.changes() {
            if let Some(flag) = flag(field)
                .filter(|_| is_assigned(change) && !is_repeated(&site, change, id) && !is_same_time(field, change))
            {
                findings.push(finding(&site, change, field, flag));
            }
        }
    }
}

fn flag(field: &Field) -> Option<&'static str> {
    let created = field.flags.created.map(|_| "created");
    created.or(field.flags.version.map(|_| "version")).or(field.flags.updated.map(|_| "updated"))
}

/// Returns true if the author or an argument decides the value. The time of creation and the version that every write
/// gets are changes that the author did not write.
fn is_assigned(change: &Change) -> bool {
    let is_argument = matches!(&change.kind, ChangeKind::Set(value)
        if matches!(&value.kind, ExprKind::ValuePath(ValuePath { origin: Origin::Parameter(_), .. })));
    change.written || is_argument
}

/// Returns true if an update sets the time of creation to what the item has, as an index key requires (W04).
fn is_repeated<'a>(site: &Site<'a>, change: &'a Change, id: FieldId) -> bool {
    let ChangeKind::Set(Expr { kind: ExprKind::ValuePath(place), .. }) = &change.kind else { return false };
    let is_same =
        site.stored(place).is_some_and(|(entity, field, rest)| (entity, field) == (site.id, id) && rest.is_empty());
    is_same && !site.makes() && site.entity.field(id).flags.created.is_some()
}

/// Returns true if the time of a change is set to the time of the request, which it gets anyway.
fn is_same_time(field: &Field, change: &Change) -> bool {
    let is_now = matches!(&change.kind, ChangeKind::Set(value)
        if matches!(&value.kind, ExprKind::Call { function, .. } if function == "now"));
    field.flags.updated.is_some() && is_now
}

fn finding(site: &Site<'_>, change: &Change, field: &Field, flag: &str) -> Diagnostic {
    let message = format!("`{}` sets `{}` of {}, which is `{flag}`", site.write.name, field.name, site.entity.name);
    let finding = Diagnostic::error(RULE.code, change.span, message).also(field.name_span, format!("`{flag}`"));
    let parameter = site.write.parameters.iter().find(|parameter| parameter.arguments.contains(&field.name));
    match parameter.filter(|_| !change.written) {
        Some(parameter) => finding
            .also(parameter.span, "has the field's name, so the new item gets it")
            .help(format!("remove the parameter, or remove `{flag}` if callers decide the value")),
        None => finding.help(format!("remove the assignment, or remove `{flag}`")),
    }
}
