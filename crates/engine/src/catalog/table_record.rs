//! Encoding of a table as a catalog record. Its stream and its statistics are separate records.

use std::sync::Arc;

use bytes::Bytes;
use keyform_core::table::{
    AttributeDefinitions, BillingMode, KeySchema, OnDemandThroughput, Projection, ScalarType, SseSpecification, Status,
    TableClass, Tag, Throughput, ThroughputDescription, WarmThroughput,
};
use keyform_core::{AttributeValue, Error};

use super::fields::{Fields, Record, wrong};
use super::{Expiry, Index, IndexKind, KeyLayout, Projected, Statistics, Table, TableSettings};
use crate::key_space::{IndexId, TableId};

/// Newest record version that this program reads; the one it writes.
const VERSION: u64 = 1;

pub fn encode(table: &Table) -> Bytes {
    Record::default()
        .number("version", VERSION)
        .number("id", table.id.0)
        .set("name", table.name.as_str())
        .set("attributes", definitions(&table.attributes).into_value())
        .set("key", schema(&table.key.schema()).into_value())
        .list("indexes", table.indexes.iter().map(|one| index(one).into_value()))
        .number("next_index", table.next_index)
        .maybe(table.expiry.as_ref(), |record, one| record.set("expiry", expiry(one).into_value()))
        .number("next_expiry", table.next_expiry)
        .maybe_number("stream", table.stream.as_ref().map(|stream| stream.number.into()))
        .number("next_stream", table.next_stream)
        .set("settings", settings(&table.settings).into_value())
        .into_bytes()
}

/// Decodes a table and the number of its stream.
pub fn decode(bytes: Bytes) -> Result<(Table, Option<u32>), Error> {
    let fields = Fields::decode(bytes)?;
    fields.check_version(VERSION)?;
    let attributes = read_definitions(&fields.record("attributes")?)?;
    let key = KeyLayout::new(&read_schema(&fields.record("key")?)?, &attributes);
    let indexes = fields.records("indexes")?;
    let indexes = indexes.iter().map(|one| read_index(one, &key, &attributes)).collect::<Result<_, _>>()?;
    let stream = fields.has("stream").then(|| fields.number("stream")).transpose()?;
    let table = Table {
        id: TableId(fields.number("id")?),
        name: fields.text("name")?.to_owned(),
        key,
        attributes,
        indexes,
        next_index: fields.number("next_index")?,
        expiry: fields.maybe_record("expiry")?.as_ref().map(read_expiry).transpose()?,
        next_expiry: fields.number("next_expiry")?,
        stream: None,
        next_stream: fields.number("next_stream")?,
        settings: read_settings(&fields.record("settings")?)?,
        statistics: Arc::new(Statistics::default()),
    };
    Ok((table, stream))
}

fn definitions(attributes: &AttributeDefinitions) -> Record {
    attributes.iter().fold(Record::default(), |record, (name, kind)| record.set(name, kind.name()))
}

fn read_definitions(fields: &Fields) -> Result<AttributeDefinitions, Error> {
    let definition = |(name, value): (&String, &AttributeValue)| match value {
        AttributeValue::S(kind) => {
            ScalarType::from_name(kind).map(|kind| (name.clone(), kind)).ok_or_else(|| wrong(name))
        }
        _ => Err(wrong(name)),
    };
    fields.entries().map(definition).collect()
}

pub(super) fn schema(key: &KeySchema) -> Record {
    Record::default().texts("partition", &key.partition).texts("sort", &key.sort)
}

pub(super) fn read_schema(fields: &Fields) -> Result<KeySchema, Error> {
    Ok(KeySchema { partition: fields.texts("partition")?, sort: fields.texts("sort")? })
}

fn index(index: &Index) -> Record {
    let record = Record::default()
        .number("id", index.id.0)
        .set("name", index.name.as_str())
        .set("key", schema(&index.key.schema()).into_value());
    let record = projection(record, &index.projection);
    match &index.kind {
        IndexKind::Local => record,
        IndexKind::Global { status, backfilling, throughput: units, on_demand, warm: warmth } => record
            .set("status", status.name())
            .set("backfilling", *backfilling)
            .set("throughput", throughput(units).into_value())
            .maybe(on_demand.as_ref(), |record, one| record.set("on_demand", on_demand_limits(one).into_value()))
            .maybe(warmth.as_ref(), |record, one| record.set("warm", warm(one).into_value())),
    }
}

fn read_index(fields: &Fields, table: &KeyLayout, attributes: &AttributeDefinitions) -> Result<Index, Error> {
    let key = KeyLayout::new(&read_schema(&fields.record("key")?)?, attributes);
    let projection = read_projection(fields)?;
    Ok(Index {
        id: IndexId(fields.number("id")?),
        name: fields.text("name")?.to_owned(),
        kind: if fields.has("status") { read_global(fields)? } else { IndexKind::Local },
        projected: Projected::new(&projection, table, &key),
        key,
        projection,
        statistics: Arc::new(Statistics::default()),
    })
}

fn read_global(fields: &Fields) -> Result<IndexKind, Error> {
    Ok(IndexKind::Global {
        status: read_status(fields.text("status")?)?,
        backfilling: fields.flag("backfilling")?,
        throughput: read_throughput(&fields.record("throughput")?)?,
        on_demand: fields.maybe_record("on_demand")?.as_ref().map(read_on_demand_limits).transpose()?,
        warm: fields.maybe_record("warm")?.as_ref().map(read_warm).transpose()?,
    })
}

fn read_status(name: &str) -> Result<Status, Error> {
    let all = [Status::Creating, Status::Updating, Status::Deleting, Status::Active];
    all.into_iter().find(|status| status.name() == name).ok_or_else(|| wrong("status"))
}

fn projection(record: Record, projection: &Projection) -> Record {
    match projection {
        Projection::All => record.set("projection", "ALL"),
        Projection::KeysOnly => record.set("projection", "KEYS_ONLY"),
        Projection::Include(names) => record.set("projection", "INCLUDE").texts("included", names),
    }
}

fn read_projection(fields: &Fields) -> Result<Projection, Error> {
    match fields.text("projection")? {
        "ALL" => Ok(Projection::All),
        "KEYS_ONLY" => Ok(Projection::KeysOnly),
        "INCLUDE" => fields.texts("included").map(Projection::Include),
        _ => Err(wrong("projection")),
    }
}

fn expiry(expiry: &Expiry) -> Record {
    Record::default()
        .set("attribute", expiry.attribute.as_str())
        .number("number", expiry.number)
        .set("filled", expiry.filled)
}

fn read_expiry(fields: &Fields) -> Result<Expiry, Error> {
    let attribute = fields.text("attribute")?.to_owned();
    let (number, filled) = (fields.number("number")?, fields.flag("filled")?);
    Ok(Expiry { attribute, number, filled, earliest_secs: Arc::default() })
}

fn settings(settings: &TableSettings) -> Record {
    Record::default()
        .set("uuid", settings.uuid.as_str())
        .number("created_ms", settings.created_ms)
        .set("billing", settings.billing.name())
        .maybe_number("on_demand_since_ms", settings.on_demand_since_ms)
        .set("throughput", throughput(&settings.throughput).into_value())
        .maybe(settings.on_demand.as_ref(), |record, one| record.set("on_demand", on_demand_limits(one).into_value()))
        .maybe(settings.warm.as_ref(), |record, one| record.set("warm", warm(one).into_value()))
        .maybe(settings.sse.as_ref(), |record, one| record.set("sse", sse(one).into_value()))
        .maybe(settings.class, |record, class| record.set("class", class.name()))
        .maybe_number("class_since_ms", settings.class_since_ms)
        .set("deletion_protected", settings.deletion_protected)
        .list("tags", settings.tags.iter().map(|one| tag(one).into_value()))
}

fn read_settings(fields: &Fields) -> Result<TableSettings, Error> {
    Ok(TableSettings {
        uuid: fields.text("uuid")?.to_owned(),
        created_ms: fields.number("created_ms")?,
        billing: read_billing(fields.text("billing")?)?,
        on_demand_since_ms: fields.maybe_number("on_demand_since_ms")?,
        throughput: read_throughput(&fields.record("throughput")?)?,
        on_demand: fields.maybe_record("on_demand")?.as_ref().map(read_on_demand_limits).transpose()?,
        warm: fields.maybe_record("warm")?.as_ref().map(read_warm).transpose()?,
        sse: fields.maybe_record("sse")?.as_ref().map(read_sse).transpose()?,
        class: fields.maybe_text("class")?.map(read_class).transpose()?,
        class_since_ms: fields.maybe_number("class_since_ms")?,
        deletion_protected: fields.flag("deletion_protected")?,
        tags: fields.records("tags")?.iter().map(read_tag).collect::<Result<_, _>>()?,
    })
}

fn read_billing(name: &str) -> Result<BillingMode, Error> {
    let all = [BillingMode::Provisioned, BillingMode::PayPerRequest];
    all.into_iter().find(|mode| mode.name() == name).ok_or_else(|| wrong("billing"))
}

fn read_class(name: &str) -> Result<TableClass, Error> {
    let all = [TableClass::Standard, TableClass::StandardInfrequentAccess];
    all.into_iter().find(|class| class.name() == name).ok_or_else(|| wrong("class"))
}

fn throughput(throughput: &ThroughputDescription) -> Record {
    Record::default()
        .number("read", throughput.units.read)
        .number("write", throughput.units.write)
        .maybe_number("last_increase_ms", throughput.last_increase_ms)
        .maybe_number("last_decrease_ms", throughput.last_decrease_ms)
        .number("decreases_today", throughput.decreases_today)
}

fn read_throughput(fields: &Fields) -> Result<ThroughputDescription, Error> {
    Ok(ThroughputDescription {
        units: Throughput { read: fields.number("read")?, write: fields.number("write")? },
        last_increase_ms: fields.maybe_number("last_increase_ms")?,
        last_decrease_ms: fields.maybe_number("last_decrease_ms")?,
        decreases_today: fields.number("decreases_today")?,
    })
}

fn on_demand_limits(limits: &OnDemandThroughput) -> Record {
    Record::default()
        .maybe(limits.read_max, |record, units| record.set("read_max", units))
        .maybe(limits.write_max, |record, units| record.set("write_max", units))
}

fn read_on_demand_limits(fields: &Fields) -> Result<OnDemandThroughput, Error> {
    Ok(OnDemandThroughput { read_max: fields.maybe_signed("read_max")?, write_max: fields.maybe_signed("write_max")? })
}

fn warm(warm: &WarmThroughput) -> Record {
    Record::default()
        .maybe(warm.read, |record, units| record.set("read", units))
        .maybe(warm.write, |record, units| record.set("write", units))
}

fn read_warm(fields: &Fields) -> Result<WarmThroughput, Error> {
    Ok(WarmThroughput { read: fields.maybe_signed("read")?, write: fields.maybe_signed("write")? })
}

fn sse(sse: &SseSpecification) -> Record {
    Record::default()
        .set("enabled", sse.enabled)
        .maybe(sse.kms_key.as_deref(), |record, key| record.set("kms_key", key))
}

fn read_sse(fields: &Fields) -> Result<SseSpecification, Error> {
    let kms_key = fields.maybe_text("kms_key")?.map(str::to_owned);
    Ok(SseSpecification { enabled: fields.flag("enabled")?, kms_key })
}

fn tag(tag: &Tag) -> Record {
    Record::default().set("key", tag.key.as_str()).set("value", tag.value.as_str())
}

fn read_tag(fields: &Fields) -> Result<Tag, Error> {
    Ok(Tag { key: fields.text("key")?.to_owned(), value: fields.text("value")?.to_owned() })
}
