//! PartiQL statements as trees. Which part of a WHERE clause is a key is decided by whoever knows the table.

use crate::expression::{Condition, Path, Update};
use crate::value::Attributes;

/// One statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// `SELECT … FROM table[.index] WHERE … ORDER BY …`
    Select(SelectStatement),
    /// `INSERT INTO table VALUE {…}`
    Insert {
        /// Into which table.
        table: String,
        /// The item.
        item: Attributes,
    },
    /// `UPDATE table SET … REMOVE … WHERE … RETURNING …`
    Update {
        /// In which table.
        table: String,
        /// What to change.
        update: Update,
        /// Which item, and under which condition.
        condition: Condition,
        /// What to answer.
        returning: crate::operation::ReturnValues,
    },
    /// `DELETE FROM table WHERE … RETURNING ALL OLD *`
    Delete {
        /// From which table.
        table: String,
        /// Which item, and under which condition.
        condition: Condition,
        /// What to answer.
        returning: crate::operation::ReturnValues,
    },
    /// `EXISTS(SELECT …)`, in transactions only: a condition check.
    Exists(SelectStatement),
}

/// A SELECT.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectStatement {
    /// From which table.
    pub table: String,
    /// Through which index.
    pub index: Option<String>,
    /// Which attributes; `None` for `*`.
    pub columns: Option<Vec<Path>>,
    /// Which items.
    pub condition: Option<Condition>,
    /// In which order.
    pub order: Vec<OrderBy>,
}

/// One attribute of an ORDER BY.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderBy {
    /// The attribute.
    pub attribute: String,
    /// `DESC`.
    pub descending: bool,
}

impl Statement {
    /// The table it is about.
    pub fn table(&self) -> &str {
        match self {
            Self::Select(select) | Self::Exists(select) => &select.table,
            Self::Insert { table, .. } | Self::Update { table, .. } | Self::Delete { table, .. } => table,
        }
    }
}
