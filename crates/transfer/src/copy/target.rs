//! Target table of a copy.

use keyform_core::operation::{CreateTable, DescribeTable, DescribeTimeToLive, TimeToLive, UpdateTimeToLive};
use keyform_core::table::{BillingMode, GlobalIndex, TableDescription};
use keyform_core::{Error, ErrorCode, Execute, ExecuteExt};
use keyform_runtime::deploy::{self, Patience};

use super::segment::page;
use super::{Copier, CopyError};

/// Returns the description of a table, or `None` if it does not exist.
pub(crate) async fn describe(store: &dyn Execute, table: &str) -> Result<Option<TableDescription>, Error> {
    match store.call(DescribeTable { table: table.to_owned() }).await {
        Ok(description) => Ok(Some(*description)),
        Err(error) if error.code() == ErrorCode::ResourceNotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Ensures that the target table exists and can take the items; returns whether it was created.
pub(crate) async fn prepare(copier: &Copier, source: &TableDescription, to: &str) -> Result<bool, CopyError> {
    let Some(target) = describe(&*copier.to, to).await? else {
        copier.to.call(like(source, to)).await?;
        ready(copier, to).await?;
        copier.checkpoint.update(&source.name, |state| state.begun = true)?;
        return Ok(true);
    };
    let same_types = source.key.attributes().all(|name| source.attributes.get(name) == target.attributes.get(name));
    if source.key != target.key || !same_types {
        return Err(CopyError::OtherKey(to.to_owned()));
    }
    ready(copier, to).await?;
    let may_have_items = copier.settings.overwrite || copier.checkpoint.is_begun(&source.name);
    if !may_have_items && !is_empty(&*copier.to, to).await? {
        return Err(CopyError::NotEmpty(to.to_owned()));
    }
    copier.checkpoint.update(&source.name, |state| state.begun = true)?;
    Ok(false)
}

async fn ready(copier: &Copier, table: &str) -> Result<(), CopyError> {
    Ok(deploy::ready(&*copier.to, &*copier.world, table, Patience::default()).await?)
}

pub(crate) async fn is_empty(store: &dyn Execute, table: &str) -> Result<bool, Error> {
    let mut start = None;
    loop {
        let page = page(store, table, None, Some(1), start).await?;
        start = page.last_key.map(|key| key.to_attributes());
        if page.count > 0 || start.is_none() {
            return Ok(page.count == 0);
        }
    }
}

/// Returns the request that creates a table like another: keys, indexes, billing, class and stream. Encryption keys,
/// deletion protection and tags belong to a table's account and region, not to its data.
#[must_use]
pub(crate) fn like(source: &TableDescription, name: &str) -> CreateTable {
    let provisioned = source.billing == BillingMode::Provisioned;
    let global = |index: &keyform_core::table::GlobalIndexDescription| GlobalIndex {
        throughput: provisioned.then_some(index.throughput.units),
        warm: None,
        ..index.index.clone()
    };
    CreateTable {
        attributes: source.attributes.clone(),
        key: source.key.clone(),
        global_indexes: source.global_indexes.iter().map(global).collect(),
        local_indexes: source.local_indexes.iter().map(|local| local.index.clone()).collect(),
        billing: source.billing,
        throughput: provisioned.then_some(source.throughput.units),
        on_demand: source.on_demand,
        stream: source.stream.as_ref().filter(|stream| stream.enabled).map(|stream| stream.view),
        class: source.class,
        ..CreateTable::named(name)
    }
}

/// Enables the source's TTL on the target. This comes last, so that no item expires before it was compared.
pub(crate) async fn expiry(copier: &Copier, from: &str, to: &str) -> Result<(), CopyError> {
    let Some(attribute) = expires_by(&*copier.from, from).await? else { return Ok(()) };
    if expires_by(&*copier.to, to).await?.is_none() {
        let setting = TimeToLive { attribute, enabled: true };
        let update = UpdateTimeToLive { table: to.to_owned(), setting };
        copier.to.call(update).await?;
    }
    Ok(())
}

pub(crate) async fn expires_by(store: &dyn Execute, table: &str) -> Result<Option<String>, Error> {
    let status = store.call(DescribeTimeToLive { table: table.to_owned() }).await?;
    Ok(status.attribute)
}
