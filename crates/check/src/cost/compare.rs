//! Cost difference between two versions of a model.

use std::fmt::Write as _;

use serde::Serialize;

use super::report::Report;
use super::text::{dollars, number};

/// Difference between two reports.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// Patterns whose units or cost differ, including new and removed ones.
    pub patterns: Vec<Difference>,
    /// Dollars per month before the change.
    pub before_dollars: f64,
    /// Dollars per month after the change.
    pub now_dollars: f64,
}

/// Cost difference of one pattern.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// Name of the pattern.
    pub name: String,
    /// Units per call before; `None` if the pattern is new.
    pub before_units: Option<f64>,
    /// Units per call now; `None` if the pattern was removed.
    pub now_units: Option<f64>,
    /// Dollars per month before, if its rate was known.
    pub before_dollars: Option<f64>,
    /// Dollars per month now, if its rate is known.
    pub now_dollars: Option<f64>,
}

type Line<'a> = (&'a str, f64, Option<f64>);

fn lines(report: &Report) -> Vec<Line<'_>> {
    let reads = report.reads.iter().map(|line| (line.name.as_str(), line.cost.units, line.month_dollars));
    let writes = report
        .writes
        .iter()
        .map(|line| (line.name.as_str(), line.cost.units + line.cost.index_units, line.month_dollars));
    reads.chain(writes).collect()
}

/// Compares two reports.
#[must_use]
pub fn compare(before: &Report, now: &Report) -> Comparison {
    let (old, new) = (lines(before), lines(now));
    let find = |lines: &[Line<'_>], name: &str| lines.iter().find(|line| line.0 == name).map(|line| (line.1, line.2));
    let gone = old.iter().filter(|line| find(&new, line.0).is_none());
    let names = new.iter().chain(gone).map(|line| line.0);
    let difference = |name: &str| {
        let (then, now) = (find(&old, name), find(&new, name));
        Difference {
            name: name.to_owned(),
            before_units: then.map(|line| line.0),
            now_units: now.map(|line| line.0),
            before_dollars: then.and_then(|line| line.1),
            now_dollars: now.and_then(|line| line.1),
        }
    };
    let patterns = names.map(difference).filter(Difference::is_one).collect();
    Comparison { patterns, before_dollars: before.month_dollars, now_dollars: now.month_dollars }
}

impl Difference {
    fn is_one(&self) -> bool {
        self.before_units != self.now_units || self.before_dollars != self.now_dollars
    }
}

/// Formats a comparison as text.
#[must_use]
pub fn text(comparison: &Comparison) -> String {
    let mut out = String::new();
    let units = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{} units", number(value)));
    let money = |value: Option<f64>| value.map_or_else(String::new, |value| format!(" ({} a month)", dollars(value)));
    for line in &comparison.patterns {
        let (before, now) = (units(line.before_units), units(line.now_units));
        writeln!(out, "  {}: {before}{} -> {now}{}", line.name, money(line.before_dollars), money(line.now_dollars))
            .expect("writing to a String never fails");
    }
    if comparison.patterns.is_empty() {
        out.push_str("  no pattern changes its units\n");
    }
    let difference = comparison.now_dollars - comparison.before_dollars;
    let sign = if difference < 0.0 { "-" } else { "+" };
    writeln!(
        out,
        "A month: {} -> {} ({sign}{})",
        dollars(comparison.before_dollars),
        dollars(comparison.now_dollars),
        dollars(difference.abs())
    )
    .expect("writing to a String never fails");
    out
}
