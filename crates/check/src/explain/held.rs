//! Adds the guards that a write holds to its sample request, as it is sent for a caller.

use std::borrow::Cow;

use keyform_language::bind::sample::value;
use keyform_language::bind::{self, BoundGuard, Inputs, WriteOperation};
use keyform_language::plan::WritePlan;
use keyform_language::schema::{Expr, ExprKind, GuardId, Model, Permission, Write};

/// Adds the conditions of the guards that the plan holds.
pub(super) fn hold(
    model: &Model,
    write: &Write,
    plan: &WritePlan,
    inputs: &Inputs<'_>,
    operation: &mut WriteOperation,
) {
    let Some(Permission::When(condition)) = &write.allow else { return };
    let refused = denied(condition);
    condition.walk(&mut |part| {
        let ExprKind::Guard { guard, arguments, .. } = &part.kind else { return };
        let Some(held) = plan.held.iter().find(|held| held.guard == *guard) else { return };
        if let Some(bound) = bound(model, write, *guard, arguments, inputs) {
            let place = (bound.get.table.as_str(), &bound.get.key);
            operation.hold(place, &bound.condition(!refused.contains(guard)), !held.is_merged);
        }
    });
}

/// Returns the guards that must not hold.
fn denied(condition: &Expr) -> Vec<GuardId> {
    let mut guards = Vec::new();
    condition.walk(&mut |part| {
        if let ExprKind::Not(of) = &part.kind
            && let ExprKind::Guard { guard, .. } = &of.kind
        {
            guards.push(*guard);
        }
    });
    guards
}

/// Binds a guard. An argument that a read gives has a sample value.
fn bound(model: &Model, write: &Write, id: GuardId, arguments: &[Expr], inputs: &Inputs<'_>) -> Option<BoundGuard> {
    let guard = &model.guards[id.0];
    let given = guard.parameters.iter().zip(arguments).map(|(parameter, argument)| {
        let given = bind::evaluate(model, argument, &write.parameters, inputs).ok().flatten();
        let name = &parameter.field_name;
        (name.clone(), given.unwrap_or_else(|| value(&parameter.kind, name, 0)))
    });
    let inputs = Inputs { arguments: Cow::Owned(given.collect()), ..inputs.clone() };
    bind::guard(model, guard, &inputs).ok().flatten()
}
