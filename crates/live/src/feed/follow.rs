//! Feed: reads all shards of a stream, children after parents.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use keyform_core::operation::{DescribeStream, DescribeTable, SequenceNumber, StreamDescription};
use keyform_core::table::{Status, StreamSummary};
use keyform_core::{Error, Execute, ExecuteExt, World};

use super::cursor::Cursor;
use super::{Batch, Change, FeedError, Lineage, Position, ShardOffset};

/// Polling interval for stores that cannot wake readers.
pub(crate) const POLL: Duration = Duration::from_millis(500);
/// Minimum time between two reads of a store that also wakes on changes of other tables.
const BREATH: Duration = Duration::from_millis(1);

/// Assumed clock skew of a remote store.
const SKEW_MS: u64 = 15_000;

/// Start position of a feed.
#[derive(Clone, Debug)]
pub enum From {
    /// First change from now on.
    Now,
    /// Oldest change that the stream still has.
    Beginning,
    /// After the position of an earlier feed.
    Position(Position),
}

/// Reader of the changes of one table.
pub struct Feed {
    store: Arc<dyn Execute>,
    world: Arc<dyn World>,
    stream: StreamSummary,
    lineage: Lineage,
    cursors: BTreeMap<String, Cursor>,
    position: Arc<Position>,
    /// Sequence number up to which everything has been read, for stores that report one.
    passed: Option<SequenceNumber>,
    poll: Duration,
    /// Set when the stream was disabled and has been read to its end.
    has_ended: bool,
}

impl Feed {
    /// Opens the feed of a table.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use keyform_live::feed::{Feed, FeedError, From};
    ///
    /// # async fn example(store: Arc<dyn keyform_core::Execute>, world: Arc<dyn keyform_core::World>) -> Result<(), FeedError> {
    /// let mut feed = Feed::open(store, world, "chat", From::Now).await?;
    /// loop {
    ///     let batch = feed.read().await?;
    ///     for change in &batch.changes {
    ///         println!("{:?} {:?}", change.record.kind, change.record.keys);
    ///     }
    ///     if batch.caught_up {
    ///         feed.wait().await;
    ///     }
    /// }
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns an error if the table has no stream, the position was trimmed, or the store fails.
    pub async fn open(
        store: Arc<dyn Execute>,
        world: Arc<dyn World>,
        table: &str,
        from: From,
    ) -> Result<Self, FeedError> {
        // Taken before the shards are described, so that no change between the two is skipped.
        let latest = store.watch().map(|watch| watch.latest());
        let stream = stream_of(&*store, table).await?;
        let lineage = describe(&*store, &stream.arn).await?.0;
        let position = Arc::new(Position::new(&stream.arn));
        let mut feed = Self {
            store,
            world,
            stream,
            lineage,
            cursors: BTreeMap::new(),
            position,
            passed: None,
            poll: POLL,
            has_ended: false,
        };
        match from {
            From::Now => feed.begin_now(latest).await?,
            From::Beginning => {
                feed.begin_with(feed.lineage.roots().map(|shard| (shard.id.clone(), ShardOffset::Start)).collect())
            }
            From::Position(position) => feed.resume(position)?,
        }
        feed.note_position();
        Ok(feed)
    }

    /// Sets the polling interval for stores that cannot wake readers.
    #[must_use]
    pub fn polled(mut self, every: Duration) -> Self {
        self.poll = every;
        self
    }

    /// Returns the stream that the feed reads.
    #[must_use]
    pub fn stream(&self) -> &StreamSummary {
        &self.stream
    }

    /// Returns the position after the last batch.
    #[must_use]
    pub fn position(&self) -> &Arc<Position> {
        &self.position
    }

    /// Returns the shards of the stream, as last described.
    #[must_use]
    pub(crate) fn lineage(&self) -> &Lineage {
        &self.lineage
    }

    /// Returns the sequence number up to which everything has been read, for stores that report one.
    #[must_use]
    pub fn passed(&self) -> Option<SequenceNumber> {
        self.passed
    }

    fn begin_with(&mut self, places: Vec<(String, ShardOffset)>) {
        self.cursors = places.into_iter().map(|(shard, place)| (shard.clone(), Cursor::new(&shard, place))).collect();
    }

    async fn begin_now(&mut self, latest: Option<SequenceNumber>) -> Result<(), FeedError> {
        if let Some(latest) = latest {
            let place = |start| if latest >= start { ShardOffset::After(latest) } else { ShardOffset::Start };
            let open = self.lineage.after(latest).map(|shard| (shard.id.clone(), place(shard.start))).collect();
            self.begin_with(open);
            self.passed = Some(latest);
            return Ok(());
        }
        let open: Vec<String> =
            self.lineage.iter().filter(|shard| shard.end.is_none()).map(|shard| shard.id.clone()).collect();
        for shard in open {
            let cursor = Cursor::latest(&*self.store, &self.stream.arn, &shard, self.about_now_ms()).await?;
            self.cursors.insert(shard, cursor);
        }
        Ok(())
    }

    /// Returns a time that the store's clock has certainly passed: clocks differ, and DynamoDB rounds to seconds.
    fn about_now_ms(&self) -> u64 {
        u64::try_from(self.world.now_millis()).unwrap_or(0).saturating_sub(SKEW_MS)
    }

    /// Resumes at a position. Every shard that it names must still exist: a trimmed one may have had unread changes.
    fn resume(&mut self, position: Position) -> Result<(), FeedError> {
        let is_gone = |shard: &String| self.lineage.get(shard).is_none();
        if position.stream != self.position.stream || position.shards.keys().any(is_gone) {
            return Err(FeedError::TooOld);
        }
        if position.shards.is_empty() {
            let roots = self.lineage.roots().map(|shard| (shard.id.clone(), ShardOffset::Start)).collect();
            self.begin_with(roots);
        } else {
            self.begin_with(position.shards.into_iter().collect());
        }
        Ok(())
    }

    /// Reads the available changes, at most one page per shard.
    ///
    /// # Errors
    /// Returns an error if the position was trimmed, the stream was disabled, or the store fails. After a failure of
    /// the store the feed can be read again: no change is lost.
    pub async fn read(&mut self) -> Result<Batch, FeedError> {
        if self.has_ended {
            return Err(FeedError::Ended);
        }
        let seen = self.store.watch().map(|watch| watch.latest());
        let mut changes = Vec::new();
        let mut caught_up = true;
        let mut failure = None;
        for cursor in self.cursors.values_mut().filter(|cursor| !cursor.is_finished) {
            match cursor.read(&*self.store, &self.stream.arn).await {
                Ok(page) => {
                    let is_beyond = seen.zip(page.records.last()).is_some_and(|(seen, last)| last.sequence > seen);
                    caught_up &= !page.is_full || is_beyond;
                    let shard = cursor.shard.clone();
                    changes.extend(page.records.into_iter().map(|record| Change { shard: shard.clone(), record }));
                }
                Err(error) => {
                    // The shards from here on were not read: `passed` must not move beyond their changes.
                    caught_up = false;
                    failure = Some(error);
                    break;
                }
            }
        }
        // The changes read before the failure must be returned: their cursors have already advanced.
        if let Some(error) = failure.filter(|_| changes.is_empty()) {
            return Err(error);
        }
        caught_up &= !self.replace_finished().await;
        if self.has_ended && changes.is_empty() {
            return Err(FeedError::Ended);
        }
        self.note_position();
        if caught_up {
            self.passed = seen.or(self.passed);
        }
        Ok(Batch { changes, position: self.position.clone(), caught_up })
    }

    /// Continues with the children of finished shards; returns whether child shards were added.
    async fn replace_finished(&mut self) -> bool {
        let finished: Vec<String> =
            self.cursors.values().filter(|cursor| cursor.is_finished).map(|cursor| cursor.shard.to_string()).collect();
        if finished.is_empty() && !self.cursors.is_empty() {
            return false;
        }
        // A failure here loses nothing: the finished shards stay in the position, and the next round tries again.
        let Ok((lineage, is_enabled)) = describe(&*self.store, &self.stream.arn).await else { return false };
        self.lineage = lineage;
        let mut new = Vec::new();
        for parent in &finished {
            let children: Vec<String> = self.lineage.children(parent).map(|shard| shard.id.clone()).collect();
            if !children.is_empty() || !is_enabled {
                self.cursors.remove(parent);
            }
            new.extend(children);
        }
        if self.cursors.is_empty() && finished.is_empty() {
            new.extend(self.lineage.roots().map(|shard| shard.id.clone()));
        }
        let grown = !new.is_empty();
        for shard in new {
            self.cursors.entry(shard.clone()).or_insert_with(|| Cursor::new(&shard, ShardOffset::Start));
        }
        self.has_ended = self.cursors.is_empty() && !is_enabled;
        grown
    }

    fn note_position(&mut self) {
        let places = self.cursors.values().map(|cursor| (cursor.shard.to_string(), cursor.place));
        let position = Position { stream: self.position.stream, shards: places.collect() };
        if position != *self.position {
            self.position = Arc::new(position);
        }
    }

    /// Waits until more changes may be available.
    pub async fn wait(&self) {
        match (self.store.watch(), self.passed) {
            (Some(watch), Some(passed)) => {
                self.world.sleep(BREATH).await;
                watch.changed(passed).await;
            }
            _ => self.world.sleep(self.poll).await,
        }
    }
}

impl std::fmt::Debug for Feed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Feed").field("stream", &self.stream).field("position", &self.position).finish_non_exhaustive()
    }
}

/// Returns the stream of a table.
///
/// # Errors
/// Returns an error if the table has no enabled stream, or the store fails.
pub(crate) async fn stream_of(store: &dyn Execute, table: &str) -> Result<StreamSummary, FeedError> {
    let description = store.call(DescribeTable { table: table.to_owned() }).await?;
    let stream = description.stream.filter(|stream| stream.enabled);
    stream.ok_or_else(|| FeedError::NoStream { table: table.to_owned() })
}

/// Returns all shards of a stream, and whether it is enabled.
pub(crate) async fn describe(store: &dyn Execute, arn: &str) -> Result<(Lineage, bool), Error> {
    let mut shards = Vec::new();
    let mut start_shard = None;
    loop {
        let request_start: Option<String> = start_shard.clone();
        let request = DescribeStream { arn: arn.to_owned(), start_shard, limit: None, children_of: None };
        let StreamDescription { shards: page, last_shard, status, .. } = store.call(request).await?;
        shards.extend(page);
        match last_shard {
            Some(last) if request_start.as_ref() == Some(&last) => {
                return Err(Error::internal("DescribeStream returned the shard that it was to start after"));
            }
            Some(last) => start_shard = Some(last),
            None => return Ok((Lineage::new(shards), status == Status::Active)),
        }
    }
}
