//! Score of the mutants of a model.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::operator::{Mutant, Operator, mutants};
use crate::verdict::{Effect, Original, Verdict};

/// Counts of one operator.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// All mutants.
    pub mutants: usize,
    /// Mutants that give a caller more than the original.
    pub widening: usize,
    /// Widening mutants with a new finding of the checker.
    pub checked: usize,
    /// Widening mutants with a leak in the trial.
    pub proved: usize,
    /// Widening mutants that neither reports.
    pub missed: usize,
}

/// Score of a model.
#[derive(Clone, Debug, Default)]
pub struct Score {
    /// By operator.
    pub counts: BTreeMap<Operator, Counts>,
    /// Widening mutants that the checker does not report, with their effect.
    pub silent: Vec<(Operator, String, Effect)>,
}

/// Judges all mutants of a model.
#[must_use]
pub fn score(text: &str) -> Score {
    let mut original = Original::new(text);
    let mut score = Score::default();
    for mutant in mutants(&original.document().clone()) {
        let verdict = original.judge(&mutant);
        score.add(&mutant, verdict);
    }
    score
}

impl Score {
    fn add(&mut self, mutant: &Mutant, verdict: Verdict) {
        let counts = self.counts.entry(mutant.operator).or_default();
        let is_checked = !verdict.codes.is_empty();
        counts.mutants += 1;
        if !verdict.is_widening() {
            return;
        }
        counts.widening += 1;
        counts.checked += usize::from(is_checked);
        counts.proved += usize::from(verdict.is_proved());
        counts.missed += usize::from(!is_checked && !verdict.is_proved());
        if !is_checked {
            self.silent.push((mutant.operator, mutant.name(), verdict.effect));
        }
    }

    /// Formats the score as a table with a list of the mutants that the checker does not report.
    #[must_use]
    pub fn table(&self, name: &str) -> String {
        let mut text = format!("{name}\n\nmutants widening check proof missed  operator\n");
        let mut sum = Counts::default();
        for (operator, counts) in &self.counts {
            row(&mut text, operator.name(), *counts);
            sum = Counts {
                mutants: sum.mutants + counts.mutants,
                widening: sum.widening + counts.widening,
                checked: sum.checked + counts.checked,
                proved: sum.proved + counts.proved,
                missed: sum.missed + counts.missed,
            };
        }
        row(&mut text, "total", sum);
        text
    }
}

fn row(text: &mut String, name: &str, counts: Counts) {
    let Counts { mutants, widening, checked, proved, missed } = counts;
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{mutants:7} {widening:8} {checked:5} {proved:5} {missed:6}  {name}");
}
