//! M02: existing items lack the key attributes of a new or changed index.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Entity, EntityKey, Model, Part};

use super::{evolution, kept, written};

pub(super) static RULE: Rule = Rule {
    code: Code("M02"),
    severity: Severity::Error,
    title: "existing items are not in the new index",
    page: include_str!("../../../../../docs/rules/M02.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let Some(before) = context.before else { return };
    for (old, new) in kept(context) {
        if evolution(context, new).is_some() {
            continue;
        }
        for key in new.indexes.iter().filter(|key| is_templated(new, key)) {
            let name = index_name(context.model, new, key);
            let then = old.indexes.iter().find(|old_key| index_name(before, old, old_key) == name);
            if then.is_none_or(|then| written(old, then) != written(new, key)) {
                findings.push(finding(new, key, name, then.is_some()));
            }
        }
    }
}

/// Returns whether a template builds an attribute of the key, so that existing items lack it. DynamoDB fills an index
/// over plain attributes itself.
fn is_templated(entity: &Entity, key: &EntityKey) -> bool {
    key.parts().any(|part| match part.template.parts.as_slice() {
        [Part::Field { field, .. }] => entity.field(*field).name != part.attribute,
        _ => true,
    })
}

fn index_name<'a>(model: &'a Model, entity: &Entity, key: &EntityKey) -> &'a str {
    match (entity.table, key.index) {
        (Some(table), Some(index)) => &model.table(table).index_at(index).name,
        _ => "",
    }
}

fn finding(entity: &Entity, key: &EntityKey, index: &str, changed: bool) -> Diagnostic {
    let what = if changed { "are in `{}` under their old keys" } else { "are not in `{}`" };
    let what = what.replace("{}", index);
    Diagnostic::error(RULE.code, key.span, format!("existing items of {} {what}", entity.name))
        .label("DynamoDB copies an item into an index only if the item has the key attributes")
        .help(format!(
            "add `evolve {} {{ … }}`: the backfill writes the key attributes of {index} into each item",
            entity.name
        ))
}
