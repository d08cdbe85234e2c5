//! Taking connections and dealing them out to the workers in turn, so that few connections load all workers equally.

use std::net::{TcpListener as StdListener, TcpStream as StdStream};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch;

use crate::queue;
use crate::shared::{Admission, Shared};

/// A connection on its way to a worker.
pub(crate) type Accepted = (StdStream, Admission);

const FULL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
/// The wait after an error such as too many open files, which another connection's end corrects.
const PAUSE: Duration = Duration::from_millis(50);

/// Takes connections from the port.
pub(crate) struct Acceptor {
    listener: StdListener,
    workers: Vec<UnboundedSender<Accepted>>,
    shared: Arc<Shared>,
}

impl Acceptor {
    pub(crate) fn new(listener: StdListener, workers: Vec<UnboundedSender<Accepted>>, shared: Arc<Shared>) -> Self {
        Self { listener, workers, shared }
    }

    /// Runs until the server stops; connections that wait then are still served, and the port is closed.
    pub(crate) async fn run(self, mut stopping: watch::Receiver<bool>) {
        let listener = match TcpListener::from_std(self.listener) {
            Ok(listener) => listener,
            Err(error) => return tracing::error!(%error, "the port cannot be used"),
        };
        let mut turn = 0;
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = stopping.changed() => break,
            };
            match accepted {
                Ok((stream, _)) => {
                    turn = (turn + 1) % self.workers.len();
                    hand_over(stream, &self.workers[turn], &self.shared);
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
        for (stream, _) in queue::drain(listener) {
            turn = (turn + 1) % self.workers.len();
            hand_over(stream, &self.workers[turn], &self.shared);
        }
    }
}

fn hand_over(stream: TcpStream, worker: &UnboundedSender<Accepted>, shared: &Arc<Shared>) {
    let Some(admission) = shared.admit() else {
        tracing::warn!("a connection was refused: there are too many");
        tokio::spawn(refuse(stream));
        return;
    };
    shared.metrics.connections.add(1);
    match stream.into_std() {
        // A worker that is gone means that the server stops: the connection is closed by dropping it.
        Ok(stream) => drop(worker.send((stream, admission))),
        Err(error) => tracing::warn!(%error, "a connection could not be handed over"),
    }
}

async fn refuse(mut stream: TcpStream) {
    let sent = tokio::time::timeout(Duration::from_secs(1), stream.write_all(FULL)).await;
    if !matches!(sent, Ok(Ok(()))) {
        tracing::debug!("the client did not wait for the refusal");
    }
}
