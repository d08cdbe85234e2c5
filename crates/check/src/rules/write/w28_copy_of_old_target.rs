//! W28: an update changes a reference and keeps the copies from the item that it named before.

use crate::check::{Context, Rule};
use crate::rules::show::listed;
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Verb;
use keyform_language::schema::{Action, Change, ChangeKind, Entity, EntityId, Field, FieldId, Type, Write};

use super::actions;

pub(super) static RULE: Rule = Rule {
    code: Code("W28"),
    severity: Severity::Warning,
    title: "an update changes a reference and keeps the copies",
    page: include_str!("../../../../../docs/rules/W28.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (write, action, entity) in actions(context).into_iter().filter(|(_, action, _)| action.verb == Verb::Update) {
        for (change, field) in action.changes.iter().filter_map(|change| Some((change, change.field?))) {
            let is_set = matches!(change.kind, ChangeKind::Set(_)) && change.path().is_empty();
            let Some(target) = only_target(entity, field).filter(|_| is_set) else { continue };
            let kept = kept(action, entity, target);
            if !kept.is_empty() {
                let target = context.model.entity(target);
                findings.push(finding(write, entity, (change, field), target, &kept));
            }
        }
    }
}

/// Returns the target of a `ref`, if the entity has no other `ref` to it.
fn only_target(entity: &Entity, field: FieldId) -> Option<EntityId> {
    let target = |field: &Field| match field.kind {
        Type::Ref { entity, .. } => entity,
        _ => None,
    };
    let named = target(entity.field(field))?;
    let count = entity.fields.iter().filter(|field| target(field) == Some(named)).count();
    (count == 1).then_some(named)
}

/// Returns the copies from the target that the step does not set. A key of the target repeats the reference itself.
fn kept<'a>(action: &Action, entity: &'a Entity, target: EntityId) -> Vec<&'a Field> {
    let is_kept = |(number, field): &(usize, &Field)| {
        let is_copy = matches!(field.kind, Type::Copy { entity: Some(of), .. } if of == target);
        is_copy && !action.changes.iter().any(|change| change.field == Some(FieldId(*number)))
    };
    let keys = entity.key_fields();
    let all = entity.fields.iter().enumerate().filter(|(number, _)| !keys.contains(&FieldId(*number)));
    all.filter(is_kept).map(|(_, field)| field).collect()
}

fn finding(
    write: &Write,
    entity: &Entity,
    (change, field): (&Change, FieldId),
    target: &Entity,
    kept: &[&Field],
) -> Diagnostic {
    let name = &entity.field(field).name;
    let names = listed(kept.iter().map(|field| field.name.as_str()));
    let message = format!("`{}` changes `{name}` of {} and keeps {names}", write.name, entity.name);
    let mut finding = Diagnostic::warning(RULE.code, change.span, message)
        .label(format!("the item then names one {} and has copies from another", target.name));
    for copy in kept {
        finding = finding.also(copy.name_span, format!("copied from the {}", target.name));
    }
    let parameter = write.parameters.iter().find(|parameter| parameter.field_name == *name && !change.written);
    match parameter {
        Some(parameter) => finding
            .also(parameter.span, "has the field's name, so the update sets the field to it")
            .help(format!("set {names} too, or rename the parameter if it should only be compared")),
        None => finding.help(format!("set {names} too, from the {} that the item now names", target.name)),
    }
}
