//! Objects that no document refers to.
//!
//! An object always has either a document that refers to it, or an entry here. The entry is written before the object
//! is stored, and in the transaction that ends a document's reference; the transaction that makes a document refer to
//! the object removes the entry.
//!
//! ```text
//! stage ──▶ store ──▶ a document refers to it ──▶ replaced or deleted ──▶ entry, due at once
//!   │                 (no entry)                                            │
//!   └── entry, due in an hour ──────────────────────────────────────────────┴──▶ claim ──▶ delete the object ──▶ forget the entry
//! ```
//!
//! A program may stop at any arrow: the job [`sweep`] continues. Only the process that claims an entry deletes the
//! object, and no document can refer to it after that, so an object is never deleted under a concurrently uploaded
//! document.

use std::time::Duration;

use keyform::CallError;
use keyform::application::Application;
use keyform::flow::{FlowError, Job};

use crate::Helpmaton;
use crate::documents::is_of_workspace;
use crate::model::{ClaimObjectError, ForgetObjectError, UnusedObject, UnusedObjectKey, WorkspaceId};

/// Interval of the job.
const SWEEP_EVERY: Duration = Duration::from_secs(600);

/// Records and stores an object. After a failure nothing of it is kept.
pub(crate) async fn store(
    helpmaton: &Helpmaton,
    workspace: &WorkspaceId,
    key: &str,
    content: Vec<u8>,
) -> Result<(), FlowError> {
    helpmaton.model.stage_object(&entry_key(key)?, workspace).await?;
    let stored = helpmaton.settings().objects.put(key, content).await;
    if stored.is_err() {
        discard(helpmaton, workspace, key).await;
    }
    Ok(stored?)
}

/// Deletes an object, unless a document refers to it by now. Failures are logged, and the job retries.
pub(crate) async fn discard(helpmaton: &Helpmaton, workspace: &WorkspaceId, key: &str) {
    if let Err(why) = delete(helpmaton, workspace, key).await {
        tracing::warn!(key, "cannot delete an unused object; retrying later: {why}");
    }
}

/// Deletes the objects whose entries are due; returns their number. Failures are logged, and the next run retries.
///
/// # Errors
/// The entries cannot be read.
pub async fn sweep(helpmaton: &Helpmaton) -> Result<usize, CallError> {
    let is_due = |entry: &UnusedObject| entry.due_at <= helpmaton.now();
    let mut deleted = 0;
    for entry in helpmaton.model.unused_objects().all().await?.into_iter().filter(is_due) {
        match delete(helpmaton, &entry.workspace, entry.object_key.expose().as_str()).await {
            Ok(()) => deleted += 1,
            Err(why) => tracing::warn!(workspace = entry.workspace.as_str(), "cannot delete an unused object: {why}"),
        }
    }
    Ok(deleted)
}

async fn delete(helpmaton: &Helpmaton, workspace: &WorkspaceId, key: &str) -> Result<(), FlowError> {
    let entry = entry_key(key)?;
    match helpmaton.model.claim_object(&entry).await {
        Ok(_) => {}
        // A document refers to it, or another instance has deleted it.
        Err(ClaimObjectError::ObjectInUse) => return Ok(()),
        Err(error) => return Err(error.into()),
    }
    // Only items from the time when callers could choose keys point outside the workspace; those objects belong to
    // others.
    if is_of_workspace(workspace, key) {
        helpmaton.settings().objects.delete(key).await?;
    }
    match helpmaton.model.forget_object(&entry).await {
        // `NotClaimed` means that there is a new entry for the same key, which has its own due time.
        Ok(()) | Err(ForgetObjectError::NotClaimed) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn entry_key(key: &str) -> Result<UnusedObjectKey, FlowError> {
    UnusedObjectKey::new(key).map_err(|wrong| FlowError::Broken(wrong.to_string()))
}

pub(crate) fn jobs(application: Application, helpmaton: &Helpmaton) -> Application {
    let system = helpmaton.clone();
    application.job(Job::every(SWEEP_EVERY, "delete unused objects", move || {
        let helpmaton = system.clone();
        async move {
            Ok::<_, CallError>(match sweep(&helpmaton).await? {
                0 => String::new(),
                deleted => format!("{deleted} deleted"),
            })
        }
    }))
}
