//! Writes items into a table in batches with distinct keys, in order per key.

use std::collections::BTreeSet;

use keyform_core::operation::WriteRequest;
use keyform_core::table::TableDescription;
use keyform_core::{Attributes, Item};

use crate::copy::CopyError;
use crate::copy::write::{BATCH_MAX, Writer};

use super::resume::Resume;

/// Collects writes into batches.
pub(super) struct Load<'a> {
    writer: &'a Writer,
    table: &'a TableDescription,
    batch: Vec<WriteRequest>,
    keys: BTreeSet<Vec<u8>>,
    /// Items processed so far, including skipped ones.
    pub(super) items: u64,
    /// Items to skip, because an earlier run wrote them.
    skip: u64,
    resume: Option<Resume>,
    told: &'a (dyn Fn(u64) + Send + Sync),
}

impl<'a> Load<'a> {
    pub(super) fn new(writer: &'a Writer, table: &'a TableDescription, told: &'a (dyn Fn(u64) + Send + Sync)) -> Self {
        Self { writer, table, batch: Vec::new(), keys: BTreeSet::new(), items: 0, skip: 0, resume: None, told }
    }

    /// Skips the items that an earlier run wrote, and records progress.
    pub(super) fn resuming(self, resume: Option<Resume>, written: u64) -> Self {
        Self { resume, skip: written, ..self }
    }

    /// Finishes the import. Removes the checkpoint after success or if the file must be corrected; otherwise records
    /// the progress.
    pub(super) fn end(&self, outcome: &Result<(), CopyError>) -> Result<(), CopyError> {
        let Some(resume) = &self.resume else { return Ok(()) };
        match outcome {
            Ok(()) | Err(CopyError::Data(_) | CopyError::Format(_)) => resume.remove(),
            Err(_) => resume.note(self.items),
        }
    }

    /// Adds a write. First sends the batch if it is full or already has this key, because a request may not contain a
    /// key twice.
    pub(super) async fn add(&mut self, write: WriteRequest) -> Result<(), CopyError> {
        if self.items < self.skip {
            self.items += 1;
            return Ok(());
        }
        let key = self.key(match &write {
            WriteRequest::Put(item) | WriteRequest::Delete(item) => item,
        })?;
        if self.batch.len() == BATCH_MAX || self.keys.contains(&key) {
            self.flush().await?;
        }
        self.keys.insert(key);
        self.batch.push(write);
        Ok(())
    }

    pub(super) async fn flush(&mut self) -> Result<(), CopyError> {
        let batch = std::mem::take(&mut self.batch);
        self.keys.clear();
        let count = batch.len() as u64;
        self.writer.write(batch).await?;
        self.items += count;
        if let Some(resume) = &mut self.resume {
            resume.written(self.items, self.writer.world.now_millis())?;
        }
        (self.told)(self.items);
        Ok(())
    }

    fn key(&self, item: &Attributes) -> Result<Vec<u8>, CopyError> {
        let mut key = Attributes::new();
        for name in self.table.key.attributes() {
            let value = item.get(name).ok_or_else(|| {
                CopyError::Data(format!("an item lacks {name}, which is part of the key of {}", self.table.name))
            })?;
            key.insert(name.clone(), value.clone());
        }
        Ok(Item::from(&key).as_bytes().to_vec())
    }
}
