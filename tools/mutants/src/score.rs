//! Score of the mutants of a model.

use std::collections::BTreeMap;

use crate::operator::{Mutant, Operator};
use crate::verdict::{Effect, Original, Verdict};

/// Counts of the mutants of one operator.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    mutants: usize,
    /// Mutants that the checker reports, whatever their effect.
    reported: usize,
    /// Mutants that give a caller more than the original.
    widening: usize,
    /// Widening mutants that the checker reports.
    checked: usize,
    /// Widening mutants that the trial reports.
    proved: usize,
    /// Widening mutants that neither reports.
    missed: usize,
}

/// Score of a model.
#[derive(Clone, Debug, Default)]
pub struct Score {
    counts: BTreeMap<Operator, Counts>,
    /// Widening mutants that the checker does not report.
    silent: Vec<(String, Effect)>,
}

/// Returns the line of a mutant in a list.
#[must_use]
pub fn line(mutant: &Mutant) -> String {
    format!("  {} | {}", mutant.operator.name(), mutant.name())
}

/// Returns whether a mutant gives a caller more than the original, and the checker does not report it.
#[must_use]
pub fn is_silent(verdict: &Verdict) -> bool {
    verdict.codes.is_empty() && verdict.is_widening()
}

impl Score {
    /// Judges all mutants of a model.
    #[must_use]
    pub fn of(original: &mut Original, mutants: &[Mutant]) -> Self {
        let mut score = Self::default();
        for mutant in mutants {
            let verdict = original.judge(mutant);
            score.add(mutant, verdict);
        }
        score
    }

    /// Adds a verdict.
    pub fn add(&mut self, mutant: &Mutant, verdict: Verdict) {
        let counts = self.counts.entry(mutant.operator).or_default();
        let is_checked = !verdict.codes.is_empty();
        let is_widening = verdict.is_widening();
        counts.mutants += 1;
        counts.reported += usize::from(is_checked);
        counts.widening += usize::from(is_widening);
        counts.checked += usize::from(is_widening && is_checked);
        counts.proved += usize::from(verdict.is_proved());
        counts.missed += usize::from(is_silent(&verdict) && !verdict.is_proved());
        if is_silent(&verdict) {
            self.silent.push((line(mutant), verdict.effect));
        }
    }

    /// Formats the score as a table, followed by the mutants that the checker does not report.
    #[must_use]
    pub fn table(&self) -> String {
        let mut lines = vec!["mutants reported widening  check  proof missed  operator".to_owned()];
        let mut sum = Counts::default();
        for (operator, counts) in &self.counts {
            lines.push(row(operator.name(), *counts));
            sum.add(*counts);
        }
        lines.push(row("total", sum));
        let lists = [(true, "leaks that only the trial reports"), (false, "reported by neither")];
        for (is_leak, title) in lists {
            let of = self.silent.iter().filter(|(_, effect)| matches!(effect, Effect::Leak(_)) == is_leak);
            lines.extend([String::new(), title.to_owned()]);
            lines.extend(of.map(|(line, _)| line.clone()));
        }
        lines.join("\n") + "\n"
    }
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.mutants += other.mutants;
        self.reported += other.reported;
        self.widening += other.widening;
        self.checked += other.checked;
        self.proved += other.proved;
        self.missed += other.missed;
    }
}

fn row(name: &str, counts: Counts) -> String {
    let Counts { mutants, reported, widening, checked, proved, missed } = counts;
    format!("{mutants:7} {reported:8} {widening:8} {checked:6} {proved:6} {missed:6}  {name}")
}
