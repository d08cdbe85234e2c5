//! Checks a model of the `.kf` language and describes it to people.
//!
//! [`Checked::read`] takes a text through the stages of [`keyform_language`] and then through the rules:
//!
//! 1. [`check`] runs the [`rules`], one file each; their findings are diagnostics. [`allow`] silences a finding with a
//!    reason, and [`catalogue`] lists all rules.
//! 2. [`cost`] estimates the price of each pattern, [`explain`] shows the requests of a call, [`doc`] generates the
//!    documentation, [`surface`] lists the patterns that external callers see.
//! 3. [`editor`] serves completion, hover and definitions, [`import`] derives a starting model from existing table
//!    definitions, and [`samples`] reads items of real tables, which the rules compare with the model.
//!
//! Like the language, the crate depends on no store, no network and no clock.

pub mod allow;
pub mod catalogue;
pub mod check;
mod checked;
pub mod cost;
pub mod doc;
pub mod editor;
pub mod explain;
pub mod import;
pub mod rules;
pub mod samples;
pub mod surface;

pub use checked::{Checked, Options};
