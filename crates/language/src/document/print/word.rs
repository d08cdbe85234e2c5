//! Names, texts, numbers with their units.

use super::super::ast::{Allow, Name, Rate, RateUnit, Text};
use super::super::lexer::{begins_word, continues_word};
use super::super::parse::RESERVED;

/// A name, in backticks if it is no word.
pub(super) fn name(name: &Name) -> String {
    if is_word(&name.text) { name.text.clone() } else { format!("`{}`", name.text) }
}

/// A name where these words mean something else.
pub(super) fn name_unless(name: &Name, words: &[&str]) -> String {
    if is_word(&name.text) && !words.contains(&name.text.as_str()) {
        name.text.clone()
    } else {
        format!("`{}`", name.text)
    }
}

/// A name within or behind an expression, where these words and the operators mean something else.
pub(super) fn name_in_expression(name: &Name, words: &[&str]) -> String {
    if RESERVED.contains(&name.text.as_str()) { format!("`{}`", name.text) } else { name_unless(name, words) }
}

/// Names with commas between them.
pub(super) fn names(all: &[Name]) -> String {
    all.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn is_word(text: &str) -> bool {
    text.starts_with(begins_word) && text.chars().all(continues_word)
}

/// A text in quotes.
pub(super) fn text(text: &Text) -> String {
    quoted(&text.text)
}

/// A text in quotes, with its escapes.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for next in text.chars() {
        match next {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

/// `allow CODE "reason"`
pub(super) fn allow(allow: &Allow) -> String {
    format!("allow {} {}", name_in_expression(&allow.code, &[]), text(&allow.reason))
}

/// `1500`, `20K`, `1.5M`
pub(super) fn count(count: u64) -> String {
    for (unit, size) in [("G", 1_000_000_000), ("M", 1_000_000)] {
        if count >= size && count.is_multiple_of(size / 10) {
            let tenths = count % size / (size / 10);
            let fraction = if tenths == 0 { String::new() } else { format!(".{tenths}") };
            return format!("{}{fraction}{unit}", count / size);
        }
    }
    if count >= 1_000 && count.is_multiple_of(1_000) { format!("{}K", count / 1_000) } else { count.to_string() }
}

/// `600 bytes`, `4 KB`
pub(super) fn size(bytes: u64) -> String {
    for (unit, size) in [("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)] {
        if bytes >= size && bytes.is_multiple_of(size) {
            return format!("{} {unit}", bytes / size);
        }
    }
    format!("{bytes} bytes")
}

/// `30d`, in the greatest unit that gives a whole number.
pub(super) fn duration(secs: u64) -> String {
    for (unit, size) in [("d", 86_400), ("h", 3_600), ("m", 60)] {
        if secs >= size && secs.is_multiple_of(size) {
            return format!("{}{unit}", secs / size);
        }
    }
    format!("{secs}s")
}

/// `400/s`
pub(super) fn rate(rate: &Rate) -> String {
    let unit = match rate.per {
        RateUnit::Second => "s",
        RateUnit::Minute => "min",
        RateUnit::Hour => "hour",
        RateUnit::Day => "day",
    };
    format!("{}/{unit}", rate.count)
}
