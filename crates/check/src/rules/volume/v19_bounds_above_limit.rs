//! V19: the bounds of the fields allow an item above 400 KB.

use crate::check::{Context, Rule};
use crate::cost::size;
use crate::cost::text::bytes;
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Entity, Field};

pub(super) static RULE: Rule = Rule {
    code: Code("V19"),
    severity: Severity::Warning,
    title: "the bounds of the fields allow an item above 400 KB",
    page: include_str!("../../../../../docs/rules/V19.md"),
    find,
};

const ITEM_BYTES_MAX: u64 = 400 * 1024;

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    findings.extend(context.model.entities.iter().filter_map(judge));
}

fn judge(entity: &Entity) -> Option<Diagnostic> {
    let all: u64 = entity.fields.iter().map(size::field_max).fold(0, u64::saturating_add);
    let largest = entity.fields.iter().max_by_key(|field| size::field_max(field))?;
    (all > ITEM_BYTES_MAX).then(|| finding(entity, largest, all))
}

fn finding(entity: &Entity, largest: &Field, all: u64) -> Diagnostic {
    let message = format!("an item of {} can have {} by the bounds of its fields", entity.name, bytes(all));
    let finding = Diagnostic::warning(RULE.code, largest.type_span, message)
        .label(format!("up to {}", bytes(size::field_max(largest))))
        .note("The limit is 400 KB. A character has up to 4 bytes; the store refuses a larger item.");
    finding.help(format!(
        "lower the bounds of `{}`, or keep it in separate items or in an object store with a reference here",
        largest.name
    ))
}
