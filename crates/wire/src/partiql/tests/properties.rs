//! Properties that hold for arbitrary texts and values.

use keyform_core::statement::Statement;
use keyform_core::{AttributeValue, Number};
use proptest::prelude::*;

use super::super::parse;

/// Formats a value as a literal; binaries have no literal form.
fn literal(value: &AttributeValue) -> String {
    match value {
        AttributeValue::S(text) => quoted(text),
        AttributeValue::N(number) => number.to_string(),
        AttributeValue::B(_) | AttributeValue::Bs(_) => "null".to_owned(),
        AttributeValue::Bool(value) => value.to_string(),
        AttributeValue::Null => "null".to_owned(),
        AttributeValue::L(values) => format!("[{}]", joined(values.iter().map(literal))),
        AttributeValue::M(map) => {
            let entries = map.iter().map(|(name, value)| format!("{}: {}", quoted(name), literal(value)));
            format!("{{{}}}", joined(entries))
        }
        AttributeValue::Ss(set) => format!("<<{}>>", joined(set.iter().map(|text| quoted(text)))),
        AttributeValue::Ns(set) => format!("<<{}>>", joined(set.iter().map(Number::to_string))),
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

fn number() -> impl Strategy<Value = Number> {
    (any::<i64>(), -100i32..100).prop_map(|(digits, exponent)| format!("{digits}e{exponent}").parse().unwrap())
}

fn value() -> impl Strategy<Value = AttributeValue> {
    let leaf = prop_oneof![
        any::<String>().prop_map(AttributeValue::S),
        number().prop_map(AttributeValue::N),
        any::<bool>().prop_map(AttributeValue::Bool),
        Just(AttributeValue::Null),
        prop::collection::btree_set(any::<String>(), 1..4).prop_map(AttributeValue::Ss),
        prop::collection::btree_set(number(), 1..4).prop_map(AttributeValue::Ns),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(AttributeValue::L),
            prop::collection::btree_map(".{1,8}", inner, 0..4).prop_map(AttributeValue::M),
        ]
    })
}

/// Random sequences of the language's words, so that parsing gets beyond the first token.
fn soup() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "SELECT",
        "*",
        "FROM",
        "T",
        "WHERE",
        "a",
        "=",
        "1",
        "AND",
        "OR",
        "NOT",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "<<",
        ">>",
        ",",
        ".",
        ":",
        "'x'",
        "\"y\"",
        "?",
        "IN",
        "BETWEEN",
        "IS",
        "MISSING",
        "NULL",
        "UPDATE",
        "SET",
        "REMOVE",
        "DELETE",
        "INSERT",
        "INTO",
        "VALUE",
        "RETURNING",
        "ALL",
        "OLD",
        "ORDER",
        "BY",
        "DESC",
        "size",
        "begins_with",
        "EXISTS",
        "-",
        "+",
        "<",
        "<>",
        "`i`",
        ";",
        "set_add",
        "list_append",
        "1e126",
    ]);
    prop::collection::vec(words, 0..40).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn a_printed_literal_is_read_back(value in value()) {
        let statement = format!("INSERT INTO T VALUE {{'v': {}}}", literal(&value));
        let expected = Statement::Insert { table: "T".to_owned(), item: [("v".to_owned(), value)].into() };
        prop_assert_eq!(parse(&statement, None), Ok(expected));
    }

    #[test]
    fn no_text_makes_it_panic(text in any::<String>()) {
        drop(parse(&text, None));
    }

    #[test]
    fn no_order_of_words_makes_it_panic(text in soup()) {
        drop(parse(&text, Some(vec![AttributeValue::Null; 8])));
        drop(parse(&format!("SELECT * FROM T WHERE {text}"), Some(vec![AttributeValue::Null; 8])));
        drop(parse(&format!("UPDATE T SET {text} WHERE a = 1"), Some(vec![AttributeValue::Null; 8])));
    }
}
