//! K16: a partition key is a constant, or has only a few values.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{EntityKey, IndexId, KeyAttribute};

use super::spread::{Spread, spread};
use super::{Keyed, keys};
use crate::rules::index::is_better_turned_round;
use crate::rules::show;

pub(super) static RULE: Rule = Rule {
    code: Code("K16"),
    severity: Severity::Warning,
    title: "a partition key has few values",
    page: include_str!("../../../../../docs/rules/K16.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let mut reported: Vec<(&str, IndexId)> = Vec::new();
    for keyed in keys(context.model).filter(|keyed| !is_local(*keyed) && !is_single(keyed.key)) {
        let few = spread(keyed.entity, &keyed.key.partition);
        if !matches!(few, Some(Spread::Constant | Spread::Few(_))) || is_better_turned_round(context, keyed) {
            continue;
        }
        match by_tag(keyed) {
            None => findings.push(at_template(keyed, few)),
            Some((index, attribute)) if !reported.contains(&(&keyed.table.name, index)) => {
                reported.push((&keyed.table.name, index));
                findings.push(at_tag(keyed, index, attribute));
            }
            Some(_) => {}
        }
    }
}

/// Returns whether the key is of a local index, which shares the table's partition key and would repeat its finding.
pub(super) fn is_local(keyed: Keyed<'_>) -> bool {
    keyed.key.index.is_some_and(|index| keyed.table.index_at(index).local)
}

/// Returns whether the table's key has no fields, so that it holds a single item.
fn is_single(key: &EntityKey) -> bool {
    key.index.is_none() && key.fields().next().is_none()
}

/// Returns the index and its partition key if that is the table's tag attribute.
fn by_tag(keyed: Keyed<'_>) -> Option<(IndexId, &KeyAttribute)> {
    let id = keyed.key.index?;
    let tag = &keyed.table.tag.as_ref()?.value;
    let [attribute] = keyed.table.index_at(id).partition.as_slice() else { return None };
    (attribute.name == *tag && !keyed.key.written).then_some((id, attribute))
}

fn at_template(keyed: Keyed<'_>, few: Option<Spread>) -> Diagnostic {
    let part = &keyed.key.partition[0];
    let text = show::template(keyed.entity, &part.template);
    let how_many = match few {
        Some(Spread::Few(count)) => format!("has about {count} values"),
        _ => "is constant".to_owned(),
    };
    let message = format!("`{text}` {how_many}, so all items of {} share {}", keyed.entity.name, partitions(few));
    finding(keyed, keyed.span_of(part), message)
}

fn partitions(few: Option<Spread>) -> &'static str {
    if few == Some(Spread::Constant) { "one partition" } else { "a few partitions" }
}

fn at_tag(keyed: Keyed<'_>, index: IndexId, attribute: &KeyAttribute) -> Diagnostic {
    let name = &keyed.table.index_at(index).name;
    let message = format!("`{}` has one value per entity, so `{name}` has only as many partitions", attribute.name);
    finding(keyed, attribute.span, message)
}

fn finding(keyed: Keyed<'_>, place: keyform_language::span::Span, message: String) -> Diagnostic {
    let repair = if keyed.key.index.is_some() {
        "add a field with many values, or a shard such as `{shard}` with `shard: int(0..9)`; if there are few items, \
        `allow K16` with a reason"
    } else {
        "begin with an id that has many values, such as `TENANT#{tenantId}`; if there are few items, `allow K16` with \
        a reason"
    };
    Diagnostic::warning(RULE.code, place, message)
        .note("one partition serves 1000 writes and 3000 reads a second")
        .help(repair)
}
