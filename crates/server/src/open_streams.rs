//! Requests in progress on an HTTP/2 connection, to find idle connections and clients that do not read.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use keyform_core::World;

/// State of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// A request is in progress, or the idle timeout has not passed.
    Busy,
    /// No request for longer than the idle timeout.
    Idle,
    /// A client has not accepted a part of its response for longer than the write timeout.
    Stalled,
}

/// Requests in progress.
pub(crate) struct OpenStreams {
    world: Arc<dyn World>,
    open: Mutex<Open>,
}

struct Open {
    next: u64,
    /// Time of the last progress of each response; `None` before the response begins.
    sending: BTreeMap<u64, Option<Duration>>,
    /// Time of the last end of a request.
    idle_since: Duration,
}

/// One request, until its response is handed over completely.
pub(crate) struct OpenStream {
    streams: Arc<OpenStreams>,
    number: u64,
}

impl OpenStreams {
    pub(crate) fn new(world: Arc<dyn World>) -> Self {
        let open = Open { next: 0, sending: BTreeMap::new(), idle_since: world.monotonic() };
        Self { world, open: Mutex::new(open) }
    }

    pub(crate) fn open(self: &Arc<Self>) -> OpenStream {
        let mut open = self.lock();
        open.next += 1;
        let number = open.next;
        open.sending.insert(number, None);
        OpenStream { streams: self.clone(), number }
    }

    pub(crate) fn state(&self, idle: Duration, write: Duration) -> State {
        let (now, open) = (self.world.monotonic(), self.lock());
        let since = |moment: Duration| now.saturating_sub(moment);
        if open.sending.is_empty() {
            return if since(open.idle_since) >= idle { State::Idle } else { State::Busy };
        }
        let stalled = open.sending.values().flatten().any(|progress| since(*progress) >= write);
        if stalled { State::Stalled } else { State::Busy }
    }

    /// Completes when the connection is idle or stalled.
    pub(crate) async fn watch(&self, idle: Duration, write: Duration) {
        while self.state(idle, write) == State::Busy {
            self.world.sleep(idle.min(write) / 2).await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenStream {
    /// Records that the client has accepted a part of its response.
    pub(crate) fn progress(&mut self) {
        let now = self.streams.world.monotonic();
        self.streams.lock().sending.insert(self.number, Some(now));
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        let now = self.streams.world.monotonic();
        let mut open = self.streams.lock();
        open.sending.remove(&self.number);
        open.idle_since = now;
    }
}

#[cfg(test)]
mod tests {
    use keyform_world::testing::ManualWorld;

    use super::*;

    #[test]
    fn a_connection_is_idle_without_requests_and_stalled_without_progress() {
        let world = ManualWorld::at_ms(1_000);
        let streams = Arc::new(OpenStreams::new(Arc::new(world.clone())));
        let (idle, write) = (Duration::from_secs(60), Duration::from_secs(30));
        let state = || streams.state(idle, write);
        assert_eq!(state(), State::Busy);
        let mut stream = streams.open();
        world.advance(Duration::from_secs(90));
        assert_eq!(state(), State::Busy, "a request may take its time");
        stream.progress();
        world.advance(Duration::from_secs(29));
        assert_eq!(state(), State::Busy);
        world.advance(Duration::from_secs(1));
        assert_eq!(state(), State::Stalled);
        stream.progress();
        assert_eq!(state(), State::Busy);
        drop(stream);
        world.advance(Duration::from_secs(59));
        assert_eq!(state(), State::Busy);
        world.advance(Duration::from_secs(1));
        assert_eq!(state(), State::Idle);
    }
}
