//! Deterministic sample strings: equal for the same word and number, so that documents and findings do not change
//! between runs.

use super::Bounds;

/// Time of samples: 2026-03-14T09:26:53.589Z.
const MOMENT_MILLIS: i64 = 1_773_480_413_589;
const MINUTE_MILLIS: i64 = 60_000;
const DAY_MILLIS: i64 = 86_400_000;

/// Returns the time of a sample in milliseconds since 1970; samples are a minute apart.
pub(super) fn moment(number: usize) -> i64 {
    MOMENT_MILLIS + count(number) * MINUTE_MILLIS
}

/// Returns the time of a sample in milliseconds since 1970; samples are a day apart.
pub(super) fn day(number: usize) -> i64 {
    MOMENT_MILLIS + count(number) * DAY_MILLIS
}

/// Returns the number of a sample as a signed integer.
pub(super) fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(0)
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

/// Returns a text within the bounds.
pub(super) fn text(bounds: Bounds, word: &str, number: usize) -> String {
    let lower = word.to_lowercase();
    let known = WORDS.iter().find(|(end, _)| lower.ends_with(end)).map(|(_, words)| words[number % 3].to_owned());
    fitted(bounds, &known.unwrap_or_else(|| numbered(word, number)))
}

/// Returns the word, and the number unless it is 0.
pub(super) fn numbered(word: &str, number: usize) -> String {
    if number == 0 { word.to_owned() } else { format!("{word}-{number}") }
}

/// Truncates or repeats the string until its length is within the bounds.
pub(super) fn fitted(bounds: Bounds, text: &str) -> String {
    let min = bounds.min.and_then(|min| usize::try_from(min).ok()).unwrap_or(0);
    let max = bounds.max.and_then(|max| usize::try_from(max).ok()).unwrap_or(usize::MAX);
    let length = text.chars().count().clamp(min, max.max(min));
    text.chars().cycle().take(if text.is_empty() { 0 } else { length }).collect()
}

/// Returns `count` pseudorandom digits of `bits` bits each, as one number that depends only on the word and the number.
pub(super) fn digits(word: &str, number: usize, count: usize, bits: u32) -> u128 {
    let seed = format!("{word}{number}");
    pseudorandom(&seed).take(count).fold(0, |digits, drawn| (digits << bits) | (u128::from(drawn) % (1 << bits)))
}

/// Returns an infinite sequence that depends only on the seed.
fn pseudorandom(seed: &str) -> impl Iterator<Item = u64> {
    let mut state = seed
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    })
}

/// Returns the assumed mean length of a string within the bounds; the upper bound defaults to 100 characters.
pub(super) fn mean_length(bounds: Bounds) -> u64 {
    const UNBOUNDED: u64 = 100;
    let most = bounds.max.map_or(UNBOUNDED, i64::unsigned_abs).min(400);
    let least = bounds.min.map_or(0, i64::unsigned_abs);
    (least + (most - least.min(most)) / 2).max(1)
}
