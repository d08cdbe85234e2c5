//! Checks all items together: distribution over partitions, duplicates, dangling references.

use std::collections::{BTreeMap, BTreeSet};

use crate::samples::Item;
use keyform_language::diagnostic::Diagnostic;
use keyform_language::schema::{Entity, EntityId, Field, Model, Type};

use super::RULE;
use super::matching::Matched;

const SAMPLES_ENOUGH: usize = 1_000;
const PARTITIONS_FEW: usize = 100;
const TOP_SHARE_LARGE: f64 = 0.1;

pub(super) fn judge(
    model: &Model,
    id: EntityId,
    items: &[&Item],
    matched: &Matched<'_>,
    findings: &mut Vec<Diagnostic>,
) {
    let entity = model.entity(id);
    findings.extend(partitions(entity, items));
    for field in &entity.fields {
        findings.extend(duplicates(entity, field, items));
        findings.extend(orphans(model, entity, field, items, matched));
    }
}

fn counts<'a>(items: &[&'a Item], attribute: &str) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    for text in items.iter().filter_map(|item| item.get(attribute)?.text()) {
        *counts.entry(text).or_insert(0) += 1;
    }
    counts
}

fn partitions(entity: &Entity, items: &[&Item]) -> Option<Diagnostic> {
    let part = entity.key.as_ref()?.partition.first().filter(|_| items.len() >= SAMPLES_ENOUGH)?;
    let counts = counts(items, &part.attribute);
    let (top, most) = counts.iter().max_by_key(|(_, count)| **count)?;
    let share = *most as f64 / items.len() as f64;
    (counts.len() < PARTITIONS_FEW || share > TOP_SHARE_LARGE).then(|| {
        let message = format!("{} items of {} are in {} partitions", items.len(), entity.name, counts.len());
        Diagnostic::warning(RULE.code, part.template.span, message)
            .label(format!("\"{top}\" alone has {:.0} %", share * 100.0))
            .note(format!("Unevenness (Gini): {:.2}.", gini(&counts)))
            .help("add a field with many values to the partition key")
    })
}

/// Returns the Gini coefficient: 0 if all partitions have the same size, close to 1 if one has almost all items.
fn gini(counts: &BTreeMap<&str, usize>) -> f64 {
    let mut sizes: Vec<f64> = counts.values().map(|&count| count as f64).collect();
    sizes.sort_by(f64::total_cmp);
    let total: f64 = sizes.iter().sum();
    let weighted: f64 = sizes.iter().enumerate().map(|(number, size)| (number + 1) as f64 * size).sum();
    let number = sizes.len() as f64;
    if total == 0.0 { 0.0 } else { 2.0 * weighted / (number * total) - (number + 1.0) / number }
}

fn duplicates(entity: &Entity, field: &Field, items: &[&Item]) -> Option<Diagnostic> {
    let unique = field.flags.unique.as_ref()?;
    let per: Vec<&str> = unique.per.iter().map(|&id| entity.field(id).name.as_str()).collect();
    let mut seen = BTreeSet::new();
    for item in items {
        let text = |name: &str| item.get(name).and_then(|value| value.text()).unwrap_or_default();
        let value = text(&field.name);
        let scope: Vec<&str> = per.iter().map(|name| text(name)).collect();
        if !value.is_empty() && !seen.insert((scope, value)) {
            return Some(
                Diagnostic::warning(
                    RULE.code,
                    unique.span,
                    format!("two items of {} have `{}` \"{value}\"", entity.name, field.name),
                )
                .label("claimed unique")
                .help("decide which one keeps it before the sentinels are written"),
            );
        }
    }
    None
}

/// Reports references to items that are not among the samples, although other items of the entity are.
fn orphans(
    model: &Model,
    entity: &Entity,
    field: &Field,
    items: &[&Item],
    matched: &Matched<'_>,
) -> Option<Diagnostic> {
    let Type::Ref { entity: Some(target), .. } = field.kind else { return None };
    let parent = model.entity(target);
    let id = &parent.field(parent.id_field()?).name;
    let known: BTreeSet<&str> = matched.of(target).into_iter().filter_map(|item| item.get(id)?.text()).collect();
    let values = items.iter().filter_map(|item| item.get(&field.name)?.text());
    let lost: Vec<&str> = values.filter(|value| !known.contains(value)).collect();
    (!known.is_empty() && !lost.is_empty()).then(|| {
        let message =
            format!("{} items of {} refer to a {} that is not among the samples", lost.len(), entity.name, parent.name);
        Diagnostic::note_at(RULE.code, field.name_span, message)
            .label(format!("\"{}\" for one", lost[0]))
            .help("if the samples are complete, these are orphans")
    })
}
