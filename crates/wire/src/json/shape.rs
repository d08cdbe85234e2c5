//! Typed reads of request members, with DynamoDB's errors for values of the wrong type. `null` counts as absent.

use std::collections::HashMap;

use keyform_core::Error;
use keyform_core::error::request;

use super::{Kind, Reader};
use crate::request::unsupported_members;

impl Reader<'_> {
    /// Reads a string.
    pub(crate) fn opt_string(&mut self) -> Result<Option<String>, Error> {
        match self.peek()? {
            Kind::String => Ok(Some(self.string()?.into_owned())),
            kind => self.null_or(kind, "String"),
        }
    }

    /// Reads a boolean, or one of the strings that DynamoDB accepts as a boolean.
    pub(crate) fn opt_bool(&mut self) -> Result<Option<bool>, Error> {
        match self.peek()? {
            kind @ (Kind::True | Kind::False) => {
                self.literal(kind)?;
                Ok(Some(kind == Kind::True))
            }
            Kind::String => truth(&self.string()?).map(Some).ok_or_else(request::unexpected_token),
            Kind::Array => Err(request::malformed_json()),
            kind => self.null_or(kind, "Boolean"),
        }
    }

    /// Reads a 32-bit integer; a fraction is truncated.
    pub(crate) fn opt_integer(&mut self) -> Result<Option<i64>, Error> {
        self.opt_whole("Integer", |number| i32::try_from(number).is_ok())
    }

    /// Reads a 64-bit integer; a fraction is truncated.
    pub(crate) fn opt_long(&mut self) -> Result<Option<i64>, Error> {
        self.opt_whole("Long", |_| true)
    }

    /// Reads a list; `element` reads each element. Returns whether the list is present.
    pub(crate) fn opt_list(&mut self, element: impl FnMut(&mut Self) -> Result<(), Error>) -> Result<bool, Error> {
        match self.peek()? {
            Kind::Array => self.array(element).map(|()| true),
            Kind::Null => self.literal(Kind::Null).map(|()| false),
            Kind::Object => Err(request::structure_not_expected()),
            _ => Err(request::unexpected_field_type()),
        }
    }

    /// Reads a list of strings.
    pub(crate) fn opt_strings(&mut self) -> Result<Option<Vec<String>>, Error> {
        let mut strings = Vec::new();
        let present = self.opt_list(|reader| {
            strings.extend(reader.opt_string()?);
            Ok(())
        })?;
        Ok(present.then_some(strings))
    }

    /// Reads a structure of DynamoDB's `class`; `field` reads each member. Returns whether the structure is present.
    /// Rejects members that DynamoDB supports and Keyform does not, unless they are `null`; doing it here covers
    /// every structure.
    pub(crate) fn opt_structure(
        &mut self,
        class: &str,
        mut field: impl FnMut(&mut Self, &str) -> Result<(), Error>,
    ) -> Result<bool, Error> {
        let unsupported = unsupported_members(class);
        let field = |reader: &mut Self, name: &str| {
            if unsupported.contains(&name) && reader.peek()? != Kind::Null {
                return Err(request::member_not_supported(name));
            }
            field(reader, name)
        };
        self.opt_object(field, || request::unrecognized_structure(class))
    }

    /// Reads a map to values of DynamoDB's `class`; `field` reads each entry. Returns whether the map is present.
    pub(crate) fn opt_map(
        &mut self,
        class: &str,
        field: impl FnMut(&mut Self, &str) -> Result<(), Error>,
    ) -> Result<bool, Error> {
        self.opt_object(field, || request::unrecognized_map(class))
    }

    fn opt_object(
        &mut self,
        mut field: impl FnMut(&mut Self, &str) -> Result<(), Error>,
        is_list: impl FnOnce() -> Error,
    ) -> Result<bool, Error> {
        match self.peek()? {
            Kind::Object => self.object(|reader, name| field(reader, &name)).map(|()| true),
            Kind::Null => self.literal(Kind::Null).map(|()| false),
            Kind::Array => Err(is_list()),
            _ => Err(request::unexpected_field_type()),
        }
    }

    /// Reads a map in request order; `element` reads each value. The last value of a repeated name wins. Entries
    /// after `kept_max` names are read but dropped.
    pub(crate) fn opt_entries<T>(
        &mut self,
        class: &str,
        kept_max: usize,
        element: impl Fn(&mut Self) -> Result<T, Error>,
    ) -> Result<Option<Vec<(String, T)>>, Error> {
        let mut entries: Vec<(String, T)> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        let present = self.opt_map(class, |reader, name| {
            let value = element(reader)?;
            if let Some(&place) = places.get(name) {
                entries[place].1 = value;
            } else if entries.len() < kept_max {
                places.insert(name.to_owned(), entries.len());
                entries.push((name.to_owned(), value));
            }
            Ok(())
        })?;
        Ok(present.then_some(entries))
    }

    /// Reads an integer. A number that `class` cannot represent is rejected; clamping it would
    /// execute another request.
    fn opt_whole(&mut self, class: &'static str, fits: fn(i64) -> bool) -> Result<Option<i64>, Error> {
        match self.peek()? {
            Kind::Number => {
                let text = self.number()?;
                let number = whole(text).filter(|&number| fits(number));
                number.map(Some).ok_or_else(|| request::cannot_convert(number_token(text), class))
            }
            kind => self.null_or(kind, class),
        }
    }

    fn null_or<T>(&mut self, kind: Kind, class: &'static str) -> Result<Option<T>, Error> {
        match kind {
            Kind::Null => self.literal(kind).map(|()| None),
            Kind::True => Err(request::cannot_convert("TRUE_VALUE", class)),
            Kind::False => Err(request::cannot_convert("FALSE_VALUE", class)),
            Kind::String => Err(request::cannot_convert("STRING_VALUE", class)),
            Kind::Number => Err(request::cannot_convert(number_token(self.number()?), class)),
            Kind::Array => Err(request::unrecognized_scalar(class)),
            Kind::Object => Err(request::structure_not_expected()),
        }
    }
}

/// Parses the strings that DynamoDB accepts as booleans, ignoring case.
fn truth(word: &str) -> Option<bool> {
    let is_one_of = |words: &[&str]| words.iter().any(|known| known.eq_ignore_ascii_case(word));
    if is_one_of(&["true", "t", "yes", "y", "1"]) {
        Some(true)
    } else if is_one_of(&["false", "f", "no", "n", "0"]) {
        Some(false)
    } else {
        None
    }
}

fn number_token(number: &str) -> &'static str {
    if number.contains(['.', 'e', 'E']) { "DECIMAL_VALUE" } else { "NUMBER_VALUE" }
}

/// Returns a JSON number truncated to an integer, if it fits into 64 bits. The decimal point is moved in the text, so
/// that a large exponent or a long text costs no more than reading it, and nothing is rounded.
fn whole(number: &str) -> Option<i64> {
    let (sign, unsigned) = if number.starts_with('-') { number.split_at(1) } else { ("", number) };
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut digits = before.bytes().chain(after.bytes()).skip_while(|digit| *digit == b'0').peekable();
    if digits.peek().is_none() {
        return Some(0);
    }
    let leading_zeros = before.bytes().chain(after.bytes()).take_while(|digit| *digit == b'0').count();
    let point = signed_length(before.len())? - signed_length(leading_zeros)? + exponent_of(exponent);
    if point > DIGITS_MAX {
        return None;
    }
    let kept = usize::try_from(point).unwrap_or(0);
    let text: String = sign.chars().chain(digits.map(char::from).chain(std::iter::repeat('0')).take(kept)).collect();
    if kept == 0 { Some(0) } else { text.parse().ok() }
}

/// More digits than any 64-bit integer has.
const DIGITS_MAX: i64 = 20;

/// Parses an exponent and clamps it. No body is long enough for its digits to compensate a clamped exponent.
fn exponent_of(text: &str) -> i64 {
    let bound = i64::MAX / 4;
    let beyond = if text.starts_with('-') { -bound } else { bound };
    text.parse().map_or(beyond, |exponent: i64| exponent.clamp(-bound, bound))
}

fn signed_length(length: usize) -> Option<i64> {
    i64::try_from(length).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_cut_at_the_point_exactly() {
        let check = |text: &str, expected: Option<i64>| assert_eq!(whole(text), expected, "{text}");
        check("0", Some(0));
        check("-0", Some(0));
        check("-0.9", Some(0));
        check("1.0", Some(1));
        check("1.999", Some(1));
        check("-1.999", Some(-1));
        check("1e2", Some(100));
        check("1E+2", Some(100));
        check("12345e-2", Some(123));
        check("0.00123e5", Some(123));
        check("9007199254740993.5", Some(9_007_199_254_740_993));
        check("9223372036854775807", Some(i64::MAX));
        check("-9223372036854775808", Some(i64::MIN));
        check("9223372036854775808", None);
        check("1e400", None);
        check("-1e400", None);
        check("1e999999999999999999999", None);
        check("1e-999999999999999999999", Some(0));
        check("0e999999999999999999999", Some(0));
        check("0.0e400", Some(0));
    }

    #[test]
    fn numbers_of_any_length_are_read() {
        let digits = 1_000_000;
        assert_eq!(whole(&"9".repeat(digits)), None);
        assert_eq!(whole(&format!("0.{}", "9".repeat(digits))), Some(0));
        assert_eq!(whole(&format!("7{}e-{digits}", "0".repeat(digits))), Some(7));
        assert_eq!(whole(&format!("0.{}7e{}", "0".repeat(digits), digits + 1)), Some(7));
    }
}
