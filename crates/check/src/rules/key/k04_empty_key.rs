//! K04: a template can produce an empty string.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Field, FieldId, KeyPart};
use keyform_language::template::{Shape, can_be_empty};

use super::k02_optional_key_field::missing_sometimes;
use super::{Keyed, field_places, keys};
use crate::rules::show;

pub(super) static RULE: Rule = Rule {
    code: Code("K04"),
    severity: Severity::Error,
    title: "a key can be empty",
    page: include_str!("../../../../../docs/rules/K04.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for keyed in keys(context.model) {
        let reported: Vec<FieldId> = missing_sometimes(keyed).into_iter().map(|(field, _)| field).collect();
        for part in keyed.parts().filter(|part| can_write_nothing(keyed, part)) {
            if part.template.fields().all(|field| !reported.contains(&field)) && is_own(keyed, part) {
                findings.push(finding(keyed, part));
            }
        }
    }
}

/// Returns whether the template can produce an empty string.
pub(super) fn can_write_nothing(keyed: Keyed<'_>, part: &KeyPart) -> bool {
    Shape::of(&part.template, &keyed.entity.fields).is_some_and(|shape| can_be_empty(&shape))
}

/// Returns whether the finding is not a repetition: an index over an attribute of the table's key would only repeat the
/// finding about the table.
fn is_own(keyed: Keyed<'_>, part: &KeyPart) -> bool {
    keyed.key.index.is_none() || keyed.table.key_names().all(|name| name != part.attribute)
}

fn finding(keyed: Keyed<'_>, part: &KeyPart) -> Diagnostic {
    let places: Vec<_> = field_places(part).collect();
    let names = || places.iter().map(|(field, _)| keyed.entity.field(*field).name.as_str());
    let message = match places.as_slice() {
        [] => format!("`{}` of {} is the empty string", part.attribute, keyed.entity.name),
        [(field, _)] if keyed.entity.field(*field).name == part.attribute => {
            format!("`{}` is a key and can be empty", part.attribute)
        }
        _ => format!("`{}` can be empty, because {} can", part.attribute, show::listed(names())),
    };
    let place = places.first().map_or(part.template.span, |(_, span)| *span);
    let finding = Diagnostic::error(RULE.code, keyed.place_of(place), message);
    let finding = finding.label("the service rejects an item with an empty key");
    match places.first().map(|(field, _)| keyed.entity.field(*field)) {
        Some(field) => finding.also(field.type_span, "allows the empty string").help(repair(field)),
        None => finding.help("write a constant, such as `\"META\"`"),
    }
}

fn repair(field: &Field) -> String {
    let max = field.kind.free_text().and_then(|bounds| bounds.max).unwrap_or(128);
    format!("require at least one character: `{}: string(1..{max})`, or put text before it", field.name)
}
