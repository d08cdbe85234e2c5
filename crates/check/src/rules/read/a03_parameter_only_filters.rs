//! A03: a parameter cannot be part of the key condition.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::plan::{Blocked, Obstacle};
use keyform_language::schema::{EntityId, FieldId, Read};

use super::{obstacles, remedy, words};

pub(super) static RULE: Rule = Rule {
    code: Code("A03"),
    severity: Severity::Error,
    title: "a parameter would only filter",
    page: include_str!("../../../../../docs/rules/A03.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (read, blocked, obstacle) in obstacles(context) {
        match obstacle {
            Obstacle::SortGap { entity, parameter, missing } => {
                findings.push(gap(context, read, blocked, (*entity, *parameter), missing));
            }
            Obstacle::NotInKey { parameter } => findings.push(outside(context, read, blocked, *parameter)),
            _ => {}
        }
    }
}

/// Reports a parameter for a part of the sort key whose preceding part is missing.
fn gap(
    context: &Context<'_>,
    read: &Read,
    blocked: &Blocked,
    (entity, number): (EntityId, usize),
    missing: &[FieldId],
) -> Diagnostic {
    let parameter = &read.parameters[number];
    let entity = context.model.entity(entity);
    let name = &parameter.field_name;
    if missing.is_empty() {
        return twice(read, number);
    }
    let before = words::fields(entity, missing);
    let mut finding = Diagnostic::error(
        RULE.code,
        parameter.span,
        format!("`{name}` comes after {before} in the sort key, but {before} is not tested by equality"),
    )
    .label("the key condition does not reach it; it would be a filter");
    if let Some(key) = entity.key_of(blocked.index) {
        for &field in missing {
            finding = finding.also(words::place_in_key(key, field), "comes before it");
        }
    }
    let remedy = remedy::with_its_parameters(context, read, blocked);
    finding.help(remedy::or_take(entity, missing, remedy))
}

/// Reports two parameters that test one field and cannot be combined into one range.
fn twice(read: &Read, number: usize) -> Diagnostic {
    let parameter = &read.parameters[number];
    Diagnostic::error(
        RULE.code,
        parameter.span,
        format!("`{}` is a second test of `{}`", words::parameter(parameter), parameter.field_name),
    )
    .label("a key condition has at most one range")
    .help("keep one of the two tests")
}

/// Reports a parameter that is not part of the key.
fn outside(context: &Context<'_>, read: &Read, blocked: &Blocked, number: usize) -> Diagnostic {
    let parameter = &read.parameters[number];
    let name = &parameter.field_name;
    let key = match (blocked.index, read.result.entities().first()) {
        (Some(index), Some(&entity)) => {
            let table = context.model.entity(entity).table.map(|table| context.model.table(table));
            table.map_or_else(
                || "the key".to_owned(),
                |table| format!("the key of index {}", table.index_at(index).name),
            )
        }
        (None, Some(&entity)) => format!("the key of {}", context.model.entity(entity).name),
        _ => "the key".to_owned(),
    };
    let is_field = read.result.entities().iter().any(|&id| context.model.entity(id).field_named(name).is_some());
    let finding = Diagnostic::error(RULE.code, parameter.span, format!("`{name}` is not part of {key}"));
    if !is_field {
        return finding.label("nothing uses it").help("remove it, or use it in `where`");
    }
    let filter = format!("if few items are read in vain, filter: `(…, wanted: …) … where {name} = wanted`");
    let help = match remedy::with_its_parameters(context, read, blocked) {
        Some(remedy) => format!("{remedy}; or, {filter}"),
        None => filter,
    };
    finding.label("it would be a filter: items are read and paid for, then discarded").help(help)
}
