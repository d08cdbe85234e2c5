//! Formats tables and their indexes.

use super::super::ast::{
    Billing, Encryption, Index, KeyAttribute, KeyType, Line, Projection, StreamView, Table, TableClass, TableEntry,
};
use super::row::{Row, braced, lines};
use super::word;

/// Row kind of entries that begin with a short keyword.
const WORD: u8 = 1;
/// Maximum keyword length that is aligned with others.
const SHORT: usize = 7;

/// Formats `table NAME "physical" { … }`.
pub(super) fn table(table: &Table) -> Vec<String> {
    let physical = table.physical.as_ref().map(|text| format!(" {}", word::text(text))).unwrap_or_default();
    let rows = table.body.lines.iter().map(entry).collect();
    braced(&format!("table {}{physical}", word::name(&table.name)), lines(rows, &table.body.tail))
}

fn entry(line: &Line<TableEntry>) -> Row<'_> {
    let (keyword, rest) = words(&line.value);
    if keyword.len() > SHORT || rest.is_empty() {
        return Row::plain(&line.notes, vec![format!("{keyword} {rest}").trim_end().to_owned()]);
    }
    Row::cells(&line.notes, WORD, vec![keyword.to_owned(), rest])
}

/// Returns the keyword of an entry and the text after it.
fn words(entry: &TableEntry) -> (&'static str, String) {
    match entry {
        TableEntry::Key(attributes) => ("key", joined(attributes, ", ")),
        TableEntry::Index(value) if value.local => ("local index", index(value)),
        TableEntry::Index(value) => ("index", index(value)),
        TableEntry::Tag(name) => ("tag", word::name(name)),
        TableEntry::Ttl(name) => ("ttl", word::name(name)),
        TableEntry::Stream(view) => ("stream", stream(*view).to_owned()),
        TableEntry::Encryption(value) => ("encryption", encryption(value)),
        TableEntry::Billing(value) => ("billing", billing(value)),
        TableEntry::Class(TableClass::Standard) => ("class", "standard".to_owned()),
        TableEntry::Class(TableClass::Infrequent) => ("class", "infrequent".to_owned()),
        TableEntry::Recovery => ("recovery", String::new()),
        TableEntry::Protected => ("protected", String::new()),
        TableEntry::Allow(value) => ("allow", word::allow(value).trim_start_matches("allow ").to_owned()),
    }
}

fn joined(attributes: &[KeyAttribute], between: &str) -> String {
    attributes.iter().map(attribute).collect::<Vec<_>>().join(between)
}

fn attribute(attribute: &KeyAttribute) -> String {
    let kind = match attribute.kind {
        None => "",
        Some(KeyType::String) => ": string",
        Some(KeyType::Number) => ": number",
        Some(KeyType::Binary) => ": binary",
    };
    format!("{}{kind}", word::name(&attribute.name))
}

fn index(index: &Index) -> String {
    let parts: Vec<String> = [&index.partition, &index.sort]
        .into_iter()
        .filter(|part| !part.is_empty())
        .map(|part| joined(part, " + "))
        .collect();
    let physical = index.physical.as_ref().map(|text| format!(" {}", word::text(text))).unwrap_or_default();
    let projection = match &index.projection {
        None => String::new(),
        Some(Projection::All) => " project all".to_owned(),
        Some(Projection::Keys) => " project keys".to_owned(),
        Some(Projection::Include(names)) => format!(" project ({})", word::names(names)),
    };
    let sparse = if index.sparse { " sparse" } else { "" };
    format!("{}{physical} ({}){projection}{sparse}", word::name(&index.name), parts.join(", "))
}

fn stream(view: StreamView) -> &'static str {
    match view {
        StreamView::NewAndOld => "new_and_old",
        StreamView::New => "new",
        StreamView::Old => "old",
        StreamView::Keys => "keys",
    }
}

fn encryption(encryption: &Encryption) -> String {
    match encryption {
        Encryption::Owned => "owned".to_owned(),
        Encryption::Managed => "managed".to_owned(),
        Encryption::Kms(key) => format!("kms {}", word::text(key)),
    }
}

fn billing(billing: &Billing) -> String {
    match billing {
        Billing::OnDemand => "on_demand".to_owned(),
        Billing::Provisioned { reads, writes } => format!("provisioned {reads} reads, {writes} writes"),
    }
}
