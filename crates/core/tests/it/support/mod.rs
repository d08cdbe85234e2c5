//! Shared helpers of the expression tests: a short notation for values, and default placeholders.

pub mod generate;

use std::collections::{BTreeMap, BTreeSet};

use keyform_core::expression::Substitutions;
use keyform_core::{AttributeValue, Attributes, Item, Number};

/// Parses a value in the test notation: `5`, `"text"`, `b"bytes"`, `true`, `null`, `[…]`, `{name: …}`, `<1 2>`,
/// `<"a" "b">`.
pub fn value(text: &str) -> AttributeValue {
    let mut reader = Reader { rest: text };
    let value = reader.value();
    assert!(reader.rest.trim().is_empty(), "left over in {text}: {}", reader.rest);
    value
}

/// Parses an item in the same notation, without the outer braces.
pub fn attributes(text: &str) -> Attributes {
    match value(&format!("{{{text}}}")) {
        AttributeValue::M(attributes) => attributes,
        other => panic!("no item: {other:?}"),
    }
}

/// Parses and encodes an item.
pub fn item(text: &str) -> Item {
    Item::from(&attributes(text))
}

/// Builds placeholders for a text: each `#x` stands for `x` (and `#x_y` for `x.y`), each `:…`
/// for its entry in `values`.
pub fn substitutions(text: &str, values: &str) -> Substitutions {
    let names: BTreeMap<String, String> =
        placeholders(text, '#').map(|name| (name.to_owned(), name[1..].replace('_', "."))).collect();
    let values: BTreeMap<String, AttributeValue> =
        attributes(values).into_iter().map(|(name, value)| (format!(":{name}"), value)).collect();
    Substitutions::new(Some(names).filter(|map| !map.is_empty()), Some(values).filter(|map| !map.is_empty()))
        .expect("the placeholders of a test are valid")
}

fn placeholders(text: &str, sigil: char) -> impl Iterator<Item = &str> {
    text.match_indices(sigil).map(move |(start, _)| {
        let rest = &text[start + 1..];
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        &text[start..=start + length]
    })
}

struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    fn value(&mut self) -> AttributeValue {
        self.rest = self.rest.trim_start();
        if self.take("b\"") {
            return AttributeValue::B(self.until('"').as_bytes().to_vec());
        }
        if self.take("\"") {
            return AttributeValue::S(self.until('"').to_owned());
        }
        if self.take("[") {
            return AttributeValue::L(self.many("]", Self::value));
        }
        if self.take("{") {
            return AttributeValue::M(self.many("}", Self::entry).into_iter().collect());
        }
        if self.take("<") {
            return set(self.many(">", Self::value));
        }
        match self.word() {
            "true" => AttributeValue::Bool(true),
            "false" => AttributeValue::Bool(false),
            "null" => AttributeValue::Null,
            number => AttributeValue::N(number.parse::<Number>().unwrap_or_else(|e| panic!("{number}: {e:?}"))),
        }
    }

    fn entry(&mut self) -> (String, AttributeValue) {
        self.rest = self.rest.trim_start();
        let name = if self.take("\"") { self.until('"') } else { self.word() };
        self.rest = self.rest.trim_start();
        assert!(self.take(":"), "no colon after {name}: {}", self.rest);
        (name.to_owned(), self.value())
    }

    fn many<T>(&mut self, end: &str, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let mut found = Vec::new();
        loop {
            self.rest = self.rest.trim_start_matches([' ', ',', '\n']);
            if self.take(end) {
                return found;
            }
            found.push(one(self));
        }
    }

    fn take(&mut self, prefix: &str) -> bool {
        let rest = self.rest.strip_prefix(prefix);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn until(&mut self, end: char) -> &'t str {
        let (found, rest) = self.rest.split_once(end).expect("the text ends");
        self.rest = rest;
        found
    }

    fn word(&mut self) -> &'t str {
        let end = self.rest.find([' ', ',', ':', ']', '}', '>', '\n']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }
}

fn set(elements: Vec<AttributeValue>) -> AttributeValue {
    let mut strings = BTreeSet::new();
    let mut numbers = BTreeSet::new();
    let mut binaries = BTreeSet::new();
    for element in elements {
        match element {
            AttributeValue::S(text) => drop(strings.insert(text)),
            AttributeValue::N(number) => drop(numbers.insert(number)),
            AttributeValue::B(bytes) => drop(binaries.insert(bytes)),
            other => panic!("no element of a set: {other:?}"),
        }
    }
    match (strings.is_empty(), numbers.is_empty()) {
        (false, _) => AttributeValue::Ss(strings),
        (_, false) => AttributeValue::Ns(numbers),
        _ => AttributeValue::Bs(binaries),
    }
}
