//! V06: indexes multiply the cost of a write.

use crate::check::{Context, Rule};
use crate::cost::text::number;
use crate::cost::write;
use keyform_language::diagnostic::{Code, Diagnostic, Severity};

pub(super) static RULE: Rule = Rule {
    code: Code("V06"),
    severity: Severity::Warning,
    title: "indexes multiply the cost of a write",
    page: include_str!("../../../../../docs/rules/V06.md"),
    find,
};

const FACTOR_LARGE: f64 = 4.0;

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (written, plan) in context.model.writes.iter().zip(&context.plans.writes) {
        let Some(plan) = plan else { continue };
        let cost = write::write(context.model, written, plan);
        let entries: u64 = cost.indexes.iter().map(|index| index.entries).sum();
        if cost.index_units > 0.0 && entries as f64 >= FACTOR_LARGE * cost.actions as f64 {
            let shown: Vec<String> =
                cost.indexes.iter().map(|index| format!("{} {}", index.index, number(index.units))).collect();
            findings.push(
                Diagnostic::warning(
                    RULE.code,
                    written.name_span,
                    format!("a call of `{}` writes {entries} index entries", written.name),
                )
                .note(format!("Units by index: {}.", shown.join(", ")))
                .help(
                    "project less into the indexes (`project keys`), remove attributes that change often from their \
                    keys, or drop indexes that no read needs",
                ),
            );
        }
    }
}
