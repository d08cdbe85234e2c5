//! A04: a read of a single item does not specify the full key.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::plan::{Blocked, Obstacle};
use keyform_language::schema::{EntityId, FieldId, Read};

use super::{obstacles, remedy, words};

pub(super) static RULE: Rule = Rule {
    code: Code("A04"),
    severity: Severity::Error,
    title: "a read of one item needs its whole key",
    page: include_str!("../../../../../docs/rules/A04.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (read, blocked, obstacle) in obstacles(context) {
        if let Obstacle::KeyIncomplete { entity, missing } = obstacle {
            findings.push(finding(context, read, blocked, *entity, missing));
        }
    }
}

fn finding(context: &Context<'_>, read: &Read, blocked: &Blocked, entity: EntityId, missing: &[FieldId]) -> Diagnostic {
    let entity = context.model.entity(entity);
    let name = &entity.name;
    let (names, gives) = match missing {
        [] => ("the sort key".to_owned(), "the sort key is not given".to_owned()),
        _ => (words::fields(entity, missing), format!("no parameter is {}", words::any_of(entity, missing))),
    };
    let mut finding = Diagnostic::error(
        RULE.code,
        read.name_span,
        format!("`{}` returns one {name}, but its key is incomplete: {names} is missing", read.name),
    )
    .label(gives);
    if let Some(key) = &entity.key {
        for &field in missing {
            finding = finding.also(words::place_in_key(key, field), "part of the key");
        }
    }
    let remedy = remedy::with_its_parameters(context, read, blocked).filter(|_| !blocked.served_by.is_empty());
    let list = format!("return `[{name}]` if there can be several, or add `newest first` to return the first");
    let help = if missing.is_empty() { list } else { format!("{}; {list}", remedy::or_take(entity, missing, remedy)) };
    finding.note("The service rejects a GetItem without the sort key.").help(help)
}
