//! Feeds bytes to `model` in `checks/model.rs`.
#![no_main]

#[path = "../checks/model.rs"]
#[allow(dead_code, reason = "each target uses one of the checks")]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::model(bytes));
