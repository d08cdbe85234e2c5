//! M01: a key template changed, and no `evolve` describes how the items move.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::Entity;

use super::{evolution, kept, written};

pub(super) static RULE: Rule = Rule {
    code: Code("M01"),
    severity: Severity::Error,
    title: "a key changed without an `evolve`",
    page: include_str!("../../../../../docs/rules/M01.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (old, new) in kept(context) {
        if let Some(finding) = moved(context, old, new) {
            findings.push(finding);
            continue;
        }
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

/// Reports an entity that is in another table of the store than its existing items.
fn moved(context: &Context<'_>, old: &Entity, new: &Entity) -> Option<Diagnostic> {
    let before = context.before?;
    let (then, now) = (before.table(old.table?), context.model.table(new.table?));
    let moves = evolution(context, new).is_some_and(|evolution| evolution.table.is_some());
    (then.physical != now.physical && !moves).then(|| {
        let message = format!("existing items of {} are in the table `{}` of the store", new.name, then.physical);
        Diagnostic::error(RULE.code, now.name_span, message).label(format!("now `{}`", now.physical)).help(format!(
            "keep the table, or declare both and move the items: `evolve {} {{ from table … }}`",
            new.name
        ))
    })
}
