//! Values that are known when a policy is generated.

use keyform_language::document::ast::BinaryOp;
use keyform_language::schema::{Expr, ExprKind, Format, Model, Origin, Parameter, Permission, ValuePath};

/// Knowledge about a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// Equals the caller's claim of that name.
    Claim(String),
    /// Equals this string.
    Text(String),
    /// Unknown.
    Nothing,
}

impl Known {
    /// Formats the value as part of an IAM pattern. IAM cannot compute a formatted claim, so that becomes `*`.
    pub(super) fn written(&self, format: Format) -> String {
        match self {
            Self::Claim(name) if format == Format::Plain => format!("${{aws:PrincipalTag/{name}}}"),
            Self::Text(text) if format == Format::Plain => literal(text),
            _ => "*".to_owned(),
        }
    }
}

/// Escapes `*`, `?` and `$`, which are special in an IAM pattern.
pub(super) fn literal(text: &str) -> String {
    let letter = |letter: char| match letter {
        '*' | '?' | '$' => format!("${{{letter}}}"),
        letter => letter.to_string(),
    };
    text.chars().map(letter).collect()
}

/// Knowledge about the arguments of each parameter.
pub(super) type Arguments = Vec<Vec<Known>>;

/// Returns what a permission proves about the parameters: `userId = caller.userId` makes the parameter equal to the
/// claim.
pub(super) fn proved(model: &Model, parameters: &[Parameter], allow: Option<&Permission>) -> Arguments {
    let mut known: Arguments =
        parameters.iter().map(|parameter| vec![Known::Nothing; parameter.arguments.len().max(1)]).collect();
    if let Some(Permission::When(condition)) = allow {
        note(model, condition, &mut known);
    }
    known
}

fn note(model: &Model, condition: &Expr, known: &mut Arguments) {
    match &condition.kind {
        ExprKind::Binary(BinaryOp::And, left, right) => {
            note(model, left, known);
            note(model, right, known);
        }
        ExprKind::Binary(BinaryOp::Equal, left, right) => {
            for (one, other) in [(left, right), (right, left)] {
                if let (Some(parameter), Some(claim)) = (parameter(one), claim(model, other))
                    && let Some(first) = known.get_mut(parameter).and_then(|arguments| arguments.first_mut())
                {
                    *first = Known::Claim(claim);
                }
            }
        }
        _ => {}
    }
}

fn place(expr: &Expr) -> Option<&ValuePath> {
    match &expr.kind {
        ExprKind::ValuePath(place) if place.path.is_empty() => Some(place),
        _ => None,
    }
}

fn parameter(expr: &Expr) -> Option<usize> {
    match place(expr)?.origin {
        Origin::Parameter(number) => Some(number),
        _ => None,
    }
}

fn claim(model: &Model, expr: &Expr) -> Option<String> {
    match place(expr)?.origin {
        Origin::Caller(number) => Some(model.caller.as_ref()?.fields.get(number)?.name.clone()),
        _ => None,
    }
}

/// Returns what is known about an expression, given the arguments of its pattern.
pub(super) fn known(model: &Model, expr: &Expr, arguments: &Arguments) -> Known {
    if let ExprKind::Text(text) = &expr.kind {
        return Known::Text(text.clone());
    }
    if let Some(name) = claim(model, expr) {
        return Known::Claim(name);
    }
    let given = parameter(expr).and_then(|number| arguments.get(number)).and_then(|all| all.first());
    given.cloned().unwrap_or(Known::Nothing)
}
