//! The way of a commit: numbered, put into the memtable and into the frame for the journal, all under one lock.
//!
//! ```text
//! commit ─► [lock] number ─► frame being filled ─► memtable ─► latest     a few microseconds
//! journal thread: takes the frame ─► seals ─► writes ─► syncs ─► durable ─► wakes all who waited
//! ```
//!
//! While one frame is synced the next one fills, so the busier the store, the more commits share a sync.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::{Condvar, Mutex, MutexGuard};

use super::batch::{Batch, SeqNo};
use super::commit::{Commit, Gate};
use super::error::StoreError;
use super::horizon::Readers;
use super::journal::Frame;
use super::memtable::Memtable;
use super::snapshot::View;

/// A frame takes no further batches beyond this size.
const FRAME_BYTES_MAX: usize = 4 << 20;
/// The most that one batch may hold.
const BATCH_BYTES_MAX: usize = 1 << 30;
/// Old versions looked at per change, so that forgetting keeps up with writing.
const COLLECTED_PER_CHANGE: usize = 2;

/// The commit lock and what it protects.
#[derive(Debug)]
pub(super) struct Pipeline {
    state: Mutex<PipelineState>,
    frame_ready: Condvar,
}

#[derive(Debug)]
pub(super) struct PipelineState {
    pub(super) seqno: SeqNo,
    pub(super) memtable: Arc<Memtable>,
    pub(super) segment: u64,
    frames: VecDeque<Frame>,
    spare: Option<Vec<u8>>,
    journal_idle: bool,
    closing: bool,
    /// Keys with versions that could not be forgotten at once, in order: only in a store without files.
    garbage: VecDeque<(SeqNo, Bytes)>,
}

impl Pipeline {
    pub(super) fn new(seqno: SeqNo, memtable: Arc<Memtable>, segment: u64) -> Self {
        let state = PipelineState {
            seqno,
            memtable,
            segment,
            frames: VecDeque::new(),
            spare: None,
            journal_idle: false,
            closing: false,
            garbage: VecDeque::new(),
        };
        Pipeline { state: Mutex::new(state), frame_ready: Condvar::new() }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, PipelineState> {
        self.state.lock()
    }

    /// Applies a batch to a store without files: it is visible to everybody when this returns.
    pub(super) fn commit_in_memory(&self, batch: Batch, readers: &Readers<Arc<View>>) -> Commit {
        let mut state = self.state.lock();
        if let Err(refused) = state.admit(&batch) {
            return Commit::decided(Err(refused));
        }
        state.seqno += 1;
        let seqno = state.seqno;
        let memtable = state.memtable.clone();
        let changes = batch.len();
        // Whoever takes a snapshot from here on waits for the memtable's lock and then sees the whole batch.
        let mut writing = memtable.write();
        let horizon = readers.publish(seqno);
        for (key, value) in batch.into_changes(seqno) {
            let kept = writing.insert_alone(key, seqno, value, &horizon);
            state.garbage.extend(kept.map(|key| (seqno, key)));
        }
        let floor = horizon.floor();
        for _ in 0..changes * COLLECTED_PER_CHANGE {
            match state.garbage.front() {
                Some((superseded, key)) if *superseded <= floor => writing.collect(key, &horizon),
                _ => break,
            }
            state.garbage.pop_front();
        }
        Commit::decided(Ok(seqno))
    }

    /// Applies a batch to a store on disk: visible to [`latest`](super::Store::latest) when this returns. `full` is
    /// called, still under the lock, when the memtable has reached `memtable_bytes`.
    pub(super) fn commit(
        &self,
        batch: Batch,
        readers: &Readers<Arc<View>>,
        gate: &Arc<Gate>,
        memtable_bytes: usize,
        full: impl FnOnce(&mut PipelineState),
    ) -> Commit {
        let mut state = self.state.lock();
        if let Err(refused) = state.admit(&batch).and_then(|()| gate.check()) {
            return Commit::decided(Err(refused));
        }
        state.seqno += 1;
        let seqno = state.seqno;
        state.fill_frame(seqno, &batch);
        let horizon = readers.horizon();
        let mut writing = state.memtable.write();
        for (key, value) in batch.into_changes(seqno) {
            writing.insert(key, seqno, value, &horizon);
        }
        drop(writing);
        readers.set_latest(seqno);
        if state.memtable.bytes() >= memtable_bytes {
            full(&mut state);
        }
        let wake = std::mem::take(&mut state.journal_idle);
        drop(state);
        if wake {
            self.frame_ready.notify_one();
        }
        Commit::waiting(seqno, gate.clone())
    }

    /// The next frame for the journal, waiting for one; `None` when the store is closing and nothing is left.
    pub(super) fn next_frame(&self) -> Option<Frame> {
        let mut state = self.state.lock();
        loop {
            if let Some(frame) = state.frames.pop_front() {
                return Some(frame);
            }
            if state.closing {
                return None;
            }
            state.journal_idle = true;
            self.frame_ready.wait(&mut state);
        }
    }

    /// Gives a written frame's buffer back for use again.
    pub(super) fn recycle(&self, frame: Frame) {
        self.state.lock().spare = frame.into_spare();
    }

    /// Refuses further commits; the journal thread ends when it has written what is waiting.
    pub(super) fn close(&self) {
        self.state.lock().closing = true;
        self.frame_ready.notify_all();
    }
}

impl PipelineState {
    fn admit(&self, batch: &Batch) -> Result<(), StoreError> {
        if self.closing {
            Err(StoreError::Closed)
        } else if batch.bytes() > BATCH_BYTES_MAX || batch.appends() > usize::from(u16::MAX) + 1 {
            Err(StoreError::BatchTooLarge)
        } else {
            Ok(())
        }
    }

    fn fill_frame(&mut self, seqno: SeqNo, batch: &Batch) {
        let segment = self.segment;
        let full = |frame: &Frame| frame.segment() != segment || frame.bytes() >= FRAME_BYTES_MAX;
        if self.frames.back().is_none_or(full) {
            let buffer = self.spare.take().unwrap_or_default();
            self.frames.push_back(Frame::new(segment, seqno, buffer));
        }
        if let Some(frame) = self.frames.back_mut() {
            frame.push(batch);
        }
    }
}
