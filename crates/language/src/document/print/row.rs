//! Lines with aligned columns and their comments.
//!
//! A row is a line of the model, split into cells. The cells of adjacent rows (same kind, no empty line between them)
//! begin at the same column:
//!
//! ```text
//! userId:   ulid = ulid()     // made here
//! username: string(1..32)     // what others see
//! ```

use std::collections::BTreeSet;

use super::super::ast::Notes;
use super::WIDTH;

/// Spaces before a trailing comment.
const BEFORE_COMMENT: usize = 2;

/// A line of the model with its comments.
pub(super) struct Row<'a> {
    pub(super) notes: &'a Notes,
    /// Cells; all but the last are padded to the widest cell of their group.
    pub(super) cells: Vec<String>,
    /// Spaces between two cells.
    pub(super) space: usize,
    /// Alignment group. Only rows of the same kind are aligned; kind 0 is never aligned.
    pub(super) kind: u8,
    /// Last part, which is aligned if it fits and moves to its own line otherwise.
    pub(super) tail: Option<String>,
    /// Continuation lines.
    pub(super) more: Vec<String>,
    /// True if the first line opens a block, so that the trailing comment follows it instead of the last line.
    pub(super) opens: bool,
}

impl<'a> Row<'a> {
    /// Creates a row without alignment.
    pub(super) fn plain(notes: &'a Notes, mut lines: Vec<String>) -> Self {
        let more = lines.split_off(1.min(lines.len()));
        Self { notes, cells: lines, space: 1, kind: 0, tail: None, more, opens: false }
    }

    /// Creates a row whose first line opens a block.
    pub(super) fn block(notes: &'a Notes, lines: Vec<String>) -> Self {
        let opens = lines.first().is_some_and(|line| line.ends_with('{'));
        Self { opens, ..Self::plain(notes, lines) }
    }

    /// Creates a row of cells.
    pub(super) fn cells(notes: &'a Notes, kind: u8, cells: Vec<String>) -> Self {
        Self { notes, cells, space: 1, kind, tail: None, more: Vec::new(), opens: false }
    }

    /// Formats its cells, padded to these widths.
    fn text(&self, widths: &[usize]) -> String {
        let mut text = String::new();
        for (number, cell) in self.cells.iter().enumerate() {
            text.push_str(cell);
            if number + 1 < self.cells.len() {
                let width = widths.get(number).copied().unwrap_or_default().max(columns(cell));
                text.push_str(&" ".repeat(width - columns(cell) + self.space));
            }
        }
        text
    }
}

/// Returns the number of columns a text occupies.
pub(super) fn columns(text: &str) -> usize {
    text.chars().count()
}

/// Formats rows, each section aligned, followed by the comments of the tail.
pub(super) fn lines(rows: Vec<Row<'_>>, tail: &[String]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = rows.as_slice();
    while let Some(first) = rest.first() {
        if first.notes.gap && !lines.is_empty() {
            lines.push(String::new());
        }
        let length = 1 + rest[1..].iter().take_while(|row| !row.notes.gap).count();
        let (section, after) = rest.split_at(length);
        section_lines(section, &mut lines);
        rest = after;
    }
    comments(tail, &mut lines);
    lines
}

/// Formats rows without an empty line between them.
fn section_lines(section: &[Row<'_>], lines: &mut Vec<String>) {
    let first_lines: Vec<(String, Option<String>)> = aligned(section);
    let columns_of_comments = comment_columns(section, &first_lines);
    for ((row, (text, wrapped)), behind) in section.iter().zip(first_lines).zip(columns_of_comments) {
        notes_before(row.notes, lines);
        let own: Vec<String> = wrapped.into_iter().chain(row.more.iter().cloned()).collect();
        let mut all: Vec<String> = std::iter::once(text).chain(own).collect();
        if let Some(comment) = &row.notes.trailing {
            let alone = all.len() == 1;
            let number = if row.opens { 0 } else { all.len() - 1 };
            let column = if alone { behind } else { 0 };
            let line = &mut all[number];
            let padding = column.saturating_sub(columns(line)) + BEFORE_COMMENT;
            line.push_str(&" ".repeat(padding));
            line.push_str(slashed("//", comment).trim_end());
        }
        lines.append(&mut all);
    }
}

/// Returns the minimum column of each trailing comment, so that comments of adjacent rows are aligned.
fn comment_columns(section: &[Row<'_>], first_lines: &[(String, Option<String>)]) -> Vec<usize> {
    let commented: Vec<Option<usize>> = section
        .iter()
        .zip(first_lines)
        .map(|(row, (text, wrapped))| {
            let alone = row.notes.trailing.is_some() && row.more.is_empty() && wrapped.is_none();
            alone.then(|| columns(text))
        })
        .collect();
    let mut all = Vec::with_capacity(commented.len());
    for run in commented.chunk_by(|first, second| first.is_some() == second.is_some()) {
        let widest = run.iter().flatten().max().copied().unwrap_or_default();
        all.extend(run.iter().map(|_| widest));
    }
    all
}

/// Formats the first line of each row, and its tail if that needs its own line.
fn aligned(section: &[Row<'_>]) -> Vec<(String, Option<String>)> {
    let mut all: Vec<(String, Option<String>)> = vec![Default::default(); section.len()];
    let kinds: BTreeSet<u8> = section.iter().map(|row| row.kind).collect();
    for kind in kinds {
        let (numbers, run): (Vec<usize>, Vec<&Row<'_>>) =
            section.iter().enumerate().filter(|(_, row)| row.kind == kind).unzip();
        let lines =
            if kind == 0 { run.iter().flat_map(|row| aligned_run(&[row])).collect() } else { aligned_run(&run) };
        for (number, line) in numbers.into_iter().zip(lines) {
            all[number] = line;
        }
    }
    all
}

fn aligned_run(run: &[&Row<'_>]) -> Vec<(String, Option<String>)> {
    let widths = widths(run);
    let texts: Vec<String> = run.iter().map(|row| row.text(&widths)).collect();
    let fits = |text: &str, tail: &str| columns(text) + BEFORE_COMMENT + columns(tail) <= WIDTH;
    let with_tails = run.iter().zip(&texts).filter_map(|(row, text)| Some((text, row.tail.as_ref()?)));
    let column =
        with_tails.filter(|(text, tail)| fits(text, tail)).map(|(text, _)| columns(text) + BEFORE_COMMENT).max();
    let column = column.unwrap_or_default();
    let joined = |(row, text): (&&Row<'_>, String)| match &row.tail {
        None => (text, None),
        Some(tail) if columns(&text) + BEFORE_COMMENT <= column && column + columns(tail) <= WIDTH => {
            let padding = " ".repeat(column - columns(&text));
            (format!("{text}{padding}{tail}"), None)
        }
        Some(tail) if fits(&text, tail) => (format!("{text}  {tail}"), None),
        Some(tail) => (text, Some(format!("  {tail}"))),
    };
    run.iter().zip(texts).map(joined).collect()
}

/// Returns the width of each column of a run.
fn widths(run: &[&Row<'_>]) -> Vec<usize> {
    let mut widths: Vec<usize> = Vec::new();
    for row in run {
        for (number, cell) in row.cells.iter().enumerate().take(row.cells.len().saturating_sub(1)) {
            if widths.len() <= number {
                widths.push(0);
            }
            widths[number] = widths[number].max(columns(cell));
        }
    }
    widths
}

/// Appends the comments and the documentation before a line.
pub(super) fn notes_before(notes: &Notes, lines: &mut Vec<String>) {
    comments(&notes.comments, lines);
    lines.extend(notes.docs.iter().map(|doc| slashed("///", doc)));
}

/// Appends comments, one per line. A lone line break represents an empty line.
fn comments(comments: &[String], lines: &mut Vec<String>) {
    lines.extend(comments.iter().map(|text| if text == "\n" { String::new() } else { slashed("//", text) }));
}

fn slashed(slashes: &str, text: &str) -> String {
    if text.is_empty() { slashes.to_owned() } else { format!("{slashes} {text}") }
}

/// Formats `header {`, the lines indented by two columns, and `}`.
pub(super) fn braced(header: &str, lines: Vec<String>) -> Vec<String> {
    if lines.is_empty() {
        return vec![format!("{header} {{}}")];
    }
    let mut all = vec![format!("{header} {{")];
    all.extend(indented(lines));
    all.push("}".to_owned());
    all
}

/// Indents lines by two columns.
pub(super) fn indented(lines: Vec<String>) -> impl Iterator<Item = String> {
    lines.into_iter().map(|line| if line.is_empty() { line } else { format!("  {line}") })
}
