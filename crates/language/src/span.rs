//! Source positions as byte offsets. Line and column numbers are computed only when a diagnostic is rendered.

/// A byte range of the source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset after the last byte.
    pub end: usize,
}

/// A value with the source range that it was written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The spanned value.
    pub value: T,
    /// Source range of the value, or of the clause that states it.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// Creates a value with its source range.
    pub const fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }
}

impl Span {
    /// Creates the span from `start` (inclusive) to `end` (exclusive).
    #[must_use]
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// Returns the smallest span that covers both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Returns true if `other` lies within this span.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}
