//! CSV reader and writer. An empty cell means that the attribute is absent; a quoted empty cell is an empty string. The
//! crate `csv` does not tell the two apart.

use std::io::{BufRead, Write};

/// Writes a row. `None` is an empty cell, an empty string a quoted one (`""`).
pub(super) fn write(out: &mut dyn Write, cells: &[Option<String>]) -> std::io::Result<()> {
    let cell = |cell: &Option<String>| match cell {
        None => String::new(),
        Some(text) if must_be_quoted(text) => format!("\"{}\"", text.replace('"', "\"\"")),
        Some(text) => text.clone(),
    };
    let row: Vec<String> = cells.iter().map(cell).collect();
    // A single absent cell would be an empty line, which readers skip.
    let row = if row == [""] { "\"\"".to_owned() } else { row.join(",") };
    out.write_all(format!("{row}\n").as_bytes())
}

fn must_be_quoted(text: &str) -> bool {
    text.is_empty() || text.contains(['"', ',', '\n', '\r']) || text.starts_with(' ') || text.ends_with(' ')
}

/// Reads rows, including quoted line breaks.
pub(super) struct Rows<R> {
    reader: R,
    /// Number of the last line read, starting at 1.
    pub(super) line: usize,
}

impl<R: BufRead> Rows<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, line: 0 }
    }

    /// Returns the next row, or `None` at the end. Skips empty lines.
    pub(super) fn next(&mut self) -> std::io::Result<Option<Vec<Option<String>>>> {
        loop {
            let Some(mut text) = self.read_line()? else { return Ok(None) };
            while text.matches('"').count() % 2 == 1 {
                match self.read_line()? {
                    Some(more) => text.push_str(&more),
                    None => return Err(std::io::Error::other("unclosed quote")),
                }
            }
            let text = text.strip_suffix('\n').unwrap_or(&text);
            let text = text.strip_suffix('\r').unwrap_or(text);
            if !text.is_empty() {
                return cells(text).map(Some);
            }
        }
    }

    fn read_line(&mut self) -> std::io::Result<Option<String>> {
        let mut text = String::new();
        self.line += 1;
        Ok((self.reader.read_line(&mut text)? > 0).then_some(text))
    }
}

fn cells(row: &str) -> std::io::Result<Vec<Option<String>>> {
    let mut cells = Vec::new();
    let mut rest = row.strip_prefix('\u{feff}').unwrap_or(row);
    loop {
        let (cell, after) = match rest.strip_prefix('"') {
            Some(quoted) => {
                let (text, after) = unquote(quoted).ok_or_else(|| std::io::Error::other("unclosed quote"))?;
                (Some(text), after)
            }
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                (Some(rest[..end].to_owned()).filter(|text| !text.is_empty()), &rest[end..])
            }
        };
        cells.push(cell);
        match after.strip_prefix(',') {
            Some(next) => rest = next,
            None if after.is_empty() => return Ok(cells),
            None => return Err(std::io::Error::other("unexpected character after a closing quote")),
        }
    }
}

/// Returns the text up to the closing quote, and the rest after it.
fn unquote(quoted: &str) -> Option<(String, &str)> {
    let mut text = String::new();
    let mut rest = quoted;
    loop {
        let end = rest.find('"')?;
        text.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('"') {
            Some(more) => {
                text.push('"');
                rest = more;
            }
            None => return Some((text, rest)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_as_they_were() {
        let rows = [
            vec![Some("a".to_owned()), None, Some(String::new())],
            vec![Some("two\nlines, \"quoted\"".to_owned()), Some(" x ".to_owned()), None],
            vec![None, None, None],
        ];
        let mut text = Vec::new();
        rows.iter().for_each(|row| write(&mut text, row).expect("writing to memory succeeds"));
        let mut read = Rows::new(text.as_slice());
        for row in &rows {
            assert_eq!(read.next().expect("it was just written").as_ref(), Some(row));
        }
        assert_eq!(read.next().expect("the end"), None);
    }

    #[test]
    fn a_row_that_is_cut_off_is_an_error() {
        assert!(Rows::new("\"a".as_bytes()).next().is_err());
        assert!(Rows::new("\"a\"b,c".as_bytes()).next().is_err());
    }
}
