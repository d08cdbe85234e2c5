//! The commit pipeline: a commit is numbered and added to the memtable and to a journal frame, under one lock.
//!
//! ```text
//! commit ─► [lock] number ─► frame being filled ─► memtable ─► latest     a few microseconds
//! writer of the journal: takes the frame ─► seals ─► writes ─► syncs ─► durable ─► wakes all waiters
//! ```
//!
//! While one frame is synced the next one fills, so the busier the store, the more commits share a sync. The module
//! [`group`](super::group) decides which thread writes the journal.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use keyform_core::World;
use parking_lot::{Condvar, Mutex, MutexGuard};

use super::batch::{Batch, SeqNo};
use super::commit::Gate;
use super::cut::CutLimits;
use super::error::StoreError;
use super::horizon::Readers;
use super::journal::Frame;
use super::memtable::Memtable;
use super::retry;
use super::snapshot::View;

/// A frame of this size accepts no more batches.
const FRAME_BYTES_MAX: usize = 4 << 20;
/// Maximum size of a batch.
const BATCH_BYTES_MAX: usize = 1 << 30;
/// A frame of this size goes to the journal thread at once instead of waiting for its callers.
const FRAME_BYTES_DEFERRED: usize = 256 << 10;
/// Old versions collected per change, so that collection keeps up with writing.
const COLLECTED_PER_CHANGE: usize = 2;

/// Batch that has its position in the order of commits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Queued {
    pub(super) seqno: SeqNo,
    /// True if the frame will be written without another request.
    pub(super) handed_over: bool,
}

/// Commit lock and the state it protects.
#[derive(Debug)]
pub(super) struct Pipeline {
    world: Arc<dyn World>,
    state: Mutex<PipelineState>,
    frame_ready: Condvar,
}

#[derive(Debug)]
pub(super) struct PipelineState {
    pub(super) seqno: SeqNo,
    pub(super) memtable: Arc<Memtable>,
    pub(super) segment: u64,
    /// Size of the journal for the data in the memtable, written or queued.
    pub(super) journal_bytes: u64,
    frames: VecDeque<Frame>,
    spare: Option<Vec<u8>>,
    /// True while a thread has taken a frame and is not done with it.
    writing: bool,
    /// Requests that the journal thread writes the queued frames.
    asked: bool,
    /// Number of commits in the last frame.
    last_commits: u32,
    /// Time of the next retry of the first frame, while a resource is exhausted.
    retry: Option<Retry>,
    /// True after the journal could not be written; no further frame may be written.
    failed: bool,
    closing: bool,
    /// Keys with older versions that could not be dropped yet, in commit order. Only in a store without files.
    garbage: VecDeque<(SeqNo, Bytes)>,
}

#[derive(Debug, Clone, Copy)]
struct Retry {
    /// Moment on the monotonic clock.
    at: Duration,
    failures: u32,
}

impl Pipeline {
    pub(super) fn new(
        seqno: SeqNo,
        memtable: Arc<Memtable>,
        segment: u64,
        journal_bytes: u64,
        world: Arc<dyn World>,
    ) -> Self {
        let state = PipelineState {
            seqno,
            memtable,
            segment,
            journal_bytes,
            frames: VecDeque::new(),
            spare: None,
            writing: false,
            asked: false,
            last_commits: 0,
            retry: None,
            failed: false,
            closing: false,
            garbage: VecDeque::new(),
        };
        Pipeline { world, state: Mutex::new(state), frame_ready: Condvar::new() }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, PipelineState> {
        self.state.lock()
    }

    /// Applies a batch to a store without files: visible to all readers when this returns.
    pub(super) fn commit_in_memory(&self, batch: Batch, readers: &Readers<Arc<View>>) -> Result<SeqNo, StoreError> {
        let mut state = self.state.lock();
        state.admit(&batch)?;
        state.seqno += 1;
        let seqno = state.seqno;
        let memtable = state.memtable.clone();
        let changes = batch.len();
        // A snapshot taken after `publish` blocks on the memtable's lock and then sees the whole batch.
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
        Ok(seqno)
    }

    /// Applies a batch to a store on disk: visible to [`latest`](super::Store::latest) when this returns. Calls `full`
    /// under the lock when the memtable or its journal has reached its limit.
    pub(super) fn commit(
        &self,
        batch: Batch,
        readers: &Readers<Arc<View>>,
        gate: &Gate,
        limits: CutLimits,
        full: impl FnOnce(&mut PipelineState),
    ) -> Result<Queued, StoreError> {
        let mut state = self.state.lock();
        state.admit(&batch)?;
        // ADR 0029: a rejected commit gets no number, so it is not applied now or later.
        gate.check()?;
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
        if limits.are_reached(&state.memtable, state.journal_bytes) {
            full(&mut state);
        }
        let crowded =
            state.frames.len() > 1 || state.frames.back().is_some_and(|frame| frame.bytes() >= FRAME_BYTES_DEFERRED);
        if crowded {
            self.ask(&mut state);
        }
        Ok(Queued { seqno, handed_over: crowded || state.writing })
    }

    /// Leaves the queued frames to the journal thread.
    pub(super) fn hand_over(&self) {
        self.ask(&mut self.state.lock());
    }

    /// Wakes the journal thread, unless a thread is writing: that one wakes it when it is done.
    fn ask(&self, state: &mut PipelineState) {
        if !state.writing && !state.frames.is_empty() {
            state.asked = true;
            self.frame_ready.notify_one();
        }
    }

    /// Returns the next frame, for a caller that writes it now and then calls [`Pipeline::written`]. Returns `None` if
    /// another thread is writing or will write, or if the journal has failed.
    ///
    /// If the last frame had several commits, the next one is left to the journal thread: while that thread wakes up,
    /// the callers that were just served add their next commits to the frame (ADR 0011).
    pub(super) fn lead(&self) -> Option<Frame> {
        let mut state = self.state.lock();
        if state.last_commits <= 1 {
            return state.take_frame();
        }
        self.ask(&mut state);
        None
    }

    /// Waits for the next frame, for the journal thread. Returns `None` when the journal has failed, or when the store
    /// is closing and no frame is left.
    pub(super) fn next_frame(&self) -> Option<Frame> {
        let mut state = self.state.lock();
        loop {
            if let Some(Retry { at, .. }) = state.retry
                && !state.closing
                && let Some(left) = at.checked_sub(self.world.monotonic()).filter(|left| !left.is_zero())
            {
                self.frame_ready.wait_for(&mut state, self.world.blocking_wait(left));
                continue;
            }
            if (state.asked || state.closing || state.retry.is_some())
                && let Some(frame) = state.take_first()
            {
                return Some(frame);
            }
            if state.failed || (state.closing && !state.writing) {
                return None;
            }
            state.asked &= !state.frames.is_empty();
            self.frame_ready.wait(&mut state);
        }
    }

    /// Ends the turn of a writer and keeps the frame's buffer for reuse. Frames queued in the meantime are left to the
    /// journal thread.
    pub(super) fn written(&self, frame: Frame) {
        let mut state = self.state.lock();
        state.writing = false;
        state.retry = None;
        state.last_commits = frame.commits();
        state.spare = frame.into_spare();
        self.ask(&mut state);
        if state.closing {
            self.frame_ready.notify_one();
        }
    }

    /// Ends the turn of a writer that met an exhausted resource: the journal thread retries the frame later.
    pub(super) fn postpone(&self, frame: Frame) {
        let mut state = self.state.lock();
        state.writing = false;
        // The frame stays first, so no other frame can take its index, which is its nonce (ADR 0029).
        state.frames.push_front(frame);
        let failures = state.retry.map_or(1, |retry| retry.failures.saturating_add(1));
        state.retry = Some(Retry { at: self.world.monotonic() + retry::pause(failures), failures });
        self.frame_ready.notify_one();
    }

    pub(super) fn is_closing(&self) -> bool {
        self.state.lock().closing
    }

    /// Ends the turn of a writer that failed: no thread gets a frame any more.
    pub(super) fn give_up(&self) {
        let mut state = self.state.lock();
        state.writing = false;
        state.failed = true;
        self.frame_ready.notify_all();
    }

    /// Rejects further commits; the journal thread ends when it has written the queued frames.
    pub(super) fn close(&self) {
        self.state.lock().closing = true;
        self.frame_ready.notify_all();
    }
}

impl PipelineState {
    pub(super) fn is_closing(&self) -> bool {
        self.closing
    }

    fn admit(&self, batch: &Batch) -> Result<(), StoreError> {
        if self.closing {
            Err(StoreError::Closed)
        } else if batch.bytes() > BATCH_BYTES_MAX || batch.appends() > usize::from(u16::MAX) + 1 {
            Err(StoreError::BatchTooLarge)
        } else {
            Ok(())
        }
    }

    /// Takes the first frame, unless it waits for its retry.
    fn take_frame(&mut self) -> Option<Frame> {
        if self.retry.is_some() { None } else { self.take_first() }
    }

    fn take_first(&mut self) -> Option<Frame> {
        if self.writing || self.failed {
            return None;
        }
        let frame = self.frames.pop_front()?;
        self.writing = true;
        Some(frame)
    }

    fn fill_frame(&mut self, seqno: SeqNo, batch: &Batch) {
        let segment = self.segment;
        let full = |frame: &Frame| frame.is_closed() || frame.segment() != segment || frame.bytes() >= FRAME_BYTES_MAX;
        if self.frames.back().is_none_or(full) {
            let buffer = self.spare.take().unwrap_or_default();
            let frame = Frame::new(segment, seqno, buffer);
            self.journal_bytes += frame.sealed_bytes();
            self.frames.push_back(frame);
        }
        if let Some(frame) = self.frames.back_mut() {
            let before = frame.sealed_bytes();
            frame.push(batch);
            self.journal_bytes += frame.sealed_bytes() - before;
        }
    }
}
