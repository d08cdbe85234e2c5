//! Long and deep models, and long texts that are no model, are checked with work that grows with their length.

use keyform_check::Checked;
use keyform_language::diagnostic::render;

/// A model around one long part.
fn model_with(key: &str, field: &str, read: &str) -> String {
    format!(
        "model m\ntable T {{ key pk, sk }}\nentity E in T {{\n  key \"{key}\", \"E\"\n  id: ulid\n{field}\n}}\nread r(id) -> E? {read}\n"
    )
}

/// Each of these took minutes, or more memory than there is, when work grew with the square of the length. The findings
/// are counted instead of the time: a text that is no model must not have one for each of its lines.
#[test]
fn long_and_deep_texts_have_few_findings() {
    let long = 200_000;
    let texts = [
        ("a long literal", model_with(&format!("{}#{{id}}", "a".repeat(long)), "", "")),
        ("many parts", model_with(&"{id}#".repeat(long / 5), "", "")),
        ("many escapes", model_with(&"\\\\".repeat(long / 2), "", "")),
        ("deep expressions", model_with("E#{id}", "", &format!("where {}", "(".repeat(long)))),
        ("a long sum", model_with("E#{id}", &format!("  n: int = {}1", "1+".repeat(long / 2)), "")),
        ("deep types", model_with("E#{id}", &format!("  n: {}int", "list<".repeat(long / 5)), "")),
        ("unclosed braces", "entity E in T {\n".repeat(long / 16)),
        ("quotes", "\"".repeat(long)),
        ("lines that are no model", "read -> [ } key .. \"a\n".repeat(long / 22)),
        ("unknown names", "read r(a) -> Nothing\n".repeat(long / 21)),
    ];
    for (what, text) in texts {
        let checked = Checked::read(&text);
        let syntax = checked.diagnostics.iter().filter(|found| found.code.0.starts_with('S')).count();
        assert!(checked.has_errors() && syntax <= 101, "{what}: {syntax} syntax errors");
        let shown = render::text(&text, "m.kf", &checked.diagnostics, false);
        assert!(shown.matches("error[").count() <= 1000, "{what}");
    }
}

#[test]
fn many_fields_and_entities_are_no_error() {
    let fields: String = (0..5000).map(|number| format!("  f{number}: string(..10)?\n")).collect();
    assert!(!Checked::read(&model_with("E#{id}", &fields, "")).has_errors());
}
