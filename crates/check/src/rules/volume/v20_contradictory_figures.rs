//! V20: the figures of a `volume` contradict each other.

use crate::check::{Context, Rule};
use crate::cost::text::count;
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::Entity;

pub(super) static RULE: Rule = Rule {
    code: Code("V20"),
    severity: Severity::Warning,
    title: "figures of a volume contradict each other",
    page: include_str!("../../../../../docs/rules/V20.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for entity in &context.model.entities {
        findings.extend(contradiction(entity).map(|contradiction| finding(entity, contradiction)));
    }
}

/// Returns the first contradiction: a statement, and a correction.
fn contradiction(entity: &Entity) -> Option<(String, &'static str)> {
    let volume = &entity.volume;
    let above = |one: Option<u64>, other: Option<u64>| one.zip(other).filter(|(one, other)| one > other);
    if let Some((mean, max)) = above(volume.bytes, volume.bytes_max) {
        let text = format!("the mean item has {mean} bytes, and the largest {max}");
        return Some((text, "raise the maximum size, or lower the mean"));
    }
    if let Some((mean, max)) = above(volume.per_partition, volume.per_partition_max) {
        let text = format!("the mean partition has {} items, and the largest {}", count(mean), count(max));
        return Some((text, "raise the maximum per partition, or lower the mean"));
    }
    let most = volume.per_partition_max.or(volume.per_partition);
    let (most, items) = above(most, volume.items)?;
    let text = format!("a partition has {} items, and the table {}", count(most), count(items));
    Some((text, "correct the number of items, or the number per partition"))
}

fn finding(entity: &Entity, (statement, correction): (String, &str)) -> Diagnostic {
    let place = entity.volume_span.unwrap_or(entity.name_span);
    let message = format!("figures of {} contradict each other: {statement}", entity.name);
    Diagnostic::warning(RULE.code, place, message)
        .note("The cost estimate and other rules use these figures.")
        .help(correction)
}
