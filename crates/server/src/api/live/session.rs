//! One live-read client, from handshake to close.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use keyform_check::surface::Pattern;
use keyform_core::World;
use keyform_core::execute::BoxFuture;
use keyform_core::world::{Ticks, timeout};
use keyform_flow::Client;
use keyform_language::schema::Result as ReadResult;
use keyform_live::message::{self, Request};
use keyform_live::read::{Ended, LiveError, LiveEvent, Outbox, Subscription};
use keyform_runtime::run::{Call, RunError};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error as SocketError, Message};

use super::super::arguments;
use super::super::problem::{self, Problem};
use super::super::served::Served;
use super::access::Access;
use crate::shared::Shared;

type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// Close code recorded for a connection that ends without one (RFC 6455).
const ABNORMAL: u16 = 1006;
/// Time to wait for the client's close frame after ours.
const FAREWELL: Duration = Duration::from_secs(5);

/// Reason for closing: a code of RFC 6455 or one of ours, and a message.
struct Close(u16, String);

impl Close {
    fn new(code: u16, reason: impl Into<String>) -> Self {
        Self(code, reason.into())
    }
}

pub(super) struct Session {
    shared: Arc<Shared>,
    served: Arc<Served>,
    access: Access,
    client: Client,
    stopping: watch::Receiver<bool>,
    outbox: Outbox,
    /// Reads by their number in the outbox.
    reads: HashMap<u64, Reading>,
    next_number: u64,
    beginning: JoinSet<(u64, Result<Subscription, LiveError>)>,
}

/// Read that the client follows or has requested.
struct Reading {
    id: String,
    counts: bool,
    /// Set until the subscription has started.
    task: Option<AbortHandle>,
    /// Kept because dropping it ends the subscription.
    subscription: Option<Subscription>,
}

impl Session {
    pub(super) fn new(
        shared: Arc<Shared>,
        served: Arc<Served>,
        access: Access,
        client: Client,
        stopping: watch::Receiver<bool>,
    ) -> Self {
        let outbox = Outbox::new(shared.limits.live_buffer_bytes);
        let (reads, beginning) = (HashMap::new(), JoinSet::new());
        Self { shared, served, access, client, stopping, outbox, reads, next_number: 1, beginning }
    }

    /// Serves the client until either side closes.
    pub(super) async fn run(mut self, mut socket: Socket) {
        self.shared.metrics.live_opened.add(1);
        self.access.prepare(&self.shared.authentication).await;
        match self.serve(&mut socket).await {
            Ok(Close(code, reason)) => {
                self.shared.metrics.record_live_close(code);
                self.reads.clear();
                farewell(&*self.shared.world, &mut socket, code, reason).await;
            }
            Err(error) => {
                self.shared.metrics.record_live_close(ABNORMAL);
                tracing::debug!(%error, "a live connection ended");
            }
        }
    }

    async fn serve(&mut self, socket: &mut Socket) -> Result<Close, SocketError> {
        let every = self.shared.timeouts.live_ping;
        let mut ping = Ticks::after_interval(self.shared.world.clone(), every);
        let mut heard = true;
        let mut ends = self.deadline();
        let outbox = self.outbox.clone();
        let mut stopping = self.stopping.clone();
        loop {
            tokio::select! {
                message = socket.next() => {
                    heard = true;
                    let text = match message {
                        None => return Ok(Close::new(1000, "")),
                        Some(Err(SocketError::Capacity(error))) => return Ok(Close::new(1009, error.to_string())),
                        Some(Err(SocketError::Utf8(_))) => return Ok(Close::new(1007, "text must be UTF-8")),
                        Some(Err(SocketError::Protocol(error))) => return Ok(Close::new(1002, error.to_string())),
                        Some(Err(error)) => return Err(error),
                        Some(Ok(Message::Text(text))) => text,
                        Some(Ok(Message::Binary(_))) => return Ok(Close::new(1003, "send text messages only")),
                        Some(Ok(Message::Close(_))) => return Ok(Close::new(1000, "")),
                        // The WebSocket library answers pings.
                        Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => continue,
                    };
                    let answer = self.heard(&text).await;
                    // Before the reply, so that a client that was answered knows that the new deadline counts.
                    ends = self.deadline();
                    if let Some(answer) = answer {
                        socket.send(Message::text(answer)).await?;
                    }
                }
                (number, event) = outbox.next() => {
                    if number == 0 {
                        return Ok(Close::new(4008, Ended::Slow.to_string()));
                    }
                    self.tell(socket, number, &event).await?;
                    // Send all queued events before flushing, in one write.
                    while let Some((number, event)) = outbox.take().filter(|(number, _)| *number != 0) {
                        self.tell(socket, number, &event).await?;
                    }
                    socket.flush().await?;
                }
                Some(begun) = self.beginning.join_next(), if !self.beginning.is_empty() => {
                    if let Ok((number, outcome)) = begun
                        && let Some(answer) = self.begun(number, outcome)
                    {
                        socket.send(Message::text(answer)).await?;
                    }
                }
                () = ping.tick() => {
                    if !heard {
                        return Ok(Close::new(4009, "no answer to a ping"));
                    }
                    heard = false;
                    socket.send(Message::Ping(Default::default())).await?;
                }
                () = until(&mut ends) => return Ok(Close::new(4001, "the token has expired: connect with a new token")),
                () = stopped(&mut stopping) => {
                    return Ok(Close::new(1001, "the server is stopping: reconnect and resume"));
                }
            }
        }
    }

    /// Returns a timer for the end of the caller's token.
    fn deadline(&self) -> Option<BoxFuture<'static, ()>> {
        self.access.lasts(&self.shared.authentication).map(|lasts| self.shared.world.sleep(lasts))
    }

    /// Handles a message and returns the immediate reply, if any.
    async fn heard(&mut self, text: &str) -> Option<String> {
        match message::read(text) {
            Err((id, why)) => Some(message::problem(id.as_deref(), "message", &why)),
            Ok(Request::Ping) => Some(message::done("pong", None)),
            Ok(Request::Authenticate { token }) => Some(match self.authenticate(&token).await {
                Ok(()) => message::done("authenticated", None),
                Err(problem) => message::problem(None, problem.kind(), problem.detail()),
            }),
            Ok(Request::Unsubscribe { id }) => Some(self.unsubscribe(&id)),
            Ok(Request::Subscribe { id, read, arguments, token }) => {
                let outcome = self.subscribe(&id, &read, arguments, token);
                outcome.err().map(|problem| message::problem(Some(&id), problem.kind(), problem.detail()))
            }
        }
    }

    /// Replaces the token. While reads are active, the new token must belong to the same caller.
    async fn authenticate(&mut self, token: &str) -> Result<(), Problem> {
        let (authentication, model) = (&self.shared.authentication, self.served.model());
        let access = Access::said(authentication, token)?;
        access.prepare(authentication).await;
        let claims = access.claims(authentication, model)?;
        // An expired token no longer identifies its caller.
        let before = self.access.claims(authentication, model).unwrap_or_default();
        if before.is_some() && before != claims && !self.reads.is_empty() {
            return Err(Problem::new(problem::FORBIDDEN, "the token belongs to another caller: unsubscribe first"));
        }
        self.access = access;
        Ok(())
    }

    fn subscribe(
        &mut self,
        id: &str,
        read: &str,
        given: serde_json::Map<String, serde_json::Value>,
        token: Option<String>,
    ) -> Result<(), Problem> {
        let wrong = |detail: String| Problem::new(problem::ARGUMENTS, detail);
        if self.reads.values().any(|reading| reading.id == id) {
            return Err(wrong(format!("`{id}` is already subscribed: use another id")));
        }
        let max = self.shared.limits.live_subscriptions_max;
        if self.reads.len() >= max {
            return Err(Problem::new(
                problem::TOO_MANY,
                format!("a connection can have {max} subscriptions: open another connection"),
            ));
        }
        let model = self.served.model();
        let pattern = Pattern::find(model, read).filter(|pattern| matches!(pattern, Pattern::Read(_)));
        let pattern = pattern.ok_or_else(|| Problem::new(problem::UNKNOWN_PATH, "the model has no such read"))?;
        let caller = self.access.caller(&self.shared.authentication, model, pattern)?;
        let arguments = arguments::of_object(model, pattern, given)?;
        let counts = matches!(pattern, Pattern::Read(read) if matches!(read.result, ReadResult::Count(..)));
        let call = Call { arguments, caller, cursor: None, token: None };
        // Rate limits on guessable secrets apply to live reads too.
        self.served.attempt(pattern.name(), self.client, &call)?;
        self.begin(id, read.to_owned(), counts, call, token);
        Ok(())
    }

    fn begin(&mut self, id: &str, read: String, counts: bool, call: Call, token: Option<String>) {
        let number = self.next_number;
        self.next_number += 1;
        let (served, live, outbox) = (self.served.clone(), self.shared.live.clone(), self.outbox.clone());
        let task = self.beginning.spawn(async move {
            let begun = async {
                let runner = served.runner().await?;
                live.subscribe(runner, &read, call, token.as_deref(), &outbox, number).await
            };
            (number, begun.await)
        });
        let reading = Reading { id: id.to_owned(), counts, task: Some(task), subscription: None };
        self.reads.insert(number, reading);
    }

    fn begun(&mut self, number: u64, outcome: Result<Subscription, LiveError>) -> Option<String> {
        match outcome {
            Ok(subscription) => {
                // The client may have unsubscribed meanwhile; dropping the subscription then ends it.
                let reading = self.reads.get_mut(&number)?;
                reading.task = None;
                reading.subscription = Some(subscription);
                None
            }
            Err(error) => {
                let reading = self.reads.remove(&number)?;
                let problem = self.problem(error);
                Some(message::problem(Some(&reading.id), problem.kind(), problem.detail()))
            }
        }
    }

    fn problem(&self, error: LiveError) -> Problem {
        let model = self.served.model();
        match error {
            LiveError::Run(error) => Problem::of(error, model),
            LiveError::Feed(keyform_live::feed::FeedError::Store(error)) => Problem::of(RunError::Store(error), model),
            LiveError::Feed(_) | LiveError::View { .. } => Problem::new(problem::NOT_RUNNABLE, error.to_string()),
            LiveError::Token => Problem::new(problem::TOKEN, error.to_string()),
        }
    }

    fn unsubscribe(&mut self, id: &str) -> String {
        let number = self.reads.iter().find(|(_, reading)| reading.id == id).map(|(number, _)| *number);
        match number.and_then(|number| self.reads.remove(&number)) {
            Some(reading) => {
                if let Some(task) = reading.task {
                    task.abort();
                }
                message::done("unsubscribed", Some(id))
            }
            None => message::problem(Some(id), problem::ARGUMENTS.0, "no such subscription"),
        }
    }

    async fn tell(&mut self, socket: &mut Socket, number: u64, event: &LiveEvent) -> Result<(), SocketError> {
        // Drop events of reads that the client has unsubscribed.
        let Some(reading) = self.reads.get(&number) else { return Ok(()) };
        let (id, model) = (&reading.id, self.served.model());
        let text = match event {
            LiveEvent::Page(page) => message::page(model, id, page),
            LiveEvent::Resumed { token } => message::resumed(id, token),
            LiveEvent::Changes(delivery) => message::changes(model, id, delivery, reading.counts),
            // The store's reason may contain internal names, so send the same problem as the HTTP read does.
            LiveEvent::Ended(Ended::Run(error)) => {
                let problem = Problem::of(error.clone(), model);
                message::ended_as(id, problem.kind(), problem.detail())
            }
            LiveEvent::Ended(why) => message::ended(id, why),
        };
        if matches!(event, LiveEvent::Ended(_)) {
            self.reads.remove(&number);
        }
        socket.feed(Message::text(text)).await
    }
}

async fn stopped(stopping: &mut watch::Receiver<bool>) {
    // A closed channel also means that the server stops.
    drop(stopping.wait_for(|stopping| *stopping).await);
}

async fn until(deadline: &mut Option<BoxFuture<'static, ()>>) {
    match deadline {
        Some(deadline) => deadline.as_mut().await,
        None => std::future::pending().await,
    }
}

/// Sends a close frame and waits briefly for the client's.
async fn farewell(world: &dyn World, socket: &mut Socket, code: u16, reason: String) {
    // RFC 6455 limits a close reason to 123 bytes.
    let mut reason = reason;
    while reason.len() > 123 {
        reason.pop();
    }
    let frame = CloseFrame { code: CloseCode::from(code), reason: reason.into() };
    let gone = async {
        if socket.close(Some(frame)).await.is_ok() {
            while let Some(Ok(_)) = socket.next().await {}
        }
    };
    // Drop clients that do not answer in time.
    drop(timeout(world, FAREWELL, gone).await);
}
