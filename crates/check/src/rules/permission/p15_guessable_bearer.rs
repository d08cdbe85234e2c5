//! P15: a `bearer` value can be guessed.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Entity, Expr, ExprKind, Field};

pub(super) static RULE: Rule = Rule {
    code: Code("P15"),
    severity: Severity::Warning,
    title: "a `bearer` value can be guessed",
    page: include_str!("../../../../../docs/rules/P15.md"),
    find,
};

/// Randomness below which a value can be found by trying.
const BITS_MIN: u64 = 64;
/// Bits of one character of `code(n)`: it has 32 characters.
const CODE_BITS: u64 = 5;
/// Bits of one character that anything else chose: letters, digits and two more.
const TEXT_BITS: u64 = 6;
/// Bits of one byte of `token(n)`.
const BYTE_BITS: u64 = 8;

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for entity in &context.model.entities {
        let bearers = entity.fields.iter().filter(|field| field.flags.bearer.is_some());
        findings.extend(bearers.filter_map(|field| finding(entity, field)));
    }
}

fn finding(entity: &Entity, field: &Field) -> Option<Diagnostic> {
    let bits = bits(field).filter(|bits| *bits < BITS_MIN)?;
    let message = format!("`{}` of {} has at most {bits} bits of randomness", field.name, entity.name);
    let finding = Diagnostic::warning(RULE.code, field.name_span, message)
        .label("a caller who guesses the value may use the item");
    Some(finding.help(format!(
        "use `code({})`, `token(16)` or an id with at least {BITS_MIN} bits",
        BITS_MIN.div_ceil(CODE_BITS)
    )))
}

/// Returns the most bits that the value of a field has; `None` if they are enough or unknown.
fn bits(field: &Field) -> Option<u64> {
    match &field.default {
        Some(Expr { kind: ExprKind::Call { function, arguments }, .. }) => match function.as_str() {
            "code" => Some(length(arguments, 10)?.saturating_mul(CODE_BITS)),
            "token" => Some(length(arguments, 32)?.saturating_mul(BYTE_BITS)),
            _ => None,
        },
        Some(_) => None,
        None if field.kind.is_bare_number() => Some(BITS_MIN - 1),
        None => {
            let longest = field.kind.free_text().and_then(|bounds| bounds.max)?;
            Some(u64::try_from(longest).ok()?.saturating_mul(TEXT_BITS))
        }
    }
}

/// Returns the argument of a generator, or the length it has without one.
fn length(arguments: &[Expr], otherwise: u64) -> Option<u64> {
    match arguments.first().map(|argument| &argument.kind) {
        Some(ExprKind::Number(text)) => text.parse().ok(),
        None => Some(otherwise),
        Some(_) => None,
    }
}
