//! X03: a nullable field is part of an index key.

use super::index_keys;
use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};

pub(super) static RULE: Rule = Rule {
    code: Code("X03"),
    severity: Severity::Error,
    title: "an index key can be NULL",
    page: include_str!("../../../../../docs/rules/X03.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (keyed, _, index) in index_keys(context.model) {
        let null = keyed.places().find(|(field, _)| keyed.entity.field(*field).null);
        let in_table_key = |name: &str| keyed.entity.key_fields().iter().any(|&id| keyed.entity.field(id).name == name);
        let Some((field, span)) = null else { continue };
        let field = keyed.entity.field(field);
        if in_table_key(&field.name) {
            continue;
        }
        let message =
            format!("`{}` can be NULL, and `{}` does not accept NULL: the write is rejected", field.name, index.name);
        let finding = Diagnostic::error(RULE.code, keyed.place_of(span), message).also(field.type_span, "stores NULL");
        findings.push(finding.help(format!("omit it instead: `{}: …?`, and mark the index `sparse`", field.name)));
    }
}
