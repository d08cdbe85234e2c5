//! Streams of changes.

use crate::change::Change;
use crate::store::Batch;

/// Puts the record of a change into the batch, if the table has a stream.
pub fn stage(_batch: &mut Batch, _change: &Change<'_>) {}
