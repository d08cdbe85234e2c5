//! Refuses connections beyond a limit with 503, but answers health probes.
//!
//! An orchestrator would kill a busy process if its liveness probe got no answer. A few connections beyond the limit
//! are therefore read up to the head of their first request, and `/healthz` and `/readyz` are answered.
//!
//! With TLS the connection is only closed: handshakes beyond the limit would cost more than the connections it admits.

use std::collections::VecDeque;
use std::io::{self, Read as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use keyform_core::world::timeout;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use crate::admission::Refusal;
use crate::allowed_hosts::{HostName, Hosts};
use crate::shared::Shared;

/// Maximum number of refused connections being read. Another one evicts the oldest.
const WAITING_MAX: usize = 32;
/// Timeout for the client's request head, and again for taking the answer.
const PATIENCE: Duration = Duration::from_millis(250);
/// Timeout while further connections are queued behind this one.
const PATIENCE_IN_LINE: Duration = Duration::from_millis(20);
const HEAD_BYTES_MAX: usize = 8 * 1024;

pub(crate) struct Overflow {
    shared: Arc<Shared>,
    /// Dropping a sender ends the wait of its connection.
    waiting: VecDeque<oneshot::Sender<()>>,
}

impl Overflow {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, waiting: VecDeque::new() }
    }

    /// Refuses a connection in the background.
    pub(crate) fn refuse(&mut self, stream: TcpStream, refusal: Refusal) {
        self.shared.metrics.record_refused(refusal);
        if self.shared.tls.is_some() {
            return;
        }
        self.waiting.retain(|waiting| !waiting.is_closed());
        if self.waiting.len() >= WAITING_MAX {
            self.waiting.pop_front();
        }
        let (waiting, hurry) = oneshot::channel();
        self.waiting.push_back(waiting);
        let shared = self.shared.clone();
        tokio::spawn(async move { respond(stream, refusal, &shared, PATIENCE, hurry).await });
    }

    /// Refuses a connection and waits until it is closed.
    pub(crate) async fn refuse_and_wait(&self, stream: TcpStream, refusal: Refusal) {
        self.shared.metrics.record_refused(refusal);
        if self.shared.tls.is_some() {
            return;
        }
        let (_waiting, hurry) = oneshot::channel();
        respond(stream, refusal, &self.shared, PATIENCE_IN_LINE, hurry).await;
    }
}

async fn respond(
    mut stream: TcpStream,
    refusal: Refusal,
    shared: &Shared,
    patience: Duration,
    mut hurry: oneshot::Receiver<()>,
) {
    // A per-client limit does not make the server unready for others.
    let ready = refusal == Refusal::Client && shared.ready().await.is_ok();
    let answer = |head: &[u8]| answer(head, refusal, ready, &shared.hosts);
    let mut head = Vec::with_capacity(512);
    let patient = tokio::select! {
        // A client that sends nothing gets the refusal as well.
        _ = timeout(&*shared.world, patience, read_head(&mut stream, &mut head)) => true,
        _ = &mut hurry => false,
    };
    let done = if patient {
        let text = answer(&head);
        tokio::select! {
            biased;
            done = timeout(&*shared.world, patience, finish(stream, text.as_bytes())) => {
                done.unwrap_or_else(|late| Err(io::Error::new(io::ErrorKind::TimedOut, late)))
            }
            _ = hurry => Ok(()),
        }
    } else {
        respond_now(stream, head, answer)
    };
    if let Err(error) = done {
        tracing::debug!(%error, "the client did not wait for the refusal");
    }
}

/// Answers based on the bytes received so far. Reads the socket directly, because the runtime may not have noticed new
/// data yet.
fn respond_now(stream: TcpStream, mut head: Vec<u8>, answer: impl FnOnce(&[u8]) -> String) -> io::Result<()> {
    let mut stream = stream.into_std()?;
    let mut piece = [0; HEAD_BYTES_MAX];
    match stream.read(&mut piece) {
        Ok(length) => head.extend_from_slice(&piece[..length]),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
        Err(error) => return Err(error),
    }
    stream.write_all(answer(&head).as_bytes())
}

async fn read_head(stream: &mut TcpStream, head: &mut Vec<u8>) -> io::Result<()> {
    let is_whole = |head: &[u8]| head.windows(4).any(|end| end == b"\r\n\r\n");
    while head.len() < HEAD_BYTES_MAX && !is_whole(head) {
        if stream.read_buf(head).await? == 0 {
            break;
        }
    }
    Ok(())
}

/// Sends the answer and drains the socket. Closing a socket with unread bytes resets it, and the client could lose the
/// answer.
async fn finish(mut stream: TcpStream, text: &[u8]) -> io::Result<()> {
    stream.write_all(text).await?;
    stream.shutdown().await?;
    let mut rest = [0; 4096];
    while stream.read(&mut rest).await? > 0 {}
    Ok(())
}

/// Returns the complete response to a request with this head.
fn answer(head: &[u8], refusal: Refusal, ready: bool, hosts: &Hosts) -> String {
    let head = String::from_utf8_lossy(head);
    let mut words = head.split([' ', '\r', '\n']);
    let asks = matches!(words.next(), Some("GET" | "HEAD"));
    let path = words.next().filter(|path| asks && is_for(&head, path, hosts));
    let reason = match refusal {
        Refusal::Full => "every connection is in use",
        Refusal::Client => "this client has too many connections",
        Refusal::Descriptors => "the process has no file descriptors left",
    };
    match path {
        Some("/healthz") => plain("200 OK", "ok\n"),
        Some("/readyz") if ready => plain("200 OK", "ready\n"),
        Some("/readyz") => plain(UNAVAILABLE, &format!("not ready: {reason}\n")),
        _ => http(UNAVAILABLE, "application/json", &format!("{{\"message\":\"{reason}: try again later\"}}")),
    }
}

/// Returns whether the head names a host of this server, with the same rule as `gate`.
fn is_for(head: &str, path: &str, hosts: &Hosts) -> bool {
    let fields = head.split("\r\n").filter_map(|line| line.split_once(':'));
    let mut named = fields.filter(|(name, _)| name.eq_ignore_ascii_case("host")).map(|(_, value)| value.trim());
    match (named.next(), named.next()) {
        (None, _) => hosts.may_be_absent(path),
        (Some(host), None) => HostName::of_authority(host).is_some_and(|host| hosts.answer_for(&host, path)),
        (Some(_), Some(_)) => false,
    }
}

const UNAVAILABLE: &str = "503 Service Unavailable";

fn plain(status: &str, body: &str) -> String {
    http(status, "text/plain; charset=utf-8", body)
}

fn http(status: &str, content_type: &str, body: &str) -> String {
    let length = body.len();
    let retry = if status == UNAVAILABLE { "retry-after: 1\r\n" } else { "" };
    format!(
        "HTTP/1.1 {status}\r\n{retry}content-type: {content_type}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}
