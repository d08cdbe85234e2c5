//! M07: a field became `encrypted`, or is no longer.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};

use super::kept;

pub(super) static RULE: Rule = Rule {
    code: Code("M07"),
    severity: Severity::Error,
    title: "existing values are stored with another encryption",
    page: include_str!("../../../../../docs/rules/M07.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (old, new) in kept(context) {
        for field in &new.fields {
            let Some(before) = old.field_named(&field.name).map(|id| old.field(id)) else { continue };
            let (then, now) = (before.flags.encrypted.is_some(), field.flags.encrypted.is_some());
            if then == now {
                continue;
            }
            let stored = if then { "encrypted" } else { "in plain text" };
            findings.push(
                Diagnostic::error(
                    RULE.code,
                    field.flags.encrypted.unwrap_or(field.name_span),
                    format!("existing values of `{}` of {} are stored {stored} and cannot be read", field.name, new.name),
                )
                .label(if now { "now encrypted" } else { "no longer encrypted" })
                .help(format!(
                    "keep `{0}` as it is, add a field with another name, write both, and remove `{0}` when every item has the new one",
                    field.name
                )),
            );
        }
    }
}
