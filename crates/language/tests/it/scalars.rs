//! The facets of each scalar agree with each other, and no other code distinguishes scalars by name.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use keyform_core::Number;
use keyform_language::document::{json, parse, print};
use keyform_language::scalar::generated::RustId;
use keyform_language::scalar::{Bounds, Counted, Resolution, Scalar, Stored};
use keyform_language::schema::{Format, Type};
use keyform_language::template::order::{Order, order};
use keyform_language::template::{Language, render};
use serde_json::Value;

/// Returns each scalar without bounds, and with some if it takes bounds.
fn kinds() -> Vec<(Scalar, Bounds)> {
    let bounds = |min, max| Bounds { min: Some(min), max: Some(max) };
    let bounded = |scalar: Scalar| match scalar.counted() {
        None => vec![Bounds::NONE],
        Some(Counted::Characters | Counted::Bytes) => vec![Bounds::NONE, bounds(1, 4), bounds(8, 8), bounds(40, 64)],
        Some(Counted::Value) => vec![Bounds::NONE, bounds(0, 100), bounds(-9, -3), bounds(100, 999)],
    };
    Scalar::ALL.iter().flat_map(|scalar| bounded(*scalar).into_iter().map(|bounds| (*scalar, bounds))).collect()
}

fn samples(scalar: Scalar, bounds: Bounds) -> Vec<String> {
    (0..6).map(|number| scalar.sample(bounds, "orderId", number)).collect()
}

#[test]
fn samples_are_valid_and_strings_of_a_key() {
    for (scalar, bounds) in kinds() {
        let kind = Type::Scalar(scalar, bounds);
        let language = Language::of(&kind, Format::Plain).expect("a scalar has a language");
        for value in samples(scalar, bounds) {
            assert!(render::accepts(&kind, &value), "{value} of {kind:?}");
            assert!(language.holds(&value), "{value} of {kind:?}");
            assert!(language.bytes_max().is_none_or(|max| value.len() <= max), "{value} of {kind:?}");
            assert_eq!(render::written(&kind, Format::Plain, &value).as_deref(), Some(value.as_str()));
            assert_eq!(render::value_of(&kind, Format::Plain, &value).as_deref(), Some(value.as_str()), "{kind:?}");
        }
    }
}

#[test]
fn values_have_the_stored_type() {
    for (scalar, bounds) in kinds() {
        for value in samples(scalar, bounds) {
            match scalar.stored() {
                Stored::Number => assert_eq!(value.parse::<Number>().expect("a number").to_string(), value),
                Stored::Bool => assert!(matches!(value.as_str(), "true" | "false")),
                Stored::Text | Stored::Bytes => {}
            }
            let whole = scalar.whole(bounds);
            assert!(whole.is_none_or(|range| range.contains(&value.parse().expect("a whole number"))), "{value}");
            let normal = scalar.normalize().map_or_else(|| value.clone(), |normalize| normalize(&value));
            assert_eq!(normal, value, "a sample of {scalar:?} is in its stored form");
        }
    }
}

#[test]
fn sizes_are_within_what_a_value_can_have() {
    for (scalar, bounds) in kinds() {
        let most = scalar.language(bounds).bytes_max();
        let is_text = matches!(scalar.stored(), Stored::Text | Stored::Bytes);
        assert!(scalar.bytes(bounds) > 0);
        assert!(!is_text || most.is_none_or(|most| scalar.bytes(bounds) <= most as u64), "{scalar:?}");
    }
}

#[test]
fn times_are_read_as_they_are_written_and_sort_as_promised() {
    for scalar in Scalar::ALL.iter().copied() {
        let Some(time) = scalar.time() else { continue };
        let values = samples(scalar, Bounds::NONE);
        for value in values.iter().filter(|_| time.resolution != Resolution::Mixed) {
            let millis = (time.read)(value).expect("a sample is a time");
            assert_eq!((time.write)(millis), *value, "{scalar:?}");
        }
        let is_sorted = order(&scalar.into(), Format::Plain) == Order::Value;
        assert!(!is_sorted || values.is_sorted(), "{scalar:?}: {values:?}");
        let digits = scalar.usual_digits();
        assert!(digits.is_none_or(|digits| values.iter().all(|value| value.len() == digits)), "{scalar:?}");
    }
}

#[test]
fn promises_about_values_hold_for_samples() {
    for (scalar, bounds) in kinds() {
        let (values, language) = (samples(scalar, bounds), scalar.language(bounds));
        let has_both =
            ('a'..='z').any(|letter| language.may_hold(letter) && language.may_hold(letter.to_ascii_uppercase()));
        assert!(!scalar.has_one_case() || !has_both, "{scalar:?}");
        if let Some(wider) = scalar.widened() {
            assert!(values.iter().all(|value| wider.accepts(bounds, value)), "{scalar:?}");
            assert_eq!(wider.stored(), scalar.stored(), "{scalar:?}");
        }
        let distinct: BTreeSet<&String> = values.iter().collect();
        assert!(scalar.few_values().is_none_or(|count| distinct.len() <= count), "{scalar:?}");
        assert!(!scalar.is_globally_unique() || distinct.len() == values.len(), "{scalar:?}");
    }
}

/// Returns the JSON Schema types that a JSON value has.
fn schema_types(value: &Value) -> &'static [&'static str] {
    match value {
        Value::String(_) => &["string"],
        Value::Number(number) if number.is_f64() => &["number"],
        Value::Number(_) => &["number", "integer"],
        Value::Bool(_) => &["boolean"],
        Value::Null | Value::Array(_) | Value::Object(_) => &[],
    }
}

#[test]
fn the_json_schema_fits_the_example_and_the_example_is_valid() {
    for (scalar, bounds) in kinds() {
        let (schema, example) = (scalar.json_schema(bounds), scalar.json_example(bounds));
        let allowed = match &schema["type"] {
            Value::Array(types) => types.clone(),
            one => vec![one.clone()],
        };
        let types = schema_types(&example);
        assert!(allowed.iter().any(|kind| types.iter().any(|other| kind == other)), "{example} of {schema}");
        let text = example.as_str().map_or_else(|| example.to_string(), str::to_owned);
        if scalar.stored() != Stored::Bytes {
            assert!(scalar.accepts(bounds, &text), "{text} of {scalar:?}{bounds}");
        }
    }
}

#[test]
fn generated_types_fit_the_stored_type() {
    for scalar in Scalar::ALL {
        match scalar.rust().id {
            Some(RustId::Text(_)) => assert_eq!(scalar.stored(), Stored::Text),
            Some(RustId::Number) => assert_eq!(scalar.stored(), Stored::Number),
            None => {}
        }
        assert!(!scalar.is_client_id() || scalar.stored() == Stored::Text, "{scalar:?}");
        let client = scalar.client(Bounds::NONE);
        assert!(!scalar.rust().name.is_empty() && !client.python.name.is_empty(), "{scalar:?}");
    }
}

#[test]
fn names_are_unique_parsed_and_printed() {
    let mut names = BTreeSet::new();
    for (scalar, bounds) in kinds() {
        let text = format!("model m\n\nshape S {{\n  f: {}{bounds}\n}}\n", scalar.keyword());
        let (document, mistakes) = parse(&text);
        assert!(mistakes.is_empty(), "{text}");
        assert_eq!(print(&document), text);
        let again = json::from_json(&json::to_json(&document).to_string()).expect("a model");
        assert_eq!(print(&again), text);
        if bounds == Bounds::NONE {
            let all = scalar.aliases().iter().copied().chain([scalar.keyword()]);
            all.for_each(|name| assert!(names.insert(name), "{name} is a name of two scalars"));
        }
    }
    let words: BTreeSet<_> = Scalar::ALL.iter().map(|scalar| scalar.json_name()).collect();
    assert_eq!(words.len(), Scalar::ALL.len());
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_reference_and_the_grammar_name_every_scalar() {
    let reference = fs::read_to_string(root().join("docs/language.md")).expect("the reference");
    let grammar = fs::read_to_string(root().join("editors/vscode/syntaxes/keyform.tmLanguage.json"));
    let grammar = grammar.expect("the grammar");
    let is_word = |text: &str, word: &str| {
        text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').any(|other| other == word)
    };
    for scalar in Scalar::ALL {
        let keyword = scalar.keyword();
        assert!(reference.contains(&format!("`{keyword}`")), "docs/language.md lacks {keyword}");
        assert!(is_word(&grammar, keyword), "the grammar lacks {keyword}");
    }
}

/// Files that name a scalar, because a value there has that type whatever other scalars exist.
const NAMED: [(&str, &str); 13] = [
    ("language/src/schema/field.rs", "a `string` is the only text without any form"),
    ("language/src/schema/limit.rs", "the operand of a count is an `int`"),
    ("check/src/rules/data/site.rs", "types of literals and functions"),
    ("language/src/schema/resolve/expression.rs", "types of literals and functions"),
    ("language/src/schema/resolve/value_path.rs", "a count is an `int`"),
    ("language/src/bind/condition.rs", "a condition is a `bool`"),
    ("language/src/bind/evaluate.rs", "`today()` is a `date`"),
    ("language/src/bind/sample.rs", "generated ids and the time of a call"),
    ("runtime/src/evolve/form.rs", "an attribute without a declared type is a `string`"),
    ("prove/src/world.rs", "generated ids"),
    ("src/typed/id.rs", "Rust types of ids"),
    ("src/typed/time.rs", "Rust types of times"),
    ("export.rs", "the time of an export"),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("a folder can be listed").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn only_the_files_of_scalars_distinguish_them() {
    let mut files = Vec::new();
    for entry in fs::read_dir(root().join("crates")).expect("the crates") {
        sources(&entry.expect("a crate").path().join("src"), &mut files);
    }
    assert!(files.len() > 100, "the sources are there");
    let names: Vec<String> = Scalar::ALL.iter().map(|scalar| format!("Scalar::{scalar:?}")).collect();
    let is_named = |line: &str| {
        let ends = |rest: &str| !rest.starts_with(|letter: char| letter.is_alphanumeric() || letter == '(');
        names.iter().any(|name| line.match_indices(name.as_str()).any(|(at, _)| ends(&line[at + name.len()..])))
    };
    for file in files.iter().filter(|file| !file.to_string_lossy().contains("language/src/scalar/")) {
        let text = fs::read_to_string(file).expect("a source file can be read");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let is_known = NAMED.iter().any(|(known, _)| file.to_string_lossy().ends_with(known));
        // `template/laws.rs` is a module of tests.
        let is_test = file.ends_with("template/laws.rs");
        for line in code.lines().filter(|line| !is_test && is_named(line)) {
            let arm = line.split_once("=>").map_or("", |(pattern, _)| pattern);
            let place = file.display();
            assert!(is_known, "{place} names a scalar; ask for a facet instead: {line}");
            assert!(!is_named(arm), "{place} matches on a scalar; ask for a facet instead: {line}");
        }
    }
}
