//! What is wrong with a model, as data. How it is shown is the business of the files beside this one; what is wrong is that of
//! [`document`](crate::document), [`schema`](crate::schema) and [`check`](crate::check).

mod code;
pub mod json;
pub mod lines;
pub mod render;
pub mod sarif;

pub use code::{Code, Severity};

use crate::span::Span;

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Its stable, public code.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one sentence that names the things it is about.
    pub message: String,
    /// The place it is about.
    pub primary: Label,
    /// Other places that belong to it.
    pub secondary: Vec<Label>,
    /// Sentences that explain, such as two items that collide.
    pub notes: Vec<String>,
    /// What to write instead.
    pub help: Option<String>,
    /// The edits that do it, where they are certain.
    pub edits: Vec<Edit>,
}

/// A place and what is to be said there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// A few words; may be empty.
    pub text: String,
}

/// A replacement of a piece of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced; an empty span inserts.
    pub span: Span,
    /// By what.
    pub text: String,
}

impl Diagnostic {
    /// A finding at `span`.
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

    /// An error at `span`.
    #[must_use]
    pub fn error(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, span, message)
    }

    /// A warning at `span`.
    #[must_use]
    pub fn warning(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, span, message)
    }

    /// A note at `span`.
    #[must_use]
    pub fn note_at(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Note, span, message)
    }

    /// Says something at the primary place.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.primary.text = text.into();
        self
    }

    /// Points to another place.
    #[must_use]
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Self {
        self.secondary.push(Label { span, text: text.into() });
        self
    }

    /// Explains.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Says what to write instead.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Gives an edit that repairs it.
    #[must_use]
    pub fn edit(mut self, span: Span, text: impl Into<String>) -> Self {
        self.edits.push(Edit { span, text: text.into() });
        self
    }
}
