//! The TextMate grammar contains every keyword that the editor's completion offers.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

#[test]
fn the_grammar_is_json_and_knows_the_languages_words() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../editors/vscode/syntaxes/keyform.tmLanguage.json");
    let grammar: Value = serde_json::from_str(&fs::read_to_string(path).expect("the grammar")).expect("JSON");
    let rules = grammar["repository"].as_object().expect("rules");
    for include in grammar["patterns"].as_array().expect("a list") {
        let name = include["include"].as_str().expect("a name").trim_start_matches('#');
        assert!(rules.contains_key(name), "{name}");
    }
    let all = grammar.to_string();
    let reference = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/language.md");
    let reference = fs::read_to_string(reference).expect("the reference");
    let words = ["entity", "upsert", "idempotent", "epoch_ms", "snapshot", "between", "evolve", "handler", "slug"];
    for word in words {
        assert!(all.contains(word) && reference.contains(word), "{word}");
    }
}
