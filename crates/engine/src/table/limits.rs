//! `DescribeLimits`, `DescribeContinuousBackups` and `UpdateContinuousBackups`.

use keyform_core::error::request::unknown_operation;
use keyform_core::error::table as texts;
use keyform_core::operation::{ContinuousBackups, DescribeLimitsOutput, UpdateContinuousBackups};
use keyform_core::table::Throughput;
use keyform_core::{Error, Output};

use crate::engine::{Engine, Step};

/// DynamoDB's default limits of an account; not enforced here.
const ACCOUNT: Throughput = Throughput { read: 80_000, write: 80_000 };
const TABLE: Throughput = Throughput { read: 40_000, write: 40_000 };

impl Engine {
    pub(crate) fn describe_limits(&self) -> Step {
        Step::Done(Output::DescribeLimits(DescribeLimitsOutput { account: ACCOUNT, table: TABLE }))
    }

    pub(crate) fn describe_continuous_backups(&self, name: &str) -> Result<Step, Error> {
        match self.catalog.read().find(name) {
            Some(_) => Ok(Step::Done(Output::ContinuousBackups(ContinuousBackups { recovery: false }))),
            None => Err(texts::no_table_with_backups(name)),
        }
    }

    /// Only disabling succeeds: there is no point-in-time recovery, and callers must not believe there is.
    pub(crate) fn update_continuous_backups(&self, request: &UpdateContinuousBackups) -> Result<Step, Error> {
        match request.recovery {
            true => Err(unknown_operation()),
            false => self.describe_continuous_backups(&request.table),
        }
    }
}
