//! Random values, keys and items.

use std::collections::BTreeSet;

use keyform_core::table::ScalarType;
use keyform_core::{AttributeValue, Attributes, Number};

use super::table::Design;
use crate::proof::random::Random;

const TEXTS: [&str; 8] = ["a", "a\u{0}", "a\u{0}b", "ab", "b", "é", "zebra", "\u{10ffff}"];
const NUMBERS: [&str; 10] =
    ["-125.5", "-1", "0", "0.001", "1", "2", "10", "1e20", "-1e-20", "12345678901234567890123456789012345678"];
const BINARIES: [&[u8]; 7] = [&[0], &[0, 0], &[0, 1], &[1], &[0, 255], &[255], &[255, 255]];

/// Initial time of simulations.
pub const START_MS: u64 = 1_700_000_000_500;

/// Returns a value that is valid for a key attribute of that type.
pub fn key_value(random: &mut Random, kind: ScalarType) -> AttributeValue {
    match kind {
        ScalarType::S => AttributeValue::from(*random.pick(&TEXTS)),
        ScalarType::N => AttributeValue::N(number(random)),
        ScalarType::B => AttributeValue::B(random.pick(&BINARIES).to_vec()),
    }
}

fn number(random: &mut Random) -> Number {
    random.pick(&NUMBERS).parse().expect("the numbers are written correctly")
}

/// Returns a value of any type.
pub fn any_value(random: &mut Random, depth: usize) -> AttributeValue {
    match random.below(if depth > 0 { 10 } else { 8 }) {
        0 => AttributeValue::from(*random.pick(&["", "a", "ab", "b", "zebra"])),
        1 => AttributeValue::N(number(random)),
        2 => AttributeValue::B(random.pick(&[&[][..], &[0], &[0, 1], &[255]]).to_vec()),
        3 => AttributeValue::Bool(random.percent(50)),
        4 => AttributeValue::Null,
        5 => AttributeValue::Ss(random.some(1, 3, |random| (*random.pick(&TEXTS)).to_owned()).into_iter().collect()),
        6 => AttributeValue::Ns(random.some(1, 3, number).into_iter().collect()),
        7 => AttributeValue::Bs(random.some(1, 3, |random| random.pick(&BINARIES).to_vec()).into_iter().collect()),
        8 => AttributeValue::L(random.some(0, 4, |random| any_value(random, depth - 1))),
        _ => AttributeValue::M(map(random, depth - 1)),
    }
}

fn map(random: &mut Random, depth: usize) -> Attributes {
    random
        .some(0, 3, |random| ((*random.pick(&["x", "y", "z"])).to_owned(), any_value(random, depth)))
        .into_iter()
        .collect()
}

/// Returns a typical value of the attribute with that name.
pub fn usual_value(random: &mut Random, design: &Design, name: &str) -> AttributeValue {
    if let Some(kind) = design.kinds.get(name) {
        let odd = random.percent(3);
        return if odd { any_value(random, 1) } else { key_value(random, *kind) };
    }
    match name {
        "a" => AttributeValue::from(random.below(20) as i64 - 5),
        "b" => AttributeValue::from(*random.pick(&["", "a", "abc", "zebra"])),
        "l" => AttributeValue::L(random.some(0, 4, |random| any_value(random, 1))),
        "m" => AttributeValue::M(map(random, 2)),
        "s" => set(random),
        "t" => expiry(random),
        "u" if design.large && random.percent(60) => AttributeValue::S("u".repeat(random.between(1, 410) * 1000)),
        _ => any_value(random, 3),
    }
}

/// Returns a set of strings, numbers or binaries, most often of strings.
pub fn set(random: &mut Random) -> AttributeValue {
    let texts: BTreeSet<String> =
        random.some(1, 3, |random| (*random.pick(&["x", "y", "z"])).to_owned()).into_iter().collect();
    match random.below(8) {
        0 => AttributeValue::Ns(random.some(1, 3, number).into_iter().collect()),
        1 => AttributeValue::Bs(random.some(1, 3, |random| random.pick(&BINARIES).to_vec()).into_iter().collect()),
        _ => AttributeValue::Ss(texts),
    }
}

/// Returns an expiry time near the time of the simulation, sometimes an invalid one.
fn expiry(random: &mut Random) -> AttributeValue {
    match random.below(10) {
        0 => AttributeValue::from("soon"),
        1 => AttributeValue::from(-5),
        _ => AttributeValue::from((START_MS / 1000) as i64 - 1000 + random.below(20_000) as i64),
    }
}

/// Returns the key of an item that is likely to exist; sometimes one that does not match the table.
pub fn key(random: &mut Random, design: &Design) -> Attributes {
    let mut key = good_key(random, design);
    if random.percent(2) {
        spoil(random, &mut key);
    }
    key
}

/// Returns a key that matches the table.
pub fn good_key(random: &mut Random, design: &Design) -> Attributes {
    let names = design.create.key.attributes();
    names.map(|name| (name.clone(), key_value(random, design.kinds[name]))).collect()
}

fn spoil(random: &mut Random, key: &mut Attributes) {
    let name = if key.contains_key("sk") && random.percent(50) { "sk" } else { "pk" };
    match random.below(4) {
        0 => {
            key.remove(name);
        }
        1 => {
            key.insert(name.to_owned(), AttributeValue::Bool(true));
        }
        2 => {
            key.insert("more".to_owned(), AttributeValue::Null);
        }
        _ => match key.get_mut(name) {
            Some(AttributeValue::S(text)) => text.clear(),
            Some(AttributeValue::B(bytes)) => bytes.clear(),
            _ => {}
        },
    }
}

/// Returns an item with some of the usual attributes.
pub fn item(random: &mut Random, design: &Design) -> Attributes {
    let mut item = key(random, design);
    for name in ["g1", "g2", "g3", "l1", "l2"].iter().chain(&super::table::PLAIN) {
        if random.percent(55) {
            item.insert((*name).to_owned(), usual_value(random, design, name));
        }
    }
    item
}
