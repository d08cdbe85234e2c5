//! A01: a read does not specify the full partition key.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::plan::{Blocked, Obstacle};
use keyform_language::schema::{EntityId, FieldId, Read};
use keyform_language::span::Span;

use super::{obstacles, remedy, words};

pub(super) static RULE: Rule = Rule {
    code: Code("A01"),
    severity: Severity::Error,
    title: "the read does not determine the partition key",
    page: include_str!("../../../../../docs/rules/A01.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (read, blocked, obstacle) in obstacles(context) {
        match obstacle {
            Obstacle::PartitionOpen { entity, missing } => {
                findings.extend(finding(context, read, blocked, *entity, missing));
            }
            Obstacle::DifferentPartitions { first, second, span } => {
                findings.push(apart(context, read, blocked, (*first, *second), *span));
            }
            _ => {}
        }
    }
}

/// Reports entities of one read that are not in the same range of one partition.
fn apart(
    context: &Context<'_>,
    read: &Read,
    blocked: &Blocked,
    (first, second): (EntityId, EntityId),
    span: Span,
) -> Diagnostic {
    let entities = [context.model.entity(first), context.model.entity(second)];
    let [one, other] = entities.map(|entity| entity.name.as_str());
    let mut finding = Diagnostic::error(
        RULE.code,
        span,
        format!("`{}` returns {one} and {other}, which one key condition cannot match", read.name),
    )
    .label("a Query reads one range of one partition");
    for key in entities.iter().filter_map(|entity| entity.key_of(blocked.index)) {
        finding = finding.also(key.span, "");
    }
    finding.help("give both the same partition key, or split the read in two")
}

fn finding(
    context: &Context<'_>,
    read: &Read,
    blocked: &Blocked,
    entity: EntityId,
    missing: &[FieldId],
) -> Option<Diagnostic> {
    let entity = context.model.entity(entity);
    let key = entity.key_of(blocked.index)?;
    let table = context.model.table(entity.table?);
    let whose = match blocked.index {
        Some(index) => format!("the partition key of index {}", table.index_at(index).name),
        None => format!("the partition key of {}", entity.name),
    };
    let names = words::fields(entity, missing);
    let message = format!("`{}` does not determine {names}, part of {whose}", read.name);
    let mut finding = Diagnostic::error(RULE.code, read.name_span, message)
        .label(format!("no parameter is {}", words::any_of(entity, missing)));
    for &field in missing {
        finding = finding.also(words::place_in_key(key, field), "needed here");
    }
    let remedy = remedy::with_its_parameters(context, read, blocked);
    Some(
        finding
            .note("A Query reads one partition: it needs the complete partition key.")
            .help(remedy::or_take(entity, missing, remedy)),
    )
}
