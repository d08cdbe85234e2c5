//! Converts checked members of table requests to the types of the operation.

use keyform_core::operation::{GlobalIndexChange, StreamChange};
use keyform_core::table::{
    AttributeDefinitions, BillingMode, GlobalIndex, KeySchema, LocalIndex, Projection, ScalarType, SseSpecification,
    StreamView, TableClass, Throughput,
};

use super::shape::{
    RawAttribute, RawEncryption, RawIndex, RawIndexChange, RawKeyElement, RawProjection, RawStream, RawThroughput,
};

pub(super) fn attributes(raw: Option<Vec<RawAttribute>>) -> AttributeDefinitions {
    let definition = |attribute: RawAttribute| {
        let kind = ScalarType::from_name(attribute.kind.as_deref()?)?;
        Some((attribute.name?, kind))
    };
    raw.unwrap_or_default().into_iter().filter_map(definition).collect()
}

pub(super) fn key(raw: Option<Vec<RawKeyElement>>) -> KeySchema {
    let mut key = KeySchema::default();
    for element in raw.unwrap_or_default() {
        let half = if element.kind.as_deref() == Some("HASH") { &mut key.partition } else { &mut key.sort };
        half.push(element.name.unwrap_or_default());
    }
    key
}

pub(super) fn projection(raw: Option<RawProjection>) -> Projection {
    let raw = raw.unwrap_or_default();
    match raw.kind.as_deref() {
        Some("KEYS_ONLY") => Projection::KeysOnly,
        Some("INCLUDE") => Projection::Include(raw.attributes.unwrap_or_default()),
        _ => Projection::All,
    }
}

pub(super) fn throughput(raw: Option<RawThroughput>) -> Option<Throughput> {
    let units = |units: Option<i64>| units.and_then(|units| u64::try_from(units).ok()).unwrap_or(0);
    raw.map(|raw| Throughput { read: units(raw.read), write: units(raw.write) })
}

pub(super) fn global_index(raw: RawIndex) -> GlobalIndex {
    GlobalIndex {
        name: raw.name.unwrap_or_default(),
        key: key(raw.key),
        projection: projection(raw.projection),
        throughput: throughput(raw.throughput),
        on_demand: raw.on_demand,
        warm: raw.warm,
    }
}

pub(super) fn local_index(raw: RawIndex) -> LocalIndex {
    LocalIndex { name: raw.name.unwrap_or_default(), key: key(raw.key), projection: projection(raw.projection) }
}

pub(super) fn index_changes(raw: Option<Vec<RawIndexChange>>) -> Vec<GlobalIndexChange> {
    raw.unwrap_or_default().into_iter().filter_map(index_change).collect()
}

fn index_change(raw: RawIndexChange) -> Option<GlobalIndexChange> {
    if let Some(index) = raw.create {
        return Some(GlobalIndexChange::Create(global_index(index)));
    }
    if let Some(index) = raw.update {
        return Some(GlobalIndexChange::Update {
            name: index.name.unwrap_or_default(),
            throughput: throughput(index.throughput),
            on_demand: index.on_demand,
            warm: index.warm,
        });
    }
    raw.delete.map(|index| GlobalIndexChange::Delete { name: index.name.unwrap_or_default() })
}

pub(super) fn billing(raw: Option<&str>) -> Option<BillingMode> {
    raw.map(|name| if name == "PAY_PER_REQUEST" { BillingMode::PayPerRequest } else { BillingMode::Provisioned })
}

/// Converts a stream specification. The default view has both images.
pub(super) fn stream(raw: Option<RawStream>) -> Option<StreamChange> {
    let raw = raw?;
    if raw.enabled != Some(true) {
        return Some(StreamChange::Disable);
    }
    let view = raw.view.as_deref().and_then(StreamView::from_name);
    Some(StreamChange::Enable(view.unwrap_or(StreamView::NewAndOldImages)))
}

pub(super) fn encryption(raw: Option<RawEncryption>) -> Option<SseSpecification> {
    raw.map(|raw| SseSpecification { enabled: raw.enabled.unwrap_or(raw.key.is_some()), kms_key: raw.key })
}

pub(super) fn class(raw: Option<&str>) -> Option<TableClass> {
    raw.map(|name| match name {
        "STANDARD_INFREQUENT_ACCESS" => TableClass::StandardInfrequentAccess,
        _ => TableClass::Standard,
    })
}
