//! V11: the number of items contradicts the creation rate and the lifetime.

use std::collections::BTreeMap;

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

/// A number of items that exceeds rate times lifetime by this factor is an error of a figure.
const FACTOR_ABOVE: f64 = 3.0;
/// Rates are peaks. A mean rate that is lower by more than this factor is an error of a figure.
const FACTOR_PEAK: f64 = 30.0;

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let created = Created::of(context.model);
    for id in context.model.entity_ids() {
        let entity = context.model.entity(id);
        if let Some((items, lives)) = entity.volume.items.zip(entity.volume.lives_secs) {
            findings.extend(created.0.get(&id).and_then(|rates| judge(entity, rates, items as f64, lives as f64)));
        }
    }
}

/// Items that writes create per second, by entity.
struct Created(BTreeMap<EntityId, Rates>);

/// Items created per second at the peak.
#[derive(Default)]
struct Rates {
    /// By `create`, which never replaces an item.
    certain: f64,
    /// By `create`, `put` and `upsert`, which may create an item.
    possible: f64,
    /// True if a write that may create one has no rate.
    is_open: bool,
}

impl Created {
    fn of(model: &Model) -> Self {
        let mut rates: BTreeMap<EntityId, Rates> = BTreeMap::new();
        for write in &model.writes {
            let rate = write.rate.map(|rate| per_second(rate.value));
            for action in write.actions() {
                let Some(id) = action.entity else { continue };
                let (is_certain, is_possible) = match action.verb {
                    Verb::Create => (true, true),
                    Verb::Put | Verb::Upsert => (false, true),
                    Verb::Update | Verb::Delete | Verb::Check => (false, false),
                };
                let of = rates.entry(id).or_default();
                of.certain += rate.filter(|_| is_certain).unwrap_or(0.0);
                of.possible += rate.filter(|_| is_possible).unwrap_or(0.0);
                of.is_open |= is_possible && rate.is_none();
            }
        }
        Self(rates)
    }
}

fn judge(entity: &Entity, rates: &Rates, given: f64, lives: f64) -> Option<Diagnostic> {
    let (least, most) = (rates.certain * lives / FACTOR_PEAK, rates.possible * lives);
    let message = if !rates.is_open && most > 0.0 && given > most * FACTOR_ABOVE {
        format!("at these rates there are at most {most:.0} items of {}, not {given:.0}", entity.name)
    } else if least > given {
        let peak = rates.certain * lives;
        format!("at these rates there are up to {peak:.0} items of {}, not {given:.0}", entity.name)
    } else {
        return None;
    };
    let place = entity.volume_span.unwrap_or(entity.name_span);
    Some(
        Diagnostic::warning(RULE.code, place, message)
            .note("Peak rate times lifetime. The mean rate may be up to 30 times lower.")
            .help("correct the volume, the rate or the lifetime: the cost estimate uses them"),
    )
}
