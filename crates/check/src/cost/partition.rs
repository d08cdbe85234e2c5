//! Items of an entity that share a partition of its table or of an index.
//!
//! `volume` states the figures of the table's partitions. Those of an index follow from its key: the items of the
//! entity, divided by the number of values of the index's partition key.
//!
//! ```text
//! 50M orders, keyed by seller, 250 per partition, max 500K per partition; 5M buyers
//! "BUYER#{buyerId}"         50M / 5M    = 10 orders per buyer, at most 10 * (500K / 250)
//! "SELLER#{sellerId}#{state}"  250 / 4 states
//! ```
//!
//! An index whose key has an optional field holds only the items that have a value. The model does not state how many,
//! so a tenth is assumed.

use keyform_language::schema::{Entity, EntityId, EntityKey, FieldId, Format, IndexId, Model, Part, Type};

/// Assumed share of the items of an entity that are in a sparse index.
const SPARSE_SHARE: f64 = 0.1;
/// Assumed items per partition without any figure.
const ITEMS_ASSUMED: f64 = 10.0;
/// Longest chain of `ref`s that is followed to an entity with a volume.
const CHAIN_MAX: usize = 8;

/// Figures of the items of one entity in a partition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Partition {
    /// Mean number of items.
    pub mean: f64,
    /// Number in the largest partition; `None` if no figure tells it.
    pub max: Option<f64>,
    /// True if a figure was assumed.
    pub assumed: bool,
}

/// Estimates the items of an entity in a partition of an index, or with `None` of the table.
#[must_use]
pub fn of(model: &Model, id: EntityId, index: Option<IndexId>) -> Partition {
    let entity = model.entity(id);
    let volume = &entity.volume;
    let max = volume.per_partition_max.map(|max| max as f64);
    let of_table = volume.per_partition.map(|mean| mean as f64);
    let (Some(key), Some(own)) = (entity.key_of(index).filter(|_| index.is_some()), entity.key.as_ref()) else {
        return Partition { mean: of_table.unwrap_or(ITEMS_ASSUMED), max, assumed: of_table.is_none() };
    };
    let whole = match finer(entity, own, key) {
        Some(values) => {
            Partition { mean: of_table.unwrap_or(ITEMS_ASSUMED) / values, max, assumed: of_table.is_none() }
        }
        None => by_values(model, entity, id, key, skew(of_table, max)),
    };
    sparse(entity, key, whole)
}

/// Returns the share of an entity's items that an index holds, and true if it is assumed.
#[must_use]
pub fn share(entity: &Entity, key: &EntityKey) -> (f64, bool) {
    if is_sparse(entity, key) { (SPARSE_SHARE, true) } else { (1.0, false) }
}

/// Returns true if items without a value are not in the index.
#[must_use]
pub fn is_sparse(entity: &Entity, key: &EntityKey) -> bool {
    key.index.is_some() && key.fields().any(|field| entity.field(field).optional)
}

fn sparse(entity: &Entity, key: &EntityKey, whole: Partition) -> Partition {
    let (share, assumed) = share(entity, key);
    let mean = (whole.mean * share).max(1.0_f64.min(whole.mean));
    Partition { mean, max: whole.max, assumed: whole.assumed || assumed }
}

/// Returns the number of parts into which an index divides each partition of the table, if its partition key contains
/// the table's; only enumerations count as divisions.
fn finer(entity: &Entity, own: &EntityKey, key: &EntityKey) -> Option<f64> {
    let fields = |key: &EntityKey| -> Vec<(FieldId, Format)> { partition_fields(key).collect() };
    let (table, index) = (fields(own), fields(key));
    if table.is_empty() || !table.iter().all(|field| index.contains(field)) {
        return None;
    }
    let extra: Vec<FieldId> = index.iter().filter(|field| !table.contains(field)).map(|(field, _)| *field).collect();
    extra.iter().map(|&field| few_values(entity, field)).try_fold(1.0, |all, values| Some(all * values?))
}

fn partition_fields(key: &EntityKey) -> impl Iterator<Item = (FieldId, Format)> + '_ {
    key.partition.iter().flat_map(|part| &part.template.parts).filter_map(|part| match part {
        Part::Field { field, format, .. } => Some((*field, *format)),
        Part::Text(_) | Part::Unknown { .. } => None,
    })
}

fn few_values(entity: &Entity, field: FieldId) -> Option<f64> {
    match entity.field(field).kind.resolved() {
        Type::OneOf(values) => Some(values.len().max(1) as f64),
        Type::Scalar(scalar, _) => scalar.few_values().map(|count| count as f64),
        _ => None,
    }
}

/// Divides the items by the number of values of the partition key. The ids in a key depend on each other (a course
/// belongs to one school), so the most numerous one counts; enumerations multiply it.
fn by_values(model: &Model, entity: &Entity, id: EntityId, key: &EntityKey, skew: Option<f64>) -> Partition {
    let mut ids = 1.0_f64;
    let mut kinds = 1.0;
    let mut known = entity.volume.items.is_some();
    for (field, format) in partition_fields(key) {
        let is_coarse = matches!(format, Format::Day | Format::Hour | Format::Month);
        match (few_values(entity, field), values(model, id, field, 0).filter(|_| !is_coarse)) {
            (Some(count), _) => kinds *= count,
            (None, Some(count)) => ids = ids.max(count),
            (None, None) => known = false,
        }
    }
    let items = entity.volume.items.map_or(ITEMS_ASSUMED, |items| items as f64);
    if !known {
        let mean = entity.volume.per_partition.map_or(ITEMS_ASSUMED, |mean| mean as f64);
        return Partition { mean, max: None, assumed: true };
    }
    let mean = (items / (ids * kinds)).max(1.0);
    Partition { mean, max: skew.map(|skew| (mean * skew).min(items)), assumed: false }
}

/// Returns how much larger the largest partition of the table is than the mean one.
fn skew(mean: Option<f64>, max: Option<f64>) -> Option<f64> {
    mean.zip(max).filter(|(mean, _)| *mean > 0.0).map(|(mean, max)| max / mean)
}

/// Returns the number of values of a field that identifies items: those of its own entity, or of the one it refers to.
fn values(model: &Model, id: EntityId, field: FieldId, depth: usize) -> Option<f64> {
    let entity = model.entity(id);
    let of = entity.field(field);
    let items = |entity: &Entity| entity.volume.items.map(|items| items.max(1) as f64);
    match &of.kind {
        Type::Ref { entity: Some(target), .. } if items(model.entity(*target)).is_some() => {
            items(model.entity(*target))
        }
        Type::Ref { entity: Some(target), field: named, .. } if depth < CHAIN_MAX => {
            let named = named.or_else(|| model.entity(*target).id_field())?;
            values(model, *target, named, depth + 1)
        }
        Type::Copy { entity: Some(target), field: Some(named), .. } if depth < CHAIN_MAX => {
            values(model, *target, *named, depth + 1)
        }
        _ if of.is_generated() || of.flags.unique.as_ref().is_some_and(|unique| unique.per.is_empty()) => items(entity),
        _ => None,
    }
}
