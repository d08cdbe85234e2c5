//! Reads and checks models.

pub use keyform_language::{Checked, Code, Diagnostic, Severity, Span};

/// Ids that calls draw.
pub mod bind {
    pub use keyform_language::bind::Fresh;
}
