//! The way of a commit: numbered, put into the memtable and into the frame for the journal, all under one lock.
//!
//! ```text
//! commit ─► [lock] number ─► frame being filled ─► memtable ─► latest     a few microseconds
//! writer of the journal: takes the frame ─► seals ─► writes ─► syncs ─► durable ─► wakes all who waited
//! ```
//!
//! While one frame is synced the next one fills, so the busier the store, the more commits share a sync. Who writes the
//! journal is decided in [`group`](super::group).

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
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

/// A frame takes no further batches beyond this size.
const FRAME_BYTES_MAX: usize = 4 << 20;
/// The most that one batch may hold.
const BATCH_BYTES_MAX: usize = 1 << 30;
/// A frame of this size is not left to the one who might wait for it.
const FRAME_BYTES_DEFERRED: usize = 256 << 10;
/// Old versions looked at per change, so that forgetting keeps up with writing.
const COLLECTED_PER_CHANGE: usize = 2;

/// A batch that has its place in the order of commits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Queued {
    pub(super) seqno: SeqNo,
    /// Whether its frame will be written without anybody asking for it.
    pub(super) handed_over: bool,
}

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
    /// The bytes of the journal that hold what is in the memtable, written or about to be.
    pub(super) journal_bytes: u64,
    frames: VecDeque<Frame>,
    spare: Option<Vec<u8>>,
    /// Whether somebody has taken a frame and is not done with it.
    writing: bool,
    /// Whether the journal thread should write what waits.
    asked: bool,
    /// How many commits the last frame held.
    last_commits: u32,
    /// When the journal thread tries the first frame again, and after how many failures in a row, while something is scarce.
    retry: Option<Retry>,
    /// Whether the journal could not be written, so that no further frame may be.
    failed: bool,
    closing: bool,
    /// Keys with versions that could not be forgotten at once, in order: only in a store without files.
    garbage: VecDeque<(SeqNo, Bytes)>,
}

#[derive(Debug, Clone, Copy)]
struct Retry {
    at: Instant,
    failures: u32,
}

impl Pipeline {
    pub(super) fn new(seqno: SeqNo, memtable: Arc<Memtable>, segment: u64, journal_bytes: u64) -> Self {
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
        Pipeline { state: Mutex::new(state), frame_ready: Condvar::new() }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, PipelineState> {
        self.state.lock()
    }

    /// Applies a batch to a store without files: it is visible to everybody when this returns.
    pub(super) fn commit_in_memory(&self, batch: Batch, readers: &Readers<Arc<View>>) -> Result<SeqNo, StoreError> {
        let mut state = self.state.lock();
        state.admit(&batch)?;
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
        Ok(seqno)
    }

    /// Applies a batch to a store on disk: visible to [`latest`](super::Store::latest) when this returns. `full` is
    /// called, still under the lock, when the memtable or its journal has reached its limit.
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
        if limits.are_reached(state.memtable.bytes(), state.journal_bytes) {
            full(&mut state);
        }
        let crowded =
            state.frames.len() > 1 || state.frames.back().is_some_and(|frame| frame.bytes() >= FRAME_BYTES_DEFERRED);
        if crowded {
            self.ask(&mut state);
        }
        Ok(Queued { seqno, handed_over: crowded || state.writing })
    }

    /// Leaves what waits to the journal thread.
    pub(super) fn hand_over(&self) {
        self.ask(&mut self.state.lock());
    }

    /// Asks the journal thread to write what waits, unless somebody is writing: whoever writes asks it at the end.
    fn ask(&self, state: &mut PipelineState) {
        if !state.writing && !state.frames.is_empty() {
            state.asked = true;
            self.frame_ready.notify_one();
        }
    }

    /// The next frame, for a caller who writes it now and says so with [`Pipeline::written`]. `None` when somebody else does
    /// or will: then the caller's commit becomes durable without it, or the journal has failed.
    ///
    /// Where the last frame served several, the next is left to the journal thread: until that has woken up, the others
    /// who have just been served put their next commits into the frame.
    pub(super) fn lead(&self) -> Option<Frame> {
        let mut state = self.state.lock();
        if state.last_commits <= 1 {
            return state.take_frame();
        }
        self.ask(&mut state);
        None
    }

    /// The next frame for the journal thread, waiting for one; `None` when the journal has failed, or the store is closing
    /// and nothing is left.
    pub(super) fn next_frame(&self) -> Option<Frame> {
        let mut state = self.state.lock();
        loop {
            if let Some(Retry { at, .. }) = state.retry
                && !state.closing
                && Instant::now() < at
            {
                self.frame_ready.wait_until(&mut state, at);
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

    /// Ends the turn of whoever took a frame, and keeps its buffer for use again. What has come in the meantime is left to
    /// the journal thread.
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

    /// Ends the turn of a writer that found something scarce: the journal thread tries the frame again, later.
    pub(super) fn postpone(&self, frame: Frame) {
        let mut state = self.state.lock();
        state.writing = false;
        state.frames.push_front(frame);
        let failures = state.retry.map_or(1, |retry| retry.failures.saturating_add(1));
        state.retry = Some(Retry { at: Instant::now() + retry::pause(failures), failures });
        self.frame_ready.notify_one();
    }

    pub(super) fn is_closing(&self) -> bool {
        self.state.lock().closing
    }

    /// Ends the turn of whoever took a frame and could not write it: nobody gets one any more.
    pub(super) fn give_up(&self) {
        let mut state = self.state.lock();
        state.writing = false;
        state.failed = true;
        self.frame_ready.notify_all();
    }

    /// Refuses further commits; the journal thread ends when it has written what is waiting.
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

    /// The first frame, unless it waits for its next try.
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
