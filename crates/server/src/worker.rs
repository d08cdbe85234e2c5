//! Worker: one thread with its own runtime and its share of the connections. Requests never move between threads, which
//! saves the wake-ups and locks of a shared queue (ADR 0006).

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use keyform_core::world::timeout;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::accept::{Accepted, Acceptor};
use crate::api;
use crate::connection;
use crate::shared::Shared;
use crate::tls;

pub(crate) struct Worker {
    pub(crate) connections: UnboundedReceiver<Accepted>,
    pub(crate) stopping: watch::Receiver<bool>,
    pub(crate) shared: Arc<Shared>,
}

/// Starts a worker. The thread returns the number of connections that were cut off at shutdown.
pub(crate) fn spawn(number: usize, worker: Worker, acceptor: Option<Acceptor>) -> io::Result<JoinHandle<usize>> {
    let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(16).build()?;
    thread::Builder::new().name(format!("keyform-http-{number}")).spawn(move || run(&runtime, worker, acceptor))
}

fn run(runtime: &Runtime, worker: Worker, acceptor: Option<Acceptor>) -> usize {
    runtime.block_on(async {
        if let Some(acceptor) = acceptor {
            tokio::spawn(acceptor.run(worker.stopping.clone()));
            tokio::spawn(api::accepted::watch(worker.shared.clone(), worker.stopping.clone()));
            for provider in worker.shared.authentication.providers() {
                tokio::spawn(provider.clone().run(worker.stopping.clone()));
            }
            tokio::spawn(tls::watch(worker.shared.clone(), worker.stopping.clone()));
            tokio::spawn(api::cascades::resume(worker.shared.clone(), worker.stopping.clone()));
        }
        worker.run().await
    })
}

impl Worker {
    async fn run(mut self) -> usize {
        let mut tasks = JoinSet::new();
        // The acceptor drops its sender when the server stops, after handing over pending connections.
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
        // If the timeout passed, the remaining tasks are the connections cut off.
        drop(timeout(&*self.shared.world, drain, ended).await);
        tasks.len()
    }

    fn serve(&self, (stream, admission): Accepted, tasks: &mut JoinSet<()>) {
        let stream = match TcpStream::from_std(stream) {
            Ok(stream) => stream,
            Err(error) => return tracing::warn!(%error, "cannot take over a connection"),
        };
        let (shared, stopping) = (self.shared.clone(), self.stopping.clone());
        tasks.spawn(async move {
            connection::serve(stream, shared, stopping).await;
            drop(admission);
        });
    }
}
