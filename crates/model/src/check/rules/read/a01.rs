//! A01: a read does not give the whole partition key.

use crate::check::{Context, Rule};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::plan::{Blocked, Obstacle};
use crate::schema::{EntityId, FieldId, Read};

use super::{obstacles, remedy, words};

pub(super) static RULE: Rule = Rule {
    code: Code("A01"),
    severity: Severity::Error,
    title: "the partition key is not given",
    page: include_str!("../../../../../../docs/rules/A01.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (read, blocked, obstacle) in obstacles(context) {
        if let Obstacle::PartitionOpen { entity, missing } = obstacle {
            findings.extend(finding(context, read, blocked, *entity, missing));
        }
    }
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
    let message = format!("`{}` does not give {names}, of which {whose} is made", read.name);
    let mut finding = Diagnostic::error(RULE.code, read.name_span, message).label(format!("no parameter is {names}"));
    for &field in missing {
        finding = finding.also(words::place_in_key(key, field), "needed here");
    }
    let remedy = remedy::with_its_parameters(context, read, blocked);
    Some(
        finding
            .note("A Query reads one partition: it needs the partition key's whole value.")
            .help(remedy::or_take(entity, missing, remedy)),
    )
}
