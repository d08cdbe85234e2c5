//! Feeds bytes to `projection` in `checks/wire.rs`.
#![no_main]

#[path = "../checks/wire.rs"]
#[allow(dead_code, reason = "each target uses one of the checks")]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::projection(bytes));
