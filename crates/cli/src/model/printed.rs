//! Output formats of answers: aligned tables, JSON, or JSON Lines.

use std::io::IsTerminal as _;

use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::output;

/// Minimum width to which a column is truncated.
const COLUMN_MIN: usize = 8;

/// Prints the pages of an answer. JSON Lines are printed immediately; a table is printed at the end, because its
/// columns depend on all rows.
pub(super) struct Printer {
    format: Format,
    /// Rows of the table or JSON document that is printed at the end.
    kept: Vec<Value>,
    is_page: bool,
    cursor: Option<String>,
}

enum Format {
    Table,
    Json,
    Lines,
}

impl Printer {
    pub(super) fn new(format: &str) -> Self {
        let format = match format {
            "json" => Format::Json,
            "jsonl" => Format::Lines,
            _ => Format::Table,
        };
        Self { format, kept: Vec::new(), is_page: false, cursor: None }
    }

    /// Adds an answer. With `all`, returns the cursor of the next page, if any.
    pub(super) fn page(&mut self, value: Value, all: bool) -> Result<Option<String>, Failure> {
        let items = match value {
            Value::Object(mut page) if page.contains_key("items") && page.contains_key("cursor") => {
                self.is_page = true;
                self.cursor = page.get("cursor").and_then(Value::as_str).map(str::to_owned);
                match page.remove("items") {
                    Some(Value::Array(items)) => items,
                    _ => Vec::new(),
                }
            }
            Value::Null if !matches!(self.format, Format::Json) => Vec::new(),
            value => vec![value],
        };
        match self.format {
            Format::Lines => items.iter().try_for_each(|item| output::line(&item.to_string()))?,
            Format::Table | Format::Json => self.kept.extend(items),
        }
        Ok(if all { self.cursor.take() } else { None })
    }

    /// Prints the table or document, and a note about further pages.
    pub(super) fn end(self) -> Result<(), Failure> {
        match self.format {
            Format::Lines => {}
            Format::Json => output::line(&serde_json::to_string_pretty(&self.document())?)?,
            Format::Table => output::line(tables(&self.kept, width()).trim_end())?,
        }
        match &self.cursor {
            Some(cursor) if !matches!(self.format, Format::Json) => {
                output::note(&format!("more with --cursor {cursor}, or all with --all"));
            }
            _ => {}
        }
        Ok(())
    }

    fn document(&self) -> Value {
        if self.is_page {
            return serde_json::json!({ "items": self.kept, "cursor": self.cursor });
        }
        self.kept.first().cloned().unwrap_or(Value::Null)
    }
}

/// Returns the width of the terminal, or `None` for a file or a pipe.
fn width() -> Option<usize> {
    if !std::io::stdout().is_terminal() {
        return None;
    }
    terminal_size::terminal_size().map(|(terminal_size::Width(columns), _)| usize::from(columns))
}

/// Formats a table, or one for each part of a collection.
fn tables(items: &[Value], width: Option<usize>) -> String {
    match items {
        [Value::Object(parts)] if is_collection(parts) => {
            let part = |(name, items): (&String, &Value)| {
                format!("{name}\n{}", table(items.as_array().map_or(&[], Vec::as_slice), width))
            };
            parts.iter().map(part).collect::<Vec<_>>().join("\n")
        }
        items => table(items, width),
    }
}

/// Returns whether all members are lists of objects. An item always has a scalar field, its id, so it is not mistaken
/// for a collection.
fn is_collection(parts: &Map<String, Value>) -> bool {
    let is_list = |part: &Value| part.as_array().is_some_and(|items| items.iter().all(Value::is_object));
    !parts.is_empty() && parts.values().all(is_list)
}

/// Formats a table with all fields as columns and one line per item.
fn table(items: &[Value], width: Option<usize>) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in items.iter().filter_map(Value::as_object).flat_map(|item| item.keys()) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return "nothing\n".to_owned();
    }
    let head: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let row = |item: &Value| names.iter().map(|name| cell(item.get(name))).collect();
    let rows: Vec<Vec<String>> = [head].into_iter().chain(items.iter().map(row)).collect();
    let longest = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let mut widths: Vec<usize> = (0..names.len()).map(longest).collect();
    if let Some(width) = width {
        narrow(&mut widths, width);
    }
    rows.iter().map(|row| line(row, &widths)).collect()
}

/// Narrows the widest columns until a line fits, down to the minimum width.
fn narrow(widths: &mut [usize], width: usize) {
    let gaps = 2 * widths.len().saturating_sub(1);
    while widths.iter().sum::<usize>() + gaps > width {
        match widths.iter_mut().max() {
            Some(widest) if *widest > COLUMN_MIN => *widest -= 1,
            _ => return,
        }
    }
}

fn line(row: &[String], widths: &[usize]) -> String {
    let cells = row.iter().zip(widths).map(|(text, width)| format!("{:<width$}", cut(text, *width)));
    cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
}

fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

/// Formats a value on one line.
fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => {
            text.chars().map(|symbol| if symbol.is_control() { ' ' } else { symbol }).collect()
        }
        Some(value) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn columns_are_aligned_and_wide_cells_cut() {
        let items = [json!({ "id": "1", "name": "Ada" }), json!({ "id": "22", "text": "a long\ntext of many words" })];
        let check = |width, expected: &str| assert_eq!(table(&items, width), expected);
        check(None, "id  name  text\n1   Ada\n22        a long text of many words\n");
        check(Some(24), "id  name  text\n1   Ada\n22        a long text o…\n");
        check(Some(3), "id  name  text\n1   Ada\n22        a long …\n");
        assert_eq!(table(&[], None), "nothing\n");
    }

    #[test]
    fn the_parts_of_an_answer_have_tables_of_their_own() {
        let parts = json!({ "Server": [{ "name": "Engines" }], "Channel": [] });
        assert_eq!(tables(&[parts], None), "Channel\nnothing\n\nServer\nname\nEngines\n");
    }
}
