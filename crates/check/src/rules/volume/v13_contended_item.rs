//! V13: concurrent transactions contend for one item.

use crate::check::{Context, Rule};
use crate::cost::per_second;
use crate::cost::report::top_share;
use crate::cost::text::number;
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::plan::{Role, WriteKind};
use keyform_language::schema::EntityId;
use keyform_language::span::Spanned;

pub(super) static RULE: Rule = Rule {
    code: Code("V13"),
    severity: Severity::Warning,
    title: "concurrent transactions contend for one item",
    page: include_str!("../../../../../docs/rules/V13.md"),
    find,
};

/// Transactions per second on one item above which conflicts become frequent.
const CONFLICT_RATE: f64 = 10.0;

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (write, plan) in context.model.writes.iter().zip(&context.plans.writes) {
        let Some((plan, Spanned { value: rate, .. })) = plan.as_ref().zip(write.rate) else { continue };
        if plan.request != WriteKind::Transaction {
            continue;
        }
        let shared = plan.actions.iter().filter(|action| matches!(action.role, Role::Update | Role::Check));
        let hottest = shared.map(|action| (action.entity, per_second(rate) * share(context, action.entity)));
        let Some((entity, on_one)) =
            hottest.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, rate)| *rate > CONFLICT_RATE)
        else {
            continue;
        };
        let name = &context.model.entity(entity).name;
        findings.push(
            Diagnostic::warning(
                RULE.code,
                write.name_span,
                format!("{} calls of `{}` a second contend for one {name}", number(on_one), write.name),
            )
            .label("transactions on one item cancel each other")
            .help(format!(
                "spread {name} over several items, or write it outside the transaction with a conditional update"
            )),
        );
    }
}

/// Returns the share of the busiest item: the larger of the specified share and an equal part per item.
fn share(context: &Context<'_>, entity: EntityId) -> f64 {
    let volume = &context.model.entity(entity).volume;
    let told = volume.top_percent.map(|_| top_share(context.model, &[entity]));
    let equal = volume.items.filter(|&items| items > 0).map(|items| 1.0 / items as f64);
    told.into_iter().chain(equal).fold(0.0, f64::max)
}
