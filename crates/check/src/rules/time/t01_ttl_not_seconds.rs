//! T01: the TTL attribute is not a number of seconds since 1970.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::scalar::Resolution;
use keyform_language::schema::{Entity, Field, Type};

use super::ttl_field;

pub(super) static RULE: Rule = Rule {
    code: Code("T01"),
    severity: Severity::Error,
    title: "the TTL attribute is not a number of seconds",
    page: include_str!("../../../../../docs/rules/T01.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for entity in &context.model.entities {
        if let Some((_, field)) = ttl_field(context.model, entity) {
            findings.extend(judge(entity, field));
        }
    }
}

fn judge(entity: &Entity, field: &Field) -> Option<Diagnostic> {
    let kind = field.kind.resolved();
    let resolution = kind.time().map(|time| time.resolution);
    let (severity, why) = match kind {
        Type::Unknown => return None,
        kind if kind.is_numeric() && resolution == Some(Resolution::Seconds) => return None,
        kind if kind.is_bare_number() => (Severity::Warning, "a number without a unit"),
        kind if kind.is_numeric() && resolution.is_some() => {
            (Severity::Error, "milliseconds: read as seconds, this is thousands of years ahead")
        }
        _ if resolution.is_some() => (Severity::Error, "a string: the service ignores it"),
        _ => (Severity::Error, "not a number: the service ignores it"),
    };
    let message = format!("items of {} expire by `{}`, which is not a number of seconds", entity.name, field.name);
    Some(
        Diagnostic::new(RULE.code, severity, field.type_span, message)
            .label(why)
            .help(format!("write `{}: epoch`; a separate field can hold the time in readable form", field.name)),
    )
}
