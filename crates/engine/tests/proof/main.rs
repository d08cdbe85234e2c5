//! The engine proved as databases are: against a naive model, under faults, under power cuts, under `kill -9`.
//!
//! * [`naive`] is the service written the dumbest possible way, [`generate`] makes random runs from a seed, [`subject`] is the
//!   engine in memory or on a simulated disk, [`compare`] asks both and compares.
//! * [`simulation`]: random operations, compared after each step; `KEYFORM_SIM_SEEDS` says how many seeds, `KEYFORM_SIM_SEED`
//!   runs one alone.
//! * [`power_cut`], [`failing_store`]: what was acknowledged survives, what was not leaves no half.
//! * [`bank`] is the workload of [`kill_loop`] (a process under load, killed and reopened; `KEYFORM_KILL_ROUNDS`) and of
//!   [`concurrency`].
//! * [`at_rest`]: no plaintext in any file, and who may open a directory.

#![expect(clippy::unwrap_used, reason = "the helpers of a test may panic")]

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
