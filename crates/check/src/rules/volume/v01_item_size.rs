//! V01: an item is near or above 400 KB.

use crate::check::{Context, Rule};
use crate::cost::text::bytes;
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Entity, Model};

pub(super) static RULE: Rule = Rule {
    code: Code("V01"),
    severity: Severity::Error,
    title: "an item is near or above 400 KB",
    page: include_str!("../../../../../docs/rules/V01.md"),
    find,
};

const ITEM_BYTES_MAX: u64 = 400 * 1024;
const ITEM_BYTES_LARGE: u64 = 100 * 1024;

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for entity in &context.model.entities {
        findings.extend(judge(context.model, entity));
    }
}

fn judge(model: &Model, entity: &Entity) -> Option<Diagnostic> {
    let largest = entity.volume.bytes_max.or(entity.volume.bytes)?;
    let copies = local_copies(model, entity);
    let with_copies = largest * (1 + copies);
    let place = entity.volume_span.unwrap_or(entity.name_span);
    let finding = if with_copies > ITEM_BYTES_MAX {
        Diagnostic::error(
            RULE.code,
            place,
            format!("an item of {} can have {}; the limit is 400 KB", entity.name, bytes(with_copies)),
        )
    } else if with_copies > ITEM_BYTES_LARGE {
        let message = format!("an item of {} can have {}", entity.name, bytes(with_copies));
        Diagnostic::warning(RULE.code, place, message).label("each change, however small, pays for the whole item")
    } else {
        return None;
    };
    let finding =
        if copies > 0 { finding.note(format!("Its copies in {copies} local indexes count too.")) } else { finding };
    Some(finding.help(
        "keep the large part in separate items under the same partition key, or in an object store with \
        a reference here",
    ))
}

fn local_copies(model: &Model, entity: &Entity) -> u64 {
    let Some(table) = entity.table.map(|table| model.table(table)) else { return 0 };
    let local = |key: &&keyform_language::schema::EntityKey| key.index.is_some_and(|index| table.index_at(index).local);
    entity.indexes.iter().filter(local).count() as u64
}
