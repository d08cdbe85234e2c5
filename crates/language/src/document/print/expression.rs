//! Formats conditions and values with the minimal parentheses.

use super::super::ast::{Argument, BinaryOp, Expr, ExprKind, ItemRef};
use super::row::columns;
use super::{WIDTH, word};

/// Operator precedence, lowest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Grip {
    Or,
    And,
    Not,
    Comparison,
    Sum,
    Path,
}

/// Formats an expression on one line.
pub(super) fn text(expr: &Expr) -> String {
    within(expr, Grip::Or)
}

/// Formats an expression after `prefix`, with line breaks before `and` or `or` if it is too long. Continuation lines
/// are indented twice.
pub(super) fn wrapped(prefix: &str, expr: &Expr, suffix: &str, indent: usize) -> Vec<String> {
    let line = format!("{prefix}{}{suffix}", text(expr));
    if columns(&line) + indent <= WIDTH {
        return vec![line];
    }
    let mut parts = Vec::new();
    let op = match expr.kind.as_ref() {
        ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), ..) => *op,
        _ => return vec![line],
    };
    flatten(expr, op, &mut parts);
    let last = parts.len() - 1;
    let line = |(number, part): (usize, String)| match number {
        0 => format!("{prefix}{part}"),
        number if number == last => format!("    {} {part}{suffix}", op.symbol()),
        _ => format!("    {} {part}", op.symbol()),
    };
    parts.into_iter().enumerate().map(line).collect()
}

/// Collects the operands of a chain of one operator.
fn flatten(expr: &Expr, op: BinaryOp, parts: &mut Vec<String>) {
    let (own, right) = grips(op);
    match expr.kind.as_ref() {
        ExprKind::Binary(inner, first, second) if *inner == op => {
            flatten(first, op, parts);
            parts.push(within(second, right));
        }
        _ => parts.push(within(expr, own)),
    }
}

/// Formats an expression, with parentheses if its precedence is lower than `grip`.
fn within(expr: &Expr, grip: Grip) -> String {
    let (text, own) = gripped(expr);
    if own < grip { format!("({text})") } else { text }
}

fn gripped(expr: &Expr) -> (String, Grip) {
    let sum = |expr: &Expr| within(expr, Grip::Sum);
    match expr.kind.as_ref() {
        ExprKind::Not(of) => (format!("not {}", within(of, Grip::Not)), Grip::Not),
        ExprKind::Binary(op, first, second) => {
            let (own, right) = grips(*op);
            let left = if own == Grip::Comparison { Grip::Sum } else { own };
            (format!("{} {} {}", within(first, left), op.symbol(), within(second, right)), own)
        }
        ExprKind::Between(of, low, high) => {
            (format!("{} between {} and {}", sum(of), sum(low), sum(high)), Grip::Comparison)
        }
        ExprKind::In(of, values) => (format!("{} in ({})", sum(of), list(values)), Grip::Comparison),
        ExprKind::IsNone(of) => (format!("{} is none", sum(of)), Grip::Comparison),
        ExprKind::IsSome(of) => (format!("{} is some", sum(of)), Grip::Comparison),
        _ => (tight(expr), Grip::Path),
    }
}

/// Formats an expression that never needs parentheses.
fn tight(expr: &Expr) -> String {
    match expr.kind.as_ref() {
        ExprKind::Text(text) => word::quoted(text),
        ExprKind::Number(number) => number.clone(),
        ExprKind::Duration(secs) => word::duration(*secs),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::None => "none".to_owned(),
        ExprKind::Absent => "absent".to_owned(),
        ExprKind::Exists => "exists".to_owned(),
        ExprKind::List(elements) => format!("[{}]", list(elements)),
        ExprKind::Record(fields) if fields.is_empty() => "{}".to_owned(),
        ExprKind::Record(fields) => {
            let fields: Vec<String> =
                fields.iter().map(|(name, value)| format!("{} = {}", word::name(name), text(value))).collect();
            format!("{{ {} }}", fields.join(", "))
        }
        ExprKind::Name(name) => word::name_in_expression(name, &["public", "system", "held"]),
        ExprKind::Member(of, name) => format!("{}.{}", within(of, Grip::Path), word::name(name)),
        ExprKind::Element(of, key) => format!("{}[{}]", within(of, Grip::Path), text(key)),
        ExprKind::Call(name, values) => {
            format!("{}({})", word::name_in_expression(name, &["public", "system", "held"]), arguments(values))
        }
        _ => text(expr),
    }
}

fn list(all: &[Expr]) -> String {
    all.iter().map(text).collect::<Vec<_>>().join(", ")
}

fn arguments(arguments: &[Argument]) -> String {
    let argument = |argument: &Argument| match &argument.name {
        Some(name) => format!("{}: {}", word::name(name), text(&argument.value)),
        None => text(&argument.value),
    };
    arguments.iter().map(argument).collect::<Vec<_>>().join(", ")
}

/// Formats `Entity(keys)`, without parentheses if it has no keys and needs none.
pub(super) fn item(item: &ItemRef, keyed: bool) -> String {
    if keyed || !item.keys.is_empty() {
        format!("{}({})", word::name(&item.entity), arguments(&item.keys))
    } else {
        word::name(&item.entity)
    }
}

/// Returns the precedence of an operator, and the minimum precedence of its right operand.
fn grips(op: BinaryOp) -> (Grip, Grip) {
    match op {
        BinaryOp::Or => (Grip::Or, Grip::And),
        BinaryOp::And => (Grip::And, Grip::Not),
        BinaryOp::Plus | BinaryOp::Minus => (Grip::Sum, Grip::Path),
        BinaryOp::Equal
        | BinaryOp::NotEqual
        | BinaryOp::Less
        | BinaryOp::LessEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterEqual
        | BinaryOp::Begins
        | BinaryOp::Contains => (Grip::Comparison, Grip::Sum),
    }
}
