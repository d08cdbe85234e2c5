//! W03: a write exceeds the limits of one request.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::plan::{WriteKind, WritePlan};
use keyform_language::schema::{Write, WriteStep};

pub(super) static RULE: Rule = Rule {
    code: Code("W03"),
    severity: Severity::Error,
    title: "a write exceeds what one request can hold",
    page: include_str!("../../../../../docs/rules/W03.md"),
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
    let actions = actions.saturating_add(plan.checks().count() as u64);
    let name = &write.name;
    match plan.request {
        WriteKind::Batch if actions > BATCH_ACTIONS_MAX => Some(
            Diagnostic::error(
                RULE.code,
                write.name_span,
                format!(
                    "`{name}` puts up to {actions} items into one BatchWriteItem; the limit is \
                    {BATCH_ACTIONS_MAX}"
                ),
            )
            .help(format!(
                "lower the `max`, or remove it: the batch is then split into requests of \
                {BATCH_ACTIONS_MAX}"
            )),
        ),
        WriteKind::Put | WriteKind::Update | WriteKind::Delete | WriteKind::Transaction
            if actions > TRANSACTION_ACTIONS_MAX =>
        {
            Some(
                Diagnostic::error(
                    RULE.code,
                    write.name_span,
                    format!("`{name}` has up to {actions} actions; a transaction can have {TRANSACTION_ACTIONS_MAX}"),
                )
                .note("Sentinels of `unique` fields and guards that the request carries count too.")
                .help("lower the `max` of its `for`, or make it a `batch` if it need not be atomic"),
            )
        }
        _ => None,
    }
}

fn endless(write: &Write, plan: &WritePlan) -> Option<Diagnostic> {
    let each = write.steps.iter().find_map(|step| match step {
        WriteStep::For(each) if each.max.is_none() => Some(each),
        _ => None,
    })?;
    (plan.request == WriteKind::Transaction).then(|| {
        Diagnostic::error(RULE.code, each.span, format!("nothing limits the number of actions of `{}`", write.name))
            .label(format!("a transaction can have {TRANSACTION_ACTIONS_MAX}"))
            .help(format!("add a limit: `for {} in … max 20`", each.name))
    })
}

fn size(context: &Context<'_>, write: &Write, plan: &WritePlan) -> Option<Diagnostic> {
    let actions = plan.actions_max?;
    let largest = |entity: keyform_language::schema::EntityId| {
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
        .label("a transaction can have 4 MB")
        .help("write fewer items at once, or move the large part of them into separate items")
    })
}
