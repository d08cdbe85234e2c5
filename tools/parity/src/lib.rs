//! Parity: sends the same random requests to several DynamoDB-compatible servers and compares their answers.
//!
//! 1. [`world`] creates random tables; [`generate`] creates random requests for them, valid and invalid.
//! 2. [`target`] sends a request to a server, with the server's own [`names`]; [`written`] performs writes and reads
//!    their stream; [`outcome`] converts an answer to a comparable form.
//! 3. [`compare`] classifies the outcomes and asks [`decision`] whether a difference is known and decided.
//! 4. [`run`] repeats this and keeps the servers in the same state, including the [`settings`] of tables; [`shrink`]
//!    minimises unexplained requests.
//! 5. [`report`] summarises the run; [`record`] keeps differences, to judge them again with a changed list.

pub mod compare;
pub mod decision;
pub mod generate;
pub mod names;
pub mod outcome;
pub mod random;
pub mod record;
pub mod report;
pub mod request;
pub mod run;
pub mod settings;
pub mod shrink;
pub mod target;
pub mod world;
pub mod written;
