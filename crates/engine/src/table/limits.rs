//! DescribeLimits and DescribeContinuousBackups.

use keyform_core::error::table as texts;
use keyform_core::operation::DescribeLimitsOutput;
use keyform_core::table::Throughput;
use keyform_core::{Error, Output};

use crate::engine::{Engine, Step};

/// The service's limits for a new account; nothing here enforces them.
const ACCOUNT: Throughput = Throughput { read: 80_000, write: 80_000 };
const TABLE: Throughput = Throughput { read: 40_000, write: 40_000 };

impl Engine {
    pub(crate) fn describe_limits(&self) -> Step {
        Step::Done(Output::DescribeLimits(DescribeLimitsOutput { account: ACCOUNT, table: TABLE }))
    }

    pub(crate) fn describe_continuous_backups(&self, name: &str) -> Result<Step, Error> {
        match self.catalog.read().find(name) {
            Some(_) => Ok(Step::Done(Output::DescribeContinuousBackups)),
            None => Err(texts::no_table_with_backups(name)),
        }
    }
}
