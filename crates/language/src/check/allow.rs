//! `allow CODE "reason"`: warnings and notes the author has understood and accepts.

use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::schema::{Allow, Model};

use super::rules;

/// An `allow` that names no rule.
pub const UNKNOWN: Code = Code("L01");
/// An `allow` that silences nothing.
pub const UNUSED: Code = Code("L02");
/// An `allow` of an error.
pub const ERROR: Code = Code("L03");

/// Takes out what the model allows, and reports each `allow` that does not work.
#[must_use]
pub fn apply(model: &Model, mut findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let reports: Vec<Diagnostic> = model.allows.iter().filter_map(|allow| report(allow, &findings)).collect();
    findings.retain(|finding| !model.allows.iter().any(|allow| silences(allow, finding)));
    findings.extend(reports);
    findings
}

fn covers(allow: &Allow, finding: &Diagnostic) -> bool {
    allow.code == finding.code.0 && allow.within.is_none_or(|within| within.contains(finding.primary.span))
}

fn silences(allow: &Allow, finding: &Diagnostic) -> bool {
    finding.severity != Severity::Error && covers(allow, finding)
}

fn report(allow: &Allow, findings: &[Diagnostic]) -> Option<Diagnostic> {
    let code = &allow.code;
    if rules::by_code(code).is_none() {
        let finding = Diagnostic::error(UNKNOWN, allow.span, format!("there is no rule {code}"));
        return Some(finding.help("`keyform check --explain` with a code prints the page of a rule"));
    }
    let covered: Vec<&Diagnostic> = findings.iter().filter(|finding| covers(allow, finding)).collect();
    if covered.is_empty() {
        let finding = Diagnostic::warning(UNUSED, allow.span, format!("nothing here breaks rule {code}"));
        return Some(finding.help("remove the `allow`: it would hide a finding that comes later"));
    }
    covered.iter().all(|finding| finding.severity == Severity::Error).then(|| {
        Diagnostic::error(ERROR, allow.span, format!("{code} is an error here and cannot be allowed"))
            .also(covered[0].primary.span, "this must be repaired")
    })
}
