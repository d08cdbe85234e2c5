//! A11: a list has no page size, or needs a Scan.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Number;
use keyform_language::plan::{ReadPlan, RequestKind};
use keyform_language::schema::{Read, Result as ReadResult};
use keyform_language::span::Span;

pub(super) static RULE: Rule = Rule {
    code: Code("A11"),
    severity: Severity::Warning,
    title: "a list has no page size, or needs a Scan",
    page: include_str!("../../../../../docs/rules/A11.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (read, plan) in context.plans.planned(context.model) {
        if let Some(span) = read.scan {
            findings.push(scan(context, read, plan, span));
        }
        let stated = read.page.is_some() || read.all.is_some();
        if let Some(span) = list_of(read)
            && !stated
            && plan.request != RequestKind::BatchGet
            && !(plan.unique && is_only_list(read))
        {
            findings.push(
                Diagnostic::warning(RULE.code, span, format!("`{}` returns a list without a page size", read.name))
                    .label("up to 1 MB at a time")
                    .help("`page 50` returns 50 at a time, with a cursor; `all` follows all pages"),
            );
        }
    }
}

/// Returns the span of the first list in the result.
fn list_of(read: &Read) -> Option<Span> {
    match &read.result {
        ReadResult::Parts(parts) => {
            parts.iter().find(|(_, number, _)| *number == Number::Many).map(|(_, _, span)| *span)
        }
        ReadResult::Count(..) => None,
    }
}

/// Returns whether the result consists of lists only. If the plan is unique, such a list has at most one item and needs
/// no page size.
fn is_only_list(read: &Read) -> bool {
    matches!(&read.result, ReadResult::Parts(parts) if parts.iter().all(|(_, number, _)| *number == Number::Many))
}

fn scan(context: &Context<'_>, read: &Read, plan: &ReadPlan, span: Span) -> Diagnostic {
    let table = context.model.table(plan.table);
    let what = match plan.index {
        Some(index) => format!("index {}", table.index_at(index).name),
        None => format!("table {}", table.name),
    };
    Diagnostic::warning(
        RULE.code,
        span,
        format!("`{}` reads and pays for all of {what}, however little it returns", read.name),
    )
    .label("a Scan")
    .help("give the listed items an index key of their own, or accept the cost: `allow A11 \"…\"`")
}
