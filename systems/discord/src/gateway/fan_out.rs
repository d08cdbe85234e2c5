//! Reads the stream and delivers.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

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

/// Carries an event to a connection.
pub trait Deliver: Send + Sync {
    /// Carries it. `event` may come more than once.
    ///
    /// # Errors
    /// Why it did not arrive: see [`Undelivered`].
    fn deliver<'a>(
        &'a self,
        connection: &'a ConnectionId,
        user: &'a UserId,
        event: &'a Arc<Event>,
    ) -> BoxFuture<'a, Result<(), Undelivered>>;
}

/// Why an event did not arrive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undelivered {
    /// The connection is no more: its rows are deleted.
    Gone,
    /// It is at another copy of the program, which delivers to it.
    Elsewhere,
    /// It could not be reached; why. The event is delivered again, to everybody.
    Failed(String),
}

/// Why the gateway cannot go on.
#[derive(Debug)]
pub enum GatewayError {
    /// The stream cannot be read.
    Feed(FeedError),
    /// A pattern failed.
    Call(CallError),
    /// A connection could not be reached; why.
    Delivery(String),
}

impl fmt::Display for GatewayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Feed(error) => error.fmt(f),
            Self::Call(error) => error.fmt(f),
            Self::Delivery(why) => write!(f, "a connection could not be reached: {why}"),
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

/// Carries the changes of the table to connections. Cheap to clone.
#[derive(Clone)]
pub struct Gateway {
    discord: Discord,
    deliver: Arc<dyn Deliver>,
    running: Arc<Mutex<Option<JoinHandle<()>>>>,
}

impl Gateway {
    /// With something that delivers.
    #[must_use]
    pub fn new(discord: Discord, deliver: Arc<dyn Deliver>) -> Self {
        Self { discord, deliver, running: Arc::default() }
    }

    /// Follows the table from now on, in a task of the runtime that calls; nothing if one does so already. When it answers, whatever is written
    /// afterwards is delivered.
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

    /// Ends the task, if there is one.
    pub async fn stop(&self) {
        if let Some(task) = self.running.lock().await.take() {
            task.abort();
        }
    }

    /// Follows the table from a place on, step by step.
    ///
    /// # Errors
    /// The table has no stream, the place is too old, or the store fails.
    pub async fn follow(&self, from: Begin) -> Result<Following, GatewayError> {
        let runner = self.discord.calls().runner();
        let tables = runner.tables();
        let (table, _) = tables.first().ok_or_else(|| CallError::NotRunnable("the model has no table".to_owned()))?;
        let feed = Feed::open(runner.store().clone(), table, from).await?;
        let (waiting, told) = (VecDeque::new(), Told::default());
        Ok(Following { gateway: self.clone(), feed, waiting, current: None, told })
    }

    /// Delivers an event to an audience; how many connections have it. Whoever is gone loses their rows.
    ///
    /// # Errors
    /// The store fails, or a connection could not be reached; the others have been tried.
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

    /// Deletes the rows of a connection that is gone, and those of its other channels.
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

/// What one step did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stepped {
    /// So many events there were.
    pub events: usize,
    /// So often one was delivered.
    pub deliveries: usize,
    /// So many items were not as the model says, and told nobody.
    pub unreadable: usize,
    /// Whether everything that there was has been read.
    pub caught_up: bool,
}

impl Stepped {
    fn add(&mut self, step: Self) {
        self.events += step.events;
        self.deliveries += step.deliveries;
        self.unreadable += step.unreadable;
    }
}

/// How often an event is delivered before those who could not be reached go without it.
const TRIES_MAX: u32 = 5;

/// A gateway at a place of the stream.
pub struct Following {
    gateway: Gateway,
    feed: Feed,
    /// What was read and is not delivered yet.
    waiting: VecDeque<ChangeRecord>,
    /// What is being delivered, and how often it was tried.
    current: Option<(Arc<Event>, Audience, u32)>,
    told: Told,
}

impl Following {
    /// Reads what there is, and delivers it. After an error the next step goes on where this one stopped: nothing is lost, and the event that
    /// could not be delivered to everybody comes again, to all.
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

    /// Steps until everything that there was has been delivered; all that was done.
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

    /// Goes on for as long as the stream can be read. A place that is too old is left: listeners whose mailboxes are there hear what comes.
    async fn run(mut self) {
        loop {
            match self.step().await {
                Ok(stepped) if stepped.caught_up => self.feed.wait().await,
                Ok(_) => {}
                Err(GatewayError::Feed(FeedError::TooOld | FeedError::Ended | FeedError::NoStream { .. })) => return,
                Err(_) => tokio::time::sleep(std::time::Duration::from_secs(1)).await,
            }
        }
    }
}

impl fmt::Debug for Following {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Following").field("waiting", &self.waiting.len()).finish_non_exhaustive()
    }
}
