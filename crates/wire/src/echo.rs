//! What an answer needs to know of its request.

use keyform_core::Attributes;

use crate::request::{Names, name_in_arn};

/// What [`crate::encode`] needs to know of the request.
#[derive(Clone, Debug)]
pub struct Echo {
    pub(crate) operation: &'static str,
    tables: Vec<EchoedTable>,
}

#[derive(Clone, Debug)]
struct EchoedTable {
    name: String,
    addressed: String,
    unread: Option<UnreadKeys>,
}

/// The keys of a table in a BatchGetItem, of which an answer names those that were not read.
#[derive(Clone, Debug)]
pub(crate) struct UnreadKeys {
    pub(crate) keys: Vec<Attributes>,
    pub(crate) projection: Option<String>,
    pub(crate) names: Option<Names>,
    pub(crate) consistent: Option<bool>,
    pub(crate) attributes: Option<Vec<String>>,
}

impl Echo {
    pub(crate) fn new(operation: &'static str) -> Self {
        Self { operation, tables: Vec::new() }
    }

    /// The name of a table; how it was addressed is noted if not by its name.
    pub(crate) fn resolve(&mut self, table: Option<String>) -> String {
        let addressed = table.unwrap_or_default();
        match name_in_arn(&addressed) {
            None => addressed,
            Some(name) => {
                let name = name.to_owned();
                self.add_table(&name, addressed, None);
                name
            }
        }
    }

    /// Notes how a table of a batch was addressed.
    pub(crate) fn add_table(&mut self, name: &str, addressed: String, unread: Option<UnreadKeys>) {
        self.tables.push(EchoedTable { name: name.to_owned(), addressed, unread });
    }

    /// How the request addressed the table: by its name or by its ARN.
    pub(crate) fn address<'a>(&'a self, table: &'a str) -> &'a str {
        self.table(table).map_or(table, |known| &known.addressed)
    }

    /// What a BatchGetItem asked of the table.
    pub(crate) fn unread(&self, table: &str) -> Option<&UnreadKeys> {
        self.table(table)?.unread.as_ref()
    }

    fn table(&self, name: &str) -> Option<&EchoedTable> {
        self.tables.iter().find(|known| known.name == name)
    }
}
