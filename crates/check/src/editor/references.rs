//! Find references and rename.
//!
//! A reference is a word, or a field in the braces of a template, whose definition is the definition of the name at the
//! offset. A parameter that takes its type from a field of the same name stands for that field, so both have one
//! definition and are renamed together.

use crate::Checked;
use keyform_language::Severity;
use keyform_language::document::ast::Text;
use keyform_language::document::lexer::lex;
use keyform_language::document::template::{TemplatePiece, parse_template};
use keyform_language::document::token::{Kind, Token};
use keyform_language::schema::Parameter;
use keyform_language::span::Span;

use super::definition::definition;
use super::place::{Around, around, entities_of, word_at};

/// Definitions that are followed from a parameter to its field.
const STEPS_MAX: usize = 4;

/// Reason for refusing a rename.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RenameError {
    /// The offset is not at a name that the model declares.
    NoName,
    /// The new text is not a name.
    BadName(String),
    /// The renamed model would have this error, which the present one does not have.
    Breaks(String),
}

impl std::fmt::Display for RenameError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoName => f.write_str("this is not a name that the model declares"),
            Self::BadName(name) => write!(f, "`{name}` is not a name: use letters, digits and `_`"),
            Self::Breaks(message) => write!(f, "the renamed model would have an error: {message}"),
        }
    }
}

impl std::error::Error for RenameError {}

/// Returns every place that refers to the name at an offset, its declaration included, in source order.
#[must_use]
pub fn references(checked: &Checked, offset: usize) -> Vec<Span> {
    let Some(word) = word_at(&checked.source, offset) else { return Vec::new() };
    let Some(declared) = origin(checked, offset) else { return Vec::new() };
    let tokens = lex(&checked.source).tokens;
    let places = tokens.iter().flat_map(|token| named(token, word.text));
    places.filter(|place| origin(checked, place.start) == Some(declared)).collect()
}

/// Returns the places to replace by `name`, to rename what is named at an offset.
///
/// # Errors
///
/// Returns [`RenameError::Breaks`] if the renamed model has an error that the present one does not have, for example
/// because the name is taken.
pub fn rename(checked: &Checked, offset: usize, name: &str) -> Result<Vec<Span>, RenameError> {
    let is_name = name.starts_with(|first: char| first.is_alphabetic())
        && name.chars().all(|character| character.is_alphanumeric() || character == '_');
    if !is_name {
        return Err(RenameError::BadName(name.to_owned()));
    }
    let places = references(checked, offset);
    if places.is_empty() {
        return Err(RenameError::NoName);
    }
    let renamed = Checked::read(&replaced(&checked.source, &places, name));
    match first_new_error(checked, &renamed) {
        Some(message) => Err(RenameError::Breaks(message)),
        None => Ok(places),
    }
}

/// Returns the definition of the name at an offset; for a parameter that stands for a field, the field's.
fn origin(checked: &Checked, offset: usize) -> Option<Span> {
    let mut found = definition(checked, offset)?;
    for _ in 0..STEPS_MAX {
        let next = field_of_parameter(checked, found).or_else(|| definition(checked, found.start));
        match next {
            Some(next) if next != found => found = next,
            _ => return Some(found),
        }
    }
    Some(found)
}

/// Returns the field that a parameter of a write takes its type and its value from.
fn field_of_parameter(checked: &Checked, place: Span) -> Option<Span> {
    let around = around(checked, place.start);
    let Around::Write(write) = around else { return None };
    let is_meant = |parameter: &&Parameter| parameter.span == place;
    let parameter = write.parameters.iter().find(is_meant)?;
    // A parameter with a type of its own is written `name: type` and longer than its name.
    if checked.source.get(place.start..place.end)? != parameter.field_name {
        return None;
    }
    let entities = entities_of(&checked.model, around);
    let mut fields = entities.iter().flat_map(|entity| &entity.fields);
    fields.find(|field| field.name == parameter.field_name).map(|field| field.name_span)
}

/// Returns the places in a token that have this name: the token itself, or fields in a template.
fn named(token: &Token, name: &str) -> Vec<Span> {
    match token.kind {
        Kind::Word if token.text == name => vec![token.span],
        Kind::Text => {
            let text = Text { text: token.text.clone(), span: token.span };
            let fields = parse_template(&text).0.into_iter().filter_map(|piece| match piece {
                TemplatePiece::Field(piece) => Some(piece.field),
                TemplatePiece::Text { .. } => None,
            });
            fields.filter(|field| field.text == name).map(|field| field.span).collect()
        }
        _ => Vec::new(),
    }
}

fn replaced(source: &str, places: &[Span], name: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut at = 0;
    for place in places {
        text.push_str(&source[at..place.start]);
        text.push_str(name);
        at = place.end;
    }
    text.push_str(&source[at..]);
    text
}

/// Returns the message of an error that the renamed model has in addition. Messages contain names, so codes are counted.
fn first_new_error(before: &Checked, after: &Checked) -> Option<String> {
    let errors = |checked: &Checked| -> Vec<(&'static str, String)> {
        let all = checked.diagnostics.iter().filter(|found| found.severity == Severity::Error);
        all.map(|found| (found.code.0, found.message.clone())).collect()
    };
    let mut known: Vec<&'static str> = errors(before).into_iter().map(|(code, _)| code).collect();
    errors(after).into_iter().find_map(|(code, message)| match known.iter().position(|other| *other == code) {
        Some(number) => {
            known.swap_remove(number);
            None
        }
        None => Some(message),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: &str = "model chat\n\ntable Chat { key pk, sk }\n\nentity User in Chat {\n  key \"USER#{userId}\", \"PROFILE\"\n  userId: slug(1..20)\n  name: string(1..9)\n}\n\nread user(userId) -> User?\n\nwrite join(userId, name) -> User {\n  create User {} else Taken\n}\n";

    fn renamed(at: &str, name: &str) -> Result<String, RenameError> {
        let checked = Checked::read(MODEL);
        assert!(!checked.has_errors(), "{:?}", checked.diagnostics);
        let places = rename(&checked, MODEL.find(at).expect("a place"), name)?;
        Ok(replaced(MODEL, &places, name))
    }

    #[test]
    fn a_field_is_renamed_in_templates_and_in_parameters_that_stand_for_it() {
        let expected = MODEL.replace("userId", "id");
        for at in ["userId}", "userId: slug", "userId) -> User?", "userId, name"] {
            assert_eq!(renamed(at, "id").as_deref(), Ok(expected.as_str()), "{at}");
        }
        assert_eq!(
            renamed("User in Chat", "Person"),
            Ok(MODEL.replace("User ", "Person ").replace("User?", "Person?"))
        );
        assert_eq!(renamed("join", "signUp"), Ok(MODEL.replace("join", "signUp")));
    }

    #[test]
    fn a_name_that_is_taken_or_none_at_all_is_refused() {
        assert!(matches!(renamed("userId: slug", "name"), Err(RenameError::Breaks(_))));
        assert_eq!(renamed("userId: slug", "a b"), Err(RenameError::BadName("a b".to_owned())));
        assert_eq!(renamed("slug(", "x"), Err(RenameError::NoName));
    }
}
