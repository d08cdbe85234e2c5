//! Deterministic sample values: equal for the same type, name and index, so that documents and findings do not change
//! between runs.

use crate::document::ast::Bounds;
use crate::schema::{Field, Type};

use super::clock;
use super::render::accepts;

/// 2026-03-14T09:26:53.589Z
const MOMENT_MILLIS: i64 = 1_773_480_413_589;
const MINUTE_MILLIS: i64 = 60_000;
const DAY_MILLIS: i64 = 86_400_000;

/// Returns a sample value for a field; different for each `number` where the type has enough values. A type that cannot
/// be part of a key yields `{}`.
#[must_use]
pub fn value(field: &Field, number: usize) -> String {
    of_type(&field.kind, &field.name, number)
}

/// Returns a sample value for a type, with a word that makes free text readable.
#[must_use]
pub fn of_type(kind: &Type, word: &str, number: usize) -> String {
    let count = i64::try_from(number).unwrap_or(0);
    let moment = MOMENT_MILLIS + count * MINUTE_MILLIS;
    match kind.resolved() {
        Type::String(bounds) => text(*bounds, word, number),
        Type::Slug(bounds) => text(*bounds, &word.to_lowercase(), number),
        Type::Binary(bounds) => text(*bounds, word, number),
        Type::Int(bounds) => int(*bounds, count).to_string(),
        Type::Number => format!("{}.5", 10 + count),
        Type::Money => (1_500_000_000 + count).to_string(),
        Type::Bool => number.is_multiple_of(2).to_string(),
        Type::Ulid => format!("01KKP2T8SN{}", base32(&format!("{word}{number}"), 16)),
        Type::Uuid => uuid(&format!("{word}{number}")),
        Type::Email => ["ada@example.com", "grace@example.com", "alan@example.com"][number % 3].to_owned(),
        Type::Url => {
            format!("https://example.com/{}", if number == 0 { word.to_owned() } else { format!("{word}-{number}") })
        }
        Type::Timestamp => clock::timestamp(moment),
        Type::Datetime => format!("{}Z", clock::timestamp(moment).split('.').next().unwrap_or_default()),
        Type::Epoch => (moment / 1000).to_string(),
        Type::EpochMs => moment.to_string(),
        Type::Date => {
            clock::timestamp(MOMENT_MILLIS + count * DAY_MILLIS).split('T').next().unwrap_or_default().to_owned()
        }
        Type::OneOf(texts) => texts.get(number % texts.len().max(1)).cloned().unwrap_or_default(),
        Type::List(..) | Type::Set(..) => "[]".to_owned(),
        Type::Map(..) | Type::Json | Type::Record(_) | Type::Ref { .. } | Type::Copy { .. } | Type::Unknown => {
            "{}".to_owned()
        }
    }
}

/// Sample words for field names, which read better than the name itself.
const WORDS: [(&str, [&str; 3]); 8] = [
    ("username", ["ada", "grace", "alan"]),
    ("name", ["Ada", "Grace", "Alan"]),
    ("title", ["First steps", "Second thoughts", "Third time"]),
    ("content", ["Hello, world!", "How are you?", "Fine, thanks."]),
    ("description", ["A short description", "Another one", "A third"]),
    ("code", ["q7x2m9kd", "p4w8n1zc", "t6b3h5ve"]),
    ("hash", ["9f86d081884c7d65", "60303ae22b998861", "fd61a03af4f77d87"]),
    ("token", ["Zx8Qm2Lp0Rt5", "Vb7Nc3Kd9Wy1", "Hj4Gf6Sa2Xe8"]),
];

fn text(bounds: Bounds, word: &str, number: usize) -> String {
    let lower = word.to_lowercase();
    let known = WORDS.iter().find(|(end, _)| lower.ends_with(end)).map(|(_, words)| words[number % 3].to_owned());
    let plain = known.unwrap_or_else(|| if number == 0 { word.to_owned() } else { format!("{word}-{number}") });
    fitted(bounds, &plain)
}

/// Truncates or repeats the string until its length is within the bounds.
fn fitted(bounds: Bounds, text: &str) -> String {
    let min = bounds.min.and_then(|min| usize::try_from(min).ok()).unwrap_or(0);
    let max = bounds.max.and_then(|max| usize::try_from(max).ok()).unwrap_or(usize::MAX);
    let length = text.chars().count().clamp(min, max.max(min));
    text.chars().cycle().take(if text.is_empty() { 0 } else { length }).collect()
}

fn int(bounds: Bounds, count: i64) -> i64 {
    let wanted = bounds.min.unwrap_or(0).max(0).saturating_add(count + 1);
    let kind = Type::Int(bounds);
    [wanted, bounds.max.unwrap_or(wanted), bounds.min.unwrap_or(0)]
        .into_iter()
        .find(|number| accepts(&kind, &number.to_string()))
        .unwrap_or_default()
}

/// Returns `count` characters of Crockford's alphabet, derived from a seed.
fn base32(seed: &str, count: usize) -> String {
    const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    bits(seed).take(count).map(|bits| char::from(ALPHABET[(bits % 32) as usize])).collect()
}

fn uuid(seed: &str) -> String {
    let digit = |bits: u64| char::from_digit((bits % 16) as u32, 16).unwrap_or('0');
    let digits: Vec<char> = bits(seed).take(32).map(digit).collect();
    let group = |from: usize, to: usize| digits[from..to].iter().collect::<String>();
    format!("{}-{}-4{}-a{}-{}", group(0, 8), group(8, 12), group(13, 16), group(17, 20), group(20, 32))
}

/// Returns an infinite pseudorandom sequence that depends only on the seed.
fn bits(seed: &str) -> impl Iterator<Item = u64> {
    let mut state = seed
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_values_of_their_type() {
        let bounds = |min, max| Bounds { min: Some(min), max: Some(max) };
        let kinds = [
            Type::String(bounds(1, 4)),
            Type::String(bounds(40, 50)),
            Type::Slug(bounds(3, 63)),
            Type::Int(bounds(5, 7)),
            Type::Int(bounds(-9, -3)),
            Type::Number,
            Type::Money,
            Type::Bool,
            Type::Ulid,
            Type::Uuid,
            Type::Email,
            Type::Url,
            Type::Timestamp,
            Type::Datetime,
            Type::Epoch,
            Type::EpochMs,
            Type::Date,
            Type::OneOf(vec!["a".into(), "b".into()]),
        ];
        for kind in kinds {
            for number in 0..5 {
                let value = of_type(&kind, "orderId", number);
                assert!(accepts(&kind, &value), "{value} of {kind:?}");
                assert_eq!(value, of_type(&kind, "orderId", number));
            }
        }
    }
}
