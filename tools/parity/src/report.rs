//! Report of a run: counts by operation, used decisions, and unexplained differences by kind.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

use crate::compare::{Class, Verdict};
use crate::outcome::Outcome;
use crate::request::Request;

const TEXT_MAX: usize = 900;
const DEATH_TEXT_MAX: usize = 60;

/// Counts of a run.
#[derive(Debug, Default)]
pub struct Report {
    /// Requests by operation: equal, we differ, peers differ, unexplained.
    pub operations: BTreeMap<String, [usize; 4]>,
    /// Number of differences that each decision explained.
    pub decisions: BTreeMap<String, usize>,
    /// Unexplained differences, one for each kind, with their number.
    pub findings: Vec<(String, Finding, usize)>,
    /// Number of restarts of each server.
    pub crashes: Vec<(String, usize)>,
    /// Requests that crashed a server.
    pub deaths: Vec<(String, String)>,
}

/// An unexplained difference with everything needed to reproduce it.
#[derive(Debug)]
pub struct Finding {
    /// Name of the operation.
    pub operation: String,
    /// The request, minimised.
    pub request: Value,
    /// Relation between the outcomes.
    pub class: Class,
    /// Answer of each server.
    pub answers: BTreeMap<String, Outcome>,
    /// CreateTable of its table.
    pub table: Option<Value>,
    /// The item that it writes, before the write.
    pub item_before: Option<Value>,
}

impl Report {
    /// Counts a request.
    pub fn count(&mut self, operation: &str, verdict: &Verdict) {
        let row = self.operations.entry(operation.to_owned()).or_default();
        row[verdict.class as usize] += 1;
        row[3] += usize::from(!verdict.unexplained.is_empty());
        for id in &verdict.explained {
            *self.decisions.entry(id.clone()).or_default() += 1;
        }
    }

    /// Records a request that crashed a server.
    pub fn died(&mut self, name: &str, request: &Request) {
        let text = request.body.to_string().chars().take(DEATH_TEXT_MAX).collect::<String>();
        let death = (name.to_owned(), format!("{} {text}", request.operation));
        if !self.deaths.contains(&death) {
            self.deaths.push(death);
        }
    }

    /// Records an unexplained difference, or counts it if its kind is known.
    pub fn unexplained(&mut self, finding: Finding) {
        let kind = kind_of(&finding.operation, finding.answers.values());
        match self.findings.iter_mut().find(|(known, ..)| *known == kind) {
            Some((_, _, count)) => *count += 1,
            None => self.findings.push((kind, finding, 1)),
        }
    }

    /// Returns whether a difference of this kind is known.
    #[must_use]
    pub fn has_seen(&self, kind: &str) -> bool {
        self.findings.iter().any(|(known, ..)| known == kind)
    }

    /// Returns the number of requests with an unexplained difference.
    #[must_use]
    pub fn unexplained_count(&self) -> usize {
        self.operations.values().map(|row| row[3]).sum()
    }

    /// Returns the number of compared requests.
    #[must_use]
    pub fn total(&self) -> usize {
        self.operations.values().map(|row| row[0] + row[1] + row[2]).sum()
    }

    /// Formats the report with at most this number of kinds of unexplained differences.
    #[must_use]
    pub fn render(&self, shown_max: usize) -> String {
        let mut text = String::new();
        self.render_findings(&mut text, shown_max);
        text += "\noperation               equal  we differ  peers differ  unexplained\n";
        for (operation, [equal, we, peers, unexplained]) in &self.operations {
            line(&mut text, &format!("{operation:<22} {equal:>6} {we:>10} {peers:>13} {unexplained:>12}"));
        }
        if !self.decisions.is_empty() {
            text += "\nexplained by\n";
            for (id, count) in &self.decisions {
                line(&mut text, &format!("{count:>7}  {id}"));
            }
        }
        for (name, count) in self.crashes.iter().filter(|(_, count)| *count > 0) {
            line(&mut text, &format!("{name} ended {count} times and was started again"));
        }
        for (name, request) in &self.deaths {
            line(&mut text, &format!("{name} ended by: {request}"));
        }
        line(&mut text, &format!("\n{} requests compared, {} unexplained", self.total(), self.unexplained_count()));
        text
    }

    fn render_findings(&self, text: &mut String, shown_max: usize) {
        let mut findings: Vec<_> = self.findings.iter().collect();
        findings.sort_by_key(|(_, finding, count)| (finding.class, usize::MAX - count));
        for (number, (_, finding, count)) in findings.iter().take(shown_max).enumerate() {
            line(
                text,
                &format!(
                    "\n[{}] {:?}, {count} ×: {} {}",
                    number + 1,
                    finding.class,
                    finding.operation,
                    shorten(&finding.request.to_string())
                ),
            );
            for (name, outcome) in &finding.answers {
                line(text, &format!("    {name:<10} {}", shorten(&outcome.to_string())));
            }
            if let Some(item) = &finding.item_before {
                line(text, &format!("    item before: {}", shorten(&item.to_string())));
            }
            if let Some(table) = &finding.table {
                line(text, &format!("    table: {}", shorten(&table.to_string())));
            }
        }
        if findings.len() > shown_max {
            line(text, &format!("\n… and {} more kinds", findings.len() - shown_max));
        }
    }
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("writing to a string cannot fail");
}

fn shorten(text: &str) -> String {
    let mut shown: String = text.chars().take(TEXT_MAX).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// Returns the kind of a difference. Differences of one kind have the same operation and the same shape of answers:
/// status, type and message without quoted parts, braces, numbers and values.
#[must_use]
pub fn kind_of<'a>(operation: &str, outcomes: impl Iterator<Item = &'a Outcome>) -> String {
    let mut shapes: Vec<String> = outcomes.map(shape).collect();
    shapes.sort_unstable();
    format!("{operation} {}", shapes.join(" | "))
}

fn shape(outcome: &Outcome) -> String {
    let kind = outcome.kind.as_deref().unwrap_or("success");
    let words = outcome.message.split_whitespace().filter(|word| word.chars().all(|c| c.is_ascii_alphabetic()));
    format!("{} {kind} {}", outcome.status, words.take(8).collect::<Vec<_>>().join(" "))
}
