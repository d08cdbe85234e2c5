//! K13: the literal prefix of a sort key is the start of another entity's prefix, without a delimiter at its end.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Entity, EntityKey, IndexId, Model, Part, TableId, Template};
use keyform_language::template::{KeyShape, Overlap, Prefixes, overlap};

use crate::rules::show;

pub(super) static RULE: Rule = Rule {
    code: Code("K13"),
    severity: Severity::Warning,
    title: "one key prefix begins with another",
    page: include_str!("../../../../../docs/rules/K13.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let model = context.model;
    for table in (0..model.tables.len()).map(TableId) {
        let indexes = (0..model.table(table).indexes.len()).map(|number| Some(IndexId(number)));
        for index in std::iter::once(None).chain(indexes) {
            in_one_key(model, table, index, findings);
        }
    }
}

fn in_one_key(model: &Model, table: TableId, index: Option<IndexId>, findings: &mut Vec<Diagnostic>) {
    let keys: Vec<(&Entity, &EntityKey)> =
        model.entities_of(table).filter_map(|(_, entity)| Some((entity, entity.key_of(index)?))).collect();
    let prefix = |key: &EntityKey| key.sort.first().map(|part| part.template.prefix().to_owned()).unwrap_or_default();
    let prefixes = Prefixes::new(keys.iter().map(|(_, key)| prefix(key)));
    for (number, &one) in keys.iter().enumerate() {
        let own = prefix(one.1);
        // Only a prefix that ends in a letter or a digit, before a field, is reported; the others would be compared in
        // vain.
        let has_field = one.1.sort.first().is_some_and(|part| is_followed_by_field(&part.template));
        if !has_field || own.chars().next_back().is_none_or(|last| !last.is_alphanumeric()) {
            continue;
        }
        let others = prefixes.compatible(&own).into_iter().filter(|other| *other != number);
        findings.extend(others.map(|other| keys[other]).find_map(|two| begins(one, two)));
    }
}

/// Reports a prefix if a `begins_with` query for it would also match the other entity.
fn begins(one: (&Entity, &EntityKey), two: (&Entity, &EntityKey)) -> Option<Diagnostic> {
    let (short, long) = (&one.1.sort.first()?.template, &two.1.sort.first()?.template);
    let closed = short.prefix().chars().next_back().is_none_or(|last| !last.is_alphanumeric());
    let beginning = long.prefix().len() > short.prefix().len() && long.prefix().starts_with(short.prefix());
    if closed || !beginning || !is_followed_by_field(short) || !share_a_partition(one, two) {
        return None;
    }
    Some(finding(one, two, short, long))
}

fn is_followed_by_field(template: &Template) -> bool {
    matches!(template.parts.get(1), Some(Part::Field { .. }))
}

/// Returns whether both can be in one partition without colliding there. A collision is K11, which is more severe.
fn share_a_partition(one: (&Entity, &EntityKey), two: (&Entity, &EntityKey)) -> bool {
    let (Some(first), Some(second)) = (KeyShape::of(one.0, one.1), KeyShape::of(two.0, two.1)) else { return false };
    overlap(&first.partition_only(), &second.partition_only()) != Overlap::Disjoint
        && (one.1.index.is_some() || overlap(&first, &second) == Overlap::Disjoint)
}

fn finding(one: (&Entity, &EntityKey), two: (&Entity, &EntityKey), short: &Template, long: &Template) -> Diagnostic {
    let (prefix, longer) = (short.prefix(), long.prefix());
    let message =
        format!("the prefix `{prefix}` does not only match {}: {} begins with `{longer}`", one.0.name, two.0.name);
    let own = show::template(one.0, short);
    let rest = own.strip_prefix(prefix).unwrap_or_default();
    Diagnostic::warning(RULE.code, short.span, message)
        .also(long.span, format!("also begins with `{prefix}`"))
        .help(format!("end the prefix with a delimiter: `{prefix}#{rest}`"))
}
