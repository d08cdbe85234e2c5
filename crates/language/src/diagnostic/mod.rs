//! Diagnostics as data. The submodules render them; [`document`](crate::document), [`schema`](crate::schema) and
//! the check crate create them.

mod code;
pub mod json;
pub mod lines;
pub mod render;
pub mod sarif;

pub use code::{Code, Severity};

use crate::span::Span;

/// A finding about a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable, public rule code.
    pub code: Code,
    /// Severity of the finding.
    pub severity: Severity,
    /// Finding in one sentence that names the declarations involved.
    pub message: String,
    /// Main source range.
    pub primary: Label,
    /// Related source ranges.
    pub secondary: Vec<Label>,
    /// Explanations, such as two items that collide.
    pub notes: Vec<String>,
    /// Suggested correction.
    pub help: Option<String>,
    /// Edits that apply the correction, only if they are certain.
    pub edits: Vec<Edit>,
}

/// A source range with a short text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Source range to mark.
    pub span: Span,
    /// Short text shown at the range; may be empty.
    pub text: String,
}

/// A text replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Range to replace; an empty span inserts.
    pub span: Span,
    /// Replacement text.
    pub text: String,
}

impl Diagnostic {
    /// Creates a finding at `span`.
    #[must_use]
    pub fn new(code: Code, severity: Severity, span: Span, message: impl Into<String>) -> Self {
        Self {
            code,
            severity,
            message: message.into(),
            primary: Label { span, text: String::new() },
            secondary: Vec::new(),
            notes: Vec::new(),
            help: None,
            edits: Vec::new(),
        }
    }

    /// Creates an error at `span`.
    #[must_use]
    pub fn error(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, span, message)
    }

    /// Creates a warning at `span`.
    #[must_use]
    pub fn warning(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, span, message)
    }

    /// Creates a note at `span`.
    #[must_use]
    pub fn note_at(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Note, span, message)
    }

    /// Sets the text shown at the main source range.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.primary.text = text.into();
        self
    }

    /// Adds a related source range.
    #[must_use]
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Self {
        self.secondary.push(Label { span, text: text.into() });
        self
    }

    /// Adds an explanation.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Sets the suggested correction.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Adds an edit that applies the correction.
    #[must_use]
    pub fn edit(mut self, span: Span, text: impl Into<String>) -> Self {
        self.edits.push(Edit { span, text: text.into() });
        self
    }
}
