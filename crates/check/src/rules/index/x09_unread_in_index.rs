//! X09: items of an entity are in an index from which no read returns them.

use super::x08_unneeded_index::gives_nothing_new;
use super::{index_keys, is_used, searched};
use crate::check::{Context, Rule};
use crate::rules::key::reading;
use keyform_language::diagnostic::{Code, Diagnostic, Severity};

pub(super) static RULE: Rule = Rule {
    code: Code("X09"),
    severity: Severity::Warning,
    title: "an entity is in an index that no pattern reads",
    page: include_str!("../../../../../docs/rules/X09.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let model = context.model;
    let searched = searched(context);
    for (keyed, id, index) in index_keys(model) {
        let Some(table) = keyed.entity.table else { continue };
        let is_read = reading::reads_through(model, keyed.id, Some(id)).next().is_some();
        if is_read
            || searched.contains(&(keyed.id, id))
            || !is_used(model, &searched, table, id)
            || gives_nothing_new(model, keyed, id)
        {
            continue;
        }
        let message =
            format!("no read looks for {} in `{}`, but its items are in the index", keyed.entity.name, index.name);
        let finding = Diagnostic::warning(RULE.code, keyed.key.span, message).label("paid for with every write");
        let repair = if keyed.key.written {
            format!("remove the line, or add the read: `read … -> [{}] via {}`", keyed.entity.name, index.name)
        } else {
            format!("key `{}` by an attribute that only the other entities write, or add the read", index.name)
        };
        findings.push(finding.help(repair));
    }
}
