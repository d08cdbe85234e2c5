//! Visibility of versions: the live snapshots, and the sequence number of new ones.

use parking_lot::Mutex;

use super::batch::SeqNo;

/// Sequence numbers at which readers can read, at one point in time.
#[derive(Debug, Clone, Default)]
pub(super) struct Horizon {
    /// New snapshots have at least this sequence number.
    pub(super) durable: SeqNo,
    /// Sequence numbers of existing snapshots, ascending.
    pub(super) live: Vec<SeqNo>,
}

impl Horizon {
    /// Returns whether a version with `seqno`, superseded by `newer`, is visible to an existing or future snapshot.
    ///
    /// ```text
    /// versions   2 ─────── 7 ─────── 9          2 is needed by a snapshot of 2..=6
    /// snapshots       4         8=durable       7 is needed by new snapshots, of 8
    /// ```
    pub(super) fn needs(&self, seqno: SeqNo, newer: SeqNo) -> bool {
        if newer > self.durable {
            return true;
        }
        let first = self.live.partition_point(|live| *live < seqno);
        self.live.get(first).is_some_and(|live| *live < newer)
    }

    /// Returns the oldest sequence number that a reader uses.
    pub(super) fn floor(&self) -> SeqNo {
        self.live.first().map_or(self.durable, |oldest| self.durable.min(*oldest))
    }
}

/// Existing snapshots, with reference counts.
#[derive(Debug, Default)]
pub(super) struct Live {
    held: Vec<(SeqNo, usize)>,
}

impl Live {
    pub(super) fn hold(&mut self, seqno: SeqNo) {
        let at = self.held.partition_point(|(held, _)| *held < seqno);
        match self.held.get_mut(at) {
            Some((held, count)) if *held == seqno => *count += 1,
            _ => self.held.insert(at, (seqno, 1)),
        }
    }

    pub(super) fn release(&mut self, seqno: SeqNo) {
        let at = self.held.partition_point(|(held, _)| *held < seqno);
        let Some((held, count)) = self.held.get_mut(at) else { return };
        if *held == seqno {
            *count -= 1;
            if *count == 0 {
                self.held.remove(at);
            }
        }
    }

    pub(super) fn seqnos(&self) -> Vec<SeqNo> {
        self.held.iter().map(|(seqno, _)| *seqno).collect()
    }
}

/// State that readers see now. Its lock is held for a few instructions only.
#[derive(Debug)]
pub(super) struct Readers<V> {
    state: Mutex<ReadersState<V>>,
}

#[derive(Debug)]
struct ReadersState<V> {
    durable: SeqNo,
    latest: SeqNo,
    live: Live,
    view: V,
}

impl<V: Clone> Readers<V> {
    pub(super) fn new(seqno: SeqNo, view: V) -> Self {
        Readers { state: Mutex::new(ReadersState { durable: seqno, latest: seqno, live: Live::default(), view }) }
    }

    /// Registers a reader of the durable state.
    pub(super) fn hold_durable(&self) -> (SeqNo, V) {
        let mut state = self.state.lock();
        let seqno = state.durable;
        state.live.hold(seqno);
        (seqno, state.view.clone())
    }

    /// Registers a reader of all commits, durable or not.
    pub(super) fn hold_latest(&self) -> (SeqNo, V) {
        let mut state = self.state.lock();
        let seqno = state.latest;
        state.live.hold(seqno);
        (seqno, state.view.clone())
    }

    pub(super) fn release(&self, seqno: SeqNo) {
        self.state.lock().live.release(seqno);
    }

    pub(super) fn horizon(&self) -> Horizon {
        let state = self.state.lock();
        Horizon { durable: state.durable, live: state.live.seqnos() }
    }

    /// Returns the sequence number that new snapshots get.
    pub(super) fn durable(&self) -> SeqNo {
        self.state.lock().durable
    }

    pub(super) fn set_latest(&self, seqno: SeqNo) {
        self.state.lock().latest = seqno;
    }

    pub(super) fn set_durable(&self, seqno: SeqNo) {
        self.state.lock().durable = seqno;
    }

    /// Makes a commit visible to all new readers; returns the horizon after it.
    pub(super) fn publish(&self, seqno: SeqNo) -> Horizon {
        let mut state = self.state.lock();
        state.latest = seqno;
        state.durable = seqno;
        Horizon { durable: seqno, live: state.live.seqnos() }
    }

    pub(super) fn view(&self) -> V {
        self.state.lock().view.clone()
    }

    /// Replaces the view by one made from the current one.
    pub(super) fn update_view(&self, next: impl FnOnce(&V) -> V) {
        let mut state = self.state.lock();
        let view = next(&state.view);
        let old = std::mem::replace(&mut state.view, view);
        drop(state);
        // Drop the old view outside the lock: it may free memtables and delete files.
        drop(old);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_needed_while_a_snapshot_lies_between_it_and_the_next() {
        let horizon = Horizon { durable: 8, live: vec![4, 8] };
        assert!(horizon.needs(2, 7));
        assert!(!horizon.needs(5, 7));
        assert!(horizon.needs(7, 9), "a new snapshot of 8 would see it");
        assert!(horizon.needs(4, 5));
        assert!(!horizon.needs(1, 4));
    }

    #[test]
    fn a_snapshot_is_live_until_its_last_release() {
        let mut live = Live::default();
        live.hold(5);
        live.hold(3);
        live.hold(5);
        live.release(5);
        assert_eq!(live.seqnos(), [3, 5]);
        live.release(5);
        assert_eq!(live.seqnos(), [3]);
    }
}
