//! Judges a mutant: by the findings of the checker, and by calls.

use std::collections::BTreeMap;

use keyform_check::Checked;
use keyform_language::Diagnostic;
use keyform_language::diagnostic::Severity;
use keyform_language::document::ast::{Document, Permission};
use keyform_language::document::{parse, print};
use keyform_language::plan::plan;
use keyform_language::schema::resolve;
use keyform_prove::{Promise, Proof, prove};

use crate::operator::{Mutant, Scene};
use crate::part::{affected, reduced};
use crate::place;

/// A model whose mutants are judged.
pub struct Original {
    document: Document,
    /// Errors and warnings of the model, counted.
    findings: BTreeMap<(&'static str, String), usize>,
    /// Trials of the affected patterns, by the changed declaration.
    trials: BTreeMap<usize, Option<Trial>>,
}

/// Result of calling some patterns of a model.
#[derive(Clone, Debug, Default)]
pub struct Trial {
    /// By pattern.
    patterns: BTreeMap<String, Counts>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Counts {
    calls: usize,
    entered: usize,
    successes: usize,
    leaks: usize,
    /// First leak, for messages.
    leak: String,
}

/// Verdict on a mutant.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Codes of the new errors and warnings, each once.
    pub codes: Vec<&'static str>,
    /// Effect on calls.
    pub effect: Effect,
}

/// Effect of a mutation on the answers to the calls of the trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The model cannot run.
    NotRunnable,
    /// No call has more effect than before.
    Equivalent,
    /// More calls pass the permission, but none reaches data of another scope.
    Inside,
    /// A call reaches data of another scope: the first such call.
    Leak(String),
}

impl Verdict {
    /// Returns whether the mutant gives a caller more than the original.
    #[must_use]
    pub const fn is_widening(&self) -> bool {
        matches!(self.effect, Effect::Inside | Effect::Leak(_))
    }

    /// Returns whether the trial reports a leak.
    #[must_use]
    pub const fn is_proved(&self) -> bool {
        matches!(self.effect, Effect::Leak(_))
    }
}

impl Original {
    /// Prepares a model.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let (document, _) = parse(text);
        let findings = counted(&Checked::read(&print(&document)).diagnostics);
        Self { document, findings, trials: BTreeMap::new() }
    }

    /// Returns the syntax tree.
    #[must_use]
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// Returns the errors and warnings of the model.
    #[must_use]
    pub fn findings(&self) -> Vec<String> {
        self.findings.keys().map(|(code, message)| format!("{code}: {message}")).collect()
    }

    /// Returns the first leak of the model, if there is one; `None` if the model cannot run.
    #[must_use]
    pub fn leak(&self) -> Option<Option<String>> {
        trial(&self.document).map(Trial::first_leak)
    }

    /// Returns the first leak of a mutant, if there is one; `None` if the mutant cannot run. For models without leaks.
    #[must_use]
    pub fn leak_of(&self, mutant: &Mutant) -> Option<Option<String>> {
        let names = affected(&self.document, mutant.number);
        trial(&reduced(&opened(&self.document, mutant), &names)).map(Trial::first_leak)
    }

    /// Judges a mutant of this model.
    pub fn judge(&mut self, mutant: &Mutant) -> Verdict {
        Verdict { codes: self.new_codes(mutant), effect: self.effect(mutant) }
    }

    /// Returns the codes of the findings that the original does not have.
    #[must_use]
    pub fn new_codes(&self, mutant: &Mutant) -> Vec<&'static str> {
        let findings = counted(&Checked::read(&print(&mutant.document(&self.document))).diagnostics);
        let is_new = |(finding, count): &(&(&'static str, String), &usize)| {
            self.findings.get(*finding).is_none_or(|before| before < *count)
        };
        let mut codes: Vec<&'static str> = findings.iter().filter(is_new).map(|((code, _), _)| *code).collect();
        codes.dedup();
        codes
    }

    fn effect(&mut self, mutant: &Mutant) -> Effect {
        let names = affected(&self.document, mutant.number);
        let document = &self.document;
        let before = self.trials.entry(mutant.number).or_insert_with(|| trial(&reduced(document, &names)));
        let Some(before) = before else { return Effect::NotRunnable };
        let opened = opened(&self.document, mutant);
        let Some(after) = trial(&reduced(&opened, &names)) else { return Effect::NotRunnable };
        before.compared(&after)
    }
}

impl Trial {
    fn of(proof: Proof) -> Self {
        let mut trial = Self::default();
        for tried in proof.patterns.iter().filter(|tried| tried.promise != Promise::Public) {
            let counts =
                Counts { calls: tried.calls, entered: tried.entered, successes: tried.successes, ..Counts::default() };
            trial.patterns.insert(tried.name.clone(), counts);
        }
        for leak in &proof.leaks {
            let counts = trial.patterns.entry(leak.pattern.clone()).or_default();
            counts.leaks += 1;
            if counts.leak.is_empty() {
                counts.leak = leak.to_string();
            }
        }
        trial
    }

    fn first_leak(self) -> Option<String> {
        self.patterns.into_values().find(|counts| counts.leaks > 0).map(|counts| counts.leak)
    }

    /// Returns the effect of the change from this trial to another.
    fn compared(&self, after: &Self) -> Effect {
        let none = Counts::default();
        let pairs: Vec<(&Counts, &Counts)> =
            after.patterns.iter().map(|(name, after)| (self.patterns.get(name).unwrap_or(&none), after)).collect();
        if let Some((_, after)) = pairs.iter().find(|(before, after)| after.leaks > before.leaks) {
            return Effect::Leak(after.leak.clone());
        }
        let is_wider = |(before, after): &(&Counts, &Counts)| {
            before.calls == after.calls && (after.entered > before.entered || after.successes > before.successes)
        };
        if pairs.iter().any(is_wider) { Effect::Inside } else { Effect::Equivalent }
    }
}

/// Returns the mutant with a condition that every caller meets in place of a new `allow public`: the trial does not
/// call public reads, because they promise no isolation.
fn opened(original: &Document, mutant: &Mutant) -> Document {
    let mut document = mutant.document(original);
    let mut before = original.declarations[mutant.number].value.clone();
    let was_closed = place::permission(&mut before).is_some_and(|permission| permission.condition().is_some());
    let anyone = Scene::of(original).anyone();
    if let (Some(permission), Some(anyone)) =
        (place::permission(&mut document.declarations[mutant.number].value), anyone)
        && was_closed
        && matches!(permission, Permission::Public)
    {
        *permission = Permission::When(anyone);
    }
    document
}

/// Calls the patterns of a model; `None` if it cannot run. Findings of rules do not matter, unresolved names do.
fn trial(document: &Document) -> Option<Trial> {
    let source = print(document);
    let (document, mistakes) = parse(&source);
    let (model, unresolved) = resolve(&document);
    let is_error = |finding: &Diagnostic| finding.severity == Severity::Error;
    if mistakes.iter().chain(&unresolved).any(is_error) {
        return None;
    }
    let plans = plan(&model);
    let checked = Checked { source, document, model, plans, diagnostics: Vec::new() };
    let proof = std::panic::catch_unwind(|| prove(&checked)).ok()?;
    proof.ok().map(Trial::of)
}

fn counted(findings: &[Diagnostic]) -> BTreeMap<(&'static str, String), usize> {
    let mut counts = BTreeMap::new();
    let serious = findings.iter().filter(|finding| finding.severity != Severity::Note && finding.code.0 != "L02");
    for finding in serious {
        *counts.entry((finding.code.0, finding.message.clone())).or_default() += 1;
    }
    counts
}
