//! The rules of the checker: each one a file in [`rules`] and a page in `docs/rules`.
//!
//! A rule looks at the whole model through a [`Context`] and pushes what it finds. Rules do not know each other; where one finding would
//! only repeat another, the rule that comes later in the pipeline stays silent because the part it needs is missing.

pub mod allow;
pub mod catalogue;
pub mod rules;

use std::collections::BTreeSet;

use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::document::ast::Document;
use crate::plan::Plans;
use crate::samples::Samples;
use crate::schema::Model;

/// What a rule sees.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The file as it is written.
    pub document: &'a Document,
    /// What the author meant.
    pub model: &'a Model,
    /// How each pattern runs, or why it cannot.
    pub plans: &'a Plans,
    /// The store the model is checked for.
    pub target: Target,
    /// The model as it was, for the rules of evolution.
    pub before: Option<&'a Model>,
    /// Items of real tables, for the rule that looks at them.
    pub samples: Option<&'a Samples>,
}

/// The store a model is checked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// Amazon DynamoDB and the embedded engine.
    #[default]
    DynamoDb,
    /// ScyllaDB Alternator.
    Alternator,
}

/// A rule.
#[derive(Debug)]
pub struct Rule {
    /// Its code.
    pub code: Code,
    /// How bad what it finds usually is.
    pub severity: Severity,
    /// What it finds, in a few words.
    pub title: &'static str,
    /// Its page: what, why, a model that breaks it, the repaired one.
    pub page: &'static str,
    /// Finds.
    pub find: fn(&Context<'_>, &mut Vec<Diagnostic>),
}

/// Everything the rules find, each finding once, without what the model allows.
#[must_use]
pub fn check(context: &Context<'_>) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for rule in rules::all() {
        (rule.find)(context, &mut findings);
    }
    allow::apply(context.model, once(findings))
}

/// A field of a shape is looked at for each entity that has it; what is wrong with it is said once.
fn once(findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut seen = BTreeSet::new();
    let place = |finding: &Diagnostic| (finding.primary.span.start, finding.primary.span.end);
    findings
        .into_iter()
        .filter(|finding| seen.insert((finding.code.0, place(finding), finding.message.clone())))
        .collect()
}
