//! V16: sample items contradict the model.
//!
//! 1. `matching` determines the entity of each item, by its tag or by the shape of its key.
//! 2. `shape` checks each item: types, missing attributes, delimiters, times, lengths.
//! 3. `spread` checks all items together: partitions, duplicates, dangling references.

mod matching;
mod shape;
mod spread;

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};

pub(super) static RULE: Rule = Rule {
    code: Code("V16"),
    severity: Severity::Warning,
    title: "sample items contradict the model",
    page: include_str!("../../../../../../docs/rules/V16.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let Some(samples) = context.samples else { return };
    let matched = matching::matched(context.model, samples);
    findings.extend(matching::strangers(context.model, samples, &matched));
    for id in context.model.entity_ids() {
        let items = matched.of(id);
        shape::judge(context.model, id, &items, findings);
        spread::judge(context.model, id, &items, &matched, findings);
    }
}
