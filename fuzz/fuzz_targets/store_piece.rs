//! Feeds bytes to `store_piece` in `checks/engine.rs`.
#![no_main]

#[path = "../checks/engine.rs"]
#[allow(dead_code, reason = "each target uses one of the checks")]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::store_piece(bytes));
