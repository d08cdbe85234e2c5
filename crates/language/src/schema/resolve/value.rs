//! Checks literals against the types of fields.

use crate::diagnostic::Diagnostic;
use crate::schema::expression::{Expr, ExprKind};
use crate::schema::field::Type;
use crate::schema::words;
use crate::span::Span;

use super::code;
use super::found::{Found, nearest};

/// Reports a literal that is not a value of the type. Ignores everything but literals.
pub(super) fn check(value: &Expr, wanted: &Type, found: &mut Found) {
    let wanted = wanted.resolved();
    if matches!(wanted, Type::Unknown | Type::Json) {
        return;
    }
    match &value.kind {
        ExprKind::Text(text) => match wanted {
            Type::OneOf(texts) => one_of(text, texts, value.span, found),
            _ if wanted.is_text() || wanted.is_bytes() => {}
            _ => misfit("a text", wanted, value.span, found),
        },
        ExprKind::Number(_) if !wanted.is_numeric() => misfit("a number", wanted, value.span, found),
        ExprKind::Bool(_) if !wanted.is_bool() => misfit("a boolean", wanted, value.span, found),
        ExprKind::List(parts) => match wanted {
            Type::List(of, _) | Type::Set(of, _) => parts.iter().for_each(|part| check(part, of, found)),
            _ => misfit("a list", wanted, value.span, found),
        },
        ExprKind::Record(parts) => match wanted {
            Type::Map(of, _) => parts.iter().for_each(|(_, part)| check(part, of, found)),
            Type::Record(fields) => {
                for (name, part) in parts {
                    if let Some(field) = fields.iter().find(|field| field.name == *name) {
                        check(part, &field.kind, found);
                    }
                }
            }
            _ => misfit("a map", wanted, value.span, found),
        },
        _ => {}
    }
}

fn one_of(text: &str, texts: &[String], span: Span, found: &mut Found) {
    if texts.iter().any(|other| other == text) {
        return;
    }
    let known: Vec<&str> = texts.iter().map(String::as_str).collect();
    let list = texts.iter().map(|text| format!("\"{text}\"")).collect::<Vec<_>>().join(", ");
    let finding = Diagnostic::error(code::VALUE, span, format!("\"{text}\" is not one of the allowed values"));
    found.add(match nearest(text, &known) {
        Some(near) => finding.help(format!("did you mean \"{near}\"?")).edit(span, format!("\"{near}\"")),
        None => finding.help(format!("allowed values: {list}")),
    });
}

fn misfit(given: &str, wanted: &Type, span: Span, found: &mut Found) {
    found.error(code::VALUE, span, format!("expected {}, found {given}", words::described(wanted)));
}
