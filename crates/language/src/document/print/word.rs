//! Formats names, strings, and numbers with units.

use super::super::ast::{Allow, Name, Rate, RateUnit, Text, Unscoped};
use super::super::lexer::{begins_word, continues_word};
use super::super::parse::RESERVED;

/// Formats a name, in backticks if it is not a plain word.
pub(super) fn name(name: &Name) -> String {
    if is_word(&name.text) { name.text.clone() } else { format!("`{}`", name.text) }
}

/// Formats a name, in backticks where these words have another meaning.
pub(super) fn name_unless(name: &Name, words: &[&str]) -> String {
    if is_word(&name.text) && !words.contains(&name.text.as_str()) {
        name.text.clone()
    } else {
        format!("`{}`", name.text)
    }
}

/// Formats a name within or after an expression, in backticks where these words or the operators have another meaning.
pub(super) fn name_in_expression(name: &Name, words: &[&str]) -> String {
    if RESERVED.contains(&name.text.as_str()) { format!("`{}`", name.text) } else { name_unless(name, words) }
}

/// Formats names separated by commas.
pub(super) fn names(all: &[Name]) -> String {
    all.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn is_word(text: &str) -> bool {
    text.starts_with(begins_word) && text.chars().all(continues_word)
}

/// Formats a string in quotes.
pub(super) fn text(text: &Text) -> String {
    quoted(&text.text)
}

/// Formats a string in quotes, with escapes.
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

/// Formats `allow CODE "reason"`.
pub(super) fn allow(allow: &Allow) -> String {
    format!("allow {} {}", name_in_expression(&allow.code, &["held"]), text(&allow.reason))
}

/// Formats `unscoped ENTITY "reason"`.
pub(super) fn unscoped(unscoped: &Unscoped) -> String {
    format!("unscoped {} {}", name(&unscoped.entity), text(&unscoped.reason))
}

/// Formats a count: `1500`, `20K`, `1.5M`.
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

/// Formats a size: `600 bytes`, `4 KB`.
pub(super) fn size(bytes: u64) -> String {
    for (unit, size) in [("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)] {
        if bytes >= size && bytes.is_multiple_of(size) {
            return format!("{} {unit}", bytes / size);
        }
    }
    format!("{bytes} bytes")
}

/// Formats a duration in the largest unit that gives a whole number: `30d`.
pub(super) fn duration(secs: u64) -> String {
    for (unit, size) in [("d", 86_400), ("h", 3_600), ("m", 60)] {
        if secs >= size && secs.is_multiple_of(size) {
            return format!("{}{unit}", secs / size);
        }
    }
    format!("{secs}s")
}

/// Formats a rate: `400/s`.
pub(super) fn rate(rate: &Rate) -> String {
    let unit = match rate.per {
        RateUnit::Second => "s",
        RateUnit::Minute => "min",
        RateUnit::Hour => "hour",
        RateUnit::Day => "day",
    };
    format!("{}/{unit}", rate.count)
}
