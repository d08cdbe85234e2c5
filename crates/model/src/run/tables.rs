//! How the store's tables must look for a model.

use keyform_core::operation::{CreateTable, TimeToLive, UpdateTimeToLive};
use keyform_core::table::{
    BillingMode, GlobalIndex, KeySchema, LocalIndex, Projection, ScalarType, SseSpecification, StreamView as View,
    TableClass as Class, Throughput,
};
use keyform_core::{ErrorCode, Operation};

use crate::document::ast::{Billing, Encryption, KeyType, StreamView, TableClass};
use crate::schema::{Index, KeyAttribute, Table};

use super::{Call, RunError, Runner};

impl Runner {
    /// Makes the tables that are not there yet, with their indexes, streams and TTL; returns the names of those it made. What is there
    /// is left as it is.
    ///
    /// # Errors
    ///
    /// If the store refuses one.
    pub async fn create_tables(&self) -> Result<Vec<String>, RunError> {
        let mut made = Vec::new();
        let inputs_of = Call::default();
        for table in &self.checked.model.tables {
            let name = self.inputs(&inputs_of).table_name(table);
            match self.send(Operation::CreateTable(create_table(table, &name))).await {
                Ok(_) => {}
                Err(error) if error.code() == ErrorCode::ResourceInUse => continue,
                Err(error) => return Err(error.into()),
            }
            if let Some((attribute, _)) = &table.ttl {
                let setting = TimeToLive { attribute: attribute.clone(), enabled: true };
                self.send(Operation::UpdateTimeToLive(UpdateTimeToLive { table: name.clone(), setting })).await?;
            }
            made.push(name);
        }
        Ok(made)
    }
}

/// The request that makes a table, under its name in the store.
#[must_use]
pub fn create_table(table: &Table, name: &str) -> CreateTable {
    let keys = table.partition.iter().chain(&table.sort);
    let all = keys.chain(table.indexes.iter().flat_map(|index| index.partition.iter().chain(&index.sort)));
    let throughput = throughput(table);
    CreateTable {
        attributes: all.map(|attribute| (attribute.name.clone(), scalar(attribute))).collect(),
        key: schema(table.partition.as_slice(), table.sort.as_slice()),
        global_indexes: table
            .indexes
            .iter()
            .filter(|index| !index.local)
            .map(|index| global(index, throughput))
            .collect(),
        local_indexes: table.indexes.iter().filter(|index| index.local).map(local).collect(),
        billing: if throughput.is_some() { BillingMode::Provisioned } else { BillingMode::PayPerRequest },
        throughput,
        stream: table.stream.map(|(view, _)| match view {
            StreamView::NewAndOld => View::NewAndOldImages,
            StreamView::New => View::NewImage,
            StreamView::Old => View::OldImage,
            StreamView::Keys => View::KeysOnly,
        }),
        sse: encryption(&table.encryption),
        class: (table.class == TableClass::Infrequent).then_some(Class::StandardInfrequentAccess),
        deletion_protected: table.protected,
        ..CreateTable::named(name)
    }
}

fn scalar(attribute: &KeyAttribute) -> ScalarType {
    match attribute.kind {
        KeyType::String => ScalarType::S,
        KeyType::Number => ScalarType::N,
        KeyType::Binary => ScalarType::B,
    }
}

fn schema(partition: &[KeyAttribute], sort: &[KeyAttribute]) -> KeySchema {
    let names = |attributes: &[KeyAttribute]| attributes.iter().map(|attribute| attribute.name.clone()).collect();
    KeySchema { partition: names(partition), sort: names(sort) }
}

fn throughput(table: &Table) -> Option<Throughput> {
    match table.billing {
        Billing::OnDemand => None,
        Billing::Provisioned { reads, writes } => Some(Throughput { read: reads, write: writes }),
    }
}

fn encryption(encryption: &Encryption) -> Option<SseSpecification> {
    match encryption {
        Encryption::Owned => None,
        Encryption::Managed => Some(SseSpecification { enabled: true, kms_key: None }),
        Encryption::Kms(key) => Some(SseSpecification { enabled: true, kms_key: Some(key.text.clone()) }),
    }
}

fn projection(index: &Index) -> Projection {
    match &index.projection {
        None => Projection::All,
        Some(names) if names.is_empty() => Projection::KeysOnly,
        Some(names) => Projection::Include(names.iter().map(|(name, _)| name.clone()).collect()),
    }
}

fn global(index: &Index, throughput: Option<Throughput>) -> GlobalIndex {
    GlobalIndex {
        name: index.physical.clone(),
        key: schema(&index.partition, &index.sort),
        projection: projection(index),
        throughput,
        on_demand: None,
        warm: None,
    }
}

fn local(index: &Index) -> LocalIndex {
    LocalIndex {
        name: index.physical.clone(),
        key: schema(&index.partition, &index.sort),
        projection: projection(index),
    }
}
