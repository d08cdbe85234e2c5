//! `allow CODE "reason"`: suppresses warnings and notes that the author has accepted. Errors cannot be suppressed.

use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Allow, Model};

use super::rules;

/// `allow` with an unknown code.
pub const UNKNOWN: Code = Code("L01");
/// `allow` without a matching finding. It is reported because it would hide future findings.
pub const UNUSED: Code = Code("L02");
/// `allow` whose matching findings are all errors.
pub const ERROR: Code = Code("L03");

/// Removes the findings that the model allows, and reports each `allow` that has no effect.
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
        let finding = Diagnostic::error(UNKNOWN, allow.span, format!("unknown rule {code}"));
        return Some(finding.help("the pages in docs/rules list the codes"));
    }
    let covered: Vec<&Diagnostic> = findings.iter().filter(|finding| covers(allow, finding)).collect();
    if covered.is_empty() {
        let finding = Diagnostic::warning(UNUSED, allow.span, format!("nothing here violates rule {code}"));
        return Some(finding.help("remove the `allow`: it would hide a later finding"));
    }
    covered.iter().all(|finding| finding.severity == Severity::Error).then(|| {
        Diagnostic::error(ERROR, allow.span, format!("{code} is an error here and cannot be allowed"))
            .also(covered[0].primary.span, "fix this instead")
    })
}
