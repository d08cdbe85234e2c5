//! Applies changes of the source after its items are copied.
//!
//! All scanned items are written before the first change, and changes are ordered per item, so each item ends in the
//! state of its last change. That holds even for an item that was scanned after a change which is then applied again.

use std::collections::BTreeMap;

use keyform_core::Item;
use keyform_core::operation::{ChangeKind, WriteRequest};
use keyform_core::table::{StreamView, TableDescription};
use keyform_live::feed::{Change, Feed, FeedError, From, Position};

use super::progress::Tally;
use super::write::{BATCH_MAX, Writer};
use super::{Copier, CopyError, Follow};

/// Returns the current position of the stream in text form.
pub(super) async fn position(copier: &Copier, source: &TableDescription) -> Result<String, CopyError> {
    let view = source.stream.as_ref().filter(|stream| stream.enabled).map(|stream| stream.view);
    match view {
        Some(StreamView::NewImage | StreamView::NewAndOldImages) => {}
        Some(_) => return Err(CopyError::NoImages(source.name.clone())),
        None => return Err(FeedError::NoStream { table: source.name.clone() }.into()),
    }
    let feed = Feed::open(copier.from.clone(), copier.world.clone(), &source.name, From::Now).await?;
    Ok(feed.position().to_text())
}

/// Applies changes until stopped or until the source is idle long enough; returns their number.
pub(super) async fn follow(
    copier: &Copier,
    table: &str,
    writer: &Writer,
    until: &Follow,
    tally: &Tally,
) -> Result<u64, CopyError> {
    let position = copier.checkpoint.position(table).and_then(|text| Position::of_text(&text));
    let position =
        position.ok_or_else(|| CopyError::Checkpoint("cannot parse the position in the checkpoint".to_owned()))?;
    let trimmed = |error: FeedError| match error {
        FeedError::TooOld => CopyError::Trimmed(table.to_owned()),
        error => error.into(),
    };
    let mut feed = Feed::open(copier.from.clone(), copier.world.clone(), table, From::Position(position))
        .await
        .map_err(trimmed)?;
    let mut stop = until.stop.clone();
    let mut quiet_since = copier.world.now_millis();
    loop {
        // Check for the stop signal before reading, so that everything written before it is read.
        let is_last = *stop.borrow_and_update();
        let batch = feed.read().await.map_err(trimmed)?;
        if !batch.changes.is_empty() {
            bring(writer, &batch.changes).await?;
            quiet_since = copier.world.now_millis();
        }
        let text = batch.position.to_text();
        copier.checkpoint.update(table, |state| state.position = Some(text))?;
        tally.changes(batch.changes.len() as u64, batch.caught_up);
        if !batch.caught_up {
            continue;
        }
        let quiet = copier.world.now_millis() - quiet_since;
        if is_last || until.idle_millis.is_some_and(|idle| quiet >= idle) {
            return Ok(tally.changes_so_far());
        }
        rest(copier, &feed, &mut stop, until.idle_millis.map(|idle| idle - quiet)).await;
    }
}

/// Waits for changes, the stop signal, or the end of the idle time.
async fn rest(copier: &Copier, feed: &Feed, stop: &mut tokio::sync::watch::Receiver<bool>, left: Option<i64>) {
    let left = left.and_then(|millis| u64::try_from(millis).ok()).unwrap_or(u64::from(u32::MAX));
    let told = async {
        if stop.changed().await.is_err() {
            // The sender is gone, so no stop signal can come.
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        () = feed.wait() => {}
        () = told => {}
        () = copier.world.sleep(std::time::Duration::from_millis(left)) => {}
    }
}

/// Writes the last state of each changed item.
async fn bring(writer: &Writer, changes: &[Change]) -> Result<(), CopyError> {
    let mut last: BTreeMap<Vec<u8>, WriteRequest> = BTreeMap::new();
    for change in changes {
        let keys = change.record.keys.to_attributes();
        let write = match (&change.record.new, change.record.kind) {
            (Some(item), ChangeKind::Insert | ChangeKind::Modify) => WriteRequest::Put(item.to_attributes()),
            _ => WriteRequest::Delete(keys.clone()),
        };
        last.insert(Item::from(&keys).as_bytes().to_vec(), write);
    }
    let writes: Vec<WriteRequest> = last.into_values().collect();
    for batch in writes.chunks(BATCH_MAX) {
        writer.write(batch.to_vec()).await?;
    }
    Ok(())
}
