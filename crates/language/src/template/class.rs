//! Character sets for key templates: each ASCII character individually, all others as one group.
//!
//! Delimiters, digits and the letters of ids are ASCII, so for other characters one bit suffices. A single non-ASCII
//! character in literal text is a [`Symbol::Char`].

/// A set of characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    ascii: u128,
    wide: bool,
}

impl Class {
    /// All characters.
    pub const ANY: Self = Self { ascii: u128::MAX, wide: true };
    /// Empty set.
    pub const NONE: Self = Self { ascii: 0, wide: false };
    /// `0` to `9`
    pub const DIGITS: Self = Self::range('0', '9');

    /// Creates the set of ASCII characters from `first` to `last`, inclusive.
    #[must_use]
    pub const fn range(first: char, last: char) -> Self {
        let width = last as u32 - first as u32 + 1;
        let ones = if width >= 128 { u128::MAX } else { (1 << width) - 1 };
        Self { ascii: ones << first as u32, wide: false }
    }

    /// Creates the set of these characters.
    #[must_use]
    pub fn of(characters: &str) -> Self {
        characters.chars().fold(Self::NONE, Self::with)
    }

    /// Returns the union.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self { ascii: self.ascii | other.ascii, wide: self.wide || other.wide }
    }

    /// Returns the intersection.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self { ascii: self.ascii & other.ascii, wide: self.wide && other.wide }
    }

    /// Returns the characters that `other` does not contain.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self { ascii: self.ascii & !other.ascii, wide: self.wide && !other.wide }
    }

    /// Adds a character; a non-ASCII character adds all of them.
    #[must_use]
    pub fn with(self, character: char) -> Self {
        match u32::from(character) {
            code @ 0..128 => Self { ascii: self.ascii | 1 << code, ..self },
            _ => Self { wide: true, ..self },
        }
    }

    /// Returns true if the set contains the character.
    #[must_use]
    pub fn has(self, character: char) -> bool {
        match u32::from(character) {
            code @ 0..128 => self.ascii >> code & 1 == 1,
            _ => self.wide,
        }
    }

    /// Returns true if the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.ascii == 0 && !self.wide
    }

    /// Returns the maximum UTF-8 length of a character in bytes.
    #[must_use]
    pub const fn bytes_max(self) -> u64 {
        if self.wide { 4 } else { 1 }
    }

    /// Returns a character of the set, preferring readable ones.
    #[must_use]
    pub fn example(self) -> Option<char> {
        let readable = "axbcyzuvwmnopqrstdefghijkl".chars().chain('A'..='Z').chain('0'..='9').chain('!'..='~');
        let other = (0..128).filter_map(char::from_u32);
        readable.chain(other).find(|&character| self.has(character)).or_else(|| self.wide.then_some('é'))
    }
}

/// A single character or one of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbol {
    /// Exactly this character.
    Char(char),
    /// Any character of the class.
    Class(Class),
}

impl Symbol {
    /// Returns the intersection; `None` if it is empty.
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

    /// Returns a character that matches.
    #[must_use]
    pub fn example(self) -> Option<char> {
        match self {
            Self::Char(character) => Some(character),
            Self::Class(class) => class.example(),
        }
    }

    /// Returns the maximum UTF-8 length in bytes.
    #[must_use]
    pub fn bytes_max(self) -> u64 {
        match self {
            Self::Char(character) => character.len_utf8() as u64,
            Self::Class(class) => class.bytes_max(),
        }
    }

    /// Returns true if the character matches.
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
