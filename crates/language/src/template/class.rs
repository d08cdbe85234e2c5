//! Sets of characters, as small as key templates need them: each ASCII character on its own, all others together.
//!
//! Delimiters, digits and letters of ids are ASCII; what lies beyond is only ever allowed or not. A single character beyond ASCII, as a
//! literal text may hold it, is a [`Symbol::Char`].

/// A set of characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    ascii: u128,
    wide: bool,
}

impl Class {
    /// Every character.
    pub const ANY: Self = Self { ascii: u128::MAX, wide: true };
    /// No character.
    pub const NONE: Self = Self { ascii: 0, wide: false };
    /// `0` to `9`
    pub const DIGITS: Self = Self::range('0', '9');

    /// The ASCII characters from `first` to `last`.
    #[must_use]
    pub const fn range(first: char, last: char) -> Self {
        let width = last as u32 - first as u32 + 1;
        let ones = if width >= 128 { u128::MAX } else { (1 << width) - 1 };
        Self { ascii: ones << first as u32, wide: false }
    }

    /// These ASCII characters.
    #[must_use]
    pub fn of(characters: &str) -> Self {
        characters.chars().fold(Self::NONE, Self::with)
    }

    /// The characters of both.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self { ascii: self.ascii | other.ascii, wide: self.wide || other.wide }
    }

    /// The characters that both have.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self { ascii: self.ascii & other.ascii, wide: self.wide && other.wide }
    }

    /// The characters that `other` has not.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self { ascii: self.ascii & !other.ascii, wide: self.wide && !other.wide }
    }

    /// With one more; one beyond ASCII brings all of those.
    #[must_use]
    pub fn with(self, character: char) -> Self {
        match u32::from(character) {
            code @ 0..128 => Self { ascii: self.ascii | 1 << code, ..self },
            _ => Self { wide: true, ..self },
        }
    }

    /// Whether it has that character.
    #[must_use]
    pub fn has(self, character: char) -> bool {
        match u32::from(character) {
            code @ 0..128 => self.ascii >> code & 1 == 1,
            _ => self.wide,
        }
    }

    /// Whether it has no character.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.ascii == 0 && !self.wide
    }

    /// The bytes its longest character takes in UTF-8.
    #[must_use]
    pub const fn bytes_max(self) -> u64 {
        if self.wide { 4 } else { 1 }
    }

    /// A character of it, the most readable there is.
    #[must_use]
    pub fn example(self) -> Option<char> {
        let readable = "axbcyzuvwmnopqrstdefghijkl".chars().chain('A'..='Z').chain('0'..='9').chain('!'..='~');
        let other = (0..128).filter_map(char::from_u32);
        readable.chain(other).find(|&character| self.has(character)).or_else(|| self.wide.then_some('é'))
    }
}

/// What one step of a text can be: one character, or one of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbol {
    /// This character.
    Char(char),
    /// One of these.
    Class(Class),
}

impl Symbol {
    /// What both can be.
    #[must_use]
    pub fn and(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Char(one), Self::Char(two)) => (one == two).then_some(self),
            (Self::Char(one), Self::Class(class)) | (Self::Class(class), Self::Char(one)) => {
                class.has(one).then_some(Self::Char(one))
            }
            (Self::Class(one), Self::Class(two)) => {
                let both = one.and(two);
                (!both.is_empty()).then_some(Self::Class(both))
            }
        }
    }

    /// A character it can be.
    #[must_use]
    pub fn example(self) -> Option<char> {
        match self {
            Self::Char(character) => Some(character),
            Self::Class(class) => class.example(),
        }
    }

    /// The bytes the longest takes in UTF-8.
    #[must_use]
    pub fn bytes_max(self) -> u64 {
        match self {
            Self::Char(character) => character.len_utf8() as u64,
            Self::Class(class) => class.bytes_max(),
        }
    }

    /// Whether it can be that character.
    #[must_use]
    pub fn has(self, character: char) -> bool {
        match self {
            Self::Char(own) => own == character,
            Self::Class(class) => class.has(character),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_sets() {
        let hex = Class::DIGITS.or(Class::range('a', 'f'));
        assert!(hex.has('7') && hex.has('c') && !hex.has('g') && !hex.has('é'));
        assert!(Class::ANY.has('é') && Class::ANY.has('\u{7f}') && Class::ANY.has('\0'));
        assert!(Class::ANY.without(Class::of("#")).and(Class::of("#")).is_empty());
        assert_eq!(hex.without(Class::DIGITS).example(), Some('a'));
        assert_eq!(Class::ANY.without(Class::range('\0', '\u{7f}')).example(), Some('é'));
    }

    #[test]
    fn symbols_meet_in_what_both_can_be() {
        let digits = Symbol::Class(Class::DIGITS);
        assert_eq!(digits.and(Symbol::Char('4')), Some(Symbol::Char('4')));
        assert_eq!(digits.and(Symbol::Char('#')), None);
        assert_eq!(Symbol::Char('é').and(Symbol::Class(Class::ANY)), Some(Symbol::Char('é')));
        assert_eq!(digits.and(Symbol::Class(Class::range('5', 'z'))), Some(Symbol::Class(Class::range('5', '9'))));
    }
}
