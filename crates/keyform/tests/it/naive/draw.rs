//! Random values from a small pool, so that entities share them and calls collide.

use keyform::AttributeValue;
use keyform_language::bind::sample;
use keyform_language::scalar::Scalar;
use keyform_language::schema::Type;
use keyform_scenario::Dice;

/// Draws a value from a small pool; times are close together and shortly before `now_millis`.
pub fn value(kind: &Type, word: &str, now_millis: i64, dice: &mut Dice) -> AttributeValue {
    let text = |texts: &[&str], dice: &mut Dice| AttributeValue::from(texts[dice.below(texts.len())]);
    let millis = now_millis - 90_000_000 + [0, 1, 2, 999, 1000, 86_400_000, 90_000_000][dice.below(7)];
    match kind.resolved() {
        Type::Scalar(Scalar::Timestamp, _) => time(kind, millis),
        Type::Scalar(Scalar::Date, _) => time(kind, millis + 86_400_000 * dice.below(6) as i64),
        Type::Scalar(Scalar::Epoch | Scalar::EpochMs, _) => time(kind, millis + 1000 * dice.below(3) as i64),
        Type::Scalar(Scalar::Int, bounds) => {
            let low = bounds.min.unwrap_or(-10);
            AttributeValue::from(low + [0, 1, 2, 9, 10, 11][dice.below(6)])
        }
        Type::Scalar(Scalar::Email, _) => text(&["ada@example.com", "grace@example.com", " Ada@Example.com "], dice),
        Type::Scalar(Scalar::Slug, bounds) if bounds.min == Some(2) && bounds.max == Some(2) => {
            text(&["de", "en", "e-"], dice)
        }
        Type::Scalar(Scalar::Slug, bounds) if bounds.max.is_some_and(|max| max <= 4) => {
            text(&["a", "ab", "a-", "b"], dice)
        }
        Type::Scalar(Scalar::Slug, _) => text(&["a", "ab", "abc", "a-b", "b", "ba"], dice),
        Type::Scalar(Scalar::String, bounds)
            if bounds.max.is_none_or(|max| max >= 3) && bounds.min.is_none_or(|min| min <= 1) =>
        {
            text(&["a", "ab", "a b", "b"], dice)
        }
        _ => sample::value(kind, word, dice.below(20)),
    }
}

/// Formats a time as its type stores it.
fn time(kind: &Type, millis: i64) -> AttributeValue {
    let text = keyform_language::template::render::stored(kind.resolved(), millis).expect("a type of time");
    if kind.is_numeric() { AttributeValue::N(text.parse().expect("digits")) } else { AttributeValue::S(text) }
}
