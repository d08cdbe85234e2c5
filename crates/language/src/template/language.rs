//! Sets of strings that a field can have in a key, by its type and format.
//!
//! A [`Language`] is a choice of [`Words`], and words are runs of symbols: a date is `d{4}-d{2}-d{2}`, a boolean `true`
//! or `false`. The set is exact for whole numbers, choices and generated ids. It may contain too much, such as a 31st
//! of February, or a `number` with more digits than DynamoDB accepts. It never lacks a string, so languages that are
//! disjoint here are disjoint (ADR 0009).

use std::ops::RangeInclusive;

use crate::scalar::Bounds;
use crate::schema::{Field, Format, Type};

use super::class::{Class, Symbol};
use super::number::decimals;

/// Repetition of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Character or class of characters that repeats.
    pub symbol: Symbol,
    /// Minimum number of repetitions.
    pub min: usize,
    /// Maximum number of repetitions; `None` for no limit.
    pub max: Option<usize>,
}

impl Run {
    /// Creates a single occurrence.
    #[must_use]
    pub const fn one(symbol: Symbol) -> Self {
        Self::times(symbol, 1)
    }

    /// Creates exactly `count` repetitions.
    #[must_use]
    pub const fn times(symbol: Symbol, count: usize) -> Self {
        Self { symbol, min: count, max: Some(count) }
    }

    /// Creates repetitions of characters of a class.
    pub(crate) const fn of(class: Class, min: usize, max: Option<usize>) -> Self {
        Self { symbol: Symbol::Class(class), min, max }
    }
}

/// Strings that consist of these runs, one after the other.
pub type Words = Vec<Run>;

/// A set of strings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Language {
    /// Alternatives; a string matches one of them.
    pub words: Vec<Words>,
    /// True if the author or a caller chooses the characters, so that they may include a delimiter.
    pub free: bool,
    /// Maximum bytes of a string, where the type limits bytes instead of characters.
    pub octets_max: Option<usize>,
}

impl Language {
    /// Creates a choice of words.
    #[must_use]
    pub fn new(words: Vec<Words>) -> Self {
        Self { words, free: false, octets_max: None }
    }

    /// Creates the language of exactly this string.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::new(vec![literal(text)])
    }

    /// Creates the language of all strings, including the empty one.
    #[must_use]
    pub fn anything() -> Self {
        Self::run(Class::ANY, 0, None)
    }

    fn run(class: Class, min: usize, max: Option<usize>) -> Self {
        Self::new(vec![vec![Run::of(class, min, max)]])
    }

    /// Creates the language of strings over a class whose length is within the bounds, and at least `least`.
    pub(crate) fn bounded(class: Class, bounds: Bounds, least: usize) -> Self {
        let min = bounds.min.and_then(|min| usize::try_from(min).ok()).unwrap_or(0).max(least);
        Self::run(class, min, bounds.max.map(|max| usize::try_from(max).unwrap_or(0)))
    }

    /// Creates the language of the decimal strings of whole numbers, padded with zeros to at least `width` digits.
    pub(crate) fn whole(range: RangeInclusive<i128>, width: usize) -> Self {
        Self::new(decimals(*range.start(), *range.end(), width))
    }

    /// Returns the strings of a field in a key; `None` if its type is unknown or cannot be part of a key.
    #[must_use]
    pub fn of_field(field: &Field, format: Format) -> Option<Self> {
        let language = Self::of(&field.kind, format)?;
        let coded = field.is_generated() && field.kind.characters().is_some() && language.free;
        Some(if coded { language.limited_to(slug_characters()) } else { language })
    }

    /// Returns the strings of a type in a key; `None` if the type is unknown or cannot be part of a key.
    #[must_use]
    pub fn of(kind: &Type, format: Format) -> Option<Self> {
        let kind = kind.resolved();
        match format {
            Format::Plain => Self::plain(kind),
            Format::Milliseconds => Some(Self::run(Class::DIGITS, 13, Some(13))),
            Format::Seconds => Some(Self::run(Class::DIGITS, 10, Some(10))),
            Format::Month => Some(Self::new(vec![month()])),
            Format::Day => Some(Self::new(vec![day()])),
            Format::Hour => Some(Self::new(vec![[day(), literal("T"), hour()].concat()])),
            Format::Pad(width) => Self::padded(kind, width as usize),
            Format::Upper => Self::plain(kind).map(Self::in_upper_case),
            Format::Lower => Self::plain(kind).map(Self::in_lower_case),
            Format::Hash => (!matches!(kind, Type::Unknown)).then(|| Self::run(hexadecimal(), 64, Some(64))),
        }
    }

    fn plain(kind: &Type) -> Option<Self> {
        match kind {
            Type::Scalar(scalar, bounds) => Some(scalar.language(*bounds)),
            Type::OneOf(texts) => Some(Self::new(texts.iter().map(|text| literal(text)).collect())),
            Type::List(..)
            | Type::Map(..)
            | Type::Set(..)
            | Type::Json
            | Type::Record(_)
            | Type::Unknown
            | Type::Ref { .. }
            | Type::Copy { .. } => None,
        }
    }

    fn padded(kind: &Type, width: usize) -> Option<Self> {
        let whole = kind.scalar().and_then(|(scalar, bounds)| scalar.whole(bounds));
        match kind {
            Type::Unknown => None,
            _ => Some(whole.map_or_else(|| Self::run(Class::ANY, width, None), |range| Self::whole(range, width))),
        }
    }

    fn in_upper_case(self) -> Self {
        self.in_case(Class::range('a', 'z'), 3, |character| character.to_uppercase().collect())
    }

    fn in_lower_case(self) -> Self {
        self.in_case(Class::range('A', 'Z'), 2, |character| character.to_lowercase().collect())
    }

    /// Converts each symbol to another case; a non-ASCII character may become up to `growth` characters.
    fn in_case(self, gone: Class, growth: usize, change: fn(char) -> String) -> Self {
        let words =
            self.words.iter().map(|words| words.iter().flat_map(|run| cased(run, gone, growth, change)).collect());
        Self { words: words.collect(), free: self.free, octets_max: None }
    }

    /// Restricts the character classes to `class`.
    #[must_use]
    pub fn limited_to(mut self, class: Class) -> Self {
        for run in self.words.iter_mut().flatten() {
            if let Symbol::Class(own) = run.symbol {
                run.symbol = Symbol::Class(own.and(class));
            }
        }
        self.free = false;
        self
    }

    /// Returns true if the language contains the string.
    #[must_use]
    pub fn holds(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        self.words.iter().any(|words| matches(words, &text))
    }

    /// Returns the minimum number of characters.
    #[must_use]
    pub fn chars_min(&self) -> usize {
        self.words.iter().map(|words| words.iter().map(|run| run.min).sum()).min().unwrap_or(0)
    }

    /// Returns the maximum number of characters; `None` if there is no limit.
    #[must_use]
    pub fn chars_max(&self) -> Option<usize> {
        self.most(|_, count| count)
    }

    /// Returns the maximum number of UTF-8 bytes; `None` if there is no limit.
    #[must_use]
    pub fn bytes_max(&self) -> Option<usize> {
        let counted = self.most(|run, count| count * run.symbol.bytes_max() as usize);
        self.octets_max.map_or(counted, |octets| Some(counted.map_or(octets, |counted| counted.min(octets))))
    }

    fn most(&self, weight: impl Fn(&Run, usize) -> usize) -> Option<usize> {
        let of_words =
            |words: &Words| words.iter().map(|run| run.max.map(|max| weight(run, max))).sum::<Option<usize>>();
        self.words.iter().map(of_words).try_fold(0, |most, length| length.map(|length| most.max(length)))
    }

    /// Returns the number of characters if all strings have the same.
    #[must_use]
    pub fn width(&self) -> Option<usize> {
        self.chars_max().filter(|&max| max == self.chars_min())
    }

    /// Returns true if a string can contain the character.
    #[must_use]
    pub fn may_hold(&self, character: char) -> bool {
        self.words.iter().flatten().any(|run| run.max != Some(0) && run.symbol.has(character))
    }
}

/// Converts a run to another case.
fn cased(run: &Run, gone: Class, growth: usize, change: fn(char) -> String) -> Words {
    match run.symbol {
        Symbol::Char(character) => {
            let one = literal(&change(character));
            std::iter::repeat_n(one, run.min).flatten().collect()
        }
        Symbol::Class(class) => {
            let others = class.and(gone).example().map_or(Class::NONE, |_| swapped(class, gone, change));
            let left = class.without(gone).or(others);
            let max = if class.bytes_max() > 1 { run.max.map(|max| max * growth) } else { run.max };
            vec![Run { symbol: Symbol::Class(left), min: run.min, max }]
        }
    }
}

/// Returns the characters that the converted letters of `class` become.
fn swapped(class: Class, gone: Class, change: fn(char) -> String) -> Class {
    let vanish = class.and(gone);
    let letters = ('A'..='Z').chain('a'..='z').filter(|&letter| vanish.has(letter));
    letters.flat_map(|letter| change(letter).chars().collect::<Vec<_>>()).fold(Class::NONE, Class::with)
}

fn matches(words: &[Run], text: &[char]) -> bool {
    let Some((run, rest)) = words.split_first() else { return text.is_empty() };
    let fitting = text.iter().take_while(|&&character| run.symbol.has(character)).count();
    let most = run.max.unwrap_or(fitting).min(fitting);
    (run.min..=most).any(|count| matches(rest, &text[count..]))
}

/// Returns the words of exactly this string.
pub(crate) fn literal(text: &str) -> Words {
    text.chars().map(|character| Run::one(Symbol::Char(character))).collect()
}

/// Returns exactly `count` decimal digits.
pub(crate) fn digits(count: usize) -> Run {
    Run::times(Symbol::Class(Class::DIGITS), count)
}

/// Returns the hexadecimal digits in lower case.
pub(crate) fn hexadecimal() -> Class {
    Class::DIGITS.or(Class::range('a', 'f'))
}

/// Returns the ASCII letters.
pub(crate) fn letters() -> Class {
    Class::range('a', 'z').or(Class::range('A', 'Z'))
}

/// Returns the characters of slugs, generated codes and tokens.
pub(crate) fn slug_characters() -> Class {
    letters().or(Class::DIGITS).or(Class::of("-_."))
}

fn month() -> Words {
    [vec![digits(4)], literal("-"), vec![digits(2)]].concat()
}

/// Returns the strings of a date: `2026-10-31`.
pub(crate) fn day() -> Words {
    [month(), literal("-"), vec![digits(2)]].concat()
}

fn hour() -> Words {
    vec![digits(2)]
}

/// Returns the strings of a time to the minute: `2026-10-31T07:08`.
pub(crate) fn minute() -> Words {
    [day(), literal("T"), hour(), literal(":"), vec![digits(2)]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::Scalar;

    fn plain(kind: Type) -> Language {
        Language::of(&kind, Format::Plain).expect("a language")
    }

    fn between(min: Option<i64>, max: Option<i64>) -> Bounds {
        Bounds { min, max }
    }

    #[test]
    fn types_hold_their_texts() {
        assert!(
            plain(Scalar::Ulid.into()).holds("01JGSXWTR0A1B2C3D4E5F6G7H8")
                && !plain(Scalar::Ulid.into()).holds("81JGSXWTR0A1B2C3D4E5F6G7H8")
        );
        assert!(plain(Scalar::Uuid.into()).holds("0b7b36ba-4f5f-4c52-8f2e-8d2b7e1f9a01"));
        assert!(
            plain(Scalar::Timestamp.into()).holds("2026-10-31T07:08:09.123Z")
                && !plain(Scalar::Timestamp.into()).holds("2026-10-31T07:08:09Z")
        );
        for text in ["2026-10-31T07:08Z", "2026-10-31T07:08:09+02:00", "2026-10-31T07:08:09.1Z"] {
            assert!(plain(Scalar::Datetime.into()).holds(text), "{text}");
        }
        assert!(
            plain(Scalar::Email.into()).holds("jo#e@example.com")
                && !plain(Scalar::Email.into()).holds("Joe@example.com")
        );
        assert!(
            plain(Type::Scalar(Scalar::Slug, Bounds::default())).holds("a-b_c.9")
                && !plain(Type::Scalar(Scalar::Slug, Bounds::default())).holds("")
        );
        assert!(
            plain(Type::Scalar(Scalar::String, between(None, Some(2)))).holds("")
                && !plain(Type::Scalar(Scalar::String, between(None, Some(2)))).holds("abc")
        );
    }

    #[test]
    fn lengths_are_known() {
        assert_eq!(plain(Scalar::Ulid.into()).width(), Some(26));
        assert_eq!(plain(Type::Scalar(Scalar::String, between(Some(1), Some(32)))).bytes_max(), Some(128));
        assert_eq!(plain(Type::Scalar(Scalar::String, between(Some(1), None))).bytes_max(), None);
        assert_eq!(plain(Scalar::Email.into()).bytes_max(), Some(320));
        assert_eq!(plain(Type::OneOf(vec!["a".into(), "bcd".into()])).chars_max(), Some(3));
        assert_eq!(
            Language::of(&Type::Scalar(Scalar::Int, between(Some(0), Some(99))), Format::Pad(2))
                .and_then(|l| l.width()),
            Some(2)
        );
    }

    #[test]
    fn case_changes_letters_only() {
        let upper = Language::of(&Type::OneOf(vec!["ab".into(), "Ç1".into()]), Format::Upper).expect("a language");
        assert!(upper.holds("AB") && upper.holds("Ç1") && !upper.holds("ab"));
        let lower = Language::of(&Scalar::Ulid.into(), Format::Lower).expect("a language");
        assert!(lower.holds("01jgsxwtr0a1b2c3d4e5f6g7h8") && !lower.holds("01JGSXWTR0A1B2C3D4E5F6G7H8"));
        let text =
            Language::of(&Type::Scalar(Scalar::String, between(Some(1), Some(3))), Format::Lower).expect("a language");
        assert!(text.may_hold('#') && text.may_hold('a') && !text.may_hold('A') && text.free);
    }
}
