//! W21: a `for` accepts fewer elements than its read returns.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{ExprKind, For, Let, LetSource, Model, Origin, Read, ValuePath, Write, WriteStep};

pub(super) static RULE: Rule = Rule {
    code: Code("W21"),
    severity: Severity::Error,
    title: "a `for` accepts fewer elements than its read returns",
    page: include_str!("../../../../../docs/rules/W21.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for write in &context.model.writes {
        in_steps(context.model, write, &write.steps, findings);
    }
}

fn in_steps(model: &Model, write: &Write, steps: &[WriteStep], findings: &mut Vec<Diagnostic>) {
    for step in steps {
        if let WriteStep::For(each) = step {
            findings.extend(judge(model, write, each));
            in_steps(model, write, &each.steps, findings);
        }
    }
}

fn judge(model: &Model, write: &Write, each: &For) -> Option<Diagnostic> {
    let ExprKind::ValuePath(ValuePath { origin: Origin::Let { number, .. }, path }) = &each.list.kind else {
        return None;
    };
    let binding = write.lets.get(*number).filter(|_| path.is_empty())?;
    let LetSource::Read { read, .. } = &binding.source else { return None };
    let (max, read) = (each.max?, model.read(*read));
    let page = read.page.as_ref()?.value;
    (page > max && read.all.is_none()).then(|| finding(each, binding, read, page, max))
}

fn finding(each: &For, binding: &Let, read: &Read, page: u64, max: u64) -> Diagnostic {
    let message = format!("`{}` returns up to {page} items, and this `for` accepts {max}", read.name);
    let finding = Diagnostic::error(RULE.code, each.list.span, message);
    let finding = match &read.page {
        Some(size) => finding.also(size.span, format!("`{}` has this page size", binding.name)),
        None => finding,
    };
    finding
        .note("A call that reads more elements than the `max` is refused: none is left out silently.")
        .help(format!("raise the `max` to {page}, or use a read with `page {max}`"))
}
