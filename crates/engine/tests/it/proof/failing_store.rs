//! Makes each disk operation and all later ones fail. After a failure there is no acknowledgement, no panic, and a
//! clear error. Whatever the disk kept is a database with all acknowledged writes and no partial ones.

use keyform_core::{Error, ErrorCode};
use keyform_engine::store::{PowerCut, SimDisk};
use keyform_engine::{Database, OpenError};
use keyform_world::testing::ManualWorld;

use crate::proof::compare::{self, Mismatch};
use crate::proof::generate::{Plan, Step};
use crate::proof::naive::Service;
use crate::proof::subject::{self, Subject};

const NOW_MS: u64 = 1_700_000_000_500;
const STEPS: usize = 60;
/// Maximum number of operations to fail; in longer runs they are spread evenly.
const POINTS_MAX: u64 = 150;

#[test]
fn after_any_failure_of_the_disk_nothing_acknowledged_is_lost() {
    for seed in 0..3 {
        let plan = Plan::random_writes(seed, STEPS);
        let states = states(&plan);
        let whole = SimDisk::new();
        let done = run(&whole, &plan, AfterFailure::StaysBroken).acknowledged;
        assert_eq!(done, plan.steps.len(), "without a failure everything is done");
        let operations = whole.operations();
        for point in (0..operations).step_by((operations / POINTS_MAX).max(1) as usize) {
            fail_at(&plan, &states, point);
        }
    }
}

#[test]
fn a_failure_that_passes_stops_the_store_until_it_is_opened_again() {
    for seed in 3..5 {
        let plan = Plan::random_writes(seed, STEPS);
        let states = states(&plan);
        let whole = SimDisk::new();
        run(&whole, &plan, AfterFailure::StaysBroken);
        let operations = whole.operations();
        for point in (0..operations).step_by((operations / POINTS_MAX).max(1) as usize) {
            fail_once_at(&plan, &states, point);
        }
    }
}

#[test]
fn failures_while_the_database_is_opened_lose_nothing() {
    let plan = Plan::random_writes(5, STEPS);
    let states = states(&plan);
    let disk = SimDisk::new();
    let Run { database, .. } = run(&disk, &plan, AfterFailure::StaysBroken);
    let left = disk.cut_power(PowerCut::Tear(5));
    drop(database);
    let whole = left.duplicate();
    reopened(&whole, NOW_MS).sweep().unwrap();
    for point in 0..whole.operations() {
        let broken = left.duplicate();
        broken.fail_at(point);
        let env = ManualWorld::at_ms(NOW_MS);
        if let Ok(database) = subject::open(&broken, &env) {
            // The sweep may fail; only the state that it leaves matters.
            drop(database.sweep());
        }
        for cut in [PowerCut::DropAll, PowerCut::KeepAll, PowerCut::Tear(point)] {
            let mut found = reopened(&broken.cut_power(cut), NOW_MS);
            let mut state = states[plan.steps.len()].clone();
            found.sweep().unwrap();
            state.sweep();
            let compared = compare::everything(&found, &state);
            compared.unwrap_or_else(|mismatch| panic!("operation {point} while opening, then {cut:?}: {mismatch:#?}"));
        }
    }
}

/// Returns the states of the naive service before the first step and after each step.
fn states(plan: &Plan) -> Vec<Service> {
    let mut states = vec![Service::new(NOW_MS)];
    for step in &plan.steps {
        let mut next = states[states.len() - 1].clone();
        // Only the state after the step matters here, not the response.
        drop(compare::advance(&mut next, step));
        states.push(next);
    }
    states
}

/// Progress of a run.
struct Run {
    acknowledged: usize,
    database: Option<Database>,
}

/// Behaviour of the disk after its failure.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AfterFailure {
    StaysBroken,
    WorksAgain,
}

fn run(disk: &SimDisk, plan: &Plan, after: AfterFailure) -> Run {
    let env = ManualWorld::at_ms(NOW_MS);
    let database = match subject::open(disk, &env) {
        Ok(database) => database,
        Err(error) => {
            assert_clear_open(&error);
            return Run { acknowledged: 0, database: None };
        }
    };
    let mut failed = false;
    let mut acknowledged = 0;
    for step in &plan.steps {
        match answered(&database, &env, step) {
            Ok(done) => {
                assert!(!failed || !done, "acknowledged after a failure: {step:?}");
                acknowledged += usize::from(!failed);
            }
            Err(error) => {
                assert!(error.message().contains("store"), "the failure says what failed: {error}");
                failed = true;
                if after == AfterFailure::WorksAgain {
                    disk.heal();
                }
            }
        }
    }
    Run { acknowledged, database: Some(database) }
}

/// Executes a step; returns whether it was an operation that succeeded. A rejection by DynamoDB's rules, a wait and a
/// sweep return false. Errors of the store are returned.
fn answered(database: &Database, env: &ManualWorld, step: &Step) -> Result<bool, Error> {
    let outcome = match step {
        Step::Run(operation) => database.execute_blocking(operation.clone()).map(|_| true),
        Step::Sweep => database.sweep().map(|()| false),
        Step::Wait { ms } => {
            env.advance_ms(*ms);
            Ok(false)
        }
        other => panic!("a run of writes has no {other:?}"),
    };
    match outcome {
        Err(error) if error.code() != ErrorCode::InternalServer => Ok(false),
        outcome => outcome,
    }
}

fn fail_at(plan: &Plan, states: &[Service], point: u64) {
    let disk = SimDisk::new();
    disk.fail_at(point);
    let Run { acknowledged, database } = run(&disk, plan, AfterFailure::StaysBroken);
    let cuts = [PowerCut::DropAll, PowerCut::KeepAll, PowerCut::Tear(point), PowerCut::Tear(point + 1_000_000)];
    for cut in cuts {
        let mut found = reopened(&disk.cut_power(cut), NOW_MS);
        let context = format!("operation {point}, then {cut:?}, seed {}", plan.seed);
        let mut state = states[state_of(&found, acknowledged, states, &context)].clone();
        found.sweep().unwrap();
        state.sweep();
        compare::everything(&found, &state).unwrap_or_else(|mismatch| panic!("{context}, swept: {mismatch:#?}"));
    }
    if let Some(database) = database {
        let closed = database.close();
        assert!(disk.has_failed() || closed.is_ok(), "only a failing disk is a reason to fail: {closed:?}");
        if disk.has_failed() && closed.is_ok() {
            // The failed operation was the removal of a table that nothing needs any more.
            disk.heal();
            let found = reopened(&disk, NOW_MS);
            state_of(&found, plan.steps.len(), states, &format!("operation {point} of a quiet failure"));
        }
    }
}

/// Reopens the database on the repaired disk, checks its state, and runs the rest of the plan.
fn fail_once_at(plan: &Plan, states: &[Service], point: u64) {
    let disk = SimDisk::new();
    disk.fail_at(point);
    let Run { acknowledged, database } = run(&disk, plan, AfterFailure::WorksAgain);
    disk.heal();
    drop(database);
    let context = format!("operation {point} failed once, seed {}", plan.seed);
    let mut found = reopened(&disk, NOW_MS);
    let done = state_of(&found, acknowledged, states, &context);
    let mut state = states[done].clone();
    found.env.advance_ms(state.now_ms - NOW_MS);
    for step in &plan.steps[done..] {
        let expected = compare::advance(&mut state, step);
        let compared = compare::step(&mut found, &state, step, &expected);
        compared.unwrap_or_else(|mismatch| panic!("{context}, the rest: {mismatch:#?}"));
    }
    compare::everything(&found, &state).unwrap_or_else(|mismatch| panic!("{context}, at the end: {mismatch:#?}"));
}

/// Returns the number of applied steps: those acknowledged, or one more, because the outcome of that one is unknown.
fn state_of(found: &Subject, acknowledged: usize, states: &[Service], context: &str) -> usize {
    let candidates = &states[acknowledged..states.len().min(acknowledged + 2)];
    let mismatches: Vec<Mismatch> =
        candidates.iter().map_while(|state| compare::everything(found, state).err()).collect();
    assert!(mismatches.len() < candidates.len(), "{context}: {mismatches:#?}");
    acknowledged + mismatches.len()
}

fn reopened(disk: &SimDisk, now_ms: u64) -> Subject {
    let env = ManualWorld::at_ms(now_ms);
    let database = subject::open(disk, &env).unwrap_or_else(|error| panic!("the disk cannot be opened again: {error}"));
    Subject { name: "after the failure", database, disk: Some(disk.clone()), env, counted: false }
}

fn assert_clear_open(error: &OpenError) {
    assert!(error.to_string().contains("simulated failure"), "the failure says what failed: {error}");
}
