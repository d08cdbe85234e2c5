//! Checks permission for a live read, and records the items that it depends on.

use std::sync::Arc;

use keyform_core::execute::{BoxFuture, Watch};
use keyform_core::{Attributes, Error, Execute, Operation, Output};
use keyform_language::schema::Permission;
use keyform_runtime::run::{Call, Caller, RunError, Runner};
use parking_lot::Mutex;

/// Item that a guard has read: its table and key.
pub(super) type Dependency = (String, Attributes);

/// Returns whether the permission can end while the read is followed.
pub(super) fn can_end(runner: &Runner, read: &str, call: &Call) -> bool {
    let reads = &runner.checked().model.reads;
    let allow = reads.iter().find(|known| known.name == read).and_then(|read| read.allow.as_ref());
    matches!(call.caller, Caller::Claims(_)) && matches!(allow, Some(Permission::When(_)))
}

/// Checks permission; returns the items that the guards have read.
pub(super) async fn permit(runner: &Runner, read: &str, call: &Call) -> Result<Vec<Dependency>, RunError> {
    if !can_end(runner, read, call) {
        runner.permit_read(read, call).await?;
        return Ok(Vec::new());
    }
    let recorder = Arc::new(Recorder { store: runner.store().clone(), seen: Mutex::default() });
    runner.on(recorder.clone()).permit_read(read, call).await?;
    let seen = std::mem::take(&mut *recorder.seen.lock());
    Ok(seen)
}

/// Store that records which items are read.
struct Recorder {
    store: Arc<dyn Execute>,
    seen: Mutex<Vec<Dependency>>,
}

impl Execute for Recorder {
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>> {
        if let Operation::GetItem(get) = &operation {
            self.seen.lock().push((get.table.clone(), get.key.clone()));
        }
        self.store.execute(operation)
    }

    fn watch(&self) -> Option<&dyn Watch> {
        self.store.watch()
    }

    fn indexes_keep_up(&self) -> bool {
        self.store.indexes_keep_up()
    }
}
