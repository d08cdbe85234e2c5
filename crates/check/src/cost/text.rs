//! Formats the cost report as text.

use std::fmt::Write as _;

use super::report::{Report, TableLine};

/// Formats a report.
#[must_use]
pub fn text(report: &Report) -> String {
    let mut out = String::new();
    let Report { model, prices, .. } = report;
    line(&mut out, format_args!("{model}: cost on DynamoDB, {}, prices of {}", prices.region, prices.date));
    section(&mut out, "Reads", &reads(report));
    section(&mut out, "Writes", &writes(report));
    section(&mut out, "Deletes that cascades add, on average", &brought(report));
    section(&mut out, "Storage", &storage(report));
    let without: Vec<&str> =
        report.tables.iter().flat_map(|table| &table.storage.without_figures).map(String::as_str).collect();
    if !without.is_empty() {
        line(&mut out, format_args!("\nWithout an estimate (no `volume … items`): {}", without.join(", ")));
    }
    line(
        &mut out,
        format_args!("\nTotal for a month of thirty days at the peak rates: {}", dollars(report.month_dollars)),
    );
    line(&mut out, format_args!("* based on an assumed value: declare `volume` for an exact one"));
    out
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String never fails.
    writeln!(out, "{text}").expect("writing to a String never fails");
}

/// Appends a table. The first row is the header; all but the first two columns are right-aligned.
fn section(out: &mut String, title: &str, rows: &[Vec<String>]) {
    if rows.len() < 2 {
        return;
    }
    line(out, format_args!("\n{title}"));
    let columns = rows[0].len();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in rows {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
            0 | 1 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        line(out, format_args!("  {}", cells.collect::<Vec<_>>().join("  ").trim_end()));
    }
}

fn head(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn reads(report: &Report) -> Vec<Vec<String>> {
    let mut rows = vec![head(&["read", "request", "units", "items", "KB", "pages", "rate", "heat", "month"])];
    rows.extend(report.reads.iter().map(|read| {
        vec![
            read.name.clone(),
            format!("{} {}", read.request, read.source),
            marked(number(read.cost.units), read.cost.assumed),
            read.cost.examined_items.to_string(),
            number(read.cost.examined_bytes as f64 / 1024.0),
            read.cost.pages.to_string(),
            rate(read.rate),
            optional(read.heat, number),
            optional(read.month_dollars, dollars),
        ]
    }));
    rows
}

fn writes(report: &Report) -> Vec<Vec<String>> {
    let mut rows = vec![head(&["write", "request", "units", "index", "factor", "actions", "rate", "heat", "month"])];
    rows.extend(report.writes.iter().map(|write| {
        vec![
            write.name.clone(),
            write.request.to_owned(),
            marked(number(write.cost.units), write.cost.assumed),
            number(write.cost.index_units),
            format!("{}×", number(write.cost.amplification)),
            write.cost.actions.to_string(),
            rate(write.rate),
            optional(write.heat, number),
            optional(write.month_dollars, dollars),
        ]
    }));
    rows
}

fn brought(report: &Report) -> Vec<Vec<String>> {
    let mut rows = vec![head(&["write", "", "items", "read units", "write units"])];
    rows.extend(report.writes.iter().filter_map(|write| {
        let brings = write.brings?;
        Some(vec![
            write.name.clone(),
            String::new(),
            marked(number(brings.items), brings.assumed),
            number(brings.read_units),
            number(brings.write_units),
        ])
    }));
    rows
}

fn storage(report: &Report) -> Vec<Vec<String>> {
    let mut rows = vec![head(&["table", "", "items", "size", "month"])];
    for TableLine { storage, billing, month_dollars } in &report.tables {
        rows.push(vec![
            storage.table.clone(),
            billing.clone(),
            count(storage.items),
            bytes(storage.bytes),
            dollars(*month_dollars),
        ]);
        for index in &storage.indexes {
            rows.push(vec![
                format!("  .{}", index.index),
                String::new(),
                count(index.items),
                bytes(index.bytes),
                String::new(),
            ]);
        }
    }
    rows
}

fn marked(text: String, assumed: bool) -> String {
    if assumed { format!("{text}*") } else { text }
}

fn optional(value: Option<f64>, show: fn(f64) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), show)
}

fn rate(rate: Option<f64>) -> String {
    optional(rate, |rate| format!("{}/s", number(rate)))
}

/// Formats a number with at most two decimals.
#[must_use]
pub fn number(value: f64) -> String {
    let digits = if value == 0.0 || value >= 100.0 { 0 } else { 2 };
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Formats dollars with cents.
#[must_use]
pub fn dollars(value: f64) -> String {
    format!("${value:.2}")
}

/// Formats a count with a suffix: `K`, `M` or `G`.
#[must_use]
pub fn count(value: u64) -> String {
    match value {
        0..10_000 => value.to_string(),
        10_000..1_000_000 => format!("{}K", number(value as f64 / 1e3)),
        1_000_000..1_000_000_000 => format!("{}M", number(value as f64 / 1e6)),
        _ => format!("{}G", number(value as f64 / 1e9)),
    }
}

/// Formats a size with a unit from `B` to `TB`.
#[must_use]
pub fn bytes(value: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KB", "MB", "GB", "TB"];
    let mut size = value as f64;
    let mut unit = 0;
    while size >= 1024.0 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    format!("{} {}", number(size), UNITS[unit])
}
