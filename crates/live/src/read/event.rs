//! What a subscriber is told.

use std::fmt;
use std::sync::{Arc, OnceLock};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use keyform_core::Item;
use keyform_core::operation::SequenceNumber;
use keyform_language::schema::EntityId;
use keyform_runtime::run::{Found, RunError};
use sha2::{Digest, Sha256};

use crate::feed::{FeedError, Position};

/// What a subscriber is told.
#[derive(Clone, Debug)]
pub enum LiveEvent {
    /// The answer to begin with. Whatever was known before is replaced by it.
    Page(Arc<LivePage>),
    /// It goes on where the token left off; there is no page.
    Resumed {
        /// The token.
        token: String,
    },
    /// Changes of the answer, in order per item.
    Changes(Arc<Delivery>),
    /// There will be nothing more.
    Ended(Ended),
}

/// The answer to begin with.
#[derive(Clone, Debug)]
pub struct LivePage {
    /// The items, in the order of the read.
    pub items: Vec<LiveItem>,
    /// How many there are, of a read that counts; it has no items.
    pub count: Option<u64>,
    /// Where the page ended, if more may follow.
    pub cursor: Option<String>,
    /// From where to go on.
    pub token: String,
    /// Why there is a page although the subscriber brought a token.
    pub reset: Option<&'static str>,
}

/// An item of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveItem {
    /// What tells it from others, the same in pages and changes.
    pub key: String,
    /// What the read shows of it.
    pub found: Found,
    /// The last second in which it is part of the answer, if it leaves it by itself.
    pub expires: Option<i64>,
}

/// What happened to an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An item is part of it now.
    Insert,
    /// An item of it is different now.
    Modify,
    /// An item is no longer part of it.
    Remove,
}

impl Kind {
    /// `insert`, `modify`, `remove`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::Modify => "modify",
            Self::Remove => "remove",
        }
    }
}

/// One change of an answer.
#[derive(Clone, Debug)]
pub struct LiveChange {
    /// What happened.
    pub kind: Kind,
    /// What tells the item from others.
    pub key: String,
    /// The change's id in the stream; none where time alone made the item leave.
    pub id: Option<String>,
    /// When, in milliseconds of the Unix epoch.
    pub at_ms: u64,
    /// The entity.
    pub entity: EntityId,
    /// What the read shows of the item now; nothing after a removal.
    pub found: Option<Found>,
    /// The last second in which it is part of the answer, if it leaves it by itself.
    pub expires: Option<i64>,
    /// Where the change stands in the stream.
    pub(super) place: Option<(Arc<str>, SequenceNumber)>,
    /// The item, to find its place in a page.
    pub(super) item: Option<Item>,
}

/// Changes that come together, and from where to go on after all of them.
#[derive(Debug)]
pub struct Delivery {
    /// The changes.
    pub changes: Vec<LiveChange>,
    /// From where to go on.
    pub token: String,
    pub(super) position: Arc<Position>,
    /// The changes as JSON, made by the first subscriber who needs it.
    pub(crate) json: OnceLock<String>,
    /// About how much memory it takes.
    pub(super) bytes: usize,
}

impl Delivery {
    pub(super) fn new(changes: Vec<LiveChange>, token: String, position: Arc<Position>) -> Self {
        let bytes =
            changes.iter().map(|change| 200 + change.item.as_ref().map_or(0, |item| item.as_bytes().len())).sum();
        Self { changes, token, position, json: OnceLock::new(), bytes }
    }
}

/// Why a subscription has ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    /// The caller may no longer read this.
    Forbidden,
    /// The subscriber took too long to take what it was told.
    Slow,
    /// Changes can no longer be followed; the text says why.
    Feed(String),
    /// An item cannot be shown, for instance because an encrypted field does not open. The read itself fails in the same way.
    Run(RunError),
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Forbidden => f.write_str("the caller may no longer read this"),
            Self::Slow => f.write_str("changes were not taken fast enough: resume with the last token"),
            Self::Feed(why) => f.write_str(why),
            Self::Run(error) => error.fmt(f),
        }
    }
}

/// Why a read cannot be followed.
#[derive(Clone, Debug, PartialEq)]
pub enum LiveError {
    /// The call is wrong, not allowed, or the store failed.
    Run(RunError),
    /// The table cannot be followed.
    Feed(FeedError),
    /// The stream of the table has not what a live read needs.
    View {
        /// The table.
        table: String,
    },
    /// The token is not one, or of another read or other arguments.
    Token,
}

impl fmt::Display for LiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(error) => error.fmt(f),
            Self::Feed(error) => error.fmt(f),
            Self::View { table } => write!(
                f,
                "the stream of the table {table} has not both images of an item: write `stream new_and_old` in its declaration"
            ),
            Self::Token => f.write_str("the token is not one of this read with these arguments: subscribe without it"),
        }
    }
}

impl std::error::Error for LiveError {}

impl From<RunError> for LiveError {
    fn from(error: RunError) -> Self {
        Self::Run(error)
    }
}

impl From<FeedError> for LiveError {
    fn from(error: FeedError) -> Self {
        Self::Feed(error)
    }
}

/// What tells an item from others of its table, without telling its key.
pub(super) fn key_text(key: &Item) -> String {
    let digest = Sha256::digest(key.as_bytes());
    URL_SAFE_NO_PAD.encode(&digest[..16])
}
