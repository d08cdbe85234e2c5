//! Conversion between byte offsets and the protocol's positions: lines from 0, columns in UTF-16 units.

use keyform_language::Span;
use lsp_types::{Position, Range};

/// Returns the position of a byte offset.
pub(super) fn position(text: &str, offset: usize) -> Position {
    let before = text.get(..offset).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = before.matches('\n').count();
    let column = before[start..].encode_utf16().count();
    Position::new(u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
}

/// Returns the byte offset of a position; columns beyond the end of the line give its end.
pub(super) fn offset(text: &str, position: Position) -> usize {
    let lines = text.split_inclusive('\n');
    let start: usize = lines.clone().take(position.line as usize).map(str::len).sum();
    let line = text[start..].split('\n').next().unwrap_or_default();
    let mut units = 0;
    for (at, character) in line.char_indices() {
        if units >= position.character as usize {
            return start + at;
        }
        units += character.len_utf16();
    }
    start + line.len()
}

/// Converts a span to a range.
pub(super) fn range(text: &str, span: Span) -> Range {
    Range::new(position(text, span.start), position(text, span.end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_utf16_units() {
        let text = "ab\n\u{1f980}x é\n";
        let crab = text.find('x').unwrap();
        assert_eq!(position(text, crab), Position::new(1, 2));
        for (at, _) in text.char_indices() {
            assert_eq!(offset(text, position(text, at)), at);
        }
        assert_eq!(offset(text, Position::new(0, 99)), 2);
        assert_eq!(offset(text, Position::new(9, 0)), text.len());
    }
}
