//! Medians of the rounds, as tables: operations per second, latencies, processor time, ratios, start and memory.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use keyform_driver::server::{Engine, Storage};
use serde_json::{Value, json};

use crate::options::TargetName;
use crate::workload::Workload;
use keyform_bench::generator::Sample;

/// Result of one measurement.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cell {
    pub per_second: f64,
    pub p50_micros: f64,
    pub p99_micros: f64,
    pub cpu_micros: f64,
    pub refused: usize,
}

impl Cell {
    pub fn from_sample(mut sample: Sample, cpu: Duration) -> Self {
        sample.latencies.sort_unstable();
        let count = sample.latencies.len().max(1);
        let at = |share: f64| {
            let index = ((count as f64 * share) as usize).min(count - 1);
            sample.latencies.get(index).map_or(0.0, |latency| latency.as_secs_f64() * 1e6)
        };
        if let Some(refusal) = &sample.refusal {
            eprintln!(
                "  {} of {count} refused, the first: {}",
                sample.refused,
                refusal.lines().last().unwrap_or_default()
            );
        }
        Self {
            per_second: count as f64 / sample.elapsed.as_secs_f64(),
            p50_micros: at(0.50),
            p99_micros: at(0.99),
            cpu_micros: cpu.as_secs_f64() * 1e6 / count as f64,
            refused: sample.refused,
        }
    }
}

/// Start time and memory of a server.
#[derive(Debug, Clone, Copy)]
pub struct Footprint {
    pub start: Duration,
    pub idle: u64,
    pub loaded: u64,
    pub end: u64,
}

/// All measurements of a run.
#[derive(Debug, Default)]
pub struct Results {
    cells: BTreeMap<(TargetName, Workload, usize), Vec<Cell>>,
    footprints: BTreeMap<TargetName, Vec<Footprint>>,
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

impl Results {
    pub fn add(&mut self, target: TargetName, workload: Workload, connections: usize, cell: Cell) {
        self.cells.entry((target, workload, connections)).or_default().push(cell);
    }

    pub fn footprint(&mut self, target: TargetName, footprint: Footprint) {
        self.footprints.entry(target).or_default().push(footprint);
    }

    fn median(&self, target: TargetName, workload: Workload, connections: usize) -> Option<Cell> {
        let cells = self.cells.get(&(target, workload, connections))?;
        let of = |field: fn(&Cell) -> f64| median(cells.iter().map(field).collect());
        Some(Cell {
            per_second: of(|cell| cell.per_second),
            p50_micros: of(|cell| cell.p50_micros),
            p99_micros: of(|cell| cell.p99_micros),
            cpu_micros: of(|cell| cell.cpu_micros),
            refused: cells.iter().map(|cell| cell.refused).sum(),
        })
    }

    fn targets(&self) -> Vec<TargetName> {
        self.footprints.keys().copied().collect()
    }

    fn workloads(&self) -> Vec<Workload> {
        let measured = |workload: &Workload| self.cells.keys().any(|(_, known, _)| known == workload);
        Workload::ALL.into_iter().filter(measured).collect()
    }

    fn connections(&self) -> Vec<usize> {
        let mut found: Vec<usize> = self.cells.keys().map(|(.., connections)| *connections).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Formats the tables as Markdown.
    pub fn render(&self) -> String {
        let mut text = String::new();
        let counts = self.connections().iter().map(usize::to_string).collect::<Vec<_>>().join(" / ");
        self.table(&mut text, &format!("Operations a second with {counts} connections"), &|cell| {
            thousands(cell.per_second)
        });
        self.table(&mut text, &format!("Latency p50 with {counts} connections"), &|cell| micros(cell.p50_micros));
        self.table(&mut text, &format!("Latency p99 with {counts} connections"), &|cell| micros(cell.p99_micros));
        self.table(
            &mut text,
            &format!("Server's processor time per operation with {counts} connections, µs"),
            &|cell| format!("{:.0}", cell.cpu_micros),
        );
        self.ratios(&mut text);
        self.footprint_table(&mut text);
        text
    }

    fn table(&self, text: &mut String, title: &str, show: &dyn Fn(&Cell) -> String) {
        let workloads = self.workloads();
        heading(text, title, &workloads);
        for target in self.targets() {
            let row = workloads.iter().map(|workload| self.row_cell(target, *workload, show));
            line(text, &format!("| {target} | {} |", row.collect::<Vec<_>>().join(" | ")));
        }
    }

    fn row_cell(&self, target: TargetName, workload: Workload, show: &dyn Fn(&Cell) -> String) -> String {
        let shown = |connections: &usize| {
            self.median(target, workload, *connections).map_or("–".to_owned(), |cell| show(&cell))
        };
        self.connections().iter().map(shown).collect::<Vec<_>>().join(" / ")
    }

    /// Formats our rates divided by dynoxide's, and dynoxide's processor time divided by ours, each with the same
    /// storage.
    fn ratios(&self, text: &mut String) {
        let workloads = self.workloads();
        heading(text, "Keyform over dynoxide: operations a second, then processor time saved", &workloads);
        for storage in [Storage::Disk, Storage::Memory] {
            let of = |engine| TargetName { engine, storage, unsynced: false };
            let (ours, theirs) = (of(Engine::Keyform), of(Engine::Dynoxide));
            if !self.footprints.contains_key(&ours) || !self.footprints.contains_key(&theirs) {
                continue;
            }
            let ratio = |pick: &dyn Fn(Cell, Cell) -> f64| {
                let one = |workload: &Workload| self.ratio(ours, theirs, *workload, pick);
                workloads.iter().map(one).collect::<Vec<_>>().join(" | ")
            };
            line(
                text,
                &format!("| {storage}, speed | {} |", ratio(&|ours, theirs| ours.per_second / theirs.per_second)),
            );
            line(text, &format!("| {storage}, cpu | {} |", ratio(&|ours, theirs| theirs.cpu_micros / ours.cpu_micros)));
        }
    }

    fn ratio(
        &self,
        ours: TargetName,
        theirs: TargetName,
        workload: Workload,
        pick: &dyn Fn(Cell, Cell) -> f64,
    ) -> String {
        let one = |connections: &usize| {
            let pair = self.median(ours, workload, *connections).zip(self.median(theirs, workload, *connections));
            pair.map_or("–".to_owned(), |(ours, theirs)| format!("{:.1}×", pick(ours, theirs)))
        };
        self.connections().iter().map(one).collect::<Vec<_>>().join(" / ")
    }

    fn footprint_table(&self, text: &mut String) {
        line(text, "\n| Target | start | idle | loaded | at end | an acknowledged write |\n|---|---|---|---|---|---|");
        for (target, all) in &self.footprints {
            let of = |field: &dyn Fn(&Footprint) -> f64| median(all.iter().map(field).collect());
            line(
                text,
                &format!(
                    "| {target} | {:.0} ms | {:.0} MB | {:.0} MB | {:.0} MB | {} |",
                    of(&|footprint| footprint.start.as_secs_f64() * 1e3),
                    of(&|footprint| footprint.idle as f64 / 1e6),
                    of(&|footprint| footprint.loaded as f64 / 1e6),
                    of(&|footprint| footprint.end as f64 / 1e6),
                    target.durability()
                ),
            );
        }
    }

    /// Formats the medians as JSON.
    pub fn json(&self) -> Value {
        let cells = self.cells.keys().filter_map(|(target, workload, connections)| {
            let cell = self.median(*target, *workload, *connections)?;
            Some(json!({
                "target": target.to_string(), "workload": workload.to_string(), "connections": connections,
                "per_second": cell.per_second, "p50_micros": cell.p50_micros, "p99_micros": cell.p99_micros,
                "cpu_micros": cell.cpu_micros, "refused": cell.refused,
            }))
        });
        json!({ "cells": cells.collect::<Vec<_>>() })
    }
}

fn heading(text: &mut String, title: &str, workloads: &[Workload]) {
    let names = workloads.iter().map(Workload::to_string).collect::<Vec<_>>().join(" | ");
    line(text, &format!("\n{title}\n\n| Target | {names} |\n|---|{}", "---|".repeat(workloads.len())));
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("writing to a string cannot fail");
}

fn thousands(value: f64) -> String {
    if value >= 1_000.0 { format!("{:.1}k", value / 1_000.0) } else { format!("{value:.0}") }
}

fn micros(value: f64) -> String {
    if value >= 1_000.0 { format!("{:.1} ms", value / 1_000.0) } else { format!("{value:.0} µs") }
}
