//! Encoding of the statistics of all tables as one record.

use bytes::Bytes;
use keyform_core::{AttributeValue, Error};

use super::fields::{Fields, Record};
use super::{Catalog, Index, Statistics, Table};

/// Newest record version that this program reads; the one it writes.
const VERSION: u64 = 1;

pub fn encode(catalog: &Catalog) -> Bytes {
    Record::default().number("version", VERSION).list("tables", catalog.iter().map(|one| table(one))).into_bytes()
}

/// Adds the counters of a record to the tables of a catalog. Skips tables and indexes that no longer exist.
pub fn restore(bytes: Bytes, catalog: &Catalog) -> Result<(), Error> {
    let fields = Fields::decode(bytes)?;
    fields.check_version(VERSION)?;
    for fields in fields.records("tables")? {
        let Some(table) = catalog.find(fields.text("name")?) else { continue };
        add(&table.statistics, &fields)?;
        for fields in fields.records("indexes")? {
            let name = fields.text("name")?;
            table.index(name).map_or(Ok(()), |index| add(&index.statistics, &fields))?;
        }
    }
    Ok(())
}

fn table(table: &Table) -> AttributeValue {
    counts(&table.name, &table.statistics).list("indexes", table.indexes.iter().map(index)).into_value()
}

fn index(index: &Index) -> AttributeValue {
    counts(&index.name, &index.statistics).into_value()
}

fn counts(name: &str, statistics: &Statistics) -> Record {
    Record::default().set("name", name).number("items", statistics.items()).number("bytes", statistics.bytes())
}

fn add(statistics: &Statistics, fields: &Fields) -> Result<(), Error> {
    statistics.add(fields.signed("items")?, fields.signed("bytes")?);
    Ok(())
}
