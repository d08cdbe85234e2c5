//! Rehearsals, in memory and on copies in the store. They leave nothing behind.

use std::sync::Arc;

use keyform::operation::DescribeTable;
use keyform::{Execute, ExecuteExt};
use keyform_transfer::{Rehearse, RehearseError, Stage};

use super::support::*;
use keyform_scenario::Store;

fn rehearse(clock: &Clock, stage: Stage) -> Rehearse {
    Rehearse {
        world: Arc::new(keyform::SystemWorld),
        checked: checked(V2),
        variables: variables(clock),
        keys: None,
        stage,
        write_units_per_second: None,
        copying: Arc::new(|_| {}),
    }
}

fn prefix(clock: &Clock) -> String {
    format!("rehearsal-{}-", clock.stage)
}

/// Returns the tables of the migration that exist under a prefix.
async fn found(store: &dyn Execute, prefix: &str, clock: &Clock) -> Vec<String> {
    let names = ["keyform-migrations".to_owned(), format!("workspaces-{}", clock.stage)];
    let mut found = Vec::new();
    for name in names {
        let table = format!("{prefix}{name}");
        if store.call(DescribeTable { table: table.clone() }).await.is_ok() {
            found.push(table);
        }
    }
    found
}

#[tokio::test]
async fn a_rehearsal_runs_everything_on_copies_and_removes_them() {
    for store in Store::all().await {
        let clock = Clock::new();
        legacy(&store.execute, &clock, 12).await;
        let before = workspaces_table(&store.execute, &clock).await;
        let prefix = prefix(&clock);
        let there = rehearse(&clock, Stage::Tables { prefix: prefix.clone() });
        let there = there.run(&store.execute, &quiet).await.unwrap();
        let here = rehearse(&clock, Stage::Memory { bytes_max: Stage::BYTES_MAX });
        let here = here.run(&store.execute, &quiet).await.unwrap();
        assert!(there.is_good() && here.is_good(), "{}: {there:?}", store.name);
        assert_eq!((&there.copied, &there.verified), (&here.copied, &here.verified), "{}", store.name);
        assert!(there.copied.values().sum::<u64>() > 12);
        assert_eq!(workspaces_table(&store.execute, &clock).await, before, "{}: the tables are only read", store.name);
        assert!(found(&*store.execute, &prefix, &clock).await.is_empty(), "{}", store.name);
        store.stop();
    }
}

#[tokio::test]
async fn what_is_too_large_for_memory_or_named_already_is_refused() {
    let store = Store::embedded();
    let clock = Clock::new();
    legacy(&store.execute, &clock, 12).await;
    let refused = rehearse(&clock, Stage::Memory { bytes_max: 100 }).run(&store.execute, &quiet).await;
    let Err(error @ RehearseError::TooLarge { .. }) = refused else { panic!("{refused:?}") };
    assert!(error.to_string().contains("copies in the store itself"), "{error}");
    let refused = rehearse(&clock, Stage::Tables { prefix: String::new() }).run(&store.execute, &quiet).await;
    assert!(matches!(refused, Err(RehearseError::Taken(_))), "{refused:?}");
}
