//! Parses every model of the repository.

use keyform_language::document::parse;

#[test]
fn every_model_of_the_repository_is_read_without_mistakes() {
    let mut mistakes = Vec::new();
    for (name, text) in super::models::all() {
        for mistake in parse(&text).1 {
            let line = text[..mistake.primary.span.start].matches('\n').count() + 1;
            mistakes.push(format!("{name}:{line}: {} {}", mistake.code, mistake.message));
        }
    }
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
}

#[test]
fn what_is_printed_is_read_as_the_same_tree_and_printed_the_same() {
    for (_, text) in super::models::all() {
        super::checks::model(text.as_bytes());
    }
}
