//! Reading what a member of a request must be, with the service's errors for what it is instead. `null` is as good as absent.

use std::collections::HashMap;

use keyform_core::Error;
use keyform_core::error::request;

use super::{Kind, Reader};

impl Reader<'_> {
    /// A string.
    pub(crate) fn opt_string(&mut self) -> Result<Option<String>, Error> {
        match self.peek()? {
            Kind::String => Ok(Some(self.string()?.into_owned())),
            kind => self.null_or(kind, "String"),
        }
    }

    /// A boolean, or one of the words that the service takes for one.
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

    /// A whole number of 32 bits; a fraction is cut off, what is too large becomes the largest.
    pub(crate) fn opt_integer(&mut self) -> Result<Option<i64>, Error> {
        let bound = |number: i64| number.clamp(i64::from(i32::MIN), i64::from(i32::MAX));
        Ok(self.opt_whole("Integer")?.map(bound))
    }

    /// A whole number of 64 bits.
    pub(crate) fn opt_long(&mut self) -> Result<Option<i64>, Error> {
        self.opt_whole("Long")
    }

    /// A list, of which `element` reads each element; whether there was one.
    pub(crate) fn opt_list(&mut self, element: impl FnMut(&mut Self) -> Result<(), Error>) -> Result<bool, Error> {
        match self.peek()? {
            Kind::Array => self.array(element).map(|()| true),
            Kind::Null => self.literal(Kind::Null).map(|()| false),
            Kind::Object => Err(request::structure_not_expected()),
            _ => Err(request::unexpected_field_type()),
        }
    }

    /// A list of strings.
    pub(crate) fn opt_strings(&mut self) -> Result<Option<Vec<String>>, Error> {
        let mut strings = Vec::new();
        let present = self.opt_list(|reader| {
            strings.extend(reader.opt_string()?);
            Ok(())
        })?;
        Ok(present.then_some(strings))
    }

    /// A structure of the service's class, of which `field` reads each member; whether there was one.
    pub(crate) fn opt_structure(
        &mut self,
        class: &str,
        field: impl FnMut(&mut Self, &str) -> Result<(), Error>,
    ) -> Result<bool, Error> {
        self.opt_object(field, || request::unrecognized_structure(class))
    }

    /// A map to values of the service's class, of which `field` reads each entry; whether there was one.
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

    /// A map, of which `element` reads each value, in the order of its names; of a name that stands twice the last value.
    /// What comes after `kept_max` names is read but not kept.
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

    fn opt_whole(&mut self, class: &'static str) -> Result<Option<i64>, Error> {
        match self.peek()? {
            Kind::Number => Ok(Some(whole(self.number()?))),
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

/// The words that the service reads as booleans, in whatever case.
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

/// A number of JSON's without its fraction, within 64 bits.
fn whole(number: &str) -> i64 {
    number.parse().unwrap_or_else(|_| {
        let float: f64 = number.parse().unwrap_or(0.0);
        float as i64 // Cuts off the fraction and saturates.
    })
}
