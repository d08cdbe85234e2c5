//! A model after all passes: parsed, resolved, planned and checked.

use std::collections::HashSet;

use crate::check::{self, Context, Target};
use crate::samples::Samples;
use keyform_language::Compiled;
use keyform_language::diagnostic::{Diagnostic, Severity};
use keyform_language::document::ast::Document;
use keyform_language::plan::Plans;
use keyform_language::schema::Model;
use keyform_language::span::Span;

/// A model after all passes. Problems are listed in `diagnostics`; the other parts are as complete as the text allows.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Source text that all spans refer to.
    pub source: String,
    /// Syntax tree of the file.
    pub document: Document,
    /// Resolved model.
    pub model: Model,
    /// Request plan of each pattern.
    pub plans: Plans,
    /// Findings in source order.
    pub diagnostics: Vec<Diagnostic>,
}

/// Inputs of the check besides the text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// Store the model is checked for.
    pub target: Target,
    /// Previous version of the model, which the evolution rules compare against.
    pub before: Option<&'a Model>,
    /// Items from real tables, which the sample rules compare against.
    pub samples: Option<&'a Samples>,
}

impl Checked {
    /// Parses and checks a model with default options.
    ///
    /// ```
    /// let checked = keyform_check::Checked::read("model shop\n\ntable Orders { key pk }\n");
    /// assert_eq!(checked.model.name, "shop");
    /// assert!(!checked.has_errors());
    /// ```
    #[must_use]
    pub fn read(text: &str) -> Self {
        Self::read_with(text, Options::default())
    }

    /// Parses and checks a model for a target store, against its previous version, or against sample items.
    #[must_use]
    pub fn read_with(text: &str, options: Options<'_>) -> Self {
        let Compiled { document, model, plans, mistakes, unresolved } = Compiled::read(text);
        let mut diagnostics = mistakes;
        if diagnostics.is_empty() {
            diagnostics.extend(unresolved);
            let context = Context {
                document: &document,
                model: &model,
                plans: &plans,
                target: options.target,
                before: options.before,
                samples: options.samples,
            };
            diagnostics.extend(check::check(&context));
        } else {
            let broken = Broken::new(text, &document, &diagnostics);
            diagnostics.extend(unresolved.into_iter().filter(|finding| broken.is_independent(finding)));
        }
        diagnostics.sort_by_key(|finding| (finding.primary.span, finding.code));
        Self { source: text.to_owned(), document, model, plans, diagnostics }
    }

    /// Returns the source text of a span on one line, with runs of white space collapsed.
    #[must_use]
    pub fn words(&self, place: Span) -> String {
        let words = self.source.get(place.start..place.end).unwrap_or_default();
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Returns true if any diagnostic is an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|finding| finding.severity == Severity::Error)
    }

    /// Returns true if any diagnostic is a warning.
    #[must_use]
    pub fn has_warnings(&self) -> bool {
        self.diagnostics.iter().any(|finding| finding.severity == Severity::Warning)
    }
}

/// Declarations, or gaps between declarations, that contain syntax errors, and the words in them.
struct Broken<'a> {
    text: &'a str,
    parts: Vec<Span>,
    words: HashSet<&'a str>,
}

impl<'a> Broken<'a> {
    fn new(text: &'a str, document: &Document, mistakes: &[Diagnostic]) -> Self {
        let mut parts: Vec<Span> =
            mistakes.iter().map(|mistake| around(text, document, mistake.primary.span)).collect();
        parts.sort();
        parts.dedup();
        let within = parts.iter().filter_map(|part| text.get(part.start..part.end));
        let words = within.flat_map(|part| part.split(|character| !is_word(character))).collect();
        Self { text, parts, words }
    }

    /// Returns true if an unresolved name is an error of its own: it is outside every part with a syntax error, and none
    /// of those parts mentions the name, so the syntax error cannot be the cause.
    fn is_independent(&self, finding: &Diagnostic) -> bool {
        let place = finding.primary.span;
        let name = self.text.get(place.start..place.end).unwrap_or_default();
        !self.words.contains(name) && !self.parts.iter().any(|part| part.contains(place))
    }
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

fn around(text: &str, document: &Document, place: Span) -> Span {
    if let Some(inside) = document.declarations.iter().find(|declaration| declaration.span.contains(place)) {
        return inside.span;
    }
    let before =
        document.declarations.iter().map(|declaration| declaration.span.end).filter(|&end| end <= place.start).max();
    let after = document
        .declarations
        .iter()
        .map(|declaration| declaration.span.start)
        .filter(|&start| start >= place.end)
        .min();
    Span::new(before.unwrap_or(0), after.unwrap_or(text.len()))
}
