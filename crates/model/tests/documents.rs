//! Every model of the repository can be read.

use std::path::{Path, PathBuf};

use keyform_model::document::ast::Document;
use keyform_model::document::{parse, print};

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All `.kf` files below a folder.
fn models_below(folder: &Path) -> Vec<PathBuf> {
    let mut models = Vec::new();
    let Ok(entries) = std::fs::read_dir(folder) else { return models };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            models.extend(models_below(&path));
        } else if path.extension().is_some_and(|extension| extension == "kf") {
            models.push(path);
        }
    }
    models.sort();
    models
}

#[test]
fn every_model_of_the_repository_is_read_without_mistakes() {
    let mut mistakes = Vec::new();
    for path in models_below(&root().join("systems")) {
        let text = std::fs::read_to_string(&path).unwrap();
        for mistake in parse(&text).1 {
            let line = text[..mistake.primary.span.start].matches('\n').count() + 1;
            mistakes.push(format!("{}:{line}: {} {}", path.display(), mistake.code, mistake.message));
        }
    }
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
}

/// The JSON form without what the printer decides: where empty lines are.
fn shape(document: &Document) -> serde_json::Value {
    fn strip(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::Object(map) => {
                map.remove("gap");
                if map.get("notes").is_some_and(|notes| notes.as_object().is_some_and(serde_json::Map::is_empty)) {
                    map.remove("notes");
                }
                map.values_mut().for_each(strip);
                if map.get("notes").is_some_and(|notes| notes.as_object().is_some_and(serde_json::Map::is_empty)) {
                    map.remove("notes");
                }
            }
            serde_json::Value::Array(values) => values.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut value = serde_json::to_value(document).expect("a document has a JSON form");
    strip(&mut value);
    value
}

#[test]
fn what_is_printed_is_read_as_the_same_tree_and_printed_the_same() {
    for path in models_below(&root().join("systems")) {
        let (document, _) = parse(&std::fs::read_to_string(&path).unwrap());
        let printed = print(&document);
        let (again, mistakes) = parse(&printed);
        assert!(mistakes.is_empty(), "{}: {mistakes:#?}", path.display());
        assert_eq!(shape(&document), shape(&again), "{}", path.display());
        assert_eq!(printed, print(&again), "{}", path.display());
    }
}
