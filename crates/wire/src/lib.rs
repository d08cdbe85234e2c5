//! DynamoDB JSON 1.0: decodes requests to operations, encodes outputs and errors to responses.
//!
//! The life of a request through this crate:
//! 1. [`decode`] selects the operation by the `X-Amz-Target` header and reads the body with a pull reader. It builds
//!    no JSON tree, reads nothing twice, and accepts arbitrary bytes without panicking.
//! 2. Members are validated in DynamoDB's order: types, constraints on single members, then combinations of members.
//! 3. Expressions, legacy parameters and PartiQL become the same trees, as parts of a [`keyform_core::Operation`].
//! 4. The caller executes the operation. [`encode`] writes the output directly from encoded items, [`encode_error`]
//!    writes the error.
//!
//! ```
//! use keyform_core::operation::GetItemOutput;
//! use keyform_core::{Operation, Output};
//! use keyform_wire::{Decoded, decode, encode, encode_error};
//!
//! let body = br#"{"TableName": "orders", "Key": {"id": {"S": "42"}}}"#;
//! let Ok(Decoded::Operation(request)) = decode("DynamoDB_20120810.GetItem", body) else { unreachable!() };
//! assert!(matches!(&request.operation, Operation::GetItem(get) if get.table == "orders"));
//!
//! let mut answer = Vec::new();
//! encode(&request.echo, &Output::GetItem(GetItemOutput::default()), &mut answer);
//! assert_eq!(answer, b"{}");
//!
//! let error = decode("DynamoDB_20120810.GetItem", b"{").unwrap_err();
//! let mut answer = Vec::new();
//! encode_error(&error, &mut answer);
//! assert_eq!(answer, br#"{"__type":"com.amazon.coral.service#SerializationException"}"#);
//! ```

#![warn(unreachable_pub)]

mod answer;
mod echo;
mod expressions;
mod item;
mod json;
mod legacy;
pub mod partiql;
mod request;
mod value;

pub use answer::{encode, encode_error};
pub use echo::Echo;
pub(crate) use echo::UnreadKeys;
pub use item::{read_attributes, read_members, write_attributes, write_item};
pub use request::{Decoded, Request, decode, target};
