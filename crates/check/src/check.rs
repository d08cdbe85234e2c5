//! Rules of the checker. Each rule is a file in [`rules`] and a page in `docs/rules`, which is also its test.
//!
//! A rule inspects the whole model through a [`Context`] and appends its findings. It does not see the findings of
//! other rules. To avoid follow-on findings, a rule skips any part of the model that an earlier pass could not resolve.

use std::collections::BTreeSet;

use crate::samples::Samples;
use crate::{allow, rules};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Document;
use keyform_language::plan::{Plans, plan};
use keyform_language::schema::{Model, resolve};

/// Input of every rule.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// Syntax tree, for rules about text that the resolved model no longer contains, such as a repeated line.
    pub document: &'a Document,
    /// Resolved model: every name bound to its declaration.
    pub model: &'a Model,
    /// Request plan of each pattern, or the obstacles that prevent one.
    pub plans: &'a Plans,
    /// Store that the model must run on; decides whether W14 applies.
    pub target: Target,
    /// Previous version of the model (`--against`). M01 to M04 report nothing without it.
    pub before: Option<&'a Model>,
    /// Items of real tables (`--samples`). Rule V16 reports nothing without them.
    pub samples: Option<&'a Samples>,
}

/// The store a model is checked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// Amazon DynamoDB or the embedded engine, which support the same features.
    #[default]
    DynamoDb,
    /// ScyllaDB Alternator, which has no transactions.
    Alternator,
}

/// A rule of the checker. The definition is static: all state of a check is in the [`Context`].
#[derive(Debug)]
pub struct Rule {
    /// Stable public code, such as `K01`. Models name it in `allow`.
    pub code: Code,
    /// Usual severity. Some rules report milder or graver cases with another one.
    pub severity: Severity,
    /// The finding as a short sentence. The page's heading repeats it, and a test compares the two.
    pub title: &'static str,
    /// Markdown page from `docs/rules`: what the rule detects, why, an offending model with its findings, and a fixed
    /// model.
    pub page: &'static str,
    /// Appends the findings for a model.
    pub find: fn(&Context<'_>, &mut Vec<Diagnostic>),
}

/// Runs all rules and returns their findings, without duplicates and without those that the model allows.
///
/// `allow` is applied last, because an `allow` that matches no finding is itself reported.
#[must_use]
pub fn check(context: &Context<'_>) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for rule in rules::all() {
        (rule.find)(context, &mut findings);
    }
    allow::apply(context.model, once(findings))
}

/// Returns the errors of the evolution rules for the change from one version of a model to the next: what the new version
/// breaks for items that are already stored. An `evolve` that describes the change is no error.
#[must_use]
pub fn breaking(before: &Document, now: &Document) -> Vec<Diagnostic> {
    let ((before, _), (model, _)) = (resolve(before), resolve(now));
    let plans = plan(&model);
    let target = Target::default();
    let context = Context { document: now, model: &model, plans: &plans, target, before: Some(&before), samples: None };
    let mut findings = Vec::new();
    for rule in rules::of_evolution() {
        (rule.find)(&context, &mut findings);
    }
    findings.retain(|finding| finding.severity == Severity::Error);
    once(findings)
}

/// Removes duplicate findings. A rule visits a field of a shape once per entity that includes the shape.
fn once(findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut seen = BTreeSet::new();
    let place = |finding: &Diagnostic| (finding.primary.span.start, finding.primary.span.end);
    findings
        .into_iter()
        .filter(|finding| seen.insert((finding.code.0, place(finding), finding.message.clone())))
        .collect()
}
