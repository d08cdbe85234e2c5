//! Catalogue of all public codes. Each rule has a page of its own; the codes for syntax (S), names (N) and `allow` (L)
//! are sections of a shared page.

use keyform_language::diagnostic::Severity;
use keyform_language::diagnostic::sarif::RuleInfo;

use super::rules;

/// Pages with one `## CODE: title` section per code.
const SHARED: [&str; 3] = [
    include_str!("../../../docs/rules/S.md"),
    include_str!("../../../docs/rules/N.md"),
    include_str!("../../../docs/rules/L.md"),
];

/// Codes of the shared pages that are warnings. All others are errors.
const WARNINGS: [&str; 2] = ["N24", "L02"];

/// Returns all codes: first those of the shared pages, then the rules.
#[must_use]
pub fn all() -> Vec<RuleInfo<'static>> {
    let own = rules::all().map(|rule| RuleInfo {
        code: rule.code.0,
        title: rule.title,
        severity: rule.severity,
        page: rule.page,
    });
    SHARED.iter().flat_map(|page| sections(page)).chain(own).collect()
}

/// Returns the entry for a code, ignoring case.
#[must_use]
pub fn by_code(code: &str) -> Option<RuleInfo<'static>> {
    all().into_iter().find(|info| info.code.eq_ignore_ascii_case(code))
}

fn sections(page: &'static str) -> Vec<RuleInfo<'static>> {
    let starts: Vec<usize> = page.match_indices("\n## ").map(|(at, _)| at + 1).collect();
    let ends = starts.iter().skip(1).copied().chain([page.len()]);
    starts.iter().zip(ends).filter_map(|(start, end)| section(&page[*start..end])).collect()
}

fn section(text: &'static str) -> Option<RuleInfo<'static>> {
    let (code, title) = text.lines().next()?.strip_prefix("## ")?.split_once(": ")?;
    let severity = if WARNINGS.contains(&code) { Severity::Warning } else { Severity::Error };
    Some(RuleInfo { code, title, severity, page: text.trim_end() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_all_kinds_are_explained() {
        let title = |code| by_code(code).map(|info| info.title);
        assert_eq!(title("n04"), Some("unknown table"));
        assert!(title("S15").is_some() && title("L02").is_some());
        assert_eq!(title("A01"), rules::by_code("A01").map(|rule| rule.title));
        assert_eq!(title("X99"), None);
        let mut codes: Vec<&str> = all().iter().map(|info| info.code).collect();
        codes.sort_unstable();
        assert!(codes.windows(2).all(|pair| pair[0] != pair[1]), "{codes:?}");
    }
}
