//! Accepts connections and hands them to the workers round-robin, so that a few connections load all workers equally
//! (ADR 0006).

use std::fs::File;
use std::io;
use std::net::{SocketAddr, TcpListener as StdListener, TcpStream as StdStream};
use std::sync::Arc;
use std::time::Duration;

use keyform_core::world::timeout;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch;

use crate::admission::{Admission, Refusal};
use crate::descriptors;
use crate::overflow::Overflow;
use crate::queue;
use crate::seldom::Seldom;
use crate::shared::Shared;

/// Accepted connection on its way to a worker. Dropping the [`Admission`] releases its slot.
pub(crate) type Accepted = (StdStream, Admission);

/// Delay after an error such as too many open files, which resolves itself when another connection closes.
const PAUSE: Duration = Duration::from_millis(50);

/// Owns the listening socket.
pub(crate) struct Acceptor {
    listener: StdListener,
    dealer: Dealer,
}

/// Hands connections to the workers and refuses those beyond the limits.
struct Dealer {
    workers: Vec<UnboundedSender<Accepted>>,
    turn: usize,
    shared: Arc<Shared>,
    overflow: Overflow,
    spare: Option<File>,
    refusals: Seldom,
    failures: Seldom,
}

impl Acceptor {
    pub(crate) fn new(listener: StdListener, workers: Vec<UnboundedSender<Accepted>>, shared: Arc<Shared>) -> Self {
        let overflow = Overflow::new(shared.clone());
        let (refusals, failures) = (Seldom::default(), Seldom::default());
        let dealer = Dealer { workers, turn: 0, shared, overflow, spare: spare(), refusals, failures };
        Self { listener, dealer }
    }

    /// Accepts until the server stops. Connections that are still queued then are served, and the port is closed.
    pub(crate) async fn run(self, mut stopping: watch::Receiver<bool>) {
        let Self { listener, mut dealer } = self;
        let listener = match TcpListener::from_std(listener) {
            Ok(listener) => listener,
            Err(error) => return tracing::error!(%error, "cannot listen on the port"),
        };
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = stopping.changed() => break,
            };
            match accepted {
                Ok((stream, address)) => dealer.hand_over(stream, address),
                Err(error) => dealer.recover(&error, &listener).await,
            }
        }
        for (stream, address) in queue::drain(listener) {
            dealer.hand_over(stream, address);
        }
    }
}

impl Dealer {
    fn hand_over(&mut self, stream: TcpStream, address: SocketAddr) {
        let admitted = if self.shared.proxies.trust(address.ip()) {
            self.shared.admissions.admit_proxy()
        } else {
            self.shared.admissions.admit(address.ip())
        };
        let admission = match admitted {
            Ok(admission) => admission,
            Err(refusal) => {
                if let Some(unlogged) = self.refusals.due(self.shared.world.monotonic()) {
                    tracing::warn!(client = %address.ip(), ?refusal, unlogged, "connection refused: too many \
                        connections");
                }
                return self.overflow.refuse(stream, refusal);
            }
        };
        self.shared.metrics.connections.add(1);
        self.turn = (self.turn + 1) % self.workers.len();
        match stream.into_std() {
            // The channel is closed only while the server stops. Dropping the stream closes the connection.
            Ok(stream) => drop(self.workers[self.turn].send((stream, admission))),
            Err(error) => tracing::warn!(%error, "cannot hand over a connection"),
        }
    }

    /// Waits before the next attempt, so that a persistent error does not keep a core busy.
    async fn recover(&mut self, error: &io::Error, listener: &TcpListener) {
        if is_of_one_connection(error) {
            return;
        }
        if let Some(unlogged) = self.failures.due(self.shared.world.monotonic()) {
            tracing::warn!(%error, unlogged, "cannot accept a connection");
        }
        if descriptors::is_exhausted(error) && self.spare.take().is_some() {
            self.answer_with_spare(listener).await;
        } else {
            self.shared.world.sleep(PAUSE).await;
        }
        if self.spare.is_none() {
            self.spare = spare();
        }
    }

    /// Accepts, answers and closes one connection with the freed spare descriptor, so that a probe learns that the
    /// process is alive.
    async fn answer_with_spare(&self, listener: &TcpListener) {
        match timeout(&*self.shared.world, PAUSE, listener.accept()).await {
            Ok(Ok((stream, _))) => self.overflow.refuse_and_wait(stream, Refusal::Descriptors).await,
            // Another thread took the descriptor.
            Ok(Err(_)) => self.shared.world.sleep(PAUSE).await,
            Err(_) => {}
        }
    }
}

/// Returns whether the error concerns only the connection being accepted, because its client gave up.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

/// Opens a descriptor in reserve, to be released when the process runs out of them. Without it, accepting pauses until
/// a connection closes.
fn spare() -> Option<File> {
    if cfg!(unix) { File::open("/dev/null").ok() } else { None }
}
