//! T08: a field stores NULL instead of being absent.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Entity, Field, FieldId};

pub(super) static RULE: Rule = Rule {
    code: Code("T08"),
    severity: Severity::Warning,
    title: "NULL is stored where the attribute should be absent",
    page: include_str!("../../../../../docs/rules/T08.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for entity in &context.model.entities {
        for (number, field) in entity.fields.iter().enumerate() {
            if field.null && !is_in_key(entity, FieldId(number)) {
                findings.push(finding(entity, field));
            }
        }
    }
}

/// Returns whether the field is part of a key. K02 and X03 report those, because the service rejects NULL in a key.
fn is_in_key(entity: &Entity, field: FieldId) -> bool {
    let keys = entity.key.iter().chain(&entity.indexes);
    keys.flat_map(keyform_language::schema::EntityKey::fields).any(|part| part == field)
}

fn finding(entity: &Entity, field: &Field) -> Diagnostic {
    let name = &field.name;
    Diagnostic::warning(RULE.code, field.type_span, format!("`{name}` of {} is NULL when it has no value", entity.name))
        .label("NULL is a value")
        .note("A NULL attribute exists: `is none` is false for it, and so is every comparison.")
        .help("write `?` instead: the attribute is then absent, which conditions can test")
}
