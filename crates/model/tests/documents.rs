//! Every model of the repository can be read.

mod models;

use keyform_model::document::ast::Document;
use keyform_model::document::{parse, print};

#[test]
fn every_model_of_the_repository_is_read_without_mistakes() {
    let mut mistakes = Vec::new();
    for (name, text) in models::all() {
        for mistake in parse(&text).1 {
            let line = text[..mistake.primary.span.start].matches('\n').count() + 1;
            mistakes.push(format!("{name}:{line}: {} {}", mistake.code, mistake.message));
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
    for (name, text) in models::all() {
        let (document, _) = parse(&text);
        let printed = print(&document);
        let (again, mistakes) = parse(&printed);
        assert!(mistakes.is_empty(), "{name}: {mistakes:#?}");
        assert_eq!(shape(&document), shape(&again), "{name}");
        assert_eq!(printed, print(&again), "{name}");
    }
}
