//! JSON text: a pull reader for requests and a writer for responses. Neither builds a tree.

mod escape;
mod read;
mod shape;
mod write;

pub(crate) use read::{Kind, Reader};
pub(crate) use write::Writer;
