//! P10: items without a scope show private fields.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Field, FieldId, Read, Unscoped};

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
            findings.extend(shown(context, read, clause));
        }
    }
}

/// Reports the first private field of an entity that a read shows to every caller.
fn shown(context: &Context<'_>, read: &Read, clause: &Unscoped) -> Option<Diagnostic> {
    if matches!(read.result, keyform_language::schema::Result::Count(..)) {
        return None;
    }
    let id = clause.entity?;
    let entity = context.model.entity(id);
    let is_selected = |name: &str| {
        read.select.as_ref().is_none_or(|selected| {
            selected.iter().any(|((of, field), _)| context.model.entity(*of).field(*field).name == name)
        })
    };
    let fields = (0..entity.fields.len()).map(|number| entity.field(FieldId(number)));
    let (field, word) =
        fields.filter(|field| is_selected(&field.name)).find_map(|field| Some((field, private(field)?)))?;
    let message = format!("`{}` shows `{}.{}`, which is `{word}`, to every caller", read.name, entity.name, field.name);
    let finding = Diagnostic::error(RULE.code, clause.span, message).also(field.name_span, "the field");
    Some(finding.help("return only public fields, with `select (…)`"))
}

fn private(field: &Field) -> Option<&'static str> {
    let flags = &field.flags;
    match (flags.personal, flags.internal) {
        (Some(_), _) => Some("personal"),
        (None, Some(_)) => Some("internal"),
        // `secret` fields are never returned.
        (None, None) => None,
    }
}
