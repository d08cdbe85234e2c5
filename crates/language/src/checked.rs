//! A model with everything that is known of it: read, resolved, planned and checked.

use crate::check::{self, Context, Target};
use crate::diagnostic::{Diagnostic, Severity};
use crate::document::{ast::Document, parse};
use crate::plan::{self, Plans};
use crate::samples::Samples;
use crate::schema::{Model, resolve};
use crate::span::Span;

/// A model that went through all passes. What is wrong with it is in `diagnostics`; the rest is as good as the text allowed.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The text it was read from.
    pub source: String,
    /// The file as it is written.
    pub document: Document,
    /// What the author meant.
    pub model: Model,
    /// How each pattern runs.
    pub plans: Plans,
    /// What was found, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
}

/// What a model is checked against.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// The store it is checked for.
    pub target: Target,
    /// The model as it was before, for the rules of evolution.
    pub before: Option<&'a Model>,
    /// Items of real tables.
    pub samples: Option<&'a Samples>,
}

impl Checked {
    /// Reads and checks a model.
    ///
    /// ```
    /// let checked = keyform_language::Checked::read("model shop\n\ntable Orders { key pk }\n");
    /// assert_eq!(checked.model.name, "shop");
    /// assert!(!checked.has_errors());
    /// ```
    #[must_use]
    pub fn read(text: &str) -> Self {
        Self::read_with(text, Options::default())
    }

    /// Reads and checks a model for a store, or against the model it was before.
    #[must_use]
    pub fn read_with(text: &str, options: Options<'_>) -> Self {
        let (document, mut diagnostics) = parse(text);
        let (model, unresolved) = resolve(&document);
        let plans = plan::plan(&model);
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
            let broken = broken(text, &document, &diagnostics);
            diagnostics.extend(unresolved.into_iter().filter(|finding| is_independent(text, &broken, finding)));
        }
        diagnostics.sort_by_key(|finding| (finding.primary.span, finding.code));
        Self { source: text.to_owned(), document, model, plans, diagnostics }
    }

    /// The author's words at a place, on one line.
    #[must_use]
    pub fn words(&self, place: Span) -> String {
        let words = self.source.get(place.start..place.end).unwrap_or_default();
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Whether an error was found.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|finding| finding.severity == Severity::Error)
    }

    /// Whether a warning was found.
    #[must_use]
    pub fn has_warnings(&self) -> bool {
        self.diagnostics.iter().any(|finding| finding.severity == Severity::Warning)
    }
}

/// The declarations that could not be read whole, and the text between declarations in which something was not understood.
fn broken(text: &str, document: &Document, mistakes: &[Diagnostic]) -> Vec<Span> {
    mistakes.iter().map(|mistake| around(text, document, mistake.primary.span)).collect()
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

/// Whether a name that does not resolve is a mistake of its own: it does not stand in a part that could not be read, and no such part
/// mentions it, so that it is not missing because of that.
fn is_independent(text: &str, broken: &[Span], finding: &Diagnostic) -> bool {
    let place = finding.primary.span;
    let name = text.get(place.start..place.end).unwrap_or_default();
    !broken
        .iter()
        .any(|part| part.contains(place) || mentions(text.get(part.start..part.end).unwrap_or_default(), name))
}

fn mentions(part: &str, name: &str) -> bool {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    !name.is_empty() && part.split(|character| !is_word(character)).any(|word| word == name)
}
