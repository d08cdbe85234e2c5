//! Converts byte offsets to lines and columns. Lines end with `\n`; columns count Unicode scalar values; both start at
//! 1.

use crate::span::Span;

/// Index of the line starts of a text.
#[derive(Clone, Debug)]
pub struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

/// Line and column, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in Unicode scalar values.
    pub column: usize,
}

impl<'a> Lines<'a> {
    /// Indexes the lines of a text.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        let after = text.match_indices('\n').map(|(at, _)| at + 1);
        Self { text, starts: std::iter::once(0).chain(after).collect() }
    }

    /// Returns the offset at which the line of a byte offset starts.
    #[must_use]
    pub fn start_of(&self, offset: usize) -> usize {
        self.starts[self.starts.partition_point(|start| *start <= offset) - 1]
    }

    /// Returns the position of a byte offset; an offset beyond the text yields its end.
    #[must_use]
    pub fn position(&self, offset: usize) -> Position {
        let offset = boundary(self.text, offset);
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts[line - 1];
        Position { line, column: self.text[start..offset].chars().count() + 1 }
    }
}

/// Clamps a span to the text and to character boundaries.
#[must_use]
pub fn within(text: &str, span: Span) -> Span {
    let start = boundary(text, span.start);
    Span::new(start, boundary(text, span.end).max(start))
}

fn boundary(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_and_not_bytes() {
        let lines = Lines::new("aé\nb𝄞c\n");
        let at = |offset| (lines.position(offset).line, lines.position(offset).column);
        assert_eq!(
            [at(0), at(1), at(3), at(4), at(5), at(9), at(11)],
            [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3), (3, 1)]
        );
        assert_eq!(at(100), (3, 1), "beyond the end");
        assert_eq!(at(2), (1, 2), "inside a character");
    }
}
