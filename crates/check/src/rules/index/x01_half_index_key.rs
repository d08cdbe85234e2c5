//! X01: an entity fills only some attributes of an index key, so its items are never in the index.

use crate::check::{Context, Rule};
use crate::rules::key::{Keyed, all_keys, keys};
use crate::rules::show;
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Index, IndexId, KeyAttribute, Model};

pub(super) static RULE: Rule = Rule {
    code: Code("X01"),
    severity: Severity::Error,
    title: "an entity fills only half of an index key",
    page: include_str!("../../../../../docs/rules/X01.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let model = context.model;
    for keyed in all_keys(model) {
        let Some(id) = keyed.key.index else { continue };
        let missing = keyed.missing();
        if !missing.is_empty() && (keyed.key.written || is_empty(model, keyed, id)) {
            findings.push(finding(keyed, keyed.table.index_at(id), &missing));
        }
    }
}

/// Returns whether no entity fills the full key of the index. If one does, another entity that merely has a field with
/// the name of a key attribute is not meant to be in the index.
fn is_empty(model: &Model, keyed: Keyed<'_>, id: IndexId) -> bool {
    let mut whole = keys(model).filter(|other| other.entity.table == keyed.entity.table);
    whole.all(|other| other.key.index != Some(id))
}

fn finding(keyed: Keyed<'_>, index: &Index, missing: &[&KeyAttribute]) -> Diagnostic {
    let names = show::listed(missing.iter().map(|attribute| attribute.name.as_str()));
    let message = format!("items of {} never appear in `{}`: nothing writes {names}", keyed.entity.name, index.name);
    let finding = Diagnostic::error(RULE.code, keyed.key.span, message)
        .label("an index contains only items that have all its key attributes")
        .also(missing[0].span, "must be written too");
    let repair = if keyed.key.written {
        format!("add a template: `{} \"…\", \"META\"`, or drop {names} from the index", index.name)
    } else {
        format!("give {} a field {names}, or drop it from the index", keyed.entity.name)
    };
    finding.help(repair)
}
