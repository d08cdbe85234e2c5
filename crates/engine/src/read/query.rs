//! Query.

use keyform_core::Error;
use keyform_core::error::read as texts;
use keyform_core::expression::KeyCondition;
use keyform_core::operation::{PageOutput, Query};

use super::page::PageRequest;
use super::source::Source;
use super::{bounds, get, start};
use crate::engine::Engine;

impl Engine {
    pub(crate) fn query(&self, request: &Query) -> Result<PageOutput, Error> {
        self.query_checked(request, check_filter)
    }

    /// Runs a query whose filter may use key attributes: PartiQL statements have no separate key condition.
    pub(crate) fn query_filtering_keys(&self, request: &Query) -> Result<PageOutput, Error> {
        self.query_checked(request, |_, _| Ok(()))
    }

    fn query_checked(
        &self,
        request: &Query,
        check: impl FnOnce(&Source, &Query) -> Result<(), Error>,
    ) -> Result<PageOutput, Error> {
        let source =
            Source::new(self.catalog.read().table(&request.table)?, request.index.as_deref(), request.consistent)?;
        let range = bounds::of_condition(&source, &request.key)?;
        check(&source, request)?;
        let after = request.start.as_ref().map(|key| start::store_key(&source, key)).transpose()?;
        if let Some(after) = after.as_ref().filter(|after| !range.contains(after)) {
            return Err(outside(&source, &request.key, after)?);
        }
        let page = PageRequest {
            range,
            after,
            reverse: request.reverse,
            limit: request.limit.unwrap_or(usize::MAX),
            filter: request.filter.as_ref(),
            projection: request.projection.as_ref(),
            attributes: source.attributes(request.select, request.projection.as_ref())?,
            kind: get::kind(request.consistent),
            return_capacity: request.return_capacity,
            source: &source,
        };
        page.read(&self.snapshot())
    }
}

fn check_filter(source: &Source, request: &Query) -> Result<(), Error> {
    let roots = request.filter.as_ref().map_or_else(Vec::new, |filter| filter.roots());
    match roots.iter().find(|name| source.has_key(name)) {
        Some(name) => Err(texts::filter_on_key(name)),
        None => source.check_filtered(&roots),
    }
}

/// Returns the error for a start key outside the range: in another partition, or only outside the sort key range.
fn outside(source: &Source, condition: &KeyCondition, after: &[u8]) -> Result<Error, Error> {
    let partition = bounds::of_partition(source, condition)?;
    Ok(if partition.contains(after) { texts::start_key_is_outside_range() } else { texts::start_key_is_outside() })
}
