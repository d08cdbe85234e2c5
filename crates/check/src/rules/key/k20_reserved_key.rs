//! K20: an item can have the key of a sentinel.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::KeyType;
use keyform_language::schema::{Field, KeyPart, Model, Part};
use keyform_language::template::{Shape, share};

use super::{Keyed, keys};

pub(super) static RULE: Rule = Rule {
    code: Code("K20"),
    severity: Severity::Error,
    title: "an item can have the key of a sentinel",
    page: include_str!("../../../../../docs/rules/K20.md"),
    find,
};

/// Beginning of the partition key of every sentinel.
const SENTINELS: &str = "UNIQUE#";
/// Sort key of every sentinel.
const SORT: &str = "UNIQUE";

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let sentinels = sentinels(context.model);
    for keyed in keys(context.model).filter(|keyed| keyed.key.index.is_none()) {
        let Some(table) = keyed.entity.table else { continue };
        let ([partition], sort) = (keyed.key.partition.as_slice(), keyed.key.sort.as_slice()) else { continue };
        let is_text = keyed.table.partition.as_ref().is_some_and(|key| key.kind == KeyType::String);
        let is_inside = partition.template.prefix().starts_with(SENTINELS);
        let unique = sentinels[table.0];
        if is_text && (is_inside || unique.is_some() && may_collide(keyed, partition, sort)) {
            findings.push(finding(keyed, partition, unique, is_inside));
        }
    }
}

/// Returns for each table a unique field, whose values have sentinels in the table.
fn sentinels(model: &Model) -> Vec<Option<&Field>> {
    let mut sentinels = vec![None; model.tables.len()];
    for entity in &model.entities {
        let unique = entity.fields.iter().find(|field| field.flags.unique.is_some());
        if let Some((table, field)) = entity.table.zip(unique) {
            sentinels[table.0].get_or_insert(field);
        }
    }
    sentinels
}

/// Returns true if some item has a partition key that begins like a sentinel's, and a sentinel's sort key.
fn may_collide(keyed: Keyed<'_>, partition: &KeyPart, sort: &[KeyPart]) -> bool {
    // A template that begins with other text, or with a field that excludes `#`, never begins with `UNIQUE#`.
    let can_begin = match partition.template.parts.first() {
        Some(Part::Text(text)) => SENTINELS.starts_with(text.as_str()),
        Some(Part::Field { field, .. }) => keyed.entity.field(*field).kind.free_text().is_some(),
        Some(Part::Unknown { .. }) | None => false,
    };
    let meets = |part: &KeyPart, other: Shape<'_>| {
        Shape::of(&part.template, &keyed.entity.fields).is_some_and(|shape| share(&shape, &other))
    };
    can_begin
        && meets(partition, Shape::text(SENTINELS).open())
        && sort.iter().all(|part| meets(part, Shape::text(SORT)))
}

fn finding(keyed: Keyed<'_>, partition: &KeyPart, unique: Option<&Field>, is_inside: bool) -> Diagnostic {
    let name = &keyed.entity.name;
    let message = format!("an item of {name} can have the key of a sentinel");
    let severity = if unique.is_some() && is_inside { Severity::Error } else { Severity::Warning };
    let finding = Diagnostic::new(RULE.code, severity, keyed.span_of(partition), message)
        .label(format!("sentinels have partition keys that begin with `{SENTINELS}`"));
    let finding = match unique {
        Some(field) => finding.also(field.name_span, "its values have sentinels in this table"),
        None => finding,
    };
    finding.help(if is_inside {
        format!("choose another prefix, such as `{}#`", name.to_uppercase())
    } else {
        format!("begin the template with a prefix, such as `{}#`", name.to_uppercase())
    })
}
