//! M01: a key template changed, and no `evolve` describes how the items move.

use crate::check::{Context, Rule};
use crate::diagnostic::{Code, Diagnostic, Severity};

use super::{evolution, kept, written};

pub(super) static RULE: Rule = Rule {
    code: Code("M01"),
    severity: Severity::Error,
    title: "a key changed without an `evolve`",
    page: include_str!("../../../../../../docs/rules/M01.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (old, new) in kept(context) {
        let (Some(old_key), Some(new_key)) = (&old.key, &new.key) else { continue };
        let (before, now) = (written(old, old_key), written(new, new_key));
        let moves =
            evolution(context, new).is_some_and(|evolution| evolution.key.is_some() || evolution.table.is_some());
        if before != now && !moves {
            let before = before.join(", ");
            findings.push(
                Diagnostic::error(
                    RULE.code,
                    new_key.span,
                    format!("the key of {} was {before}, and existing items still have it", new.name),
                )
                .label("this key does not find existing items")
                .help(format!("add `evolve {} {{ from key {before} }}`, then run `keyform migrate plan`", new.name)),
            );
        }
    }
}
