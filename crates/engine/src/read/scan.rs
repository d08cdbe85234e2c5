//! Scan, whole or parallel. A segment is an equal part of the space of partition hashes.

use keyform_core::Error;
use keyform_core::error::read as texts;
use keyform_core::operation::{PageOutput, Scan, Segment};

use super::bounds::KeyRange;
use super::page::PageRequest;
use super::source::Source;
use super::{get, start};
use crate::engine::Engine;
use crate::key_space;

impl Engine {
    pub(crate) fn scan(&self, request: &Scan) -> Result<PageOutput, Error> {
        let source =
            Source::new(self.catalog.read().table(&request.table)?, request.index.as_deref(), request.consistent)?;
        let range = request.segment.map_or_else(|| whole(&source), |segment| segment_range(&source, segment));
        let after = request.start.as_ref().map(|key| start::store_key(&source, key)).transpose()?;
        if after.as_ref().is_some_and(|after| !range.contains(after)) {
            return Err(texts::start_key_of_other_segment());
        }
        let page = PageRequest {
            range,
            after,
            reverse: false,
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

fn whole(source: &Source) -> KeyRange {
    KeyRange::prefix(key_space::index_prefix(source.table.id, source.id()))
}

fn segment_range(source: &Source, segment: Segment) -> KeyRange {
    let prefix = key_space::index_prefix(source.table.id, source.id());
    let boundary = |number: u32| {
        let hash = (u128::from(number) << 64) / u128::from(segment.total);
        u64::try_from(hash).ok().map(|hash| [prefix.as_slice(), &hash.to_be_bytes()].concat())
    };
    let upper = boundary(segment.number + 1).or_else(|| key_space::after_prefix(&prefix));
    KeyRange { lower: boundary(segment.number).unwrap_or_else(|| prefix.clone()), upper }
}
