//! Integration tests of the DynamoDB JSON protocol.

mod answers;
mod corpus;
mod golden;
mod large;
mod members;
mod values;
