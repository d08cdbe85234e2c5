//! One run reports every independent syntax error of a file and no follow-on errors.
//!
//! Each `tests/golden/mistakes/NAME.kf` yields exactly the findings in `NAME.txt`; `KEYFORM_BLESS=1` regenerates them.
//! The page of the S codes is a test as well: the model of each section yields the findings shown there.

use std::path::Path;

use keyform_language::diagnostic::render;
use keyform_language::document::parse;
use keyform_language::document::template::parse_template;
use keyform_language::{Compiled, Diagnostic};

/// Returns the syntax errors of a text, including those in its templates.
fn mistakes(text: &str) -> Vec<Diagnostic> {
    let is_syntax = |finding: &Diagnostic| finding.code.0.starts_with('S');
    let compiled = Compiled::read(text);
    let mut found: Vec<Diagnostic> =
        compiled.mistakes.into_iter().chain(compiled.unresolved).filter(is_syntax).collect();
    found.sort_by_key(|finding| (finding.primary.span, finding.code));
    found
}

fn bless() -> bool {
    std::env::var_os("KEYFORM_BLESS").is_some()
}

#[test]
fn each_file_gives_exactly_its_mistakes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/mistakes");
    let mut differ = Vec::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "kf") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let found = render::text(&text, name, &parse(&text).1, false);
        let expected = path.with_extension("txt");
        if bless() {
            std::fs::write(&expected, &found).unwrap();
        }
        if std::fs::read_to_string(&expected).unwrap_or_default() != found {
            differ.push(format!("{name}:\n{found}"));
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n\n"));
}

#[test]
fn the_page_of_the_codes_shows_what_is_found() {
    let path = super::models::root().join("docs/rules/S.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let mut written = String::new();
    let mut model: Option<String> = None;
    let mut code = String::new();
    let mut fence = String::new();
    for line in page.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            code = title.split(':').next().unwrap_or_default().to_owned();
        }
        match (fence.as_str(), line.strip_prefix("```")) {
            ("", Some(kind)) => {
                fence = format!("{kind} ");
                if kind == "kf" {
                    model = Some(String::new());
                }
            }
            ("text ", Some(_)) => {
                let model = model.take().expect("a model stands before what is found in it");
                let found = mistakes(&model);
                assert!(!found.is_empty() && found.iter().all(|finding| finding.code.0 == code), "{code}: {found:#?}");
                written.push_str(render::text(&model, "model.kf", &found, false).trim_end());
                written.push('\n');
                fence.clear();
            }
            (_, Some(_)) => fence.clear(),
            ("text ", None) => continue,
            ("kf ", None) => {
                let model = model.as_mut().expect("the block is open");
                model.push_str(line);
                model.push('\n');
            }
            _ => {}
        }
        written.push_str(line);
        written.push('\n');
    }
    if bless() {
        std::fs::write(&path, &written).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), written);
}

#[test]
fn places_within_a_template_are_exact() {
    let check = |text: &str, expected: &[&str]| {
        let source = format!("model x entity E in T {{ key {text} }}");
        let (document, _) = parse(&source);
        let json = format!("{document:?}");
        assert!(json.contains("Template"), "{json}");
        let start = source.find('"').unwrap();
        let template = keyform_language::document::ast::Text {
            text: text.trim_matches('"').replace("\\\"", "\"").replace("\\\\", "\\"),
            span: keyform_language::Span::new(start, start + text.len()),
        };
        let (_, mistakes) = parse_template(&template);
        let found: Vec<&str> =
            mistakes.iter().map(|mistake| &source[mistake.primary.span.start..mistake.primary.span.end]).collect();
        assert_eq!(found, expected);
    };
    check(r#""USER#{userId}#{{x}}""#, &[]);
    check(r#""USER#{userId""#, &["{userId"]);
    check(r#""a}b{c{d}""#, &["}", "{c"]);
    check(r#""{}{a b}""#, &["{}", "{a b}"]);
    check(r#""\"\\{a:pad(x)}{b:}{c:pad(3}""#, &["pad(x)", "", "pad(3"]);
}
