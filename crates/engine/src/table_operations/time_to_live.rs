//! `UpdateTimeToLive` and `DescribeTimeToLive`.

use std::sync::Arc;

use keyform_core::Error;
use keyform_core::error::table as texts;
use keyform_core::operation::{DescribeTimeToLive, TimeToLive, TimeToLiveStatus, UpdateTimeToLive};

use crate::catalog::{Expiry, Table, load};
use crate::engine::{Engine, Started};
use crate::expiry;
use crate::store::Batch;

impl Engine {
    pub(crate) fn update_time_to_live(&self, request: UpdateTimeToLive) -> Result<Started<TimeToLive>, Error> {
        let mut catalog = self.catalog.write();
        let table = catalog.find(&request.table).ok_or_else(|| texts::table_not_found(&request.table))?;
        let mut table = Table::clone(table);
        let mut batch = Batch::new();
        if let Some(ended) = switch(&mut table, &request.setting)? {
            load::stage_garbage(&mut batch, &expiry::prefix(table.id, ended.number));
        }
        let commit = self.save_table(&mut catalog, table, batch)?;
        drop(catalog);
        self.work.wake();
        Ok(Started::after(commit, request.setting))
    }

    pub(crate) fn describe_time_to_live(
        &self,
        request: &DescribeTimeToLive,
    ) -> Result<Started<TimeToLiveStatus>, Error> {
        let catalog = self.catalog.read();
        let table = catalog.find(&request.table).ok_or_else(|| texts::table_not_found(&request.table))?;
        let attribute = table.expiry.as_ref().map(|expiry| expiry.attribute.clone());
        Ok(self.told(TimeToLiveStatus { attribute }))
    }
}

/// Enables or disables expiry; returns the disabled configuration, whose entries are then obsolete.
fn switch(table: &mut Table, setting: &TimeToLive) -> Result<Option<Expiry>, Error> {
    match (&table.expiry, setting.enabled) {
        (Some(expiry), _) if expiry.attribute != setting.attribute => {
            Err(texts::expiry_of_other_attribute(&expiry.attribute))
        }
        (Some(_), true) => Err(texts::expiry_already_enabled()),
        (None, false) => Err(texts::expiry_already_disabled()),
        (Some(_), false) => Ok(table.expiry.take()),
        (None, true) => {
            let number = table.next_expiry;
            table.next_expiry += 1;
            let attribute = setting.attribute.clone();
            table.expiry = Some(Expiry { attribute, number, filled: false, earliest_secs: Arc::default() });
            Ok(None)
        }
    }
}
