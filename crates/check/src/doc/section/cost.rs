//! Section with the cost estimate.

use crate::cost::Report;
use crate::cost::text::{bytes, count, dollars, number};
use crate::doc::block::Page;

use super::code;

pub(crate) fn write(report: &Report, page: &mut Page) {
    page.heading(2, "Costs");
    page.paragraph(format!(
        "Units of one call, and dollars for a month of thirty days at the peak rates; prices of {}, {}. A star marks \
        values that are based on an assumption.",
        report.prices.region, report.prices.date
    ));
    let star = |assumed: bool| if assumed { "*" } else { "" };
    let rate = |rate: Option<f64>| rate.map(|rate| format!("{}/s", number(rate))).unwrap_or_default();
    let month = |money: Option<f64>| money.map(dollars).unwrap_or_default();
    let mut rows = Vec::new();
    for read in &report.reads {
        let units = format!("{} read{}", number(read.cost.units), star(read.cost.assumed));
        rows.push(vec![
            code(&read.name),
            units,
            String::new(),
            read.cost.pages.to_string(),
            rate(read.rate),
            month(read.month_dollars),
        ]);
    }
    for write in &report.writes {
        let units = format!("{} write{}", number(write.cost.units), star(write.cost.assumed));
        let index = if write.cost.index_units > 0.0 { number(write.cost.index_units) } else { String::new() };
        rows.push(vec![code(&write.name), units, index, String::new(), rate(write.rate), month(write.month_dollars)]);
    }
    page.table(&["pattern", "units", "index units", "pages", "rate", "month"], rows);
    let tables = report.tables.iter().map(|table| {
        let storage = &table.storage;
        vec![storage.table.clone(), count(storage.items), bytes(storage.total()), dollars(table.month_dollars)]
    });
    page.table(&["table", "items", "with indexes", "month"], tables.collect());
    page.paragraph(format!("Total: {} a month.", dollars(report.month_dollars)));
}
