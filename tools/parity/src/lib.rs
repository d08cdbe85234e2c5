//! Parity: the same random requests to several DynamoDB-compatible servers, and what they answer.
//!
//! 1. [`world`] makes random tables; [`generate`] makes random requests about them, valid and invalid.
//! 2. [`target`] sends a request to a server, under the server's own [`names`]; [`written`] does writes and reads their stream;
//!    [`outcome`] brings an answer into a comparable form.
//! 3. [`compare`] classifies the outcomes and asks [`decision`] whether a difference is known and decided.
//! 4. [`run`] does this many times and keeps the servers together, [`settings`] of tables as well; [`shrink`] makes what is unexplained small.
//! 5. [`report`] says what was seen; [`record`] keeps differences, to judge them again by a changed list.

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
