//! Events of a subscription.

use std::fmt;
use std::sync::{Arc, OnceLock};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use keyform_core::Item;
use keyform_core::operation::SequenceNumber;
use keyform_language::document::ast::Event;
use keyform_language::schema::EntityId;
use keyform_runtime::run::{Found, RunError};
use sha2::{Digest, Sha256};

use crate::feed::{FeedError, Position};

/// Event of a subscription.
#[derive(Clone, Debug)]
pub enum LiveEvent {
    /// First page. Replaces everything that the subscriber knew before.
    Page(Arc<LivePage>),
    /// The subscription resumes after its token, without a page.
    Resumed {
        /// Token that is valid from here on.
        token: String,
    },
    /// Changes of the result, in order per item.
    Changes(Arc<Delivery>),
    /// The subscription ended; no event follows.
    Ended(Ended),
}

/// First page of a live read.
#[derive(Clone, Debug)]
pub struct LivePage {
    /// Items in the order of the read.
    pub items: Vec<LiveItem>,
    /// Number of items, for a read that counts; `items` is empty then.
    pub count: Option<u64>,
    /// Cursor of the next page; `None` after the last page.
    pub cursor: Option<String>,
    /// Token that resumes after this page; valid for as long as the stream keeps changes.
    pub token: String,
    /// Reason for the page, if the subscriber presented a token.
    pub reset: Option<&'static str>,
}

/// Item of a result.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveItem {
    /// Opaque id of the item, the same in pages and changes.
    pub key: String,
    /// Fields that the read shows.
    pub found: Found,
    /// Last second (since 1970) in which the item is part of the result, if it expires.
    pub expires: Option<i64>,
}

/// Kind of a change of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An item entered the result.
    Insert,
    /// An item of the result changed.
    Modify,
    /// An item left the result.
    Remove,
}

impl Kind {
    /// Returns `insert`, `modify` or `remove`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::Modify => "modify",
            Self::Remove => "remove",
        }
    }
}

/// Change of a result.
#[derive(Clone, Debug)]
pub struct LiveChange {
    /// Kind of the change.
    pub kind: Kind,
    /// Opaque id of the item, the same as in the page.
    pub key: String,
    /// Id of the change in the stream; `None` if the item expired.
    pub id: Option<String>,
    /// Time of the change, in milliseconds since 1970.
    pub at_ms: u64,
    /// Entity of the item.
    pub entity: EntityId,
    /// Fields that the read shows now; `None` after a removal.
    pub found: Option<Found>,
    /// Last second (since 1970) in which the item is part of the result, if it expires.
    pub expires: Option<i64>,
    /// Set if the item left the result because it expired.
    pub(super) is_expiry: bool,
    /// Position of the change in the stream.
    pub(super) place: Option<(Arc<str>, SequenceNumber)>,
    /// Item, for sorting it into a page.
    pub(super) item: Option<Item>,
}

impl LiveChange {
    /// Returns the event of the model's `on` lines that the change is.
    pub(super) fn event(&self) -> Event {
        match self.kind {
            Kind::Insert => Event::Insert,
            Kind::Modify => Event::Modify,
            Kind::Remove if self.is_expiry => Event::Expire,
            Kind::Remove => Event::Remove,
        }
    }
}

/// Changes that are delivered together.
#[derive(Debug)]
pub struct Delivery {
    /// Changes, in order per item.
    pub changes: Vec<LiveChange>,
    /// Resume token after all of them.
    pub token: String,
    pub(super) position: Arc<Position>,
    /// Changes as JSON, serialised by the first subscriber that needs it.
    pub(crate) json: OnceLock<String>,
    /// Approximate memory of the delivery, which counts towards the limit of an outbox.
    pub(super) bytes: usize,
}

impl Delivery {
    pub(super) fn new(changes: Vec<LiveChange>, token: String, position: Arc<Position>) -> Self {
        let bytes =
            changes.iter().map(|change| 200 + change.item.as_ref().map_or(0, |item| item.as_bytes().len())).sum();
        Self { changes, token, position, json: OnceLock::new(), bytes }
    }
}

/// Reason why a subscription ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    /// The caller is no longer permitted.
    Forbidden,
    /// The subscriber did not drain its outbox in time.
    Slow,
    /// The feed cannot be read any more; the text is the reason.
    Feed(String),
    /// An item cannot be converted, for example because an encrypted field cannot be decrypted. The read itself fails
    /// in the same way.
    Run(RunError),
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Forbidden => f.write_str("the caller may no longer read this"),
            Self::Slow => f.write_str("the client reads too slowly: resume with the last token"),
            Self::Feed(why) => f.write_str(why),
            Self::Run(error) => error.fmt(f),
        }
    }
}

/// Reason why a read cannot be followed.
#[derive(Clone, Debug, PartialEq)]
pub enum LiveError {
    /// The call is wrong or not permitted, or the store failed.
    Run(RunError),
    /// The table cannot be followed.
    Feed(FeedError),
    /// The stream of the table lacks the images that a live read needs.
    View {
        /// Name of the table in the store.
        table: String,
    },
    /// The token is invalid, or belongs to another read or other arguments.
    Token,
}

impl fmt::Display for LiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(error) => error.fmt(f),
            Self::Feed(error) => error.fmt(f),
            Self::View { table } => write!(
                f,
                "the stream of the table {table} does not carry both images of an item: add `stream new_and_old` to \
                its declaration"
            ),
            Self::Token => f.write_str(
                "invalid token: it belongs to another read or other arguments. Subscribe \
                without it",
            ),
        }
    }
}

impl std::error::Error for LiveError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Run(error) => Some(error),
            Self::Feed(error) => Some(error),
            Self::View { .. } | Self::Token => None,
        }
    }
}

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

/// Returns an opaque id of an item that does not reveal its key.
pub(super) fn key_text(key: &Item) -> String {
    let digest = Sha256::digest(key.as_bytes());
    URL_SAFE_NO_PAD.encode(&digest[..16])
}
