//! Values that may continue beyond their place in a key.
//!
//! A Query for keys that begin with `DOC#acme#` also finds `DOC#acme#eu#7`, an item of the tenant `acme#eu`, if a tenant
//! may contain `#`. Such a parameter is tested on the items as well.

use crate::schema::{Entity, FieldId, Format, Part, Template};
use crate::template::language::Language;

/// Returns true if the value at this place of a template may be longer than the given one although the rest of the key
/// matches. `is_open` says that the key condition does not fix the whole template.
pub(crate) fn may_continue(entity: &Entity, template: &Template, place: usize, is_open: bool) -> bool {
    let Some(Part::Field { field, format, .. }) = template.parts.get(place) else { return false };
    let Some(language) = language(entity, *field, *format).filter(|it| it.width().is_none()) else { return false };
    let rest = &template.parts[place + 1..];
    let follows = match rest.first() {
        Some(Part::Text(text)) => text.chars().next().is_some_and(|delimiter| language.may_hold(delimiter)),
        Some(Part::Field { .. } | Part::Unknown { .. }) => true,
        None => false,
    };
    // In a whole key, a value can only take over the text of another value without fixed width. If no value after it can
    // contain its delimiter, the delimiters counted from the end of the key tell where it ends.
    let takes_over = || {
        let wide = rest.iter().any(|part| is_wide(entity, part));
        wide && match rest.first() {
            Some(Part::Text(text)) => {
                text.chars().next().is_none_or(|delimiter| rest.iter().any(|part| may_hold(entity, part, delimiter)))
            }
            Some(Part::Field { .. } | Part::Unknown { .. }) | None => true,
        }
    };
    follows && (is_open || takes_over())
}

/// Returns true if the value of a part can contain the character.
fn may_hold(entity: &Entity, part: &Part, character: char) -> bool {
    match part {
        Part::Field { field, format, .. } => language(entity, *field, *format).is_none_or(|it| it.may_hold(character)),
        Part::Text(_) => false,
        Part::Unknown { .. } => true,
    }
}

fn is_wide(entity: &Entity, part: &Part) -> bool {
    match part {
        Part::Field { field, format, .. } => language(entity, *field, *format).is_none_or(|it| it.width().is_none()),
        Part::Text(_) | Part::Unknown { .. } => false,
    }
}

fn language(entity: &Entity, field: FieldId, format: Format) -> Option<Language> {
    Language::of_field(entity.field(field), format)
}
