//! Group commit: which thread writes the next journal frame (ADR 0011).
//!
//! ```text
//! a thread blocks in Commit::wait ─► it seems to be alone: it writes the frame itself, without a thread switch
//!                                 ├► the last frame had several commits: it notifies the journal thread
//!                                 └► another thread is writing: its commit is in the next frame
//! a task polls its Commit, or a Commit is dropped ─► the journal thread is notified
//! a thread has written a frame and finds another  ─► the journal thread writes that one
//! ```
//!
//! Only one thread writes at a time, in the order of the frames, so the state of the journal does not depend on which
//! thread it is. A failure or a panic ends the journal for all. When a resource is exhausted, the frame goes back to
//! the front of the queue and the journal thread retries it until it succeeds; meanwhile commits are rejected (ADR
//! 0029).

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::batch::SeqNo;
use super::error::StoreError;
use super::journal::Frame;
use super::shared::{Files, Shared};

impl Shared {
    /// Blocks the thread until the commit is durable; writes journal frames itself when no other thread does.
    ///
    /// # Errors
    /// When the journal could not be written.
    pub(super) fn make_durable(&self, seqno: SeqNo) -> Result<SeqNo, StoreError> {
        while self.gate.durable() < seqno {
            match (&self.files, self.pipeline.lead()) {
                (Some(files), Some(frame)) => self.write_frame(files, frame),
                _ => return self.gate.wait(seqno),
            }
        }
        Ok(seqno)
    }

    /// Body of the journal thread: writes frames until the store closes or a write fails.
    pub(super) fn journal_loop(&self, files: &Files) {
        while let Some(frame) = self.pipeline.next_frame() {
            self.write_frame(files, frame);
        }
        if self.gate.failure().is_err() {
            // Nothing may follow a failed write, not even the frame that marks an orderly end.
            return files.journal.lock().give_up();
        }
        if let Err(error) = files.journal.lock().finish() {
            self.poison(&error);
        }
    }

    fn write_frame(&self, files: &Files, mut frame: Frame) {
        let turn = Turn { shared: self };
        let mut journal = files.journal.lock();
        let outcome = journal.write(&mut frame, &|segment| self.record_segment(files, segment));
        let synced = journal.is_synced();
        drop(journal);
        match outcome {
            Ok(()) => self.confirm(turn, frame, synced),
            Err(error) if error.is_scarcity() && self.pipeline.is_closing() => self.give_up(files, &error),
            Err(error) if error.is_scarcity() => self.postpone(turn, frame, &error),
            Err(error) => self.stop(&error),
        }
    }

    fn confirm(&self, turn: Turn<'_>, frame: Frame, synced: bool) {
        self.counters.frames.fetch_add(1, Ordering::Relaxed);
        self.counters.syncs.fetch_add(u64::from(synced), Ordering::Relaxed);
        let durable = frame.last();
        // Readers first: a caller that gets its acknowledgement must find its write in the next snapshot.
        self.readers.set_durable(durable);
        self.gate.set_durable(durable);
        if self.gate.resume() {
            tracing::warn!("the journal can be written again: the store accepts writes");
        }
        // End the turn before waking the callers, so that one of them can write the next frame itself.
        turn.end(frame);
        self.gate.wake(durable);
        self.pulse.beat();
    }

    /// Ends the journal of a store that closes without the resources for its last frames. Their callers have got an
    /// error, so no acknowledged commit is lost (ADR 0029).
    fn give_up(&self, files: &Files, error: &StoreError) {
        self.gate.fail(StoreError::Unconfirmed { cause: error.cause() });
        files.update_work(|work| work.failed = true);
    }

    /// Puts back a frame that met an exhausted resource. Closes the gate while the turn is still held, because the next
    /// writer may succeed at once and open it.
    fn postpone(&self, turn: Turn<'_>, frame: Frame, error: &StoreError) {
        let cause = error.cause();
        if self.gate.pause(cause.clone()) {
            tracing::error!(%cause, "cannot write the journal: the store rejects writes until a retry succeeds");
        }
        turn.postpone(frame);
    }
}

/// Right to write the journal, from taking a frame until it is written. Dropping it on any other path ends the journal.
struct Turn<'a> {
    shared: &'a Shared,
}

impl Turn<'_> {
    fn end(self, frame: Frame) {
        self.shared.pipeline.written(frame);
        std::mem::forget(self);
    }

    fn postpone(self, frame: Frame) {
        self.shared.pipeline.postpone(frame);
        std::mem::forget(self);
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.shared.stop(&StoreError::Poisoned { cause: Arc::from("writing the journal has panicked") });
        }
        self.shared.pipeline.give_up();
    }
}
