//! Section with the tables, their indexes, and sample partitions.

use std::collections::BTreeMap;

use crate::doc::block::Page;
use crate::doc::sample;
use keyform_language::document::ast::{Billing, Encryption, StreamView, TableClass};
use keyform_language::schema::{Index, Model, Table, TableId};
use keyform_language::span::Spanned;

use super::{code, overview};

pub(crate) fn write(model: &Model, page: &mut Page) {
    page.heading(2, "Tables");
    for (number, table) in model.tables.iter().enumerate() {
        page.heading(3, format!("Table {}", table.name));
        page.docs(&table.docs);
        page.list(settings(table));
        page.table(&["index", "key", "projection", ""], table.indexes.iter().map(index).collect());
        collection(model, TableId(number), table, page);
    }
}

fn settings(table: &Table) -> Vec<String> {
    let mut lines =
        vec![format!("name in the store: `{}`", table.physical), format!("key: `{}`", overview::key(table))];
    if let Some(Spanned { value: tag, .. }) = &table.tag {
        lines.push(format!("`{tag}` holds the entity of each item"));
    }
    if let Some(Spanned { value: ttl, .. }) = &table.ttl {
        lines.push(format!("items expire by `{ttl}`"));
    }
    if let Some(Spanned { value: view, .. }) = table.stream {
        lines.push(format!("stream: {}", stream(view)));
    }
    match &table.encryption {
        Encryption::Owned => {}
        Encryption::Managed => lines.push("encrypted with the account's key".to_owned()),
        Encryption::Kms(key) => lines.push(format!("encrypted with `{}`", key.text)),
    }
    if let Billing::Provisioned { reads, writes } = table.billing {
        lines.push(format!("provisioned: {reads} reads and {writes} writes a second"));
    }
    if table.class == TableClass::Infrequent {
        lines.push("class: infrequent access".to_owned());
    }
    lines.extend(table.recovery.then(|| "point-in-time recovery".to_owned()));
    lines.extend(table.protected.then(|| "deletion protection".to_owned()));
    lines
}

fn stream(view: StreamView) -> &'static str {
    match view {
        StreamView::NewAndOld => "the item before and after each change",
        StreamView::New => "the item after each change",
        StreamView::Old => "the item before each change",
        StreamView::Keys => "the keys of each changed item",
    }
}

fn index(index: &Index) -> Vec<String> {
    let copies = match &index.projection {
        None => "everything".to_owned(),
        Some(names) if names.is_empty() => "the keys".to_owned(),
        Some(names) => names.iter().map(|name| code(&name.value)).collect::<Vec<_>>().join(", "),
    };
    let mut remarks: Vec<String> = index.docs.iter().map(|line| line.trim().to_owned()).collect();
    remarks.extend(index.local.then(|| "local".to_owned()));
    remarks.extend(index.sparse.then(|| "sparse".to_owned()));
    vec![code(&index.name), code(&overview::index_key(index)), copies, remarks.join(" ")]
}

/// Adds sample items in storage order: by partition, then by sort key.
fn collection(model: &Model, id: TableId, table: &Table, page: &mut Page) {
    let (Some(partition), sort) = (&table.partition, &table.sort) else { return };
    let mut rows: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for (_, entity) in model.entities_of(id) {
        let item = sample::item(model, entity, 0);
        let text = |name: &str| {
            let value = item.iter().find(|(attribute, _)| attribute == name).map(|(_, value)| value);
            value.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned)).unwrap_or_default()
        };
        let key = (text(&partition.name), sort.as_ref().map(|sort| text(&sort.name)).unwrap_or_default());
        let keys = entity.key_fields();
        let told = |name: &str| entity.field_named(name).is_some_and(|field| !keys.contains(&field));
        let others = item.iter().filter(|(name, _)| told(name)).take(3).map(|(name, value)| format!("{name}: {value}"));
        let row = vec![code(&key.0), code(&key.1), entity.name.clone(), others.collect::<Vec<_>>().join(", ")];
        rows.insert(key, row);
    }
    if rows.is_empty() {
        return;
    }
    page.heading(4, format!("Items of {} side by side", table.name));
    let sort_name = sort.as_ref().map_or("", |sort| sort.name.as_str());
    page.table(&[&partition.name, sort_name, "entity", "and"], rows.into_values().collect());
}
