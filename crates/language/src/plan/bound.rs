//! Fills key templates with the arguments of a read, as far as equality parameters reach.
//!
//! `"MSG#{createdAt:ms}#{messageId}"` without arguments yields `MSG#`. With `createdAt` given by equality it yields
//! `MSG#{createdAt:ms}#`. The delimiter is included, so that a longer value with the same beginning does not match.

use crate::schema::{Entity, FieldId, Format, Parameter, Part, Read, Template, Test};

use super::{BoundKey, BoundPart};

/// Parameters of a read, applied to one entity.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub(super) read: &'a Read,
    pub(super) entity: &'a Entity,
    /// True if lists count as equality, because each element yields its own key.
    pub(super) lists: bool,
}

/// A template, filled as far as equality reaches.
pub(super) struct Filled {
    /// Pieces before the first field without a value.
    pub(super) parts: Vec<BoundPart>,
    /// Index of the first template part without a value; `None` if the template is complete.
    pub(super) open: Option<usize>,
    /// Indexes of the parameters it uses.
    pub(super) used: Vec<usize>,
}

impl<'a> Given<'a> {
    /// Iterates over the parameters for a field, with their indexes.
    pub(super) fn about(self, field: FieldId) -> impl Iterator<Item = (usize, &'a Parameter)> {
        let name = &self.entity.field(field).name;
        self.read.parameters.iter().enumerate().filter(move |(_, parameter)| parameter.field_name == *name)
    }

    /// Returns the index of the parameter that fixes a field by equality.
    pub(super) fn equal(self, field: FieldId) -> Option<usize> {
        let gives = |test| test == Test::Equal || (self.lists && test == Test::In);
        self.about(field).find(|(_, parameter)| gives(parameter.test)).map(|(number, _)| number)
    }

    /// Fills a template as far as equality reaches.
    pub(super) fn fill(self, template: &Template) -> Filled {
        let mut filled = Filled { parts: Vec::new(), open: None, used: Vec::new() };
        for (number, part) in template.parts.iter().enumerate() {
            match part {
                Part::Text(text) => push_text(&mut filled.parts, text),
                Part::Field { field, format, .. } => match self.equal(*field) {
                    Some(parameter) => {
                        filled.parts.push(argument(parameter, 0, *format));
                        filled.used.push(parameter);
                    }
                    None => {
                        filled.open = Some(number);
                        break;
                    }
                },
                Part::Unknown { .. } => {
                    filled.open = Some(number);
                    break;
                }
            }
        }
        filled
    }

    /// Returns the fields of a template that no parameter fixes by equality, each once.
    pub(super) fn missing(self, template: &Template) -> Vec<FieldId> {
        let mut missing = Vec::new();
        for field in template.fields() {
            if self.equal(field).is_none() && !missing.contains(&field) {
                missing.push(field);
            }
        }
        missing
    }
}

/// Returns the pieces of a template whose fields are parameters, as in a `key` clause.
pub(super) fn of_parameters(template: &Template) -> Vec<BoundPart> {
    let mut parts = Vec::new();
    for part in &template.parts {
        match part {
            Part::Text(text) => push_text(&mut parts, text),
            Part::Field { field, format, .. } => parts.push(argument(field.0, 0, *format)),
            Part::Unknown { .. } => {}
        }
    }
    parts
}

pub(super) fn argument(parameter: usize, argument: usize, format: Format) -> BoundPart {
    BoundPart::Argument { parameter, argument, format }
}

pub(super) fn key(attribute: &str, parts: Vec<BoundPart>) -> BoundKey {
    BoundKey { attribute: attribute.to_owned(), parts }
}

/// Appends text, merging it with a preceding text piece.
pub(super) fn push_text(parts: &mut Vec<BoundPart>, text: &str) {
    if let Some(BoundPart::Text(last)) = parts.last_mut() {
        last.push_str(text);
    } else if !text.is_empty() {
        parts.push(BoundPart::Text(text.to_owned()));
    }
}
