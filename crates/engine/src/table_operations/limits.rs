//! `DescribeLimits`, `DescribeContinuousBackups` and `UpdateContinuousBackups`.

use keyform_core::Error;
use keyform_core::error::request::unknown_operation;
use keyform_core::error::table as texts;
use keyform_core::operation::{
    ContinuousBackups, DescribeContinuousBackups, DescribeLimitsOutput, UpdateContinuousBackups,
};
use keyform_core::table::Throughput;

use crate::engine::Engine;

/// DynamoDB's default limits of an account; not enforced here.
const ACCOUNT: Throughput = Throughput { read: 80_000, write: 80_000 };
const TABLE: Throughput = Throughput { read: 40_000, write: 40_000 };

impl Engine {
    pub(crate) fn describe_limits(&self) -> DescribeLimitsOutput {
        DescribeLimitsOutput { account: ACCOUNT, table: TABLE }
    }

    pub(crate) fn describe_continuous_backups(
        &self,
        request: &DescribeContinuousBackups,
    ) -> Result<ContinuousBackups, Error> {
        self.backups(&request.table)
    }

    /// Only disabling succeeds: there is no point-in-time recovery, and callers must not believe there is.
    pub(crate) fn update_continuous_backups(
        &self,
        request: &UpdateContinuousBackups,
    ) -> Result<ContinuousBackups, Error> {
        match request.recovery {
            true => Err(unknown_operation()),
            false => self.backups(&request.table),
        }
    }

    fn backups(&self, table: &str) -> Result<ContinuousBackups, Error> {
        match self.catalog.read().find(table) {
            Some(_) => Ok(ContinuousBackups { recovery: false }),
            None => Err(texts::no_table_with_backups(table)),
        }
    }
}
