//! W08: a field copies a mutable field and does not state whether it follows changes.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Entity, Field, Type};

pub(super) static RULE: Rule = Rule {
    code: Code("W08"),
    severity: Severity::Warning,
    title: "a copied field can differ from its source",
    page: include_str!("../../../../../docs/rules/W08.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for entity in &context.model.entities {
        for field in &entity.fields {
            let Type::Copy { entity: Some(source), field: Some(original), .. } = &field.kind else { continue };
            let source = context.model.entity(*source);
            let original_field = source.field(*original);
            let settled = field.flags.snapshot.is_some() || field.flags.refresh.is_some();
            if !settled && !original_field.is_fixed() && !source.key_fields().contains(original) {
                findings.push(finding(entity, field, source, original_field));
            }
        }
    }
}

fn finding(entity: &Entity, field: &Field, source: &Entity, original: &Field) -> Diagnostic {
    let copied = format!("{}.{}", source.name, original.name);
    Diagnostic::warning(
        RULE.code,
        field.type_span,
        format!("`{}` of {} copies `{copied}`, which can change", field.name, entity.name),
    )
    .label("the model does not state what happens to the copies then")
    .also(original.name_span, "the source")
    .help("add `snapshot` to keep the copied value, `refresh` to follow the source, or make the source `immutable`")
}
