//! Labels of values: encrypted and secret values are kept more carefully than personal ones, and those than plain ones.

use keyform_language::schema::{Expr, ExprKind, Field, LetSource, Origin, ValuePath};
use keyform_language::span::Span;

use super::site::Site;

/// Label of a value, from the least to the most protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Label {
    /// May be shown.
    Plain,
    /// Personal data.
    Personal,
    /// Never returned.
    Secret,
    /// Never stored readably.
    Encrypted,
}

impl Label {
    /// Returns the label of a field.
    pub(super) fn of(field: &Field) -> Self {
        let flags = &field.flags;
        match (flags.encrypted, flags.secret, flags.personal) {
            (Some(_), _, _) => Self::Encrypted,
            (None, Some(_), _) => Self::Secret,
            (None, None, Some(_)) => Self::Personal,
            (None, None, None) => Self::Plain,
        }
    }

    /// Returns true if a value with this label may be stored in a field with the other one. A secret may be stored
    /// encrypted; an encrypted value may not be stored readably, even as a secret.
    pub(super) fn may_flow_to(self, other: Self) -> bool {
        self <= other
    }

    /// Returns the flag that gives the label.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Personal => "personal",
            Self::Secret => "secret",
            Self::Encrypted => "encrypted",
        }
    }
}

/// A labelled field that an expression reveals.
pub(super) struct Revealed<'a> {
    pub(super) label: Label,
    pub(super) field: &'a Field,
    /// Place of the reference in the expression.
    pub(super) span: Span,
}

/// Returns the most protected field that an expression reveals. A hash reveals nothing.
pub(super) fn revealed<'a>(site: &Site<'a>, expr: &'a Expr) -> Option<Revealed<'a>> {
    match &expr.kind {
        ExprKind::Call { function, .. } if function == "hash" => None,
        ExprKind::Call { arguments, .. } => most(arguments.iter().filter_map(|argument| revealed(site, argument))),
        ExprKind::List(parts) => most(parts.iter().filter_map(|part| revealed(site, part))),
        ExprKind::Record(parts) => most(parts.iter().filter_map(|(_, part)| revealed(site, part))),
        ExprKind::Binary(_, left, right) => most([left, right].into_iter().filter_map(|side| revealed(site, side))),
        ExprKind::ValuePath(place) => of_place(site, place, expr.span),
        _ => None,
    }
}

fn of_place<'a>(site: &Site<'a>, place: &'a ValuePath, span: Span) -> Option<Revealed<'a>> {
    if let Some((field, _)) = site.field(place) {
        return Some(Revealed { label: Label::of(field), field, span });
    }
    let Origin::Let { number, .. } = &place.origin else { return None };
    match &site.write.lets.get(*number)?.source {
        LetSource::Value(value) => revealed(site, value).map(|revealed| Revealed { span, ..revealed }),
        LetSource::Read { .. } | LetSource::Unknown => None,
    }
}

fn most<'a>(revealed: impl Iterator<Item = Revealed<'a>>) -> Option<Revealed<'a>> {
    revealed.max_by_key(|revealed| revealed.label)
}
