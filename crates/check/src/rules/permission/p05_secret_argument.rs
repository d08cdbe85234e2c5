//! P05: callers give a secret in its stored form.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};

use super::is_open;
use super::p04_internal_argument::given;

pub(super) static RULE: Rule = Rule {
    code: Code("P05"),
    severity: Severity::Warning,
    title: "callers give a secret in its stored form",
    page: include_str!("../../../../../docs/rules/P05.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for write in context.model.writes.iter().filter(|write| is_open(write.allow.as_ref())) {
        let is_secret = |field: &keyform_language::schema::Field| {
            field.flags.secret.is_some() && field.flags.internal.is_none() && field.flags.encrypted.is_none()
        };
        given(context, write, is_secret, |field, span| {
            let message = format!("callers of `{}` give the secret `{}` as it is stored", write.name, field.name);
            let finding = Diagnostic::warning(RULE.code, span, message)
                .label("who knows a stored secret, such as a hash, can store it again")
                .also(field.name_span, "the secret");
            findings.push(finding.help("make the field `internal` and let a flow compute it, or make it `encrypted`"));
        });
    }
}
