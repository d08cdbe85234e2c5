//! The `.kf` model language: a schema document of a DynamoDB data layer that can be proved.
//!
//! The life of a model:
//!
//! 1. [`document`] reads text into a tree in which nothing is lost, and prints it again.
//! 2. [`schema`] binds every name: what the author meant.
//! 3. [`template`] computes with key templates: do two overlap, is one injective, how long can it be.
//! 4. [`plan`] gives each read its one request and each write its one atomic request, or says what is missing.
//! 5. [`check`] holds the rules, one file each; what they find are [`diagnostic`]s.
//! 6. [`bind`] turns a plan and the arguments of a call into the request; [`explain`] shows it.
//!
//! 7. [`cost`] and [`doc`] say what it costs, and print it as a document; [`surface`] is what callers from outside see of it.
//!
//! [`run`] calls patterns on a store; [`seal`] keeps encrypted fields from it.
//! [`deploy`] brings its tables into being, [`generate`] prints what others run. [`import`] makes a starting model of templates and descriptions. [`Checked::read`] goes through all of it. The crate knows neither store nor network nor clock.

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
pub mod samples;
pub mod schema;
pub mod span;
pub mod surface;
pub mod template;

pub use checked::{Checked, Options};
pub use diagnostic::{Code, Diagnostic, Severity};
pub use span::Span;
