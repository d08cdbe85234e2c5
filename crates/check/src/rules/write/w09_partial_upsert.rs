//! W09: an upsert can create an item without its required fields.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Verb;
use keyform_language::schema::{Action, Entity, FieldId};

use crate::rules::show::listed;

use super::actions;

pub(super) static RULE: Rule = Rule {
    code: Code("W09"),
    severity: Severity::Error,
    title: "an upsert can create an incomplete item",
    page: include_str!("../../../../../docs/rules/W09.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (_, action, entity) in actions(context) {
        if action.verb != Verb::Upsert {
            continue;
        }
        let missing = missing(action, entity);
        if !missing.is_empty() {
            findings.push(
                Diagnostic::error(
                    RULE.code,
                    action.entity_span,
                    format!(
                        "if the {} does not exist, this creates one without {}",
                        entity.name,
                        listed(missing.iter().copied())
                    ),
                )
                .help(format!(
                    "set {} too, or write `update {}(…)`, which fails if the item does not exist",
                    listed(missing.iter().copied()),
                    entity.name
                )),
            );
        }
    }
}

fn missing<'a>(action: &Action, entity: &'a Entity) -> Vec<&'a str> {
    let keys = entity.key_fields();
    let is_set = |id: FieldId| action.changes.iter().any(|change| change.field == Some(id) && change.path().is_empty());
    let lacks = |&(number, field): &(usize, &'a keyform_language::schema::Field)| {
        let id = FieldId(number);
        field.is_required() && !field.has_source() && !keys.contains(&id) && !is_set(id)
    };
    entity.fields.iter().enumerate().filter(lacks).map(|(_, field)| field.name.as_str()).collect()
}
