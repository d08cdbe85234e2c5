//! Changes of the source, brought over after its items were.
//!
//! All scanned items are written before the first change is, and changes come in order per item, so each item ends as its last change left it: also one
//! that was scanned after a change which is brought over again.

use std::collections::BTreeMap;
use std::sync::Arc;

use keyform_core::operation::{ChangeKind, WriteRequest};
use keyform_core::table::{StreamView, TableDescription};
use keyform_core::{Execute, Item};
use keyform_live::feed::{Change, Feed, FeedError, From, Position};

use super::progress::Tally;
use super::write::{BATCH_MAX, Writer};
use super::{Copier, CopyError, Follow};

/// Where the stream is now, as text.
pub(super) async fn position(store: Arc<dyn Execute>, source: &TableDescription) -> Result<String, CopyError> {
    let view = source.stream.as_ref().filter(|stream| stream.enabled).map(|stream| stream.view);
    match view {
        Some(StreamView::NewImage | StreamView::NewAndOldImages) => {}
        Some(_) => return Err(CopyError::NoImages(source.name.clone())),
        None => return Err(FeedError::NoStream { table: source.name.clone() }.into()),
    }
    let feed = Feed::open(store, &source.name, From::Now).await?;
    Ok(feed.position().to_text())
}

/// Brings changes over until it is told to stop, or nothing changes for long enough; returns how many.
pub(super) async fn follow(
    copier: &Copier,
    table: &str,
    writer: &Writer,
    until: &Follow,
    tally: &Tally,
) -> Result<u64, CopyError> {
    let position = copier.checkpoint.position(table).and_then(|text| Position::of_text(&text));
    let position =
        position.ok_or_else(|| CopyError::Checkpoint("the checkpoint's position cannot be read".to_owned()))?;
    let trimmed = |error: FeedError| match error {
        FeedError::TooOld => CopyError::Trimmed(table.to_owned()),
        error => error.into(),
    };
    let mut feed = Feed::open(copier.from.clone(), table, From::Position(position)).await.map_err(trimmed)?;
    let mut stop = until.stop.clone();
    let mut quiet_since = copier.surroundings.now_millis();
    loop {
        // Asked before reading, so that everything from before it is read.
        let is_last = *stop.borrow_and_update();
        let batch = feed.read().await.map_err(trimmed)?;
        if !batch.changes.is_empty() {
            bring(writer, &batch.changes).await?;
            quiet_since = copier.surroundings.now_millis();
        }
        let text = batch.position.to_text();
        copier.checkpoint.update(table, |state| state.position = Some(text))?;
        tally.changes(batch.changes.len() as u64, batch.caught_up);
        if !batch.caught_up {
            continue;
        }
        let quiet = copier.surroundings.now_millis() - quiet_since;
        if is_last || until.idle_millis.is_some_and(|idle| quiet >= idle) {
            return Ok(tally.changes_so_far());
        }
        rest(copier, &feed, &mut stop, until.idle_millis.map(|idle| idle - quiet)).await;
    }
}

/// Waits for changes, for the word to stop, or for the time to be up.
async fn rest(copier: &Copier, feed: &Feed, stop: &mut tokio::sync::watch::Receiver<bool>, left: Option<i64>) {
    let left = left.and_then(|millis| u64::try_from(millis).ok()).unwrap_or(u64::from(u32::MAX));
    let told = async {
        if stop.changed().await.is_err() {
            // Nobody is left who could say so.
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        () = feed.wait() => {}
        () = told => {}
        () = copier.surroundings.sleep(std::time::Duration::from_millis(left)) => {}
    }
}

/// Writes what the last change of each item left.
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
