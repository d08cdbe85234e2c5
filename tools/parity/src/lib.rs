//! Parity: the same random requests to several DynamoDB-compatible servers, and what they answer.
//!
//! 1. [`world`] makes random tables; [`generate`] makes random requests about them, valid and invalid.
//! 2. [`target`] sends a request to a server; [`outcome`] brings its answer into a comparable form.
//! 3. [`compare`] classifies the outcomes and asks [`decision`] whether a difference is known and decided.
//! 4. [`run`] does this many times and keeps the servers together; [`shrink`] makes what is unexplained small.
//! 5. [`report`] says what was seen.

pub mod compare;
pub mod decision;
pub mod generate;
pub mod outcome;
pub mod random;
pub mod report;
pub mod request;
pub mod run;
pub mod shrink;
pub mod target;
pub mod world;
