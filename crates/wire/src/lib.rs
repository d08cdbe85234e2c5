//! DynamoDB JSON 1.0: requests into operations, outputs and errors into answers.
//!
//! The life of a request through this crate:
//! 1. [`decode`] finds the operation by the header `X-Amz-Target` and reads the body with a pull reader: no tree of JSON is
//!    built, nothing is read twice, any bytes are borne.
//! 2. The members are checked in the service's order: shape, constraints of single members, then what they mean together.
//! 3. Expressions, legacy parameters and PartiQL become the same trees, all of it a [`keyform_core::Operation`].
//! 4. Somebody executes it. [`encode`] writes the output straight from encoded items, [`encode_error`] the error.
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
pub use request::{Decoded, Request, decode};
