//! Follows the changes of a store: feeds, live reads and handlers.

/// Changes of one table, in order.
pub mod feed {
    pub use keyform_live::feed::{Batch, Change, Feed, FeedError, From, Position};
}

/// Reads whose results are kept up to date.
pub mod read {
    pub use keyform_live::read::{
        Ended, Kind, Live, LiveChange, LiveError, LiveEvent, LiveItem, LiveSettings, LiveStream,
    };
}

/// Code that the model calls on changes.
pub mod handle {
    pub use keyform_live::handle::{Begin, EntityChange, HandleError, HandlerSettings, Handlers, RunningHandlers};
}
