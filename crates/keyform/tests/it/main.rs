//! Integration tests of the library, with all crates below it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![allow(clippy::disallowed_methods, reason = "tests give up after real time")]

mod accepted;
mod behaviours;
mod bounds;
mod cascades;
mod compatibility;
mod copy;
mod deleted;
mod deploy;
mod documented;
mod drawn_clients;
mod endless;
mod errors;
mod explain;
mod files;
mod flow_limits;
mod foreign;
mod golden;
mod handlers;
mod infrastructure;
mod isolation;
mod layers;
mod library;
mod lifecycle;
mod live_evolution;
mod live_reads;
mod live_socket;
mod migrate;
mod model_api;
mod model_at_its_word;
mod naive;
mod once;
mod one_world;
mod operations;
mod promises;
mod prose;
mod public_api;
mod random;
mod reads;
mod refusals;
mod remote;
mod resend;
mod run;
mod scopes;
mod sealed;
mod selected;
mod typed;
mod upgrade;
mod values;
mod version;
mod writes;
