//! Compares the KMS key in use with the declared one. DescribeTable returns the key's ARN; a model gives an ARN, an id
//! or an alias.

use keyform_core::operation::CreateTable;
use keyform_core::table::{SseSpecification, TableDescription};

use super::change::Change;
use super::plan::TablePlan;

pub(super) fn compare(plan: &mut TablePlan, wanted: &CreateTable, live: &TableDescription) {
    let used = live.sse.as_ref().filter(|sse| !sse.status.starts_with("DISABL")).map(|sse| sse.kms_key_arn.as_str());
    match (&wanted.sse, used) {
        (Some(shall), None) if shall.enabled => plan.step(Change::Encryption(shall.clone())),
        (Some(shall), Some(arn)) => other_key(plan, shall, arn),
        (None, Some(_)) => plan.warned(
            Change::Encryption(SseSpecification { enabled: false, kms_key: None }),
            "the table is then no longer encrypted with a key of the account",
        ),
        _ => {}
    }
}

fn other_key(plan: &mut TablePlan, shall: &SseSpecification, arn: &str) {
    let Some(key) = &shall.kms_key else { return };
    let is_alias = key.starts_with("alias/") || key.contains(":alias/");
    if is_alias && arn.contains(":key/") {
        plan.note(format!("encrypted with {arn}; only KMS knows whether that is {key}: left unchanged"));
    } else if !is_same(key, arn) {
        plan.step(Change::Encryption(shall.clone()));
    }
}

/// Returns whether an ARN, id or alias names the key of that ARN.
fn is_same(key: &str, arn: &str) -> bool {
    key == arn || arn.ends_with(&format!(":{key}")) || arn.ends_with(&format!("/{key}"))
}
