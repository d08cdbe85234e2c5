//! Records of the old form, made up: what a browser extension that saves pages and notes has gathered over two years.
//!
//! They are always the same ones of a seed, whatever number is asked for, and as uneven as real ones: most are short, a few very long; people save
//! several things in the same moment, and nothing for days; titles are in several scripts.

use keyform::Uuid;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// How much there is to be, and of which seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount {
    /// Items.
    pub items: usize,
    /// Settings.
    pub settings: usize,
    /// Members.
    pub members: usize,
    /// Another seed gives other records.
    pub seed: u64,
}

impl Default for Amount {
    /// What the decision record says of a workspace.
    fn default() -> Self {
        Self { items: 200, settings: 10, members: 5, seed: 1 }
    }
}

/// A saved item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldItem {
    /// The SHA-256 of its content in hexadecimal digits: its identity.
    pub hash: String,
    /// Its title.
    pub title: String,
    /// Its content.
    pub content: String,
    /// When it was saved, in milliseconds since 1970.
    pub saved_millis: i64,
    /// When it was done with, if it was.
    pub done_millis: Option<i64>,
}

/// A setting.
#[derive(Clone, Debug, PartialEq)]
pub struct OldSetting {
    /// Its name.
    pub name: String,
    /// Its value, of any kind.
    pub value: Value,
    /// When it was set last.
    pub set_millis: i64,
}

/// Somebody who may use the installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldMember {
    /// The person.
    pub user_id: Uuid,
    /// Since when.
    pub added_millis: i64,
}

/// The first of March 2024.
const BEGINNING_MILLIS: i64 = 1_709_251_200_000;
const HOUR_MILLIS: u64 = 3_600_000;
/// Two years of items are spread over this time.
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
    "Somebody in the comments has measured it.",
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

/// Numbers that look random, and are the same each time (splitmix64).
struct Dice(u64);

impl Dice {
    /// Those of a record: they do not depend on how many others there are.
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

/// An item. `of` is how many there are in all: they are spread over the same two years.
#[must_use]
pub fn item(seed: u64, number: usize, of: usize) -> OldItem {
    let mut dice = Dice::of(seed, "item", number);
    let title = format!("{} {}", dice.pick(&OPENINGS), dice.pick(&SUBJECTS));
    let mut content = format!("https://example.com/{seed}/{number}\n");
    // A few are whole articles; nothing is longer than the type allows.
    let sentences = if dice.below(40) == 0 { 200 + dice.below(200) } else { 1 + dice.below(12) };
    for _ in 0..sentences {
        content.push_str(dice.pick(&SENTENCES));
        content.push(' ');
    }
    // One in ten is saved in the same moment as the one before it.
    let turn = if dice.below(10) == 0 { number.saturating_sub(1) } else { number };
    let saved_millis =
        BEGINNING_MILLIS + SPAN_MILLIS / i64::try_from(of.max(1)).unwrap_or(1) * i64::try_from(turn).unwrap_or(0);
    let waited = i64::try_from(dice.below(2000 * HOUR_MILLIS)).unwrap_or(0);
    let done_millis = (dice.below(5) < 2).then_some(saved_millis + waited);
    OldItem { hash: hash(&content), title, content, saved_millis, done_millis }
}

/// A setting.
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

/// A member.
#[must_use]
pub fn member(seed: u64, number: usize) -> OldMember {
    let mut dice = Dice::of(seed, "member", number);
    OldMember { user_id: Uuid::of(&format!("{seed} member {number}")), added_millis: moment(&mut dice) }
}

fn moment(dice: &mut Dice) -> i64 {
    BEGINNING_MILLIS + i64::try_from(dice.below(1000 * HOUR_MILLIS)).unwrap_or(0)
}

fn hash(content: &str) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
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
