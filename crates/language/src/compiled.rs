//! A model that was parsed, resolved and planned, but not checked.

use crate::diagnostic::{Diagnostic, Severity};
use crate::document::{ast::Document, parse};
use crate::plan::{self, Plans};
use crate::schema::{Model, resolve};

/// A model after the stages of this crate. The parts are as complete as the text allows.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Syntax tree of the file.
    pub document: Document,
    /// Resolved model.
    pub model: Model,
    /// Request plan of each pattern.
    pub plans: Plans,
    /// Syntax errors. With any, a name can be unresolved because of them.
    pub mistakes: Vec<Diagnostic>,
    /// Unresolved names and other findings of the resolver.
    pub unresolved: Vec<Diagnostic>,
}

impl Compiled {
    /// Parses, resolves and plans a model.
    ///
    /// ```
    /// let compiled = keyform_language::Compiled::read("model shop\n\ntable Orders { key pk }\n");
    /// assert_eq!(compiled.model.name, "shop");
    /// ```
    #[must_use]
    pub fn read(text: &str) -> Self {
        let (document, mistakes) = parse(text);
        let (model, unresolved) = resolve(&document);
        let plans = plan::plan(&model);
        Self { document, model, plans, mistakes, unresolved }
    }

    /// Returns true if the text has syntax errors or unresolved names.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.mistakes.iter().chain(&self.unresolved).any(|finding| finding.severity == Severity::Error)
    }
}
