//! The `.kf` model language: a schema document of a DynamoDB data layer that the compiler can check and run.
//!
//! The stages of a model:
//!
//! 1. [`document`] parses text into a lossless tree and formats the tree as text.
//! 2. [`schema`] resolves every name.
//!    [`scalar`] holds the scalar types, one file each, and [`types`] the types built from them.
//! 3. [`template`] analyses key templates: overlap, injectivity, maximum length.
//! 4. [`plan`] finds the single request that serves each read and the single atomic request of each write, or lists the
//!    obstacles.
//! 5. [`scope`] finds the items that a caller is authorised for, and whether a pattern stays within them.
//! 6. [`bind`] turns a plan and the arguments of a call into the request.
//!    [`reading`] turns stored items back into fields, also those that other programs wrote.
//!
//! [`Compiled::read`] runs stages 1 to 4. The check crate adds the rules, whose findings are [`diagnostic`]s, and
//! describes models to people; the runtime crate calls patterns on a store and deploys tables, and the codegen crate
//! generates clients. This crate depends on no store, no network and no clock: they supply them.

pub mod bind;
pub mod bookkeeping;
mod compiled;
pub mod diagnostic;
pub mod document;
pub mod plan;
pub mod reading;
pub mod scalar;
pub mod schema;
pub mod scope;
pub mod span;
pub mod template;
pub mod types;

pub use compiled::Compiled;
pub use diagnostic::{Code, Diagnostic, Severity};
pub use span::Span;
