//! K06: an update sets a field of the table's key.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Verb;
use keyform_language::schema::{Action, Change, Entity};

use super::field_places;
use crate::rules::show;

pub(super) static RULE: Rule = Rule {
    code: Code("K06"),
    severity: Severity::Error,
    title: "a write changes a key",
    page: include_str!("../../../../../docs/rules/K06.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for write in &context.model.writes {
        for action in write.actions() {
            let Some(entity) = action.entity.map(|id| context.model.entity(id)) else { continue };
            if matches!(action.verb, Verb::Update | Verb::Upsert) {
                findings.extend(changed_keys(entity, action));
            }
        }
    }
}

fn changed_keys(entity: &Entity, action: &Action) -> Vec<Diagnostic> {
    let fields = entity.key_fields();
    let in_key = |change: &&Change| change.written && change.field.is_some_and(|field| fields.contains(&field));
    action.changes.iter().filter(in_key).filter_map(|change| finding(entity, change)).collect()
}

fn finding(entity: &Entity, change: &Change) -> Option<Diagnostic> {
    let id = change.field?;
    let name = &entity.field(id).name;
    let message = format!("`{name}` is part of the key of {}, and a key cannot change", entity.name);
    let finding = Diagnostic::error(RULE.code, change.span, message);
    let parts = entity.key.iter().flat_map(|key| key.partition.iter().chain(&key.sort));
    let place =
        parts.flat_map(|part| field_places(part).map(move |place| (part, place))).find(|(_, place)| place.0 == id);
    let finding = match place {
        Some((part, (_, span))) => {
            finding.also(span, format!("`{}` is `{}`", part.attribute, show::template(entity, &part.template)))
        }
        None => finding,
    };
    let fields: Vec<&str> = entity.key_fields().into_iter().map(|field| entity.field(field).name.as_str()).collect();
    Some(finding.help(format!(
        "move the item in one transaction: `delete {0}({1})` and `create {0} {{ {name} = … }}`",
        entity.name,
        fields.join(", ")
    )))
}
