//! A05: a read asks for a key that its entity never writes.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::plan::{Blocked, Obstacle};
use keyform_language::schema::{Entity, EntityId, KeyPart, Read, TableId, Template};
use keyform_language::span::Span;

use super::{obstacles, remedy, words};

pub(super) static RULE: Rule = Rule {
    code: Code("A05"),
    severity: Severity::Error,
    title: "no entity writes this key",
    page: include_str!("../../../../../docs/rules/A05.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (read, blocked, obstacle) in obstacles(context) {
        match obstacle {
            Obstacle::NeverWritten { entity, span } => {
                findings.extend(never_written(context, read, blocked, *entity, *span));
            }
            Obstacle::NotInIndex { entity, span } => {
                findings.extend(not_in_index(context, read, blocked, *entity, *span));
            }
            _ => {}
        }
    }
}

fn never_written(
    context: &Context<'_>,
    read: &Read,
    blocked: &Blocked,
    entity: EntityId,
    span: Span,
) -> Option<Diagnostic> {
    let entity = context.model.entity(entity);
    let key = entity.key_of(blocked.index)?;
    let clause = read.key.as_ref()?;
    let of_partition = clause.partition.template.span == span;
    let asked = if of_partition { &clause.partition.template } else { &clause.sort.as_ref()?.template };
    let part = if of_partition { key.partition.first()? } else { key.sort.first()? };
    let finding = Diagnostic::error(
        RULE.code,
        span,
        format!(
            "`{}` never finds anything: {} writes \"{}\" into `{}`",
            read.name,
            entity.name,
            words::entity_template(entity, &part.template),
            part.attribute
        ),
    )
    .label(format!("no {} has such a key", entity.name))
    .also(part.template.span, "the key that is written");
    Some(finding.help(where_it_is(context, entity, asked, part, read)))
}

/// Suggests the key of the entity that has the requested prefix or, without one, how to write such keys.
fn where_it_is(context: &Context<'_>, entity: &Entity, asked: &Template, instead: &KeyPart, read: &Read) -> String {
    let table = entity.table.map(|table| context.model.table(table));
    let keys = entity.key.iter().chain(&entity.indexes);
    for key in keys {
        for part in &key.partition {
            if !asked.prefix().is_empty() && part.template.prefix() == asked.prefix() {
                return match (key.index, table) {
                    (Some(index), Some(table)) => {
                        format!("such keys are in index {}: read `via` that index", table.index_at(index).name)
                    }
                    _ => "such keys are in the table itself: remove `via`".to_owned(),
                };
            }
        }
    }
    format!(
        "write such keys, in a separate item or as `{}` \"{}\" in {}, or read the keys that are written",
        instead.attribute,
        words::clause_template(read, asked),
        entity.name
    )
}

fn not_in_index(
    context: &Context<'_>,
    read: &Read,
    blocked: &Blocked,
    entity: EntityId,
    span: Span,
) -> Option<Diagnostic> {
    let entity = context.model.entity(entity);
    let table: TableId = entity.table?;
    let index = context.model.table(table).index_at(blocked.index?);
    let attributes = words::list(index.partition.iter().chain(&index.sort).map(|attribute| attribute.name.as_str()));
    let finding = Diagnostic::error(
        RULE.code,
        span,
        format!("`{}` never finds anything: {} is not in index {}", read.name, entity.name, index.name),
    )
    .label(format!("no {} is in it", entity.name))
    .also(index.name_span, format!("built from {attributes}"))
    .also(entity.name_span, "has no line for the index, and no fields with these names");
    let help = match blocked.served_by.first() {
        Some(_) => remedy::with_its_parameters(context, read, blocked)?,
        None => format!("add a line `{} …` to {} that builds its key from the parameters", entity.name, index.name),
    };
    Some(finding.help(help))
}
