//! Resumes interrupted cascades of the served models, at startup and every few seconds (ADR 0020).
//!
//! Every server instance does this. An instance leases an intent for a while, and running an intent twice is harmless.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use keyform_core::expression::{Path, Projection};
use keyform_core::operation::Scan;
use keyform_core::{AttributeValue, Error, ErrorCode, ExecuteExt};
use keyform_language::bookkeeping::CASCADES;
use tokio::sync::watch;

use crate::shared::Shared;

/// Interval between two checks.
const BETWEEN: Duration = Duration::from_secs(10);
/// Intents read per check. Resuming a model also covers its intents beyond this limit.
const SEEN_MAX: usize = 1000;

/// Checks for interrupted cascades until the server stops.
pub(crate) async fn resume(shared: Arc<Shared>, mut stopping: watch::Receiver<bool>) {
    loop {
        tokio::select! {
            () = look(&shared) => {}
            _ = stopping.changed() => return,
        }
        tokio::select! {
            () = shared.world.sleep(BETWEEN) => {}
            _ = stopping.changed() => return,
        }
    }
}

async fn look(shared: &Shared) {
    if shared.models.is_empty() {
        return;
    }
    let names = match left_over(shared).await {
        Ok(names) => names,
        Err(error) => return tracing::warn!(%error, "cannot read the intents of cascades"),
    };
    for name in names {
        let Some(served) = shared.models.get(&name) else { continue };
        match served.resume_cascades().await {
            Ok(resumed) if resumed.removed > 0 => {
                tracing::info!(model = name, removed = resumed.removed, "resumed interrupted cascades");
            }
            Ok(_) => {}
            Err(error) => tracing::warn!(model = name, %error, "cannot continue a cascade; retrying"),
        }
    }
}

/// Returns the models with pending intents; none if the table does not exist.
async fn left_over(shared: &Shared) -> Result<BTreeSet<String>, Error> {
    let projection = Some(Projection { paths: vec![Path::attribute("pk")] });
    let scan = Scan { projection, limit: Some(SEEN_MAX), ..Scan::of(CASCADES) };
    let page = match shared.execute.call(scan).await {
        Ok(page) => page,
        Err(error) if error.code() == ErrorCode::ResourceNotFound => return Ok(BTreeSet::new()),
        Err(error) => return Err(error),
    };
    let name = |item: &keyform_core::Item| match item.to_attributes().get("pk") {
        Some(AttributeValue::S(partition)) => partition.split_once('#').map(|(model, _)| model.to_owned()),
        _ => None,
    };
    Ok(page.items.unwrap_or_default().iter().filter_map(name).collect())
}
