//! W03: a write exceeds the limits of one request.

use crate::check::{Context, Rule};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::plan::{WriteKind, WritePlan};
use crate::schema::{Step, Write};

pub(super) static RULE: Rule = Rule {
    code: Code("W03"),
    severity: Severity::Error,
    title: "a write exceeds what one request can hold",
    page: include_str!("../../../../../../docs/rules/W03.md"),
    find,
};

const TRANSACTION_ACTIONS_MAX: u64 = 100;
const BATCH_ACTIONS_MAX: u64 = 25;
const TRANSACTION_BYTES_MAX: u64 = 4 * 1024 * 1024;

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (write, plan) in context.model.writes.iter().zip(&context.plans.writes) {
        if let Some(plan) = plan {
            findings.extend(count(write, plan).or_else(|| size(context, write, plan)));
        }
    }
}

fn count(write: &Write, plan: &WritePlan) -> Option<Diagnostic> {
    let Some(actions) = plan.actions_max else { return endless(write, plan) };
    let name = &write.name;
    match plan.request {
        WriteKind::Batch if actions > BATCH_ACTIONS_MAX => Some(
            Diagnostic::error(
                RULE.code,
                write.name_span,
                format!("`{name}` puts up to {actions} items into one BatchWriteItem, which takes {BATCH_ACTIONS_MAX}"),
            )
            .help(format!("lower the `max`, or leave it out: the batch is then sent in pieces of {BATCH_ACTIONS_MAX}")),
        ),
        WriteKind::Transaction if actions > TRANSACTION_ACTIONS_MAX => Some(
            Diagnostic::error(
                RULE.code,
                write.name_span,
                format!("`{name}` has up to {actions} actions, and a transaction takes {TRANSACTION_ACTIONS_MAX}"),
            )
            .note("Sentinels of `unique` fields count as well.")
            .help("lower the `max` of its `for`, or write it as `batch` if it need not be atomic"),
        ),
        _ => None,
    }
}

fn endless(write: &Write, plan: &WritePlan) -> Option<Diagnostic> {
    let each = write.steps.iter().find_map(|step| match step {
        Step::For(each) if each.max.is_none() => Some(each),
        _ => None,
    })?;
    (plan.request == WriteKind::Transaction).then(|| {
        Diagnostic::error(RULE.code, each.span, format!("nothing limits how many actions `{}` has", write.name))
            .label(format!("a transaction takes {TRANSACTION_ACTIONS_MAX}"))
            .help(format!("say how many there can be: `for {} in … max 20`", each.name))
    })
}

fn size(context: &Context<'_>, write: &Write, plan: &WritePlan) -> Option<Diagnostic> {
    let actions = plan.actions_max?;
    let largest = |entity: crate::schema::EntityId| {
        let volume = &context.model.entity(entity).volume;
        volume.bytes_max.or(volume.bytes).unwrap_or(0)
    };
    let once: u64 = plan.actions.iter().filter(|action| !action.repeated).map(|action| largest(action.entity)).sum();
    let single = plan.actions.iter().filter(|action| !action.repeated).count() as u64;
    let repeated =
        plan.actions.iter().filter(|action| action.repeated).map(|action| largest(action.entity)).max().unwrap_or(0);
    let bytes = once + repeated * actions.saturating_sub(single);
    (plan.request == WriteKind::Transaction && bytes > TRANSACTION_BYTES_MAX).then(|| {
        Diagnostic::error(
            RULE.code,
            write.name_span,
            format!("the items of `{}` can have {bytes} bytes together", write.name),
        )
        .label("a transaction takes 4 MB")
        .help("write fewer items at once, or move the large part of them into an item of its own")
    })
}
