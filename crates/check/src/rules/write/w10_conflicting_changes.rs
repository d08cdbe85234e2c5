//! W10: an update contains changes that DynamoDB rejects.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Verb;
use keyform_language::schema::{
    Action, Change, ChangeKind, Entity, EntityId, ExprKind, Field, FieldId, Model, PathStep, Type, Write,
};

use super::actions;

pub(super) static RULE: Rule = Rule {
    code: Code("W10"),
    severity: Severity::Error,
    title: "changes of one update conflict",
    page: include_str!("../../../../../docs/rules/W10.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (_, action, entity) in actions(context) {
        overlaps(action, entity, findings);
        if matches!(action.verb, Verb::Update | Verb::Upsert) {
            for change in &action.changes {
                findings.extend(action.entity.and_then(|id| absent_parent(context.model, (id, entity), change)));
            }
        }
    }
}

/// Reports two changes of one field where one path is a prefix of the other.
fn overlaps(action: &Action, entity: &Entity, findings: &mut Vec<Diagnostic>) {
    let written: Vec<&Change> =
        action.changes.iter().filter(|change| change.written && change.field.is_some()).collect();
    for (number, second) in written.iter().enumerate() {
        if let Some(first) =
            written[..number].iter().find(|first| first.field == second.field && is_prefix(first.path(), second.path()))
        {
            let name = second.field.map_or("", |field| &entity.field(field).name);
            findings.push(
                Diagnostic::error(RULE.code, second.span, format!("two changes of one update affect `{name}`"))
                    .label("overlaps with the other change")
                    .also(first.span, "the other")
                    .note("DynamoDB rejects an update whose document paths overlap.")
                    .help("combine them into one change"),
            );
        }
    }
}

fn is_prefix(first: &[PathStep], second: &[PathStep]) -> bool {
    first.iter().zip(second).all(|(step, other)| step.same(other))
}

/// Reports a change inside a value that no item has: the field is optional, and no write sets it as a whole.
fn absent_parent(model: &Model, (id, entity): (EntityId, &Entity), change: &Change) -> Option<Diagnostic> {
    let number = change.field?;
    let field = entity.field(number);
    (!change.path().is_empty() && may_be_absent(field) && !is_set(model, id, number)).then(|| {
        Diagnostic::error(
            RULE.code,
            change.span,
            format!("`{}` is absent in every item, and then nothing in it can be changed", field.name),
        )
        .also(field.name_span, "optional, and no write sets it")
        .help(help(field))
    })
}

/// Returns true if a write or an evolution gives the field a value.
fn is_set(model: &Model, id: EntityId, field: FieldId) -> bool {
    let sets = |change: &Change| {
        let gives = matches!(&change.kind, ChangeKind::Set(value) if !matches!(value.kind, ExprKind::None));
        change.field == Some(field) && change.path().is_empty() && gives
    };
    let mut actions = model.writes.iter().flat_map(Write::actions).filter(|action| action.entity == Some(id));
    let mut evolutions = model.evolutions.iter().filter(|evolution| evolution.entity == Some(id));
    actions.any(|action| action.changes.iter().any(sets))
        || evolutions.any(|evolution| {
            let renamed = evolution.renames.iter().any(|(_, to, _)| *to == field);
            renamed || evolution.sets.iter().any(|(to, ..)| *to == field)
        })
}

/// Returns the repair that fits the type.
fn help(field: &Field) -> String {
    let name = &field.name;
    let needs = |part: &Field| part.must_have_value() && !part.has_source();
    match field.kind.resolved() {
        Type::List(..) => format!("give it a default so that every item has it: `{name}: … = []`"),
        Type::Record(fields) if fields.iter().any(needs) => format!("set it as a whole in a write: `{name} = …`"),
        _ => format!("give it a default so that every item has it: `{name}: … = {{}}`"),
    }
}

fn may_be_absent(field: &Field) -> bool {
    field.optional && field.default.is_none()
}
