//! Integration tests of the generated code.

mod clients;
mod rust;
