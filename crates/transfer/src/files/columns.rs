//! CSV columns: an attribute name and a type. An attribute with several types has several columns.

use keyform_core::table::TableDescription;
use keyform_core::value::AttributeType;
use keyform_core::{AttributeValue, Attributes, Item};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::lines::{value_of, value_text};

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: AttributeType,
}

/// Columns of a table: its keys first, then the others by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns(pub(super) Vec<Column>);

impl Columns {
    /// Returns the columns of a table's keys.
    pub(super) fn of_keys(table: &TableDescription) -> Self {
        Self(table.key.attributes().filter_map(|name| key_column(table, name)).collect())
    }

    /// Adds the missing columns of an item after the existing ones.
    pub(super) fn add(&mut self, item: &Item) {
        for (name, value) in item.iter() {
            let column = Column { name: name.to_owned(), kind: value.kind() };
            if !self.0.contains(&column) {
                self.0.push(column);
            }
        }
    }

    pub(super) fn sort_after(&mut self, keys: usize) {
        self.0[keys..].sort();
    }

    /// Returns the header row. Key columns take their type from the table and strings are the default, so both omit the
    /// type.
    pub(super) fn header(&self, table: &TableDescription) -> Vec<Option<String>> {
        let title = |column: &Column| {
            let plain = column.kind == AttributeType::S && split(&column.name).is_none();
            Some(if table.key.contains(&column.name) || plain {
                column.name.clone()
            } else {
                format!("{}:{}", column.name, column.kind.name())
            })
        };
        self.0.iter().map(title).collect()
    }

    /// Parses the header row.
    pub(super) fn read(header: &[Option<String>], table: &TableDescription) -> Self {
        let column = |title: &Option<String>| {
            let title = title.as_deref().unwrap_or_default();
            if let Some(column) = key_column(table, title) {
                return column;
            }
            let (name, kind) = split(title).unwrap_or((title, AttributeType::S));
            key_column(table, name).unwrap_or(Column { name: name.to_owned(), kind })
        };
        Self(header.iter().map(column).collect())
    }

    /// Returns the cells of an item, or `None` if it has a value without a column.
    pub(super) fn cells(&self, item: &Item) -> Option<Vec<Option<String>>> {
        let attributes = item.to_attributes();
        let cell = |column: &Column| {
            let value = attributes.get(&column.name).filter(|value| value.kind() == column.kind)?;
            Some(text(value))
        };
        let cells: Vec<Option<String>> = self.0.iter().map(cell).collect();
        (cells.iter().flatten().count() == attributes.len()).then_some(cells)
    }

    /// Parses a row of cells into an item.
    pub(super) fn item(&self, cells: &[Option<String>]) -> Result<Attributes, String> {
        if cells.len() > self.0.len() {
            return Err(format!("the row has {} cells, the first row has {}", cells.len(), self.0.len()));
        }
        let mut item = Attributes::new();
        for (column, cell) in self.0.iter().zip(cells) {
            let Some(cell) = cell else { continue };
            let read = value(column.kind, cell).map_err(|why| format!("{}: {why}", column.name))?;
            if item.insert(column.name.clone(), read).is_some() {
                return Err(format!("{} has two values", column.name));
            }
        }
        Ok(item)
    }
}

fn key_column(table: &TableDescription, name: &str) -> Option<Column> {
    let kind = table.key.contains(name).then(|| table.attributes.get(name)).flatten()?;
    Some(Column { name: name.to_owned(), kind: AttributeType::from_name(kind.name())? })
}

/// Splits a title such as `count:N` into name and type.
fn split(title: &str) -> Option<(&str, AttributeType)> {
    let (name, kind) = title.rsplit_once(':')?;
    Some((name, AttributeType::from_name(kind)?))
}

fn text(value: &AttributeValue) -> String {
    match value {
        AttributeValue::S(text) => text.clone(),
        AttributeValue::N(number) => number.to_string(),
        AttributeValue::B(bytes) => STANDARD.encode(bytes),
        AttributeValue::Bool(value) => value.to_string(),
        AttributeValue::Null => "true".to_owned(),
        other => value_text(other),
    }
}

fn value(kind: AttributeType, cell: &str) -> Result<AttributeValue, String> {
    match kind {
        AttributeType::S => Ok(AttributeValue::S(cell.to_owned())),
        AttributeType::N => cell
            .trim()
            .parse()
            .map(AttributeValue::N)
            .map_err(|_| format!("`{cell}` is not a number DynamoDB can hold")),
        AttributeType::B => STANDARD.decode(cell).map(AttributeValue::B).map_err(|_| "not valid base64".to_owned()),
        AttributeType::Bool => {
            cell.parse().map(AttributeValue::Bool).map_err(|_| format!("`{cell}` is neither true nor false"))
        }
        AttributeType::Null => Ok(AttributeValue::Null),
        other => value_of(other.name(), cell),
    }
}
