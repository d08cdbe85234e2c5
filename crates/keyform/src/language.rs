//! Reads and checks models.

pub use keyform_language::{Checked, Code, Diagnostic, Severity, Span};
