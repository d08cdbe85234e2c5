//! W14: a model uses features that the target store does not support.

use crate::check::{Context, Rule, Target};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Index, Table, Timing, Write};
use keyform_language::span::Span;

pub(super) static RULE: Rule = Rule {
    code: Code("W14"),
    severity: Severity::Error,
    title: "the chosen store does not support this",
    page: include_str!("../../../../../docs/rules/W14.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    if context.target != Target::Alternator {
        return;
    }
    for (write, plan) in context.model.writes.iter().zip(&context.plans.writes) {
        if plan.as_ref().is_some_and(|plan| plan.needs_transaction()) {
            findings.push(transaction(write));
        } else if let (Timing::Held(span), Some(plan)) = (&write.timing, plan)
            && plan.checks().next().is_some()
        {
            findings.push(held(write, *span));
        }
    }
    for table in &context.model.tables {
        for index in &table.indexes {
            findings.extend(keys(index).or_else(|| projection(index)));
        }
        findings.extend(recovery(table));
    }
}

fn transaction(write: &Write) -> Diagnostic {
    Diagnostic::error(
        RULE.code,
        write.name_span,
        format!("`{}` is a transaction, which Alternator does not support", write.name),
    )
    .note("Several actions, a `unique` field and `idempotent` make a write a transaction.")
    .help("split it into writes of one item each, ordered so that the data stays valid if a later one fails")
}

fn held(write: &Write, span: Span) -> Diagnostic {
    Diagnostic::error(
        RULE.code,
        span,
        format!("`allow held` of `{}` needs a transaction, which Alternator does not support", write.name),
    )
    .help("remove `held`: the guards are then read just before the request")
}

fn keys(index: &Index) -> Option<Diagnostic> {
    (index.partition.len() > 1 || index.sort.len() > 1).then(|| {
        Diagnostic::error(
            RULE.code,
            index.span,
            format!("`{}` has a key of several attributes, which Alternator does not support", index.name),
        )
        .help("join them into one attribute with a template")
    })
}

fn projection(index: &Index) -> Option<Diagnostic> {
    index.projection.is_some().then(|| {
        Diagnostic::warning(
            RULE.code,
            index.span,
            format!("Alternator ignores the projection of `{}` and projects all attributes", index.name),
        )
        .help("remove the projection and count the whole item in the storage of the index")
    })
}

fn recovery(table: &Table) -> Option<Diagnostic> {
    table.recovery.then(|| {
        Diagnostic::warning(
            RULE.code,
            table.name_span,
            format!("`{}` asks for point-in-time recovery, which Alternator does not support", table.name),
        )
        .help("take snapshots with Scylla Manager instead")
    })
}
