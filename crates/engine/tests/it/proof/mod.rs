//! Proof of the engine in the way databases are tested: against a naive model, with faults, power cuts and `kill -9`.
//!
//! * [`naive`] is the simplest possible implementation of DynamoDB, [`generate`] creates random runs from a seed,
//!   [`subject`] is the engine in memory or on a simulated disk, [`compare`] runs both and compares.
//! * [`simulation`]: random operations, compared after each step. `KEYFORM_SIM_SEEDS` sets the number of seeds,
//!   `KEYFORM_SIM_SEED` runs a single one.
//! * [`power_cut`], [`failing_store`]: acknowledged writes survive, others are applied completely or not at all.
//! * [`bank`] is the workload of [`kill_loop`] (a process under load, killed and reopened; `KEYFORM_KILL_ROUNDS`) and
//!   of [`concurrency`].
//! * [`at_rest`]: no plaintext in any file, and protection of the directory.

mod at_rest;
mod bank;
mod compare;
mod concurrency;
mod expressions;
mod failing_store;
mod generate;
mod kill_loop;
mod naive;
mod power_cut;
mod random;
mod simulation;
mod streams;
mod subject;
