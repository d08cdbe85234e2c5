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
//! 5. [`check`] holds the rules, one file each; their findings are [`diagnostic`]s.
//! 6. [`bind`] turns a plan and the arguments of a call into the request; [`explain`] shows that request.
//!    [`reading`] turns stored items back into fields, also those that other programs wrote.
//! 7. [`cost`] estimates the price, [`doc`] generates documentation, [`surface`] lists the patterns that external
//!    callers see.
//!
//! [`import`] derives a starting model from existing table definitions, and [`editor`] serves completion, hover and
//! definitions. [`Checked::read`] runs stages 1 to 5. The crate depends on no store, no network and no clock: the
//! runtime crate supplies them, calls patterns on a store and deploys tables, and the codegen crate generates clients.

pub mod bind;
pub mod bookkeeping;
pub mod check;
mod checked;
pub mod cost;
pub mod diagnostic;
pub mod doc;
pub mod document;
pub mod editor;
pub mod explain;
pub mod import;
pub mod plan;
pub mod reading;
pub mod samples;
pub mod scalar;
pub mod schema;
pub mod scope;
pub mod span;
pub mod surface;
pub mod template;
pub mod types;

pub use checked::{Checked, Options};
pub use diagnostic::{Code, Diagnostic, Severity};
pub use span::Span;
