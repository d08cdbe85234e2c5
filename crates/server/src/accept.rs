//! Taking connections and dealing them out to the workers in turn, so that few connections load all workers equally.

use std::fs::File;
use std::io;
use std::net::{SocketAddr, TcpListener as StdListener, TcpStream as StdStream};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch;

use crate::admission::{Admission, Refusal};
use crate::descriptors;
use crate::overflow::Overflow;
use crate::queue;
use crate::seldom::Seldom;
use crate::shared::Shared;

/// A connection on its way to a worker.
pub(crate) type Accepted = (StdStream, Admission);

/// The wait after an error such as too many open files, which another connection's end corrects.
const PAUSE: Duration = Duration::from_millis(50);

/// Takes connections from the port.
pub(crate) struct Acceptor {
    listener: StdListener,
    dealer: Dealer,
}

/// Deals connections out to the workers, and refuses those beyond the limits.
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

    /// Runs until the server stops; connections that wait then are still served, and the port is closed.
    pub(crate) async fn run(self, mut stopping: watch::Receiver<bool>) {
        let Self { listener, mut dealer } = self;
        let listener = match TcpListener::from_std(listener) {
            Ok(listener) => listener,
            Err(error) => return tracing::error!(%error, "the port cannot be used"),
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
        let admission = match self.shared.admissions.admit(address.ip()) {
            Ok(admission) => admission,
            Err(refusal) => {
                if let Some(unlogged) = self.refusals.due() {
                    tracing::warn!(client = %address.ip(), ?refusal, unlogged, "a connection was refused: there are too many");
                }
                return self.overflow.refuse(stream, refusal);
            }
        };
        self.shared.metrics.connections.add(1);
        self.turn = (self.turn + 1) % self.workers.len();
        match stream.into_std() {
            // A worker that is gone means that the server stops: the connection is closed by dropping it.
            Ok(stream) => drop(self.workers[self.turn].send((stream, admission))),
            Err(error) => tracing::warn!(%error, "a connection could not be handed over"),
        }
    }

    /// Waits before the next try, so that a lasting error does not keep a core busy.
    async fn recover(&mut self, error: &io::Error, listener: &TcpListener) {
        if is_of_one_connection(error) {
            return;
        }
        if let Some(unlogged) = self.failures.due() {
            tracing::warn!(%error, unlogged, "a connection could not be accepted");
        }
        if descriptors::is_exhausted(error) && self.spare.take().is_some() {
            self.answer_with_spare(listener).await;
        } else {
            tokio::time::sleep(PAUSE).await;
        }
        if self.spare.is_none() {
            self.spare = spare();
        }
    }

    /// The spare descriptor is free now: one connection at a time is accepted with it, answered and closed, so that a
    /// probe learns that the process lives.
    async fn answer_with_spare(&self, listener: &TcpListener) {
        match tokio::time::timeout(PAUSE, listener.accept()).await {
            Ok(Ok((stream, _))) => self.overflow.refuse_and_wait(stream, Refusal::Descriptors).await,
            // Another thread took the descriptor.
            Ok(Err(_)) => tokio::time::sleep(PAUSE).await,
            Err(_) => {}
        }
    }
}

/// The client gave up before it was accepted; the next connection is not affected.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

/// A descriptor that is held to be given up when there is no other. Without one, accepting waits for a connection's end.
fn spare() -> Option<File> {
    if cfg!(unix) { File::open("/dev/null").ok() } else { None }
}
