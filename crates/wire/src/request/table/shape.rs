//! Members of table requests, as read from JSON.

use keyform_core::Error;
use keyform_core::table::{OnDemandThroughput, WarmThroughput};

use crate::json::Reader;
use crate::request::parameters::checked_list;
use crate::request::resource::{RawTag, raw_tag};

/// A CreateTable or UpdateTable before its members are checked.
#[derive(Default)]
pub(super) struct RawTable {
    pub(super) table: Option<String>,
    pub(super) attributes: Option<Vec<RawAttribute>>,
    pub(super) key: Option<Vec<RawKeyElement>>,
    pub(super) local_indexes: Option<Vec<RawIndex>>,
    pub(super) global_indexes: Option<Vec<RawIndex>>,
    pub(super) index_changes: Option<Vec<RawIndexChange>>,
    pub(super) billing: Option<String>,
    pub(super) throughput: Option<RawThroughput>,
    pub(super) on_demand: Option<OnDemandThroughput>,
    pub(super) warm: Option<WarmThroughput>,
    pub(super) stream: Option<RawStream>,
    pub(super) sse: Option<RawEncryption>,
    pub(super) class: Option<String>,
    pub(super) deletion_protected: Option<bool>,
    pub(super) tags: Option<Vec<RawTag>>,
}

#[derive(Default)]
pub(super) struct RawAttribute {
    pub(super) name: Option<String>,
    pub(super) kind: Option<String>,
}

#[derive(Default)]
pub(super) struct RawKeyElement {
    pub(super) name: Option<String>,
    pub(super) kind: Option<String>,
}

#[derive(Default)]
pub(super) struct RawIndex {
    pub(super) name: Option<String>,
    pub(super) key: Option<Vec<RawKeyElement>>,
    pub(super) projection: Option<RawProjection>,
    pub(super) throughput: Option<RawThroughput>,
    pub(super) on_demand: Option<OnDemandThroughput>,
    pub(super) warm: Option<WarmThroughput>,
}

#[derive(Default)]
pub(super) struct RawProjection {
    pub(super) kind: Option<String>,
    pub(super) attributes: Option<Vec<String>>,
}

#[derive(Default)]
pub(super) struct RawThroughput {
    pub(super) read: Option<i64>,
    pub(super) write: Option<i64>,
}

#[derive(Default)]
pub(super) struct RawStream {
    pub(super) enabled: Option<bool>,
    pub(super) view: Option<String>,
}

#[derive(Default)]
pub(super) struct RawEncryption {
    pub(super) enabled: Option<bool>,
    pub(super) kind: Option<String>,
    pub(super) key: Option<String>,
}

#[derive(Default)]
pub(super) struct RawIndexChange {
    pub(super) create: Option<RawIndex>,
    pub(super) update: Option<RawIndex>,
    pub(super) delete: Option<RawIndex>,
}

impl RawTable {
    /// Reads a CreateTable.
    pub(super) fn read_create(reader: &mut Reader<'_>) -> Result<Self, Error> {
        Self::read(reader, "CreateTableInput", &["GlobalSecondaryIndexUpdates"])
    }

    /// Reads an UpdateTable.
    pub(super) fn read_update(reader: &mut Reader<'_>) -> Result<Self, Error> {
        Self::read(
            reader,
            "UpdateTableInput",
            &["KeySchema", "LocalSecondaryIndexes", "GlobalSecondaryIndexes", "Tags"],
        )
    }

    /// Reads the members of a request; skips the `foreign` ones, which only the other request has.
    fn read(reader: &mut Reader<'_>, class: &str, foreign: &[&str]) -> Result<Self, Error> {
        let mut raw = Self::default();
        reader.opt_structure(class, |reader, name| match foreign.contains(&name) {
            true => reader.skip(),
            false => raw.member(reader, name),
        })?;
        Ok(raw)
    }

    fn member(&mut self, reader: &mut Reader<'_>, name: &str) -> Result<(), Error> {
        match name {
            "TableName" => self.table = reader.opt_string()?,
            "AttributeDefinitions" => self.attributes = checked_list(reader, attribute)?,
            "KeySchema" => self.key = checked_list(reader, key_element)?,
            "LocalSecondaryIndexes" => self.local_indexes = checked_list(reader, local_index)?,
            "GlobalSecondaryIndexes" => self.global_indexes = checked_list(reader, global_index)?,
            "GlobalSecondaryIndexUpdates" => self.index_changes = checked_list(reader, index_change)?,
            "BillingMode" => self.billing = reader.opt_string()?,
            "ProvisionedThroughput" => self.throughput = throughput(reader)?,
            "OnDemandThroughput" => self.on_demand = on_demand(reader)?,
            "WarmThroughput" => self.warm = warm(reader)?,
            "StreamSpecification" => self.stream = stream(reader)?,
            "SSESpecification" => self.sse = encryption(reader)?,
            "TableClass" => self.class = reader.opt_string()?,
            "DeletionProtectionEnabled" => self.deletion_protected = reader.opt_bool()?,
            "Tags" => self.tags = checked_list(reader, raw_tag)?,
            _ => reader.skip()?,
        }
        Ok(())
    }
}

fn attribute(reader: &mut Reader<'_>) -> Result<RawAttribute, Error> {
    let mut attribute = RawAttribute::default();
    reader.opt_structure("AttributeDefinition", |reader, name| {
        match name {
            "AttributeName" => attribute.name = reader.opt_string()?,
            "AttributeType" => attribute.kind = reader.opt_string()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(attribute)
}

fn key_element(reader: &mut Reader<'_>) -> Result<RawKeyElement, Error> {
    let mut element = RawKeyElement::default();
    reader.opt_structure("KeySchemaElement", |reader, name| {
        match name {
            "AttributeName" => element.name = reader.opt_string()?,
            "KeyType" => element.kind = reader.opt_string()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(element)
}

fn local_index(reader: &mut Reader<'_>) -> Result<RawIndex, Error> {
    Ok(opt_index(reader, "LocalSecondaryIndex")?.unwrap_or_default())
}

fn global_index(reader: &mut Reader<'_>) -> Result<RawIndex, Error> {
    Ok(opt_index(reader, "GlobalSecondaryIndex")?.unwrap_or_default())
}

fn opt_index(reader: &mut Reader<'_>, class: &str) -> Result<Option<RawIndex>, Error> {
    let mut index = RawIndex::default();
    let present = reader.opt_structure(class, |reader, name| {
        match name {
            "IndexName" => index.name = reader.opt_string()?,
            "KeySchema" => index.key = checked_list(reader, key_element)?,
            "Projection" => index.projection = projection(reader)?,
            "ProvisionedThroughput" => index.throughput = throughput(reader)?,
            "OnDemandThroughput" => index.on_demand = on_demand(reader)?,
            "WarmThroughput" => index.warm = warm(reader)?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(present.then_some(index))
}

fn index_change(reader: &mut Reader<'_>) -> Result<RawIndexChange, Error> {
    let mut change = RawIndexChange::default();
    reader.opt_structure("GlobalSecondaryIndexUpdate", |reader, name| {
        match name {
            "Create" => change.create = opt_index(reader, "CreateGlobalSecondaryIndexAction")?,
            "Update" => change.update = opt_index(reader, "UpdateGlobalSecondaryIndexAction")?,
            "Delete" => change.delete = opt_index(reader, "DeleteGlobalSecondaryIndexAction")?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(change)
}

fn projection(reader: &mut Reader<'_>) -> Result<Option<RawProjection>, Error> {
    let mut projection = RawProjection::default();
    let present = reader.opt_structure("Projection", |reader, name| {
        match name {
            "ProjectionType" => projection.kind = reader.opt_string()?,
            "NonKeyAttributes" => projection.attributes = reader.opt_strings()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(present.then_some(projection))
}

fn throughput(reader: &mut Reader<'_>) -> Result<Option<RawThroughput>, Error> {
    let units = units(reader, "ProvisionedThroughput", ["ReadCapacityUnits", "WriteCapacityUnits"])?;
    Ok(units.map(|(read, write)| RawThroughput { read, write }))
}

fn on_demand(reader: &mut Reader<'_>) -> Result<Option<OnDemandThroughput>, Error> {
    let units = units(reader, "OnDemandThroughput", ["MaxReadRequestUnits", "MaxWriteRequestUnits"])?;
    Ok(units.map(|(read_max, write_max)| OnDemandThroughput { read_max, write_max }))
}

fn warm(reader: &mut Reader<'_>) -> Result<Option<WarmThroughput>, Error> {
    let units = units(reader, "WarmThroughput", ["ReadUnitsPerSecond", "WriteUnitsPerSecond"])?;
    Ok(units.map(|(read, write)| WarmThroughput { read, write }))
}

/// Read units and write units.
type Units = (Option<i64>, Option<i64>);

fn units(reader: &mut Reader<'_>, class: &str, members: [&str; 2]) -> Result<Option<Units>, Error> {
    let (mut read, mut write) = (None, None);
    let present = reader.opt_structure(class, |reader, name| {
        match name {
            name if name == members[0] => read = reader.opt_long()?,
            name if name == members[1] => write = reader.opt_long()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(present.then_some((read, write)))
}

fn stream(reader: &mut Reader<'_>) -> Result<Option<RawStream>, Error> {
    let mut stream = RawStream::default();
    let present = reader.opt_structure("StreamSpecification", |reader, name| {
        match name {
            "StreamEnabled" => stream.enabled = reader.opt_bool()?,
            "StreamViewType" => stream.view = reader.opt_string()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(present.then_some(stream))
}

fn encryption(reader: &mut Reader<'_>) -> Result<Option<RawEncryption>, Error> {
    let mut encryption = RawEncryption::default();
    let present = reader.opt_structure("SSESpecification", |reader, name| {
        match name {
            "Enabled" => encryption.enabled = reader.opt_bool()?,
            "SSEType" => encryption.kind = reader.opt_string()?,
            "KMSMasterKeyId" => encryption.key = reader.opt_string()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(present.then_some(encryption))
}
