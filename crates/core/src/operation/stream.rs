//! Requests that read change streams.

use std::fmt;
use std::str::FromStr;

use crate::table::{KeySchema, Status, StreamView};
use crate::value::Item;

/// Position of a change in its stream. Sequence numbers increase with each change and are never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SequenceNumber(pub u128);

impl fmt::Display for SequenceNumber {
    /// Formats at least 21 digits, as DynamoDB does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:021}", self.0)
    }
}

impl FromStr for SequenceNumber {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

/// Lists streams.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListStreams {
    /// Table whose streams are listed; all tables if absent.
    pub table: Option<String>,
    /// ARN of the last stream of the previous page.
    pub start: Option<String>,
    /// Maximum number of streams per page.
    pub limit: Option<usize>,
}

/// Response of ListStreams.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListStreamsOutput {
    /// Streams of this page.
    pub streams: Vec<StreamListing>,
    /// ARN of the last stream of this page; `None` on the last page.
    pub last: Option<String>,
}

/// One stream of a ListStreams response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamListing {
    /// Amazon Resource Name of the stream.
    pub arn: String,
    /// Name of the table that the stream records.
    pub table: String,
    /// Stream label: the time at which the stream was enabled.
    pub label: String,
}

/// Describes a stream and its shards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DescribeStream {
    /// Amazon Resource Name of the stream.
    pub arn: String,
    /// Id of the last shard of the previous page.
    pub start_shard: Option<String>,
    /// Maximum number of shards per page.
    pub limit: Option<usize>,
    /// Restricts the response to the children of this shard.
    pub children_of: Option<String>,
}

/// Response of DescribeStream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamDescription {
    /// Amazon Resource Name of the stream.
    pub arn: String,
    /// Stream label: the time at which the stream was enabled.
    pub label: String,
    /// [`Status::Active`] (`ENABLED`) while changes are recorded, [`Status::Deleting`] after the stream was disabled.
    pub status: Status,
    /// Item images that each record carries.
    pub view: StreamView,
    /// Creation time, in milliseconds since the Unix epoch.
    pub created_ms: u64,
    /// Name of the table that the stream records.
    pub table: String,
    /// Primary key schema of the table.
    pub key: KeySchema,
    /// Shards of this page.
    pub shards: Vec<Shard>,
    /// Id of the last shard of this page; `None` on the last page.
    pub last_shard: Option<String>,
}

/// A part of a stream, with its own ordered records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Shard id, unique in the stream.
    pub id: String,
    /// Shard that this one continues.
    pub parent: Option<String>,
    /// Lowest sequence number the shard can contain.
    pub start: SequenceNumber,
    /// Last sequence number of the shard; `None` while the shard is open.
    pub end: Option<SequenceNumber>,
}

/// Requests an iterator for reading a shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetShardIterator {
    /// Amazon Resource Name of the stream.
    pub arn: String,
    /// Id of the shard to read.
    pub shard: String,
    /// Position to start reading at.
    pub position: ShardPosition,
}

/// Start position in a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShardPosition {
    /// At the oldest retained record.
    TrimHorizon,
    /// After the newest record.
    Latest,
    /// At the record with this sequence number.
    At(SequenceNumber),
    /// After the record with this sequence number.
    After(SequenceNumber),
}

/// Reads change records from a shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetRecords {
    /// Shard iterator of GetShardIterator or of the previous GetRecords.
    pub iterator: String,
    /// Maximum number of records; 1000 by default.
    pub limit: Option<usize>,
}

/// Response of GetRecords.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GetRecordsOutput {
    /// Change records in sequence order.
    pub records: Vec<ChangeRecord>,
    /// Iterator of the next read; `None` at the end of a closed shard.
    pub next: Option<String>,
    /// AWS region of the stream.
    pub region: String,
}

/// Kind of change to an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// The item was created.
    Insert,
    /// The item was updated or replaced.
    Modify,
    /// The item was deleted.
    Remove,
}

impl ChangeKind {
    /// Returns DynamoDB's name of the kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::Insert => "INSERT",
            Self::Modify => "MODIFY",
            Self::Remove => "REMOVE",
        }
    }
}

/// Author of a change that no request made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserIdentity {
    /// The item expired.
    TimeToLive,
}

/// One change of one item.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeRecord {
    /// Event id, globally unique.
    pub id: String,
    /// Kind of change.
    pub kind: ChangeKind,
    /// Time of the change, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// Primary key of the item.
    pub keys: Item,
    /// Item before the change, if the view includes it.
    pub old: Option<Item>,
    /// Item after the change, if the view includes it.
    pub new: Option<Item>,
    /// Position of the record in the stream.
    pub sequence: SequenceNumber,
    /// Size of the keys and images in bytes.
    pub size_bytes: u64,
    /// Stream view, which decides the images in the record.
    pub view: StreamView,
    /// Author of the change; `None` for a request.
    pub identity: Option<UserIdentity>,
}
