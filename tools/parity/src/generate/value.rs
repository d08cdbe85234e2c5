//! Random attribute values, items and attribute names.

use serde_json::{Map, Value, json};

use crate::random::Random;
use crate::world::{Table, key_value};

/// Attribute names that need no placeholder.
pub const PLAIN: [&str; 8] = ["a", "b", "doc", "lst", "tags", "nums", "cnt", "txt"];
/// Names that are reserved words and need a placeholder.
pub const RESERVED: [&str; 4] = ["name", "status", "Data", "size"];

/// Returns a random number as text, in one of its many forms.
pub fn number(random: &mut Random) -> String {
    const SPECIAL: [&str; 14] = [
        "0",
        "-0",
        "1",
        "1.0",
        "-1",
        "007",
        "1e3",
        "2.50",
        "-3.14",
        "99999999999999999999999999999999999999",
        "1e-130",
        "9.9e125",
        "0.000001",
        "12345678901234567890.123456789012345678",
    ];
    if random.percent(40) { random.word(&SPECIAL).to_owned() } else { random.below(20).to_string() }
}

/// Returns a random number that stays in range when it is added to another.
pub fn small_number(random: &mut Random) -> Value {
    json!({"N": random.word(&["0", "1", "-1", "2.50", "1e3", "7", "-3.14", "0.000001", "12"])})
}

fn text(random: &mut Random) -> String {
    const TEXTS: [&str; 9] = ["", "x", "abc", "abcdef", "Zürich", "𝄞☃", "a b", "10", "\"quoted\" \\ \n"];
    random.word(&TEXTS).to_owned()
}

fn binary(random: &mut Random) -> &'static str {
    random.word(&["", "AA==", "AAECAw==", "/////w==", "aGVsbG8="])
}

/// Returns a random value of any type; documents nest up to the remaining depth.
pub fn value(random: &mut Random, depth: usize) -> Value {
    let kinds: &[usize] = if depth == 0 { &[5, 5, 2, 2, 1] } else { &[5, 5, 2, 2, 1, 3, 3, 2, 2, 1] };
    match random.weighted(kinds) {
        0 => json!({"S": text(random)}),
        1 => json!({"N": number(random)}),
        2 => json!({"B": binary(random)}),
        3 => json!({"BOOL": random.percent(50)}),
        4 => json!({"NULL": true}),
        5 => json!({"L": (0..random.below(4)).map(|_| value(random, depth - 1)).collect::<Vec<_>>()}),
        6 => json!({"M": document(random, depth - 1)}),
        7 => string_set(random),
        8 => number_set(random),
        _ => json!({"BS": (["AA==", "AAE=", "/w=="][..random.between(1, 3)]).to_vec()}),
    }
}

fn document(random: &mut Random, depth: usize) -> Map<String, Value> {
    (0..random.below(4)).map(|_| (random.word(&["x", "y", "z"]).to_owned(), value(random, depth))).collect()
}

/// Returns a random set of strings.
pub fn string_set(random: &mut Random) -> Value {
    let (from, count) = (random.below(3), random.between(1, 3));
    json!({"SS": (from..from + count).map(|n| ["a", "b", "c", "d", "e"][n]).collect::<Vec<_>>()})
}

/// Returns a random set of numbers.
pub fn number_set(random: &mut Random) -> Value {
    let (from, count) = (random.below(3), random.between(1, 3));
    json!({"NS": (from..from + count).map(|n| ["1", "2.5", "3", "40", "-5"][n]).collect::<Vec<_>>()})
}

/// Returns the attributes of a random item without its key. Each name usually has the same type, so that expressions on
/// it often make sense.
pub fn attributes(random: &mut Random, table: &Table) -> Map<String, Value> {
    let mut found = Map::new();
    for _ in 0..random.below(6) {
        let name = if random.percent(85) { random.word(&PLAIN) } else { random.word(&RESERVED) };
        found.insert((*name).to_owned(), usual_value(random, name));
    }
    for key in table.index_attributes() {
        if random.percent(60) {
            found.insert(key.name, key_value(random, key.kind, 4));
        }
    }
    found
}

fn usual_value(random: &mut Random, name: &str) -> Value {
    if random.percent(20) {
        return value(random, 2);
    }
    match name {
        "doc" => {
            json!({"M": {"x": {"N": "1"}, "y": {"L": [{"S": "p"}, {"M": {"z": {"N": "2"}}}]}, "z": value(random, 1)}})
        }
        "lst" => json!({"L": [{"N": "1"}, {"S": "two"}, value(random, 1), {"M": {"x": {"BOOL": true}}}]}),
        "tags" => string_set(random),
        "nums" => number_set(random),
        "cnt" => small_number(random),
        "txt" => json!({"S": text(random)}),
        _ => value(random, 2),
    }
}

/// Returns a random item of a table with its key.
pub fn item(random: &mut Random, table: &Table) -> (Value, Value) {
    let key = table.random_key(random);
    let mut item = attributes(random, table);
    if let Value::Object(key) = &key {
        item.extend(key.clone());
    }
    (Value::Object(item), key)
}
