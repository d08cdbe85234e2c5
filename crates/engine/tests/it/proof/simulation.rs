//! Random operations on random tables, in the memory store and in the disk store, compared with the naive service after
//! each step.

use std::panic::{AssertUnwindSafe, catch_unwind};

use keyform_core::Operation;

use crate::proof::compare::{self, Mismatch};
use crate::proof::generate::{Plan, Step};
use crate::proof::naive::Service;
use crate::proof::subject::Subject;

const START_MS: u64 = 1_700_000_000_500;
const SEEDS: u64 = 200;
const STEPS: usize = 100;
/// Maximum number of shorter runs tried to minimize a failure.
const SHRINK_ATTEMPTS: usize = 400;

/// Failure: the store, the step and the difference.
struct Failure {
    store: &'static str,
    step: usize,
    what: String,
}

#[test]
fn the_engine_answers_as_the_naive_service_does() {
    if let Some(seed) = number("KEYFORM_SIM_SEED") {
        return check(seed);
    }
    (0..number("KEYFORM_SIM_SEEDS").unwrap_or(SEEDS)).for_each(check);
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("the variable is a number"))
}

fn check(seed: u64) {
    let plan = Plan::random(seed, STEPS);
    let Some(failure) = run(&plan.steps) else { return };
    let steps = shrunk(plan.steps, &failure);
    let failure = run(&steps).unwrap_or(failure);
    let last = failure.step.min(steps.len() - 1);
    let listing: String =
        steps[..=last].iter().enumerate().map(|(place, step)| format!("{place}: {step:?}\n")).collect();
    panic!(
        "KEYFORM_SIM_SEED={seed} fails on the {} store.\nThe shortest run found:\n{listing}\nAt its last step: {}",
        failure.store, failure.what
    );
}

/// Runs the steps on both stores; returns the first failure.
fn run(steps: &[Step]) -> Option<Failure> {
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let mut service = Service::new(START_MS);
        let mut subjects = [Subject::in_memory(START_MS), Subject::on_disk(START_MS)];
        for (place, step) in steps.iter().enumerate() {
            let expected = compare::advance(&mut service, step);
            for subject in &mut subjects {
                if let Err(Mismatch(what)) = compare::step(subject, &service, step, &expected) {
                    return Some(Failure { store: subject.name, step: place, what });
                }
            }
        }
        None
    }));
    outcome.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        let what = format!("panicked: {}", text.unwrap_or_default());
        Some(Failure { store: "memory or disk", step: steps.len(), what })
    })
}

/// Removes steps while the run still fails: first many at a time, finally one by one. A table change that fails only
/// because an earlier step was removed does not count as the failure.
fn shrunk(mut steps: Vec<Step>, failure: &Failure) -> Vec<Step> {
    steps.truncate(failure.step + 1);
    let of_table = steps.last().is_some_and(is_of_table);
    let mut chunk = steps.len() / 2;
    let mut attempts = 0;
    while chunk > 0 {
        let mut start = 0;
        while start < steps.len() && attempts < SHRINK_ATTEMPTS {
            attempts += 1;
            let end = (start + chunk).min(steps.len());
            let kept = steps[start..end].iter().filter(|step| of_table && is_of_table(step)).cloned();
            let shorter = [&steps[..start], &kept.collect::<Vec<_>>(), &steps[end..]].concat();
            if shorter.len() == steps.len() {
                start = end;
                continue;
            }
            match run(&shorter) {
                Some(failure) if shorter.get(failure.step).is_some_and(is_of_table) == of_table => {
                    steps = shorter;
                    steps.truncate(failure.step + 1);
                }
                Some(_) | None => start = end,
            }
        }
        chunk /= 2;
    }
    steps
}

fn is_of_table(step: &Step) -> bool {
    match step {
        Step::Run(operation) => matches!(
            operation,
            Operation::CreateTable(_)
                | Operation::UpdateTable(_)
                | Operation::DeleteTable(_)
                | Operation::UpdateTimeToLive(_)
        ),
        _ => false,
    }
}
