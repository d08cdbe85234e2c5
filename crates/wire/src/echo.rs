//! Parts of a request that its response repeats.

use keyform_core::Attributes;

use crate::request::{Names, name_in_arn};

/// Parts of a request that [`crate::encode`] needs for the response, such as the name or ARN used for each table.
#[derive(Clone, Debug, Default)]
pub struct Echo {
    tables: Vec<EchoedTable>,
}

#[derive(Clone, Debug)]
struct EchoedTable {
    name: String,
    addressed: String,
    unread: Option<UnreadKeys>,
}

/// Keys of one table of a BatchGetItem. The response repeats those that were not read, with their read options.
#[derive(Clone, Debug)]
pub(crate) struct UnreadKeys {
    pub(crate) keys: Vec<Attributes>,
    pub(crate) projection: Option<String>,
    pub(crate) names: Option<Names>,
    pub(crate) consistent: Option<bool>,
    pub(crate) attributes: Option<Vec<String>>,
}

impl Echo {
    /// Returns the table name. Records the ARN if the request addressed the table by ARN.
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

    /// Records how the request addressed a table of a batch.
    pub(crate) fn add_table(&mut self, name: &str, addressed: String, unread: Option<UnreadKeys>) {
        self.tables.push(EchoedTable { name: name.to_owned(), addressed, unread });
    }

    /// Returns the table as the request addressed it: by name or by ARN.
    pub(crate) fn address<'a>(&'a self, table: &'a str) -> &'a str {
        self.table(table).map_or(table, |known| &known.addressed)
    }

    /// Returns the keys of a BatchGetItem for the table.
    pub(crate) fn unread(&self, table: &str) -> Option<&UnreadKeys> {
        self.table(table)?.unread.as_ref()
    }

    fn table(&self, name: &str) -> Option<&EchoedTable> {
        self.tables.iter().find(|known| known.name == name)
    }
}
