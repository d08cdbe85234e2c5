//! W29: a write changes an item and the item that it refers to, and nothing compares the two.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Verb;
use keyform_language::schema::{
    Action, Entity, EntityId, Expr, ExprKind, FieldId, Model, Origin, Type, ValuePath, Write,
};

pub(super) static RULE: Rule = Rule {
    code: Code("W29"),
    severity: Severity::Warning,
    title: "a write changes two items without comparing their reference",
    page: include_str!("../../../../../docs/rules/W29.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for write in &context.model.writes {
        let actions = write.actions();
        let changing = actions.iter().filter(|action| matches!(action.verb, Verb::Update | Verb::Delete));
        for action in changing.clone() {
            let Some(entity) = action.entity.map(|id| context.model.entity(id)) else { continue };
            for (field, target) in references(entity).filter(|(field, _)| !mentions(action, *field)) {
                let other = changing.clone().find(|other| other.entity == Some(target));
                if let Some(key) = other.and_then(|other| addressed(context.model, target, other))
                    && !is_compared(write, action, key)
                {
                    findings.push(finding(write, action, (entity, field), (context.model.entity(target), key)));
                }
            }
        }
    }
}

/// Returns the `ref`s of an entity, without those to a target that it has several for.
fn references(entity: &Entity) -> impl Iterator<Item = (FieldId, EntityId)> + '_ {
    let target = |kind: &Type| match kind {
        Type::Ref { entity, .. } => *entity,
        _ => None,
    };
    let refs = entity.fields.iter().enumerate().filter(|(_, field)| !field.optional);
    let refs = refs.filter_map(move |(number, field)| Some((FieldId(number), target(&field.kind)?)));
    let count = move |of: EntityId| entity.fields.iter().filter(|field| target(&field.kind) == Some(of)).count();
    refs.filter(move |(_, of)| count(*of) == 1)
}

/// Returns true if a step names the field: in its key, a condition or a change.
fn mentions(action: &Action, field: FieldId) -> bool {
    action.keys.iter().any(|(key, _)| *key == field)
        || action.equalities.iter().any(|it| it.field == field)
        || action.tests(field)
        || action.changes.iter().any(|change| change.field == Some(field))
}

/// Returns the argument by which a step addresses the target: its id is a parameter.
fn addressed<'a>(model: &Model, target: EntityId, action: &'a Action) -> Option<&'a Expr> {
    let id = model.entity(target).id_field()?;
    let (_, key) = action.keys.iter().find(|(field, _)| *field == id)?;
    let is_parameter = matches!(key.kind, ExprKind::ValuePath(ValuePath { origin: Origin::Parameter(_), .. }));
    is_parameter.then_some(key)
}

/// Returns true if the step itself or a `require` uses the argument that addresses the target.
fn is_compared(write: &Write, action: &Action, key: &Expr) -> bool {
    let given = key.parameters();
    let uses = |expr: &Expr| expr.parameters().iter().any(|number| given.contains(number));
    action.keys.iter().any(|(_, value)| uses(value))
        || action.conditions.iter().any(|it| uses(&it.condition))
        || write.requires.iter().any(|it| uses(&it.condition))
}

fn finding(
    write: &Write,
    action: &Action,
    (entity, field): (&Entity, FieldId),
    (target, key): (&Entity, &Expr),
) -> Diagnostic {
    let name = &entity.field(field).name;
    let message = format!(
        "`{}` changes a {} and a {}, and nothing states that the first refers to the second",
        write.name, entity.name, target.name
    );
    Diagnostic::warning(RULE.code, action.entity_span, message)
        .label(format!("its `{name}` is not compared"))
        .also(key.span, format!("any {}", target.name))
        .also(entity.field(field).name_span, format!("refers to the {}", target.name))
        .help(format!(
            "add a condition to the step: `if {name} = … else …`, with the value that addresses the {}",
            target.name
        ))
}
