//! Name resolution: every model of the repository resolves, and the page of the N codes shows the findings of names
//! that do not.

use std::fs;
use std::path::{Path, PathBuf};

use keyform_check::Checked;
use keyform_language::diagnostic::{Diagnostic, render};
use keyform_language::document::parse;
use keyform_language::schema::resolve;
use keyform_language::schema::resolve::CODES;
use keyform_language::{Severity, Span};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns all `.kf` files below a directory.
fn models_below(folder: &Path) -> Vec<PathBuf> {
    let mut models = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("a file of the repository").path();
        if path.is_dir() {
            models.extend(models_below(&path));
        } else if path.extension().is_some_and(|extension| extension == "kf") {
            models.push(path);
        }
    }
    models.sort();
    models
}

/// Returns true for a model that transcribes a document literally, including its mistakes.
fn is_literal(path: &Path) -> bool {
    path.parent().is_some_and(|folder| folder.ends_with("literal"))
}

#[test]
fn every_name_in_the_models_of_the_repository_is_bound() {
    let mut report = String::new();
    for path in models_below(&root().join("systems")).iter().filter(|path| !is_literal(path)) {
        let text = fs::read_to_string(path).unwrap();
        let found = resolve(&parse(&text).0).1;
        report.push_str(&render::text(&text, &path.display().to_string(), &found, false));
    }
    assert!(report.is_empty(), "{report}");
}

/// Returns the path of the page of the N codes.
fn page() -> PathBuf {
    root().join("docs/rules/N.md")
}

/// Returns the expected page: below each model, all errors found in it and the findings of the section's code.
fn expected(page: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let (mut code, mut model, mut shown) = (String::new(), String::new(), None);
    let mut block = "";
    for line in page.lines() {
        match (block, line) {
            ("", "```kf") => (block, model) = ("kf", String::new()),
            ("", "```text") => (block, shown) = ("text", Some(findings(&code, &model))),
            (_, "```") => block = "",
            ("kf", line) => model.extend([line, "\n"]),
            ("text", _) => continue,
            (_, line) => {
                if let Some(heading) = line.strip_prefix("## ") {
                    code = heading.chars().take(3).collect();
                }
            }
        }
        lines.push(line.to_owned());
        lines.extend(shown.take());
    }
    lines.join("\n") + "\n"
}

fn findings(code: &str, model: &str) -> String {
    let mut found = Checked::read(model).diagnostics;
    found.retain(|finding| finding.severity == Severity::Error || finding.code.0 == code);
    assert!(found.iter().any(|finding| finding.code.0 == code), "the model of {code} does not have it: {found:#?}");
    render::text(model, "model.kf", &found, false).trim_end().to_owned()
}

#[test]
fn the_page_of_names_shows_what_is_found() {
    let page_text = fs::read_to_string(page()).unwrap();
    let expected = expected(&page_text);
    if std::env::var_os("KEYFORM_BLESS").is_some() {
        fs::write(page(), &expected).unwrap();
    } else {
        assert_eq!(page_text, expected, "KEYFORM_BLESS=1 writes it");
    }
}

#[test]
fn every_code_of_names_has_its_section() {
    let page = fs::read_to_string(page()).unwrap();
    let sections: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let codes: Vec<String> = CODES.iter().map(|code| format!("{}: {}", code.code, code.title)).collect();
    assert_eq!(sections, codes);
}

/// Returns the ranges of the names in a text: words outside quotes and comments.
fn words(text: &str) -> Vec<(usize, usize)> {
    let mut words = Vec::new();
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let code = line.find("//").map_or(line, |at| &line[..at]);
        let mut quoted = false;
        let mut start = None;
        for (at, next) in code.char_indices().chain([(code.len(), '\n')]) {
            if next == '"' {
                quoted = !quoted;
            }
            match start {
                None if !quoted && next.is_alphabetic() => start = Some(at),
                Some(begin) if !next.is_alphanumeric() && next != '_' => {
                    words.push((offset + begin, offset + at));
                    start = None;
                }
                _ => {}
            }
        }
        offset += line.len();
    }
    words
}

/// Returns the positions where names are declared. A misspelling there is reported once per kind of use.
fn declared(checked: &Checked) -> Vec<Span> {
    let model = &checked.model;
    let mut places: Vec<Span> = model.tables.iter().map(|table| table.name_span).collect();
    for entity in &model.entities {
        places.push(entity.name_span);
        places.extend(entity.fields.iter().map(|field| field.name_span));
    }
    places
}

/// Misspells words of models, one at a time. A misspelt use yields at most one finding; a misspelt declaration may
/// yield several, since its uses differ. Notes do not count, nor do syntax errors, which the parser tests cover.
#[test]
fn a_misspelt_name_is_found_once() {
    let (mut tried, mut silent) = (0, 0);
    for (system, step) in [("workspaces", 7), ("agencies", 5)] {
        let text = fs::read_to_string(root().join(format!("systems/{system}/{system}.kf"))).unwrap();
        let clean = Checked::read(&text);
        let long = words(&text).into_iter().filter(|(start, end)| end - start > 4);
        for (start, end) in long.step_by(step) {
            let found = misspell(&clean, start, end);
            tried += usize::from(found.is_some());
            silent += usize::from(found == Some(0));
        }
    }
    assert!(tried > 60, "only {tried} misspellings");
    assert!(silent * 3 < tried, "{silent} of {tried} misspellings are not found");
}

/// Returns the number of findings for a misspelt word; `None` if it is a syntax error.
fn misspell(clean: &Checked, start: usize, end: usize) -> Option<usize> {
    let key = |finding: &Diagnostic| (finding.code, finding.message.clone());
    let known: Vec<_> = clean.diagnostics.iter().map(key).collect();
    let mut changed = clean.source.clone();
    changed.insert(start + (end - start) / 2, 'q');
    let mut found = Checked::read(&changed).diagnostics;
    found.retain(|finding| finding.severity != Severity::Note && !known.contains(&key(finding)));
    if found.iter().any(|finding| finding.code.0.starts_with('S')) {
        return None;
    }
    let fine = found.len() <= 1 || declared(clean).contains(&Span::new(start, end));
    assert!(fine, "`{}`:\n{}", &changed[start..=end], render::text(&changed, "model.kf", &found, false));
    Some(found.len())
}

#[test]
fn a_misspelt_declaration_that_a_template_misses_is_one_finding() {
    let model = include_str!("../../../../systems/discord/discord.kf").replacen("  email:", "  emial:", 1);
    let checked = keyform_check::Checked::read(&model);
    let mut codes: Vec<&str> =
        checked.diagnostics.iter().filter(|it| it.severity == Severity::Error).map(|it| it.code.0).collect();
    codes.dedup();
    assert_eq!(codes, ["K01"]);
}
