//! Properties that hold for any text of a model: nothing panics, every span lies within the text, and a parsed document,
//! formatted as text or as JSON, parses to the same document again. The fuzz target and the test that replays the saved
//! corpus share this.

use keyform_language::diagnostic::render;
use keyform_language::document::{json, parse, print};

/// A model, or what is nearly one.
pub fn model(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (document, mistakes) = parse(text);
    for mistake in &mistakes {
        let span = mistake.primary.span;
        assert!(text.get(span.start..span.end).is_some(), "{mistake:?}");
    }
    drop(render::text(text, "model.kf", &mistakes, false));
    if !mistakes.is_empty() {
        return;
    }
    let printed = print(&document);
    let (again, mistakes) = parse(&printed);
    assert!(mistakes.is_empty(), "{printed}\n{mistakes:#?}");
    assert_eq!(without_gaps(json::to_json(&document)), without_gaps(json::to_json(&again)), "{printed}");
    assert_eq!(printed, print(&again));
    let back = json::from_json(&json::to_json(&document).to_string());
    assert_eq!(back.map(|document| print(&document)), Ok(printed));
}

/// Returns the JSON form without the positions of empty lines, which the printer decides.
pub fn without_gaps(mut value: serde_json::Value) -> serde_json::Value {
    strip(&mut value);
    value
}

fn strip(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(fields) => {
            fields.remove("gap");
            fields.values_mut().for_each(strip);
            if fields.get("notes").is_some_and(|notes| notes.as_object().is_some_and(serde_json::Map::is_empty)) {
                fields.remove("notes");
            }
        }
        serde_json::Value::Array(elements) => elements.iter_mut().for_each(strip),
        _ => {}
    }
}
