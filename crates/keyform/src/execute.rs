//! Parts of the trait [`Execute`](crate::Execute), for programs that implement it.

pub use keyform_core::execute::{BoxFuture, Watch};
