//! K06: an update sets a field of the table's key.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Verb;
use keyform_language::schema::{Action, Change, Entity, FieldId};

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
    Some(finding.help(repair(entity, id)))
}

/// Describes the move of an item with all its fields. The delete tests what was read, so that no change in between is
/// lost.
fn repair(entity: &Entity, moved: FieldId) -> String {
    let name = |id: FieldId| entity.field(id).name.as_str();
    let keys = entity.key_fields();
    let arguments = keys.iter().map(|&id| name(id)).collect::<Vec<_>>().join(", ");
    let is_set = |id: FieldId| {
        let flags = &entity.field(id).flags;
        flags.created.is_none() && flags.updated.is_none() && flags.version.is_none()
    };
    let others: Vec<FieldId> = (0..entity.fields.len()).map(FieldId).filter(|id| !keys.contains(id)).collect();
    let version = others.iter().copied().find(|&id| entity.field(id).flags.version.is_some());
    let tested: Vec<FieldId> =
        version.map_or_else(|| others.iter().copied().filter(|&id| is_set(id)).collect(), |version| vec![version]);
    let tests = tested.iter().map(|&id| format!("{0} = old.{0}", name(id))).collect::<Vec<_>>().join(" and ");
    let condition = if tests.is_empty() { String::new() } else { format!(" if {tests} else Changed") };
    let kept = keys.iter().copied().filter(|&id| id != moved).chain(others.iter().copied().filter(|&id| is_set(id)));
    let kept: String = kept.map(|id| format!(", {0} = old.{0}", name(id))).collect();
    format!(
        "read the item (`let old = …`) and move it in one transaction: `delete {0}({arguments}){condition}` and \
        `create {0} {{ {1} = …{kept} }}`",
        entity.name,
        name(moved)
    )
}
