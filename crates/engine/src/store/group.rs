//! Group commit: who writes the next frame of the journal.
//!
//! ```text
//! a thread blocks in Commit::wait ─► it seems to be alone: it writes the frame itself, without a switch of threads
//!                                 ├► the last frame served several: the journal thread is asked
//!                                 └► somebody writes: its commit is in the next frame
//! a task polls its Commit, or a Commit is dropped ─► the journal thread is asked
//! whoever has written a frame finds another one   ─► the journal thread goes on with it
//! ```
//!
//! One at a time writes, in the order of the frames, so what is known of the journal's end does not depend on who it is. A
//! failure, or a panic, ends the journal for all.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::batch::SeqNo;
use super::error::StoreError;
use super::journal::Frame;
use super::shared::{Files, Shared};

impl Shared {
    /// Blocks the thread until the commit is durable, and does what is to be done for that if nobody else does.
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

    /// The journal thread: frame after frame until the store closes or a write fails.
    pub(super) fn journal_loop(&self, files: &Files) {
        while let Some(frame) = self.pipeline.next_frame() {
            self.write_frame(files, frame);
        }
        if let Err(error) = files.journal.lock().finish() {
            self.poison(&error);
        }
    }

    fn write_frame(&self, files: &Files, mut frame: Frame) {
        let turn = Turn { shared: self };
        let mut journal = files.journal.lock();
        let outcome = journal.write(&mut frame);
        let synced = journal.is_synced();
        drop(journal);
        if let Err(error) = outcome {
            return self.stop(&error);
        }
        self.counters.frames.fetch_add(1, Ordering::Relaxed);
        self.counters.syncs.fetch_add(u64::from(synced), Ordering::Relaxed);
        let durable = frame.last();
        self.readers.set_durable(durable);
        self.gate.set_durable(durable);
        // The turn ends first, so that whoever is woken finds the journal free.
        turn.end(frame);
        self.gate.wake(durable);
        self.pulse.beat();
    }
}

/// The right to write, from taking a frame to its end. If it ends in any other way, nobody gets a frame any more.
struct Turn<'a> {
    shared: &'a Shared,
}

impl Turn<'_> {
    fn end(self, frame: Frame) {
        self.shared.pipeline.written(frame);
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
