//! Reads the stream and delivers events.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use keyform::CallError;
use keyform::execute::BoxFuture;
use keyform::live::feed::{Feed, FeedError, From as Begin};
use keyform::operation::ChangeRecord;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use super::Audience;
use super::audience::Row;
use super::event::{self, Event, Told};
use crate::model::{Caller, ConnectionId, Discord, StopListeningError, UserId};

/// Delivers events to connections.
pub trait Deliver: Send + Sync {
    /// Delivers an event. The same event may be delivered more than once.
    ///
    /// # Errors
    /// The reason why it was not delivered: see [`Undelivered`].
    fn deliver<'a>(
        &'a self,
        connection: &'a ConnectionId,
        user: &'a UserId,
        event: &'a Arc<Event>,
    ) -> BoxFuture<'a, Result<(), Undelivered>>;
}

/// Reason for a failed delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undelivered {
    /// The connection no longer exists; its rows are deleted.
    Gone,
    /// The connection belongs to another instance, which delivers to it.
    Elsewhere,
    /// The connection could not be reached; contains the reason. The event is delivered again to the whole audience.
    Failed(String),
}

/// Error of the gateway.
#[derive(Debug)]
pub enum GatewayError {
    /// The stream cannot be read.
    Feed(FeedError),
    /// A pattern failed.
    Call(CallError),
    /// A connection could not be reached; contains the reason.
    Delivery(String),
}

impl fmt::Display for GatewayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Feed(error) => error.fmt(f),
            Self::Call(error) => error.fmt(f),
            Self::Delivery(why) => write!(f, "cannot reach a connection: {why}"),
        }
    }
}

impl std::error::Error for GatewayError {}

impl From<FeedError> for GatewayError {
    fn from(error: FeedError) -> Self {
        Self::Feed(error)
    }
}

impl From<CallError> for GatewayError {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

/// Delivers the changes of the table to connections. Cheap to clone.
#[derive(Clone)]
pub struct Gateway {
    discord: Discord,
    deliver: Arc<dyn Deliver>,
    running: Arc<Mutex<Option<JoinHandle<()>>>>,
}

impl Gateway {
    /// Creates a gateway that delivers through `deliver`.
    #[must_use]
    pub fn new(discord: Discord, deliver: Arc<dyn Deliver>) -> Self {
        Self { discord, deliver, running: Arc::default() }
    }

    /// Follows the table from now on, in a task of the calling runtime, unless one is already running. After this
    /// returns, every later write is delivered.
    ///
    /// # Errors
    /// The table has no stream, or the store fails.
    pub async fn start(&self) -> Result<(), GatewayError> {
        let mut running = self.running.lock().await;
        if running.as_ref().is_some_and(|task| !task.is_finished()) {
            return Ok(());
        }
        let following = self.follow(Begin::Now).await?;
        *running = Some(tokio::spawn(following.run()));
        Ok(())
    }

    /// Stops the task, if it is running.
    pub async fn stop(&self) {
        if let Some(task) = self.running.lock().await.take() {
            task.abort();
        }
    }

    /// Follows the table from a position, step by step.
    ///
    /// # Errors
    /// The table has no stream, the position is too old, or the store fails.
    pub async fn follow(&self, from: Begin) -> Result<Following, GatewayError> {
        let runner = self.discord.calls().runner();
        let tables = runner.tables();
        let (table, _) = tables.first().ok_or_else(|| CallError::NotRunnable("the model has no table".to_owned()))?;
        let feed = Feed::open(runner.store().clone(), runner.world().clone(), table, from).await?;
        let (waiting, told) = (VecDeque::new(), Told::default());
        Ok(Following { gateway: self.clone(), feed, waiting, current: None, told })
    }

    /// Delivers an event to an audience; returns the number of reached connections. Deletes the rows of connections
    /// that are gone.
    ///
    /// # Errors
    /// The store fails, or a connection could not be reached, after the others were tried.
    pub async fn send(&self, event: &Arc<Event>, audience: &Audience) -> Result<usize, GatewayError> {
        let rows = audience.rows(&self.discord).await?;
        let mut delivered = 0;
        let mut failed = None;
        for of_one in rows.chunk_by(|one, other| one.connection == other.connection) {
            let Row { connection, user, .. } = &of_one[0];
            match self.deliver.deliver(connection, user, event).await {
                Ok(()) => delivered += 1,
                Err(Undelivered::Elsewhere) => {}
                Err(Undelivered::Gone) => self.forget(of_one).await?,
                Err(Undelivered::Failed(why)) => failed = Some(why),
            }
        }
        failed.map_or(Ok(delivered), |why| Err(GatewayError::Delivery(why)))
    }

    /// Deletes the rows of a connection that is gone, including those of its other channels.
    async fn forget(&self, rows: &[Row]) -> Result<(), GatewayError> {
        let Row { connection, user, .. } = &rows[0];
        let own = self.discord.as_caller(Caller { user_id: user.clone() });
        let all = own.connections_of_user(user).all().await?;
        let others = all.iter().filter(|row| row.connection_id == *connection).map(|row| &row.channel_id);
        for channel in rows.iter().map(|row| &row.channel).chain(others) {
            match own.stop_listening(connection, channel).await {
                Ok(()) | Err(StopListeningError::NotConnected) => {}
                Err(StopListeningError::Conflict(_)) => return Err(CallError::Busy.into()),
                Err(StopListeningError::Failed(error)) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gateway").finish_non_exhaustive()
    }
}

/// Result of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stepped {
    /// Number of events.
    pub events: usize,
    /// Number of deliveries.
    pub deliveries: usize,
    /// Number of items that do not match the model, and were skipped.
    pub unreadable: usize,
    /// Set if the end of the stream was reached.
    pub caught_up: bool,
}

impl Stepped {
    fn add(&mut self, step: Self) {
        self.events += step.events;
        self.deliveries += step.deliveries;
        self.unreadable += step.unreadable;
    }
}

/// Delivery attempts per event before unreachable connections are skipped.
const TRIES_MAX: u32 = 5;
/// Delay after a failed step.
const PAUSE: Duration = Duration::from_secs(1);

/// Gateway at a position of the stream.
pub struct Following {
    gateway: Gateway,
    feed: Feed,
    /// Records that were read and not delivered yet.
    waiting: VecDeque<ChangeRecord>,
    /// Event being delivered, with the number of attempts.
    current: Option<(Arc<Event>, Audience, u32)>,
    told: Told,
}

impl Following {
    /// Reads and delivers the available changes. After an error the next step resumes where this one stopped: nothing
    /// is lost, and the event that failed is delivered again to the whole audience.
    ///
    /// # Errors
    /// The stream cannot be read, the store fails, or a connection could not be reached.
    pub async fn step(&mut self) -> Result<Stepped, GatewayError> {
        let mut stepped = self.deliver_waiting().await?;
        let batch = self.feed.read().await?;
        self.waiting.extend(batch.changes.into_iter().map(|change| change.record));
        stepped.add(self.deliver_waiting().await?);
        stepped.caught_up = batch.caught_up;
        Ok(stepped)
    }

    async fn deliver_waiting(&mut self) -> Result<Stepped, GatewayError> {
        let mut stepped = Stepped::default();
        loop {
            if let Some((event, audience, tries)) = &mut self.current {
                *tries += 1;
                match self.gateway.send(event, audience).await {
                    Ok(deliveries) => stepped.deliveries += deliveries,
                    Err(GatewayError::Delivery(_)) if *tries >= TRIES_MAX => {}
                    Err(error) => return Err(error),
                }
                self.current = None;
            }
            let Some(record) = self.waiting.front() else { return Ok(stepped) };
            match event::of(&self.gateway.discord, record, &mut self.told).await {
                Ok(None) => {}
                Ok(Some((event, audience))) => {
                    stepped.events += 1;
                    self.current = Some((Arc::new(event), audience, 0));
                }
                Err(CallError::Item(_)) => stepped.unreadable += 1,
                Err(error) => return Err(error.into()),
            }
            self.waiting.pop_front();
        }
    }

    /// Steps to the end of the stream; returns the totals.
    ///
    /// # Errors
    /// As [`Following::step`].
    pub async fn catch_up(&mut self) -> Result<Stepped, GatewayError> {
        let mut all = Stepped::default();
        while !all.caught_up {
            let step = self.step().await?;
            all.add(step);
            all.caught_up = step.caught_up;
        }
        Ok(all)
    }

    /// Runs as long as the stream can be read. If the position is too old the task ends; the next connection starts a
    /// new one.
    async fn run(mut self) {
        loop {
            match self.step().await {
                Ok(stepped) if stepped.caught_up => self.feed.wait().await,
                Ok(_) => {}
                Err(GatewayError::Feed(FeedError::TooOld | FeedError::Ended | FeedError::NoStream { .. })) => return,
                Err(_) => self.gateway.discord.calls().runner().world().sleep(PAUSE).await,
            }
        }
    }
}

impl fmt::Debug for Following {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Following").field("waiting", &self.waiting.len()).finish_non_exhaustive()
    }
}
