//! Formats a plan as JSON.

use serde_json::{Value, json};

use super::plan::{Plan, PlannedChange, TablePlan};

/// Formats the plan: `changes` and `refused` summarise it, `tables` holds the steps in order.
#[must_use]
pub fn json(plan: &Plan) -> Value {
    json!({
        "changes": plan.has_changes(),
        "refused": plan.is_refused(),
        "tables": plan.tables.iter().map(table).collect::<Vec<_>>(),
        "notes": plan.notes,
    })
}

fn table(plan: &TablePlan) -> Value {
    let refusal = |refusal: &super::Refusal| json!({ "what": refusal.what, "remedy": refusal.remedy });
    json!({
        "table": plan.table,
        "declared": plan.declared,
        "own": plan.own,
        "exists": plan.exists,
        "steps": plan.steps.iter().map(step).collect::<Vec<_>>(),
        "refusals": plan.refusals.iter().map(refusal).collect::<Vec<_>>(),
        "notes": plan.notes,
    })
}

fn step(step: &PlannedChange) -> Value {
    json!({
        "change": step.change.kind(),
        "what": step.change.words(),
        "destroys": step.change.destroys(),
        "warning": step.warning,
    })
}
