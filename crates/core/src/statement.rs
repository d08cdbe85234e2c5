//! PartiQL statements as trees. The executor, which knows the key schema, decides which parts of a WHERE clause are
//! key conditions.

use crate::expression::{Condition, Path, Update};
use crate::value::Attributes;

/// A parsed PartiQL statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// `SELECT … FROM table[.index] WHERE … ORDER BY …`
    Select(SelectStatement),
    /// `INSERT INTO table VALUE {…}`
    Insert {
        /// Table name or ARN.
        table: String,
        /// Item to insert, with its key.
        item: Attributes,
    },
    /// `UPDATE table SET … REMOVE … WHERE … RETURNING …`
    Update {
        /// Table name or ARN.
        table: String,
        /// Changes of the SET and REMOVE clauses.
        update: Update,
        /// WHERE clause: selects the item by its key; the rest is the condition of the write.
        condition: Condition,
        /// Item image to return.
        returning: crate::operation::ReturnValues,
    },
    /// `DELETE FROM table WHERE … RETURNING ALL OLD *`
    Delete {
        /// Table name or ARN.
        table: String,
        /// WHERE clause: selects the item by its key; the rest is the condition of the write.
        condition: Condition,
        /// Item image to return.
        returning: crate::operation::ReturnValues,
    },
    /// `EXISTS(SELECT …)`: a condition check, valid in transactions only.
    Exists(SelectStatement),
}

/// A SELECT statement.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectStatement {
    /// Table name or ARN.
    pub table: String,
    /// Secondary index to read instead of the table.
    pub index: Option<String>,
    /// Selected attributes; `None` for `*`.
    pub columns: Option<Vec<Path>>,
    /// WHERE clause; without one the statement is a scan.
    pub condition: Option<Condition>,
    /// ORDER BY clause; empty without one.
    pub order: Vec<OrderBy>,
}

/// One attribute of an ORDER BY clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderBy {
    /// Name of the attribute to sort by.
    pub attribute: String,
    /// Descending order (`DESC`).
    pub descending: bool,
}

impl Statement {
    /// Returns the table that the statement addresses.
    pub fn table(&self) -> &str {
        match self {
            Self::Select(select) | Self::Exists(select) => &select.table,
            Self::Insert { table, .. } | Self::Update { table, .. } | Self::Delete { table, .. } => table,
        }
    }
}
