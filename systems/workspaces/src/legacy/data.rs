//! Generated records of the old form: two years of pages and notes saved by a browser extension.
//!
//! A record depends only on its seed and its number, and the data is as uneven as real data: most records are short, a
//! few very long; some are saved at the same time, others days apart; titles use several scripts.

use keyform::Uuid;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// Number of records to generate, and their seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount {
    /// Number of items.
    pub items: usize,
    /// Number of settings.
    pub settings: usize,
    /// Number of members.
    pub members: usize,
    /// Seed of the generator.
    pub seed: u64,
}

impl Default for Amount {
    /// Returns the size of a workspace in the decision record.
    fn default() -> Self {
        Self { items: 200, settings: 10, members: 5, seed: 1 }
    }
}

/// Saved item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldItem {
    /// SHA-256 of the content in hexadecimal digits, which is the item's id.
    pub hash: String,
    /// Title, in one of several scripts.
    pub title: String,
    /// Text of the page or note.
    pub content: String,
    /// Time of saving, in milliseconds since 1970.
    pub saved_millis: i64,
    /// Time of completion, if completed, in milliseconds since 1970.
    pub done_millis: Option<i64>,
}

/// Setting of the installation.
#[derive(Clone, Debug, PartialEq)]
pub struct OldSetting {
    /// Key of the setting.
    pub name: String,
    /// JSON value of any type.
    pub value: Value,
    /// Time of the last change, in milliseconds since 1970.
    pub set_millis: i64,
}

/// User of the installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldMember {
    /// Person's id.
    pub user_id: Uuid,
    /// Time of joining, in milliseconds since 1970.
    pub added_millis: i64,
}

/// 2024-03-01.
const BEGINNING_MILLIS: i64 = 1_709_251_200_000;
const HOUR_MILLIS: u64 = 3_600_000;
/// Time span over which the items are spread.
const SPAN_MILLIS: i64 = 700 * 24 * 3_600_000;

const SUBJECTS: [&str; 16] = [
    "the history of the index card",
    "write-ahead logs",
    "sourdough",
    "the night train",
    "Kurosawa's editing",
    "type inference",
    "tomatoes on a balcony",
    "the cost of a cache miss",
    "letters of Emmy Noether",
    "a quiet keyboard",
    "how rivers meander",
    "bicycle brakes",
    "Αντικύθηρα",
    "日本の喫茶店",
    "l'été à Besançon",
    "queues in hospitals",
];
const OPENINGS: [&str; 8] =
    ["Notes on", "Read again:", "A talk about", "Why not", "To compare:", "Question on", "The best page on", "Draft:"];
const SENTENCES: [&str; 10] = [
    "The first part can be skipped.",
    "A reader in the comments has measured it.",
    "Ask Mira whether this is still true.",
    "The picture on page two is the point.",
    "It says the opposite of the book.",
    "Cheaper than it looks, if one waits until autumn.",
    "The code does not compile, the idea holds.",
    "Print this one.",
    "The author has changed their mind since.",
    "Compare with the older note.",
];
const SETTINGS: [&str; 12] = [
    "theme",
    "language",
    "sort-order",
    "page-size",
    "shortcuts",
    "notifications",
    "archive-after-days",
    "show-done",
    "export-format",
    "tags",
    "toolbar",
    "beta",
];

/// Deterministic random numbers (splitmix64).
struct Dice(u64);

impl Dice {
    /// Returns the generator of one record, independent of the number of records.
    fn of(seed: u64, kind: &str, number: usize) -> Self {
        let digest = Sha256::digest(format!("{seed} {kind} {number}"));
        Self(digest.iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, sides: u64) -> u64 {
        self.next() % sides
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        let place = self.below(words.len() as u64);
        words[usize::try_from(place).unwrap_or(0)]
    }
}

/// Generates an item. `of` is the total number: items are spread evenly over the time span.
#[must_use]
pub fn item(seed: u64, number: usize, of: usize) -> OldItem {
    let mut dice = Dice::of(seed, "item", number);
    let title = format!("{} {}", dice.pick(&OPENINGS), dice.pick(&SUBJECTS));
    let mut content = format!("https://example.com/{seed}/{number}\n");
    // A few items are whole articles; none exceeds the limit of the type.
    let sentences = if dice.below(40) == 0 { 200 + dice.below(200) } else { 1 + dice.below(12) };
    for _ in 0..sentences {
        content.push_str(dice.pick(&SENTENCES));
        content.push(' ');
    }
    // One item in ten is saved at the same time as the previous one.
    let turn = if dice.below(10) == 0 { number.saturating_sub(1) } else { number };
    let saved_millis =
        BEGINNING_MILLIS + SPAN_MILLIS / i64::try_from(of.max(1)).unwrap_or(1) * i64::try_from(turn).unwrap_or(0);
    let waited = i64::try_from(dice.below(2000 * HOUR_MILLIS)).unwrap_or(0);
    let done_millis = (dice.below(5) < 2).then_some(saved_millis + waited);
    OldItem { hash: hash(&content), title, content, saved_millis, done_millis }
}

/// Generates a setting.
#[must_use]
pub fn setting(seed: u64, number: usize) -> OldSetting {
    let mut dice = Dice::of(seed, "setting", number);
    let name = SETTINGS.get(number).map_or_else(|| format!("setting-{number}"), |name| (*name).to_owned());
    let value = match dice.below(5) {
        0 => json!(dice.below(2) == 0),
        1 => json!(dice.below(100)),
        2 => json!([dice.pick(&SUBJECTS), dice.pick(&SUBJECTS)]),
        3 => json!({ "save": "Alt+S", "order": dice.below(9) }),
        _ => json!(dice.pick(&SUBJECTS)),
    };
    OldSetting { name, value, set_millis: moment(&mut dice) }
}

/// Generates a member.
#[must_use]
pub fn member(seed: u64, number: usize) -> OldMember {
    let mut dice = Dice::of(seed, "member", number);
    OldMember { user_id: Uuid::of(&format!("{seed} member {number}")), added_millis: moment(&mut dice) }
}

fn moment(dice: &mut Dice) -> i64 {
    BEGINNING_MILLIS + i64::try_from(dice.below(1000 * HOUR_MILLIS)).unwrap_or(0)
}

fn hash(content: &str) -> String {
    hex::encode(Sha256::digest(content))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn records_are_the_same_each_time_and_differ_from_each_other() {
        let items: Vec<OldItem> = (0..500).map(|number| item(1, number, 500)).collect();
        assert_eq!(items[7], item(1, 7, 500));
        assert_ne!(items[7], item(2, 7, 500));
        let hashes: BTreeSet<&String> = items.iter().map(|item| &item.hash).collect();
        assert_eq!(hashes.len(), 500);
        let moments: BTreeSet<i64> = items.iter().map(|item| item.saved_millis).collect();
        assert!(moments.len() < 500, "some are saved in the same moment");
        assert!(items.iter().any(|item| item.content.len() > 5000));
        assert!(items.iter().all(|item| item.content.len() <= 20_000));
        assert!(items.iter().all(|item| item.done_millis.is_none_or(|done| done >= item.saved_millis)));
        assert_ne!(member(1, 0).user_id, member(1, 1).user_id);
    }
}
