//! Scans the source in parallel segments. Each page is written and recorded in the checkpoint before the next is read.

use std::sync::Arc;

use keyform_core::operation::{PageOutput, Scan, Segment, WriteRequest};
use keyform_core::{Attributes, Error, Execute, ExecuteExt};
use tokio::task::JoinSet;

use super::progress::Tally;
use super::write::{BATCH_MAX, Writer};
use super::{Copier, CopyError};

/// Copies the remaining items of a table.
pub(crate) async fn all(copier: &Copier, table: &str, writer: &Writer, tally: &Arc<Tally>) -> Result<(), CopyError> {
    let mut parts = JoinSet::new();
    for (number, state) in copier.checkpoint.segments(table).into_iter().enumerate() {
        tally.items(state.items, state.bytes);
        if !state.done {
            let (copier, writer, tally) = (copier.clone(), writer.clone(), tally.clone());
            let part = Part { copier, writer, tally, table: table.to_owned(), number };
            parts.spawn(async move { part.copy(state.start).await });
        }
    }
    while let Some(done) = parts.join_next().await {
        done??;
    }
    Ok(())
}

struct Part {
    copier: Copier,
    writer: Writer,
    tally: Arc<Tally>,
    table: String,
    number: usize,
}

impl Part {
    async fn copy(&self, mut start: Option<Attributes>) -> Result<(), CopyError> {
        let total = self.copier.checkpoint.segments(&self.table).len();
        let segment = segment(self.number, total);
        loop {
            let limit = self.copier.settings.page_items;
            let page = page(&*self.copier.from, &self.table, segment, limit, start.take()).await?;
            let items = page.items.unwrap_or_default();
            let bytes: usize = items.iter().map(keyform_core::Item::size).sum();
            for batch in items.chunks(BATCH_MAX) {
                self.writer.write(batch.iter().map(|item| WriteRequest::Put(item.to_attributes())).collect()).await?;
                let bytes: usize = batch.iter().map(keyform_core::Item::size).sum();
                self.tally.items(batch.len() as u64, bytes as u64);
            }
            start = page.last_key.map(|key| key.to_attributes());
            self.copier.checkpoint.update(&self.table, |state| {
                let segment = &mut state.segments[self.number];
                segment.items += items.len() as u64;
                segment.bytes += bytes as u64;
                segment.start = start.clone();
                segment.done = start.is_none();
            })?;
            if start.is_none() {
                return Ok(());
            }
        }
    }
}

/// Returns the scan segment, or `None` for an undivided scan.
pub(crate) fn segment(number: usize, total: usize) -> Option<Segment> {
    let part = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    (total > 1).then(|| Segment { number: part(number), total: part(total) })
}

/// Reads a page of a table with strong consistency, so that earlier writes are included.
///
/// # Errors
/// The store fails, or returns the start key as the last key and would never end.
pub(crate) async fn page(
    store: &dyn Execute,
    table: &str,
    segment: Option<Segment>,
    limit: Option<usize>,
    start: Option<Attributes>,
) -> Result<PageOutput, Error> {
    let scan = Scan { limit, consistent: true, segment, start: start.clone(), ..Scan::of(table) };
    let page = store.call(scan).await?;
    page.ensure_progress(start.as_ref()).map(|()| page)
}
