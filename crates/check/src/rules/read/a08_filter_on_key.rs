//! A08: a filter tests what the key condition, or the key of an index, should test.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::BinaryOp;
use keyform_language::plan::{self, ReadPlan, RequestKind};
use keyform_language::schema::{Entity, Expr, ExprKind, FieldId, Origin, Read, ValuePath};

pub(super) static RULE: Rule = Rule {
    code: Code("A08"),
    severity: Severity::Error,
    title: "a filter cannot use a key attribute",
    page: include_str!("../../../../../docs/rules/A08.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (read, plan) in context.plans.planned(context.model) {
        if let (Some(filter), RequestKind::Query) = (&read.filter, plan.request) {
            on_attributes(context, read, plan, filter, findings);
            instead_of_range(context, read, plan, filter, findings);
            instead_of_index(context, read, plan, filter, findings);
        }
    }
}

/// Reports filters on attributes of the queried key, which the service rejects.
fn on_attributes(context: &Context<'_>, read: &Read, plan: &ReadPlan, filter: &Expr, findings: &mut Vec<Diagnostic>) {
    let attributes = key_names(context, plan);
    filter.walk(&mut |expr| {
        if let Some((entity, field)) = own_field(context, expr)
            && attributes.contains(&entity.field(field).name)
        {
            findings.push(refused(read, plan, entity, field, expr));
        }
    });
}

fn key_names(context: &Context<'_>, plan: &ReadPlan) -> Vec<String> {
    let table = context.model.table(plan.table);
    match plan.index {
        None => table.key_names().map(str::to_owned).collect(),
        Some(index) => {
            let index = table.index_at(index);
            index.partition.iter().chain(&index.sort).map(|attribute| attribute.name.clone()).collect()
        }
    }
}

fn own_field<'a>(context: &Context<'a>, expr: &Expr) -> Option<(&'a Entity, FieldId)> {
    match expr.kind {
        ExprKind::ValuePath(ValuePath { origin: Origin::Field(entity, field), .. }) => {
            Some((context.model.entity(entity), field))
        }
        _ => None,
    }
}

fn refused(read: &Read, plan: &ReadPlan, entity: &Entity, field: FieldId, expr: &Expr) -> Diagnostic {
    let name = &entity.field(field).name;
    let is_next = plan::order(read, entity, plan.index).is_some_and(|order| order.field == field);
    let help = if is_next {
        format!("make it a parameter: `{}({}{name} < limit)`", read.name, others(read))
    } else {
        format!("remove `{name}` from the filter: the key condition tests it")
    };
    Diagnostic::error(
        RULE.code,
        expr.span,
        format!("the filter of `{}` tests `{name}`, which is part of the key that it queries", read.name),
    )
    .label("the service rejects a filter on a key attribute")
    .help(help)
}

fn others(read: &Read) -> String {
    read.parameters.iter().map(|parameter| format!("{}, ", super::words::parameter(parameter))).collect()
}

/// Reports filters on the field that orders the sort key, which could be its range.
fn instead_of_range(
    context: &Context<'_>,
    read: &Read,
    plan: &ReadPlan,
    filter: &Expr,
    findings: &mut Vec<Diagnostic>,
) {
    let attributes = key_names(context, plan);
    for test in conjuncts(filter) {
        let Some(operand) = compared(test) else { continue };
        let Some((entity, field)) = own_field(context, operand) else { continue };
        let name = &entity.field(field).name;
        let order = plan::order(read, entity, plan.index);
        if read.key.is_none() && !attributes.contains(name) && order.is_some_and(|order| order.field == field) {
            findings.push(
                Diagnostic::warning(
                    RULE.code,
                    test.span,
                    format!("the filter of `{}` tests `{name}`, which orders the sort key", read.name),
                )
                .label("read and paid for, then discarded")
                .help(format!(
                    "as a parameter it restricts what is read: `{}({}{name} …)`",
                    read.name,
                    others(read)
                )),
            );
        }
    }
}

/// Reports filters that select one value of a field: they read the whole range to find it.
fn instead_of_index(
    context: &Context<'_>,
    read: &Read,
    plan: &ReadPlan,
    filter: &Expr,
    findings: &mut Vec<Diagnostic>,
) {
    for test in conjuncts(filter) {
        let Some((entity, field)) = looked_up(test).and_then(|operand| own_field(context, operand)) else { continue };
        let name = &entity.field(field).name;
        let in_key = entity.key_of(plan.index).is_some_and(|key| key.fields().any(|part| part == field));
        if !in_key {
            findings.push(
                Diagnostic::warning(
                    RULE.code,
                    test.span,
                    format!("`{}` reads everything in its range to find the items with one `{name}`", read.name),
                )
                .label("read and paid for, then discarded")
                .help(format!(
                    "give {} an index key that contains `{name}`: a Query of that index reads only what it returns",
                    entity.name
                )),
            );
        }
    }
}

/// Returns the side of `field = argument` that is not the argument.
fn looked_up(test: &Expr) -> Option<&Expr> {
    let ExprKind::Binary(BinaryOp::Equal, left, right) = &test.kind else { return None };
    let is_argument =
        |expr: &Expr| matches!(expr.kind, ExprKind::ValuePath(ValuePath { origin: Origin::Parameter(_), .. }));
    match (is_argument(left), is_argument(right)) {
        (false, true) => Some(left),
        (true, false) => Some(right),
        _ => None,
    }
}

/// Splits a condition into its conjuncts.
fn conjuncts(filter: &Expr) -> Vec<&Expr> {
    match &filter.kind {
        ExprKind::Binary(BinaryOp::And, left, right) => {
            let mut all = conjuncts(left);
            all.extend(conjuncts(right));
            all
        }
        _ => vec![filter],
    }
}

/// Returns the operand of a test that a key condition supports.
fn compared(test: &Expr) -> Option<&Expr> {
    match &test.kind {
        ExprKind::Binary(
            BinaryOp::Equal
            | BinaryOp::Less
            | BinaryOp::LessEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterEqual
            | BinaryOp::Begins,
            left,
            _,
        )
        | ExprKind::Between(left, _, _) => Some(left),
        _ => None,
    }
}
