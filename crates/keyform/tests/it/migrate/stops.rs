//! A migration that is stopped after any request resumes and reaches the same state. On stores through the AWS SDK only
//! a sample of the requests is tested.

use std::collections::BTreeMap;
use std::sync::Arc;

use keyform::{Attributes, Execute};
use keyform_runtime::evolve::{MigrateError, Migration};

use super::support::*;
use keyform_scenario::Store;
use keyform_scenario::fault::Mortal;

/// Steps that are interrupted.
#[derive(Clone, Copy, Debug)]
enum Steps {
    RunAndCutOver,
    RunAndRollBack,
}

async fn run_steps(steps: Steps, migration: &Migration, owner: &str) -> Result<(), MigrateError> {
    let pace = pace(owner);
    let phase = migration.status().await?.phase;
    use keyform_runtime::evolve::state::Phase;
    if matches!(phase, Phase::Open | Phase::Filling) {
        let ran = migration.run(&pace, &quiet).await?;
        assert!(ran.stuck.is_empty());
    }
    match steps {
        Steps::RunAndCutOver => migration.cut_over(&pace, &quiet).await.map(|_| ()),
        Steps::RunAndRollBack => migration.roll_back(&pace, &quiet).await.map(|_| ()),
    }
}

/// Stops after a number of requests, then resumes on a working store; returns the table's contents and whether it was
/// stopped.
async fn stopped_after(store: &Arc<dyn Execute>, steps: Steps, requests: i64) -> (BTreeMap<String, Attributes>, bool) {
    let clock = Clock::new();
    legacy(store, &clock, 3).await;
    let mortal = Arc::new(Mortal::new(Arc::clone(store), requests));
    let dying: Arc<dyn Execute> = mortal.clone();
    let first = run_steps(steps, &migration(V2, &dying, &clock), "one").await;
    assert_eq!(first.is_err(), mortal.is_dead(), "{first:?}");
    if mortal.is_dead() {
        clock.advance(61_000);
        run_steps(steps, &migration(V2, store, &clock), "two").await.unwrap();
    }
    (workspaces_table(store, &clock).await, mortal.is_dead())
}

async fn stops(store: &Arc<dyn Execute>, steps: Steps, every: usize) {
    let (expected, died) = stopped_after(store, steps, i64::MAX / 2).await;
    assert!(!died);
    for requests in (0..).step_by(every) {
        let (found, died) = stopped_after(store, steps, requests).await;
        assert_eq!(found, expected, "{steps:?} stopped after {requests} requests");
        if !died {
            assert!(requests > 30, "too few requests to mean anything: {requests}");
            return;
        }
    }
}

#[tokio::test]
async fn a_run_and_its_cut_over_can_be_stopped_anywhere() {
    stops(&Store::embedded().execute, Steps::RunAndCutOver, 1).await;
}

#[tokio::test]
async fn a_run_and_its_way_back_can_be_stopped_anywhere() {
    stops(&Store::embedded().execute, Steps::RunAndRollBack, 1).await;
}

#[tokio::test]
async fn a_migration_through_the_sdk_can_be_stopped() {
    for store in Store::remote().await {
        stops(&store.execute, Steps::RunAndCutOver, 13).await;
        stops(&store.execute, Steps::RunAndRollBack, 13).await;
        store.stop();
    }
}
