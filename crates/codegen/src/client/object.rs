//! Objects of JSON that have a name in a client.

use super::kind::Kind;

/// The number of an object in [`Client::objects`](super::Client::objects).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ObjectId(pub(super) usize);

impl ObjectId {
    /// Its place in the list.
    pub(crate) fn index(self) -> usize {
        self.0
    }
}

/// An entity, a record or a selection.
#[derive(Debug)]
pub(crate) struct Object {
    /// What it is made from, so that it is made once.
    pub(super) key: String,
    /// The name it would like to have.
    pub(crate) name: String,
    /// Its documentation.
    pub(crate) docs: Vec<String>,
    /// Its fields.
    pub(crate) members: Vec<Member>,
}

impl Object {
    /// Whether it is part of others; callers may give it then.
    pub(crate) fn is_record(&self) -> bool {
        self.key.starts_with("record ")
    }
}

/// A field of an object.
#[derive(Debug)]
pub(crate) struct Member {
    /// Its name in the model and in JSON.
    pub(crate) name: String,
    /// Its documentation.
    pub(crate) docs: Vec<String>,
    /// What it is.
    pub(crate) kind: Kind,
    /// It may be absent.
    pub(crate) optional: bool,
    /// It may be null.
    pub(crate) null: bool,
}
