//! Entry point of live reads: subscribing, resuming, and hubs that live as long as they have subscribers.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use keyform_core::World;
use keyform_core::execute::BoxFuture;
use keyform_core::table::StreamView;
use keyform_runtime::run::{Call, RunError, Runner};
use parking_lot::Mutex;
use tokio::sync::{OnceCell, watch};
use tokio::task::AbortHandle;

use super::event::{Ended, LiveError, LiveEvent, LiveItem, LivePage};
use super::figures::{Counters, Figures};
use super::guard::{self, Dependency};
use super::hub::Hub;
use super::outbox::Outbox;
use super::subscriber::{Guarded, Subscriber};
use super::token;
use super::topic::{Passing, Topic, last_of_each};
use crate::feed::{Feed, FeedError, From, Position};

/// Settings of live reads.
#[derive(Clone, Debug)]
pub struct LiveSettings {
    /// Polling interval for stores that cannot wake readers.
    pub poll: Duration,
    /// Maximum lag of a global index on a remote store. The first page is read that long after changes are held back.
    pub settle: Duration,
    /// Interval at which guards are evaluated again even if no item that they are known to depend on has changed.
    pub recheck: Duration,
    /// Limit of the events waiting for a subscriber.
    pub outbox_bytes: usize,
}

impl Default for LiveSettings {
    fn default() -> Self {
        Self {
            poll: Duration::from_millis(500),
            settle: Duration::from_secs(1),
            recheck: Duration::from_secs(30),
            outbox_bytes: 1 << 20,
        }
    }
}

/// Serves live reads. Clones share the feeds.
#[derive(Clone)]
pub struct Live {
    inner: Arc<Inner>,
}

struct Inner {
    settings: LiveSettings,
    hubs: Mutex<HashMap<HubKey, Arc<Slot>>>,
    /// Subscribers whose permission can end, by address.
    guarded: Mutex<HashMap<usize, Weak<Subscriber>>>,
    rechecks: OnceCell<()>,
    counters: Counters,
    /// Closed with the last clone, which ends all tasks.
    alive: watch::Sender<()>,
}

/// Start of a subscription.
enum Start {
    /// Sends a page.
    Fresh,
    /// Resumes after a token.
    Resume(Position),
    /// Sends a page despite a token, for this reason.
    Anew(&'static str),
}

impl Start {
    fn of(topic: &Topic, token: Option<&str>) -> Result<Self, LiveError> {
        const TWO_TABLES: &str = "items move to another table: a token cannot cover the changes of both";
        let Some(token) = token else { return Ok(Self::Fresh) };
        match token::decode(topic.binding, token) {
            Some(_) if topic.has_two_tables() => Ok(Self::Anew(TWO_TABLES)),
            Some(position) => Ok(Self::Resume(position)),
            None => match token::decode(token::of_two_tables(topic.binding), token) {
                Some(_) => Ok(Self::Anew(TWO_TABLES)),
                None => Err(LiveError::Token),
            },
        }
    }
}

/// Address of the store, and the table.
type HubKey = (usize, String);

#[derive(Default)]
struct Slot {
    hub: OnceCell<Arc<Hub>>,
}

impl Default for Live {
    fn default() -> Self {
        Self::new(LiveSettings::default())
    }
}

impl Live {
    /// Creates an instance without any subscriptions.
    #[must_use]
    pub fn new(settings: LiveSettings) -> Self {
        let inner = Inner {
            settings,
            hubs: Mutex::default(),
            guarded: Mutex::default(),
            rechecks: OnceCell::new(),
            counters: Counters::default(),
            alive: watch::channel(()).0,
        };
        Self { inner: Arc::new(inner) }
    }

    /// Returns the metrics of all live reads of this value and its clones.
    #[must_use]
    pub fn figures(&self) -> Figures {
        let hubs = self.inner.hubs.lock();
        let open = hubs.iter().filter_map(|((_, table), slot)| Some((table.clone(), slot.hub.get()?.behind())));
        let mut feeds: Vec<(String, Duration)> = open.collect();
        drop(hubs);
        feeds.sort();
        self.inner.counters.figures(feeds)
    }

    /// Subscribes to a read and returns a stream of events. Resumes if a token is given.
    ///
    /// ```
    /// use keyform_live::read::{Live, LiveError, LiveEvent};
    /// use keyform_runtime::run::{Call, Runner};
    ///
    /// # async fn example(runner: Runner) -> Result<(), LiveError> {
    /// let call = Call { arguments: [("channelId".to_owned(), "general".into())].into(), ..Call::default() };
    /// let mut messages = Live::default().read(&runner, "messages", call, None).await?;
    /// while let Some(event) = messages.next().await {
    ///     match event {
    ///         LiveEvent::Page(page) => println!("{} messages", page.items.len()),
    ///         LiveEvent::Changes(changes) => println!("{} changes", changes.changes.len()),
    ///         LiveEvent::Resumed { .. } | LiveEvent::Ended(_) => {}
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Same as [`Live::subscribe`].
    pub async fn read(
        &self,
        runner: &Runner,
        read: &str,
        call: Call,
        token: Option<&str>,
    ) -> Result<LiveStream, LiveError> {
        let outbox = Outbox::new(self.inner.settings.outbox_bytes);
        let (subscription, start) = self.enter(runner, read, call, token, &outbox, 1).await?;
        let subscription = Arc::new(subscription);
        let mut catching_up = None;
        if matches!(start, Start::Resume(_)) {
            // The missed changes may exceed the outbox: the consumer must be able to drain it meanwhile.
            let (live, entered) = (self.clone(), subscription.clone());
            let task = tokio::spawn(async move {
                if let Err(error) = live.begin(&entered, start).await {
                    entered.subscriber.end(Ended::Feed(error.to_string()));
                }
            });
            catching_up = Some(task.abort_handle());
        } else {
            self.begin(&subscription, start).await?;
        }
        let live = self.clone();
        Ok(LiveStream { outbox, subscription: Some(subscription), _live: live, pending: None, catching_up })
    }

    /// Subscribes to a read: its events go to the outbox under `number`, until the result is dropped. With a token,
    /// the outbox must be drained concurrently.
    ///
    /// # Errors
    /// Returns an error if the caller is not permitted, the arguments are wrong, the table cannot be followed, or the
    /// store fails.
    pub async fn subscribe(
        &self,
        runner: &Runner,
        read: &str,
        call: Call,
        token: Option<&str>,
        outbox: &Outbox,
        number: u64,
    ) -> Result<Subscription, LiveError> {
        let (subscription, start) = self.enter(runner, read, call, token, outbox, number).await?;
        self.begin(&subscription, start).await?;
        Ok(subscription)
    }

    /// Checks permission and registers with the hub.
    async fn enter(
        &self,
        runner: &Runner,
        read: &str,
        call: Call,
        token: Option<&str>,
        outbox: &Outbox,
        number: u64,
    ) -> Result<(Subscription, Start), LiveError> {
        let dependencies = guard::permit(runner, read, &call).await?;
        let topic = Topic::new(runner, read, call.clone(), runner.live_forms(read).await?)?;
        let start = Start::of(&topic, token)?;
        let old_tables = topic.live.old_tables();
        let slot = self.hub(runner, &topic.live.table).await?;
        let hub = slot.hub.get().expect("a hub that was opened").clone();
        let can_end = guard::can_end(runner, read, &call);
        let guarded = can_end.then(|| Guarded { runner: runner.clone(), call: call.clone() });
        let counters = self.inner.counters.clone();
        let subscriber = hub.join(topic, |topic| Subscriber::new(number, outbox.clone(), topic, guarded, counters));
        let mut subscription = Subscription { hub, subscriber, also: Vec::new(), _slot: slot };
        for table in &old_tables {
            self.follow_also(runner, table, &mut subscription).await?;
        }
        if can_end {
            self.watch(&subscription.subscriber, &dependencies).await;
            // The permission may have ended between the first check and the registration.
            let again = guard::permit(runner, read, &call).await?;
            self.watch(&subscription.subscriber, &again).await;
        }
        Ok((subscription, start))
    }

    /// Follows another table, which holds items of the result in their old form (ADR 0021).
    async fn follow_also(
        &self,
        runner: &Runner,
        table: &str,
        subscription: &mut Subscription,
    ) -> Result<(), LiveError> {
        let slot = self.hub(runner, table).await?;
        let hub = slot.hub.get().expect("a hub that was opened").clone();
        hub.join_also(&subscription.hub, &subscription.subscriber);
        subscription.also.push((hub, slot));
        Ok(())
    }

    async fn begin(&self, subscription: &Subscription, start: Start) -> Result<(), LiveError> {
        let reset = match start {
            Start::Fresh => None,
            Start::Anew(why) => Some(why),
            Start::Resume(position) => match self.resume(subscription, position).await {
                Ok(()) => return Ok(()),
                Err(LiveError::Feed(FeedError::TooOld)) => {
                    Some("the token is too old: the stream no longer has the changes after it")
                }
                Err(error) => return Err(error),
            },
        };
        self.page(subscription, reset).await
    }

    /// Sends the first page, after merging the changes that happened while it was read.
    async fn page(&self, subscription: &Subscription, reset: Option<&'static str>) -> Result<(), LiveError> {
        let Subscription { hub, subscriber, .. } = subscription;
        let topic = &subscriber.topic;
        if topic.live.lags && topic.runner.store().watch().is_none() {
            topic.runner.world().sleep(self.inner.settings.settle).await;
        }
        let read = topic.runner.live_page(&topic.live, &topic.call).await?;
        // ADR 0016: the page may contain changes that the hub has not read yet. Once the hub is past the page, they
        // are among the held ones, and merging them makes the page exact.
        hub.pass().await?;
        for (also, _) in &subscription.also {
            also.pass().await?;
        }
        let (held, position) = hub.settle(subscriber);
        let mut items: Vec<_> = read.items;
        let has_more = read.cursor.is_some();
        for (key, change) in last_of_each(&held) {
            items.retain(|(item, _)| super::event::key_text(&topic.live.key_of(item)) != key);
            if let Some((item, found)) = change.item.zip(change.found) {
                let place = items.partition_point(|(known, _)| topic.live.compare(known, &item).is_le());
                // An item after the end of the page is found through its cursor.
                if place < items.len() || !has_more {
                    items.insert(place, (item, found));
                }
            }
        }
        let items: Vec<LiveItem> = items.into_iter().map(|(item, found)| topic.item(&item, found)).collect();
        hub.note_items(topic, items.iter());
        let count = topic.live.counts.then_some(items.len() as u64);
        let page = LivePage {
            items: if topic.live.counts { Vec::new() } else { items },
            count,
            cursor: read.cursor.filter(|_| !topic.live.counts),
            token: topic.token(&position),
            reset,
        };
        subscriber.tell(LiveEvent::Page(Arc::new(page)));
        subscriber.release();
        Ok(())
    }

    /// Sends the changes since the token from a separate feed, until that has caught up with the hub's.
    async fn resume(&self, subscription: &Subscription, position: Position) -> Result<(), LiveError> {
        let Subscription { hub, subscriber, .. } = subscription;
        let topic = &subscriber.topic;
        let (store, world) = (topic.runner.store().clone(), topic.runner.world().clone());
        let mut feed = Feed::open(store, world, &topic.live.table, From::Position(position)).await?;
        let resumed = LiveEvent::Resumed { token: topic.token(feed.position()) };
        let mut first = Some(resumed);
        let mut passing = Passing::default();
        loop {
            let batch = feed.read().await?;
            // Announces the resume only after the first successful read of the feed.
            if let Some(resumed) = first.take() {
                subscriber.tell(resumed);
            }
            let mut changes = Vec::new();
            for change in &batch.changes {
                changes.extend(topic.changes(&topic.live.table, change, &mut passing, |_| false)?);
            }
            if !changes.is_empty() {
                let leaving = changes.iter().filter_map(|change| {
                    let found = change.found.clone()?;
                    Some(LiveItem { key: change.key.clone(), found, expires: change.expires })
                });
                hub.note_items(topic, leaving.collect::<Vec<_>>().iter());
                changes.retain(|change| topic.delivers(change));
            }
            if !changes.is_empty() {
                subscriber.outbox.has_room().await;
                let delivery = Arc::new(topic.delivery(changes, batch.position.clone()));
                subscriber.tell(LiveEvent::Changes(delivery));
            }
            if batch.caught_up || subscriber.has_ended() {
                break;
            }
        }
        subscriber.set_told(Some((Position::clone(feed.position()), feed.lineage().clone())));
        subscriber.release();
        hub.pass().await?;
        subscriber.set_told(None);
        Ok(())
    }

    /// Returns the hub of a table, and opens it for the first subscriber.
    async fn hub(&self, runner: &Runner, table: &str) -> Result<Arc<Slot>, LiveError> {
        let key = (Arc::as_ptr(runner.store()).cast::<()>() as usize, table.to_owned());
        let slot = self.inner.hubs.lock().entry(key.clone()).or_default().clone();
        let opened = slot.hub.get_or_try_init(|| self.open(runner, key.clone(), &slot)).await;
        match opened {
            Ok(_) => Ok(slot),
            Err(error) => {
                self.inner.forget(&key, &slot);
                Err(error)
            }
        }
    }

    async fn open(&self, runner: &Runner, key: HubKey, slot: &Arc<Slot>) -> Result<Arc<Hub>, LiveError> {
        let (store, world) = (runner.store().clone(), runner.world().clone());
        let feed = Feed::open(store.clone(), world.clone(), &key.1, From::Now).await?;
        let feed = feed.polled(self.inner.settings.poll);
        if feed.stream().view != StreamView::NewAndOldImages {
            return Err(LiveError::View { table: key.1 });
        }
        let hub = Arc::new(Hub::new(store, world, key.1.clone(), &feed));
        let (weak, slot) = (Arc::downgrade(&self.inner), Arc::downgrade(slot));
        let (running, mut alive) = (hub.clone(), self.inner.alive.subscribe());
        tokio::spawn(async move {
            let is_needed = || weak.upgrade().is_some_and(|inner| inner.needs(&key, &slot));
            let inner = weak.clone();
            let suspect = move |subscriber: Arc<Subscriber>| {
                if let Some(inner) = inner.upgrade() {
                    tokio::spawn(Live { inner }.ask_again(subscriber));
                }
            };
            tokio::select! {
                () = running.run(feed, &suspect, is_needed) => {}
                _ = alive.changed() => {}
            }
            if let (Some(inner), Some(slot)) = (weak.upgrade(), slot.upgrade()) {
                inner.forget(&key, &slot);
            }
        });
        Ok(hub)
    }

    /// Registers the items that the guards of a subscriber depend on.
    async fn watch(&self, subscriber: &Arc<Subscriber>, dependencies: &[Dependency]) {
        self.inner.note_guarded(subscriber);
        let world = subscriber.topic.runner.world();
        self.inner.rechecks.get_or_init(|| async { self.recheck_from_time_to_time(world.clone()) }).await;
        for (table, key) in dependencies {
            // A table without a stream cannot be watched; its guards are evaluated periodically.
            if let Ok(slot) = self.hub(&subscriber.topic.runner, table).await
                && let Some(hub) = slot.hub.get()
            {
                hub.guard(key, subscriber);
                subscriber.keep(slot.clone());
            }
        }
    }

    fn recheck_from_time_to_time(&self, world: Arc<dyn World>) {
        let (weak, mut alive) = (Arc::downgrade(&self.inner), self.inner.alive.subscribe());
        let every = self.inner.settings.recheck;
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = world.sleep(every) => {}
                    _ = alive.changed() => return,
                }
                let Some(inner) = weak.upgrade() else { return };
                for subscriber in inner.all_guarded() {
                    subscriber.hold();
                    Live { inner: inner.clone() }.ask_again(subscriber).await;
                }
            }
        });
    }

    /// Evaluates the guards of a held subscriber, and releases or ends it.
    fn ask_again(self, subscriber: Arc<Subscriber>) -> BoxFuture<'static, ()> {
        Box::pin(async move { self.decide(&subscriber).await })
    }

    async fn decide(&self, subscriber: &Arc<Subscriber>) {
        const TRIES: u32 = 5;
        let Some(guarded) = &subscriber.guarded else { return subscriber.release() };
        for attempt in 0..TRIES {
            match guard::permit(&guarded.runner, &subscriber.topic.name, &guarded.call).await {
                Ok(dependencies) => {
                    self.watch(subscriber, &dependencies).await;
                    return subscriber.release();
                }
                Err(RunError::Store(_) | RunError::Busy) if attempt + 1 < TRIES => {
                    guarded.runner.world().sleep(Duration::from_millis(200) * (attempt + 1)).await;
                }
                Err(RunError::Store(error)) => return subscriber.end(Ended::Feed(error.message().to_owned())),
                Err(_) => return subscriber.end(Ended::Forbidden),
            }
        }
    }
}

impl Inner {
    fn note_guarded(&self, subscriber: &Arc<Subscriber>) {
        let address = Arc::as_ptr(subscriber) as usize;
        self.guarded.lock().insert(address, Arc::downgrade(subscriber));
    }

    fn all_guarded(&self) -> Vec<Arc<Subscriber>> {
        let mut guarded = self.guarded.lock();
        guarded.retain(|_, known| known.strong_count() > 0);
        guarded.values().filter_map(Weak::upgrade).collect()
    }

    /// Returns whether a hub is in use; removes it from the map otherwise.
    fn needs(&self, key: &HubKey, slot: &Weak<Slot>) -> bool {
        let mut hubs = self.hubs.lock();
        // One reference is the map's; all others are current or upcoming subscriptions.
        if slot.strong_count() > 1 {
            return true;
        }
        hubs.remove(key);
        false
    }

    fn forget(&self, key: &HubKey, slot: &Arc<Slot>) {
        let mut hubs = self.hubs.lock();
        if hubs.get(key).is_some_and(|known| Arc::ptr_eq(known, slot)) {
            hubs.remove(key);
        }
    }
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Live").field("settings", &self.inner.settings).finish_non_exhaustive()
    }
}

/// Subscription; dropping it ends it.
pub struct Subscription {
    hub: Arc<Hub>,
    subscriber: Arc<Subscriber>,
    /// Hubs of the tables that hold items of the result in their old form.
    also: Vec<(Arc<Hub>, Arc<Slot>)>,
    _slot: Arc<Slot>,
}

impl Drop for Subscription {
    fn drop(&mut self) {
        for (hub, _) in &self.also {
            hub.leave(&self.subscriber);
        }
        self.hub.leave(&self.subscriber);
    }
}

impl std::fmt::Debug for Subscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subscription").field("number", &self.subscriber.number).finish_non_exhaustive()
    }
}

/// Events of a live read. Ends after [`LiveEvent::Ended`].
pub struct LiveStream {
    outbox: Outbox,
    subscription: Option<Arc<Subscription>>,
    _live: Live,
    catching_up: Option<AbortHandle>,
    pending: Option<Pin<Box<dyn Future<Output = LiveEvent> + Send>>>,
}

impl Drop for LiveStream {
    fn drop(&mut self) {
        if let Some(task) = &self.catching_up {
            task.abort();
        }
    }
}

impl LiveStream {
    /// Returns the next event; `None` after the end.
    pub async fn next(&mut self) -> Option<LiveEvent> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }
}

impl Stream for LiveStream {
    type Item = LiveEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<LiveEvent>> {
        if self.subscription.is_none() {
            return Poll::Ready(None);
        }
        let outbox = self.outbox.clone();
        let pending = self.pending.get_or_insert_with(|| Box::pin(async move { outbox.next().await.1 }));
        let event = std::task::ready!(pending.as_mut().poll(cx));
        self.pending = None;
        if matches!(event, LiveEvent::Ended(_)) {
            self.subscription = None;
        }
        Poll::Ready(Some(event))
    }
}

impl std::fmt::Debug for LiveStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LiveStream").finish_non_exhaustive()
    }
}
