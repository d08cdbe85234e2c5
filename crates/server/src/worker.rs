//! A worker: one thread, one runtime, its share of the connections. Requests never move between threads, which saves
//! the wake-ups and locks of a shared queue.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::accept::{Accepted, Acceptor};
use crate::api;
use crate::connection;
use crate::shared::Shared;

/// What a worker needs.
pub(crate) struct Worker {
    pub(crate) connections: UnboundedReceiver<Accepted>,
    pub(crate) stopping: watch::Receiver<bool>,
    pub(crate) shared: Arc<Shared>,
}

/// Starts a worker; the thread's answer is the number of connections cut off at the end.
pub(crate) fn spawn(number: usize, worker: Worker, acceptor: Option<Acceptor>) -> io::Result<JoinHandle<usize>> {
    let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(16).build()?;
    thread::Builder::new().name(format!("keyform-http-{number}")).spawn(move || run(&runtime, worker, acceptor))
}

fn run(runtime: &Runtime, worker: Worker, acceptor: Option<Acceptor>) -> usize {
    runtime.block_on(async {
        if let Some(acceptor) = acceptor {
            tokio::spawn(acceptor.run(worker.stopping.clone()));
            tokio::spawn(api::cascades::resume(worker.shared.clone(), worker.stopping.clone()));
        }
        worker.run().await
    })
}

impl Worker {
    async fn run(mut self) -> usize {
        let mut tasks = JoinSet::new();
        // The acceptor hangs up when the server stops and it has handed over what was waiting.
        loop {
            tokio::select! {
                accepted = self.connections.recv() => match accepted {
                    Some(accepted) => self.serve(accepted, &mut tasks),
                    None => break,
                },
                Some(_) = tasks.join_next(), if !tasks.is_empty() => {}
            }
        }
        let drain = self.shared.timeouts.drain;
        let ended = async { while tasks.join_next().await.is_some() {} };
        // Whether time ran out shows in what is left over.
        drop(tokio::time::timeout(drain, ended).await);
        tasks.len()
    }

    fn serve(&self, (stream, admission): Accepted, tasks: &mut JoinSet<()>) {
        let stream = match TcpStream::from_std(stream) {
            Ok(stream) => stream,
            Err(error) => return tracing::warn!(%error, "a connection could not be taken over"),
        };
        let (shared, stopping) = (self.shared.clone(), self.stopping.clone());
        tasks.spawn(async move {
            connection::serve(stream, shared, stopping).await;
            drop(admission);
        });
    }
}
