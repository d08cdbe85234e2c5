//! V11: the number of items contradicts the creation rate and the lifetime.

use crate::check::{Context, Rule};
use crate::cost::per_second;
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Verb;
use keyform_language::schema::{Entity, EntityId, Model};

pub(super) static RULE: Rule = Rule {
    code: Code("V11"),
    severity: Severity::Warning,
    title: "the volume and the rate contradict each other",
    page: include_str!("../../../../../docs/rules/V11.md"),
    find,
};

const FACTOR_APART: f64 = 3.0;

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for id in context.model.entity_ids() {
        let entity = context.model.entity(id);
        if let Some(((items, lives), rate)) =
            entity.volume.items.zip(entity.volume.lives_secs).zip(creations(context.model, id))
        {
            findings.extend(judge(entity, items as f64, rate * lives as f64));
        }
    }
}

/// Returns the number of items created per second, or `None` if a write that creates some has no rate.
fn creations(model: &Model, id: EntityId) -> Option<f64> {
    let makes = |verb| matches!(verb, Verb::Create | Verb::Put);
    let mut sum = 0.0;
    for write in &model.writes {
        let times = write.actions().iter().filter(|action| action.entity == Some(id) && makes(action.verb)).count();
        if times > 0 {
            sum += times as f64 * per_second(write.rate?.value);
        }
    }
    (sum > 0.0).then_some(sum)
}

fn judge(entity: &Entity, given: f64, steady: f64) -> Option<Diagnostic> {
    let apart = given > steady * FACTOR_APART || steady > given * FACTOR_APART;
    let place = entity.volume_span.unwrap_or(entity.name_span);
    apart.then(|| {
        Diagnostic::warning(
            RULE.code,
            place,
            format!("at these rates there are {steady:.0} items of {}, not {given:.0}", entity.name),
        )
        .note("Rate times lifetime; there are somewhat more, because the store deletes late.")
        .help("correct the volume, the rate or the lifetime: the cost estimate uses them")
    })
}
