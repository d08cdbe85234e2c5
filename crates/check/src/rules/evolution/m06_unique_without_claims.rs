//! M06: a field became `unique`, and existing items have not claimed their values.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Entity, Field, Unique};

use super::{evolution, kept};

pub(super) static RULE: Rule = Rule {
    code: Code("M06"),
    severity: Severity::Error,
    title: "existing values of a `unique` field are not claimed",
    page: include_str!("../../../../../docs/rules/M06.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (old, new) in kept(context) {
        if evolution(context, new).is_some() {
            continue;
        }
        for field in &new.fields {
            let before = old.field_named(&field.name).map(|id| old.field(id));
            findings.extend(before.and_then(|before| unclaimed(old, before, new, field)));
        }
    }
}

fn unclaimed(old: &Entity, before: &Field, new: &Entity, now: &Field) -> Option<Diagnostic> {
    let unique = now.flags.unique.as_ref()?;
    let was = match &before.flags.unique {
        None => "was not unique".to_owned(),
        Some(then) if within(old, then) != within(new, unique) => {
            let per = within(old, then);
            if per.is_empty() {
                "was unique in the whole table".to_owned()
            } else {
                format!("was unique per {}", per.join(", "))
            }
        }
        // A claim contains the name of the entity.
        Some(_) if old.name != new.name => format!("its claims have the name {}", old.name),
        Some(_) => return None,
    };
    Some(
        Diagnostic::error(
            RULE.code,
            unique.span,
            format!(
                "existing items of {} have not claimed their `{}`, so another item can take it",
                new.name, now.name
            ),
        )
        .label(was)
        .help(format!(
            "add `evolve {} {{ }}`: the migration claims each value and names the items that share one",
            new.name
        )),
    )
}

fn within<'a>(entity: &'a Entity, unique: &Unique) -> Vec<&'a str> {
    unique.per.iter().map(|field| entity.field(*field).name.as_str()).collect()
}
