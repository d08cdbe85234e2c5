//! T06: a type loses information.

use keyform_core::expression::is_reserved;

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Entity, ExprKind, Field, Table, TableId, Type};

pub(super) static RULE: Rule = Rule {
    code: Code("T06"),
    severity: Severity::Warning,
    title: "a type loses information",
    page: include_str!("../../../../../docs/rules/T06.md"),
    find,
};

/// Largest integer that JavaScript, and therefore most JSON readers, represent exactly.
const SAFE_INTEGER_MAX: i64 = (1 << 53) - 1;

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for entity in &context.model.entities {
        for field in &entity.fields {
            findings.extend(money(field).or_else(|| large(field)).or_else(|| set(field)));
        }
    }
    for (number, table) in context.model.tables.iter().enumerate() {
        let entities: Vec<&Entity> = context.model.entities_of(TableId(number)).map(|(_, entity)| entity).collect();
        findings.extend(reserved(table, &entities));
    }
}

fn money(field: &Field) -> Option<Diagnostic> {
    let words = ["balance", "amount", "price", "cost", "credit", "credits", "fee", "budget", "salary"];
    let is_money = field.kind.is_bare_number()
        && field.kind.value_bounds().is_none()
        && words_of(&field.name).iter().any(|word| words.contains(&word.as_str()));
    is_money.then(|| {
        Diagnostic::warning(
            RULE.code,
            field.type_span,
            format!("`{}` looks like money but is a fractional number", field.name),
        )
        .label("sums of fractions accumulate rounding errors")
        .help(format!("write `{}: money`: whole nano-units, exact in every language", field.name))
    })
}

/// Splits a name such as `creditBalance` or `credit_balance` into words in lower case.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for character in name.chars() {
        if character.is_uppercase() || character == '_' {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| character != '_') {
            word.extend(character.to_lowercase());
        }
    }
    words
}

fn large(field: &Field) -> Option<Diagnostic> {
    field.kind.value_bounds()?.max.filter(|&max| max > SAFE_INTEGER_MAX).map(|_| {
        Diagnostic::warning(RULE.code, field.type_span, format!("`{}` can be larger than 2^53", field.name))
            .label("JavaScript rounds it")
            .help("lower the maximum, or store it as a `string`")
    })
}

fn set(field: &Field) -> Option<Diagnostic> {
    let Type::Set(of, _) = field.kind.resolved() else { return None };
    let of = of.resolved();
    if !(of.is_text() || of.is_numeric() || of.is_bytes() || matches!(of, Type::Unknown)) {
        return Some(
            Diagnostic::error(
                RULE.code,
                field.type_span,
                format!("`{}` is a set of values that are not strings, numbers or bytes", field.name),
            )
            .help("use a `list`, or a `map` keyed by an id"),
        );
    }
    let empty = |default: &keyform_language::schema::Expr| match &default.kind {
        ExprKind::List(parts) => parts.is_empty(),
        ExprKind::Record(parts) => parts.is_empty(),
        _ => false,
    };
    field.default.as_ref().filter(|default| empty(default)).map(|default| {
        Diagnostic::error(
            RULE.code,
            default.span,
            format!("`{}` is an empty set by default, which DynamoDB cannot store", field.name),
        )
        .help(format!("write `{}: set<…>?`: an empty set is then an absent attribute", field.name))
    })
}

/// Reports reserved words, which expressions written by hand must replace by `#name`. Keyform always does.
fn reserved(table: &Table, entities: &[&Entity]) -> Option<Diagnostic> {
    let mut names: Vec<&str> =
        entities.iter().flat_map(|entity| &entity.fields).map(|field| field.name.as_str()).collect();
    names.retain(|name| is_reserved(name));
    names.sort_unstable();
    names.dedup();
    let shown: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    (!names.is_empty()).then(|| {
        Diagnostic::note_at(
            RULE.code,
            table.name_span,
            format!("attributes of {} are reserved words of DynamoDB: {}", table.name, shown.join(", ")),
        )
        .help("handwritten expressions must alias them (`#name`); Keyform does so")
    })
}
