//! Decimal strings of a range of whole numbers.
//!
//! A range is split where all following digits are free: 17 to 342 is `1[7-9]`, `[2-9]d`, `[12]dd`, `3[0-3]d`,
//! `34[0-2]`. Lengths that are covered completely are merged: 10 to 99,999 is `[1-9]d{1..4}`.

use super::class::{Class, Symbol};
use super::language::{Run, Words};

/// Returns the strings of the numbers from `low` to `high`, padded with zeros to at least `width` digits.
#[must_use]
pub fn decimals(low: i128, high: i128, width: usize) -> Vec<Words> {
    let mut words = Vec::new();
    if low < 0 {
        let least = if high < 0 { high.unsigned_abs() } else { 1 };
        for magnitude in magnitudes(least, low.unsigned_abs(), width) {
            words.push(std::iter::once(Run::one(Symbol::Char('-'))).chain(magnitude).collect());
        }
    }
    if high >= 0 {
        words.extend(magnitudes(low.max(0).unsigned_abs(), high.unsigned_abs(), width));
    }
    words
}

/// Same as [`decimals`] for nonnegative numbers.
fn magnitudes(low: u128, high: u128, width: usize) -> Vec<Words> {
    let mut words = Vec::new();
    let mut from = low;
    while from <= high {
        let digits = digits_of(from).max(width.max(1));
        let whole = whole_lengths(from, high, digits);
        let end = match whole {
            Some(most) => {
                words.push(all_of_lengths(digits, most));
                last_of(most)
            }
            None => {
                let end = last_of(digits).min(high);
                same_length(&padded(from, digits), &padded(end, digits), Vec::new(), &mut words);
                end
            }
        };
        match end.checked_add(1) {
            Some(next) => from = next,
            None => break,
        }
    }
    words
}

/// Returns the largest number with this many digits.
fn last_of(digits: usize) -> u128 {
    10_u128.checked_pow(digits as u32).map_or(u128::MAX, |power| power - 1)
}

/// If the range covers all numbers with this many digits, returns the largest number of digits it covers completely.
fn whole_lengths(from: u128, high: u128, digits: usize) -> Option<usize> {
    let first = digits > 1 && from == last_of(digits - 1) + 1;
    let most = (digits..=38).take_while(|&count| last_of(count) <= high).last();
    most.filter(|_| first)
}

fn all_of_lengths(least: usize, most: usize) -> Words {
    let first = Run::one(Symbol::Class(Class::range('1', '9')));
    vec![first, Run { symbol: Symbol::Class(Class::DIGITS), min: least - 1, max: Some(most - 1) }]
}

fn digits_of(number: u128) -> usize {
    number.checked_ilog10().map_or(1, |log| log as usize + 1)
}

fn padded(number: u128, digits: usize) -> Vec<u8> {
    format!("{number:0digits$}").into_bytes()
}

/// Adds all strings between two strings of the same length, each after `head`.
fn same_length(low: &[u8], high: &[u8], head: Words, words: &mut Vec<Words>) {
    let (Some((&first, low_rest)), Some((&last, high_rest))) = (low.split_first(), high.split_first()) else {
        words.push(head);
        return;
    };
    let low_open = low_rest.iter().all(|&digit| digit == b'0');
    let high_open = high_rest.iter().all(|&digit| digit == b'9');
    if first == last && !(low_open && high_open) {
        same_length(low_rest, high_rest, then(&head, first, first), words);
        return;
    }
    let from = if low_open { first } else { first + 1 };
    let to = if high_open { last } else { last - 1 };
    if !low_open {
        same_length(low_rest, &vec![b'9'; low_rest.len()], then(&head, first, first), words);
    }
    if from <= to {
        let mut free = then(&head, from, to);
        if !low_rest.is_empty() {
            free.push(Run::times(Symbol::Class(Class::DIGITS), low_rest.len()));
        }
        words.push(free);
    }
    if !high_open {
        same_length(&vec![b'0'; high_rest.len()], high_rest, then(&head, last, last), words);
    }
}

fn then(head: &Words, first: u8, last: u8) -> Words {
    let mut words = head.clone();
    let symbol = if first == last {
        Symbol::Char(char::from(first))
    } else {
        Symbol::Class(Class::range(char::from(first), char::from(last)))
    };
    words.push(Run::one(symbol));
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::language::Language;

    #[test]
    fn a_range_holds_exactly_its_numbers() {
        for (low, high) in
            [(17, 342), (0, 0), (0, 9), (-12, 5), (-120, -7), (100, 999), (99, 101), (5, 1000), (0, 1200), (-1250, 99)]
        {
            let language = Language::new(decimals(low, high, 0));
            for number in -1300..=1300_i128 {
                assert_eq!(
                    language.holds(&number.to_string()),
                    (low..=high).contains(&number),
                    "{number} of {low}..{high}"
                );
            }
            assert!(!language.holds("007") && !language.holds("-0") && !language.holds(""));
        }
    }

    #[test]
    fn padded_numbers_have_the_width_and_more_only_if_they_need_it() {
        let language = Language::new(decimals(0, 1200, 3));
        assert!(language.holds("000") && language.holds("007") && language.holds("999") && language.holds("1200"));
        assert!(!language.holds("7") && !language.holds("0999") && !language.holds("1201"));
    }
}
