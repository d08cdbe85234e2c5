//! JSON objects that have a named type in a client.

use super::kind::Kind;

/// Position of an object in [`Client::objects`](super::Client::objects).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ObjectId(pub(super) usize);

impl ObjectId {
    pub(crate) fn index(self) -> usize {
        self.0
    }
}

/// Entity, record or selection.
#[derive(Debug)]
pub(crate) struct Object {
    /// Identity, so that each object is created once.
    pub(super) key: String,
    /// Preferred name; a language may have to change it.
    pub(crate) name: String,
    pub(crate) docs: Vec<String>,
    pub(crate) members: Vec<Member>,
}

impl Object {
    /// Returns whether it is a record, which callers may also send as an argument.
    pub(crate) fn is_record(&self) -> bool {
        self.key.starts_with("record ")
    }
}

/// Field of an object.
#[derive(Debug)]
pub(crate) struct Member {
    /// Name in the model and in JSON.
    pub(crate) name: String,
    pub(crate) docs: Vec<String>,
    pub(crate) kind: Kind,
    /// May be absent.
    pub(crate) optional: bool,
    /// May be `null`.
    pub(crate) null: bool,
}
