//! Reads attribute values from JSON into trees.
//!
//! There are two kinds of errors. JSON of the wrong type aborts reading immediately. A value of the right type that
//! is invalid (an empty set, a number with 39 digits) is reported later, because DynamoDB checks the other parameters
//! of the request first. [`Checked`] keeps the first such problem.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use keyform_core::error::request;
use keyform_core::limits::NESTING_DEPTH_MAX;
use keyform_core::value::name;
use keyform_core::{AttributeValue, Attributes, Error, Number};

use crate::json::{Kind, Reader};

/// A value, or the reason for which the value in the request is invalid.
pub(crate) type Checked<T> = Result<T, Error>;

/// Reads attributes by name; returns `None` for `null`.
pub(crate) fn attributes(reader: &mut Reader<'_>) -> Result<Option<Checked<Attributes>>, Error> {
    let mut values = Values::default();
    match reader.peek()? {
        Kind::Object => {
            let attributes = values.entries(reader, 0)?;
            Ok(Some(values.finish(attributes)))
        }
        Kind::Null => reader.literal(Kind::Null).map(|()| None),
        Kind::Array => Err(request::unrecognized_map("AttributeValue")),
        _ => Err(request::unexpected_field_type()),
    }
}

/// Reads one value.
pub(crate) fn attribute_value(reader: &mut Reader<'_>) -> Result<Checked<AttributeValue>, Error> {
    let mut values = Values::default();
    let value = values.value(reader, 0)?;
    Ok(values.finish(value))
}

/// Reads values and keeps the first problem.
#[derive(Default)]
struct Values {
    problem: Option<Error>,
}

impl Values {
    fn finish<T>(self, value: T) -> Checked<T> {
        match self.problem {
            None => Ok(value),
            Some(problem) => Err(problem),
        }
    }

    fn note(&mut self, problem: Error) {
        self.problem.get_or_insert(problem);
    }

    fn entries(&mut self, reader: &mut Reader<'_>, depth: usize) -> Result<Attributes, Error> {
        let mut entries = Attributes::new();
        reader.object(|reader, name| {
            self.check_name(&name);
            let value = self.value(reader, depth)?;
            entries.insert(name.into_owned(), value);
            Ok(())
        })?;
        Ok(entries)
    }

    fn check_name(&mut self, name: &str) {
        if let Err(problem) = name::check(name) {
            self.note(problem);
        }
    }

    /// Reads a value: an object with exactly one member named after a type. Ignores other members.
    fn value(&mut self, reader: &mut Reader<'_>, depth: usize) -> Result<AttributeValue, Error> {
        match reader.peek()? {
            Kind::Object => {}
            Kind::Null => {
                reader.literal(Kind::Null)?;
                self.note(request::empty_attribute_value());
                return Ok(AttributeValue::Null);
            }
            _ => return Err(request::unexpected_value_type()),
        }
        let mut found: Option<AttributeValue> = None;
        reader.object(|reader, name| {
            let value = self.typed(reader, &name, depth)?;
            if value.is_some() && found.is_some() {
                self.note(request::ambiguous_attribute_value());
            }
            found = value.or(found.take());
            Ok(())
        })?;
        if found.is_none() {
            self.note(request::empty_attribute_value());
        }
        Ok(found.unwrap_or(AttributeValue::Null))
    }

    /// Reads the payload of the type `name`; returns `None` for an unknown type and for `null`.
    fn typed(&mut self, reader: &mut Reader<'_>, name: &str, depth: usize) -> Result<Option<AttributeValue>, Error> {
        let kind = reader.peek()?;
        if kind == Kind::Null {
            return reader.literal(kind).map(|()| None);
        }
        Ok(Some(match name {
            "S" => AttributeValue::S(reader.opt_string()?.unwrap_or_default()),
            "N" => AttributeValue::N(self.number(&reader.opt_string()?.unwrap_or_default())),
            "B" => AttributeValue::B(binary(reader)?),
            "BOOL" => AttributeValue::Bool(boolean(reader)?),
            "NULL" => self.null(reader)?,
            "M" | "L" if depth + 1 >= NESTING_DEPTH_MAX => self.too_deep(reader)?,
            "M" => AttributeValue::M(self.map(reader, depth + 1)?),
            "L" => AttributeValue::L(self.list(reader, depth + 1)?),
            "SS" => self.string_set(reader)?,
            "NS" => self.number_set(reader)?,
            "BS" => self.binary_set(reader)?,
            _ => return reader.skip().map(|()| None),
        }))
    }

    fn number(&mut self, text: &str) -> Number {
        text.parse().unwrap_or_else(|reason| {
            self.note(request::number(text, reason));
            Number::ZERO
        })
    }

    fn null(&mut self, reader: &mut Reader<'_>) -> Result<AttributeValue, Error> {
        if !boolean(reader)? {
            self.note(request::null_must_be_true());
        }
        Ok(AttributeValue::Null)
    }

    fn too_deep(&mut self, reader: &mut Reader<'_>) -> Result<AttributeValue, Error> {
        reader.skip()?;
        self.note(request::nested_too_deep());
        Ok(AttributeValue::Null)
    }

    fn map(&mut self, reader: &mut Reader<'_>, depth: usize) -> Result<Attributes, Error> {
        match reader.peek()? {
            Kind::Object => self.entries(reader, depth),
            Kind::Array => Err(request::unrecognized_map("AttributeValue")),
            _ => Err(request::unexpected_field_type()),
        }
    }

    fn list(&mut self, reader: &mut Reader<'_>, depth: usize) -> Result<Vec<AttributeValue>, Error> {
        let mut values = Vec::new();
        reader.opt_list(|reader| {
            values.push(self.value(reader, depth)?);
            Ok(())
        })?;
        Ok(values)
    }

    fn string_set(&mut self, reader: &mut Reader<'_>) -> Result<AttributeValue, Error> {
        let elements = self.set_elements(reader, "string")?;
        let set: BTreeSet<String> = elements.iter().cloned().collect();
        if elements.is_empty() {
            self.note(request::empty_string_set());
        } else if set.len() < elements.len() {
            self.note(request::duplicates_in_string_set(&elements));
        }
        Ok(AttributeValue::Ss(set))
    }

    fn number_set(&mut self, reader: &mut Reader<'_>) -> Result<AttributeValue, Error> {
        let elements = self.set_elements(reader, "number")?;
        let set: BTreeSet<Number> = elements.iter().map(|element| self.number(element)).collect();
        if elements.is_empty() {
            self.note(request::empty_number_set());
        } else if set.len() < elements.len() {
            self.note(request::duplicates_in_number_set());
        }
        Ok(AttributeValue::Ns(set))
    }

    fn binary_set(&mut self, reader: &mut Reader<'_>) -> Result<AttributeValue, Error> {
        let elements = self.set_elements(reader, "binary")?;
        let set: BTreeSet<Vec<u8>> = elements.iter().map(|element| decode_base64(element)).collect::<Result<_, _>>()?;
        if elements.is_empty() {
            self.note(request::empty_binary_set());
        } else if set.len() < elements.len() {
            self.note(request::duplicates_in_binary_set(&elements));
        }
        Ok(AttributeValue::Bs(set))
    }

    fn set_elements(&mut self, reader: &mut Reader<'_>, kind: &str) -> Result<Vec<String>, Error> {
        let mut elements = Vec::new();
        reader.opt_list(|reader| {
            match reader.opt_string()? {
                Some(element) => elements.push(element),
                None => self.note(request::null_in_set(kind)),
            }
            Ok(())
        })?;
        Ok(elements)
    }
}

fn boolean(reader: &mut Reader<'_>) -> Result<bool, Error> {
    Ok(reader.opt_bool()?.unwrap_or(false))
}

fn binary(reader: &mut Reader<'_>) -> Result<Vec<u8>, Error> {
    match reader.peek()? {
        Kind::String => decode_base64(&reader.string()?),
        _ => {
            reader.opt_string()?;
            Ok(Vec::new())
        }
    }
}

fn decode_base64(text: &str) -> Result<Vec<u8>, Error> {
    STANDARD.decode(text).map_err(|_| request::invalid_base64(text))
}
