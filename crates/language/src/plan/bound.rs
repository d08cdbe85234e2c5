//! Fills the templates of a key with the arguments of a read, as far as they reach.
//!
//! `"MSG#{createdAt:ms}#{messageId}"` with nothing given reaches `MSG#`; with `createdAt` given by equality it reaches
//! `MSG#{createdAt:ms}#`, the delimiter included, so that no longer value is taken for it.

use crate::schema::{Entity, FieldId, Format, Parameter, Part, Read, Template, Test};

use super::{BoundKey, BoundPart};

/// What the parameters of a read give of an entity.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub(super) read: &'a Read,
    pub(super) entity: &'a Entity,
    /// Lists count as equality: each element is a key of its own.
    pub(super) lists: bool,
}

/// A template, filled as far as equality reaches.
pub(super) struct Filled {
    /// The pieces before the first field that nobody gives.
    pub(super) parts: Vec<BoundPart>,
    /// The number of the template's part that nobody gives; `None` if it is complete.
    pub(super) open: Option<usize>,
    /// The parameters it uses.
    pub(super) used: Vec<usize>,
}

impl<'a> Given<'a> {
    /// The parameters about a field, with their numbers.
    pub(super) fn about(self, field: FieldId) -> impl Iterator<Item = (usize, &'a Parameter)> {
        let name = &self.entity.field(field).name;
        self.read.parameters.iter().enumerate().filter(move |(_, parameter)| parameter.field_name == *name)
    }

    /// The parameter that gives a field by equality.
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

    /// The fields of a template that nobody gives by equality, each once.
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

/// The pieces of a template whose fields are parameters, as in a `key` clause.
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

/// An argument as a piece of a key.
pub(super) fn argument(parameter: usize, argument: usize, format: Format) -> BoundPart {
    BoundPart::Argument { parameter, argument, format }
}

/// The key attribute with these pieces.
pub(super) fn key(attribute: &str, parts: Vec<BoundPart>) -> BoundKey {
    BoundKey { attribute: attribute.to_owned(), parts }
}

/// Adds text, joined with text before it.
pub(super) fn push_text(parts: &mut Vec<BoundPart>, text: &str) {
    if let Some(BoundPart::Text(last)) = parts.last_mut() {
        last.push_str(text);
    } else if !text.is_empty() {
        parts.push(BoundPart::Text(text.to_owned()));
    }
}
