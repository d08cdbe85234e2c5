//! Random models, every second one weakened: the checker and the trial agree.
//!
//! A model without a new finding must have no leak: that is the soundness of the static proof. A finding without a leak
//! is conservative: the share of those is printed and bounded. `KEYFORM_MODELS=10000` judges more models.

use std::collections::BTreeMap;
use std::thread;

use keyform_language::document::parse;
use keyform_mutants::models;
use keyform_mutants::verdict::Original;
use keyform_mutants::{Mutant, Operator};

/// Number of models if the environment does not set it.
const MODELS: u64 = 400;
/// Largest share of weakened models that the checker reports and in which no call of the trial leaks.
const CONSERVATIVE_MAX: f64 = 0.35;

/// Numbers of models by what both judges say.
#[derive(Debug, Default)]
struct Agreement {
    sound: usize,
    harmless: usize,
    /// Leaks without a finding after a field of a key was dropped.
    replaced: usize,
    reported: usize,
    refused: usize,
    conservative: BTreeMap<&'static str, usize>,
    wrong: Vec<String>,
}

fn count() -> u64 {
    std::env::var("KEYFORM_MODELS").ok().and_then(|count| count.parse().ok()).unwrap_or(MODELS)
}

/// Judges the models of some seeds.
fn judge(seeds: impl Iterator<Item = u64>) -> Agreement {
    let mut agreement = Agreement::default();
    for seed in seeds {
        let text = models::draw(seed);
        let original = Original::new(&text);
        // Warnings about volumes and races do not matter here.
        let mut findings = original.findings();
        findings.retain(|finding| finding.starts_with('P'));
        assert!(findings.is_empty(), "seed {seed}: {findings:?}\n{text}");
        if seed % 2 == 0 {
            let leak = original.leak();
            assert_eq!(leak, Some(None), "seed {seed}\n{text}");
            agreement.sound += 1;
        } else if let Some(mutant) = models::weakened(seed, &parse(&text).0) {
            agreement.add(seed, &original, &mutant);
        }
    }
    agreement
}

impl Agreement {
    fn add(&mut self, seed: u64, original: &Original, mutant: &Mutant) {
        let is_reported = !original.new_codes(mutant).is_empty();
        match (is_reported, original.leak_of(mutant)) {
            (true, Some(Some(_))) => self.reported += 1,
            (true, None) => self.refused += 1,
            (true, Some(None)) => *self.conservative.entry(mutant.operator.name()).or_default() += 1,
            // The items of a key without fields replace each other. No caller sees an item of another scope, but an item of
            // the caller may be gone.
            (false, Some(Some(_))) if mutant.operator == Operator::DropKeyPart => self.replaced += 1,
            (false, Some(Some(leak))) => {
                self.wrong.push(format!("seed {seed}, {}: {}\n  {leak}", mutant.operator.name(), mutant.name()));
            }
            (false, _) => self.harmless += 1,
        }
    }

    fn merge(&mut self, other: Self) {
        self.sound += other.sound;
        self.harmless += other.harmless;
        self.replaced += other.replaced;
        self.reported += other.reported;
        self.refused += other.refused;
        self.wrong.extend(other.wrong);
        for (operator, count) in other.conservative {
            *self.conservative.entry(operator).or_default() += count;
        }
    }
}

#[test]
fn checker_and_trial_agree_about_random_models() {
    let count = count();
    let halves = [(0..count / 2), (count / 2..count)];
    let workers = halves.map(|seeds| thread::spawn(move || judge(seeds)));
    let mut all = Agreement::default();
    for worker in workers {
        all.merge(worker.join().expect("the models of a half are sound"));
    }
    let conservative: usize = all.conservative.values().sum();
    let weakened = all.harmless + all.replaced + all.reported + all.refused + conservative;
    println!("{} sound models without a finding and without a leak", all.sound);
    println!("{weakened} weakened models: {} with a finding and a leak, {} refused,", all.reported, all.refused);
    println!("{} whose items replace each other because their key has no field,", all.replaced);
    println!("{} with neither, {conservative} with a finding only: {:?}", all.harmless, all.conservative);
    assert!(all.wrong.is_empty(), "leaks that the checker does not report:\n{}", all.wrong.join("\n"));
    let share = conservative as f64 / weakened.max(1) as f64;
    assert!(share <= CONSERVATIVE_MAX, "{share:.2} of the weakened models have a finding and no leak");
}
