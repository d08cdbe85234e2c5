//! Requests about streams of changes.

use std::fmt;
use std::str::FromStr;

use crate::table::{KeySchema, Status, StreamView};
use crate::value::Item;

/// The place of a change in its stream: rises with each change and is never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SequenceNumber(pub u128);

impl fmt::Display for SequenceNumber {
    /// At least 21 digits, as the service has them.
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
    /// Of which table.
    pub table: Option<String>,
    /// After which stream's ARN.
    pub start: Option<String>,
    /// How many at the most.
    pub limit: Option<usize>,
}

/// The answer of ListStreams.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListStreamsOutput {
    /// The streams.
    pub streams: Vec<StreamListing>,
    /// The ARN of the last of them, if there are more.
    pub last: Option<String>,
}

/// One stream of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamListing {
    /// Its ARN.
    pub arn: String,
    /// Its table.
    pub table: String,
    /// Its label.
    pub label: String,
}

/// Describes a stream and its shards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DescribeStream {
    /// The stream's ARN.
    pub arn: String,
    /// After which shard.
    pub start_shard: Option<String>,
    /// How many shards at the most.
    pub limit: Option<usize>,
    /// Only the children of this shard.
    pub children_of: Option<String>,
}

/// The answer of DescribeStream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamDescription {
    /// Its ARN.
    pub arn: String,
    /// Its label.
    pub label: String,
    /// `ENABLED` and so on: [`Status::Active`] while changes are recorded, [`Status::Deleting`] after.
    pub status: Status,
    /// What a record carries.
    pub view: StreamView,
    /// When it began, in milliseconds of the Unix epoch.
    pub created_ms: u64,
    /// Its table.
    pub table: String,
    /// Its table's key.
    pub key: KeySchema,
    /// Its shards.
    pub shards: Vec<Shard>,
    /// The last of them, if there are more.
    pub last_shard: Option<String>,
}

/// A part of a stream, itself in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Its id.
    pub id: String,
    /// The shard it followed on.
    pub parent: Option<String>,
    /// The first sequence number it can have.
    pub start: SequenceNumber,
    /// The last sequence number it has, once it is closed.
    pub end: Option<SequenceNumber>,
}

/// Asks for a place to read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetShardIterator {
    /// The stream's ARN.
    pub arn: String,
    /// The shard.
    pub shard: String,
    /// Where in it.
    pub position: ShardPosition,
}

/// A place in a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShardPosition {
    /// The oldest record that is kept.
    TrimHorizon,
    /// After the newest record.
    Latest,
    /// At that record.
    At(SequenceNumber),
    /// After that record.
    After(SequenceNumber),
}

/// Reads changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetRecords {
    /// Where to read.
    pub iterator: String,
    /// How many at the most; a thousand if not stated.
    pub limit: Option<usize>,
}

/// The answer of GetRecords.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GetRecordsOutput {
    /// The changes in order.
    pub records: Vec<ChangeRecord>,
    /// Where to read on; nothing when a closed shard is read to its end.
    pub next: Option<String>,
    /// The region that the stream is in.
    pub region: String,
}

/// What happened to an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It was made.
    Insert,
    /// It was changed.
    Modify,
    /// It was removed.
    Remove,
}

impl ChangeKind {
    /// The service's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Insert => "INSERT",
            Self::Modify => "MODIFY",
            Self::Remove => "REMOVE",
        }
    }
}

/// Who made a change, where it was not a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserIdentity {
    /// The item expired.
    TimeToLive,
}

/// One change of one item.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeRecord {
    /// Its id, unique for all time.
    pub id: String,
    /// What happened.
    pub kind: ChangeKind,
    /// When, in milliseconds of the Unix epoch.
    pub at_ms: u64,
    /// The item's key.
    pub keys: Item,
    /// The item before, if the view has it.
    pub old: Option<Item>,
    /// The item after, if the view has it.
    pub new: Option<Item>,
    /// Its place in the stream.
    pub sequence: SequenceNumber,
    /// The size of what it carries.
    pub size_bytes: u64,
    /// The stream's view.
    pub view: StreamView,
    /// Who did it, if not a caller.
    pub identity: Option<UserIdentity>,
}
