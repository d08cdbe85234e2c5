//! K12: a field marked `id` is not in the key, so items that differ only in it overwrite each other.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Entity, Field, FieldId, Format, Part};

use super::{Keyed, keys};
use crate::rules::show;

pub(super) static RULE: Rule = Rule {
    code: Code("K12"),
    severity: Severity::Warning,
    title: "the key does not contain what distinguishes items",
    page: include_str!("../../../../../docs/rules/K12.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for keyed in keys(context.model).filter(|keyed| keyed.key.index.is_none()) {
        let absent: Vec<&Field> = (0..keyed.entity.fields.len())
            .map(FieldId)
            .filter(|&id| keyed.entity.field(id).flags.id.is_some() && !is_told(keyed, id))
            .map(|id| keyed.entity.field(id))
            .collect();
        if !absent.is_empty() && !keyed.parts().any(|part| part.template.is_broken()) {
            findings.push(finding(keyed, &absent));
        }
    }
}

/// Returns whether the key contains the field's full value, not only its month, day or hour.
fn is_told(keyed: Keyed<'_>, id: FieldId) -> bool {
    let coarse = |format| matches!(format, Format::Day | Format::Hour | Format::Month);
    let tells = |piece: &Part| matches!(piece, Part::Field { field, format, .. } if *field == id && !coarse(*format));
    keyed.parts().flat_map(|part| &part.template.parts).any(tells)
}

fn finding(keyed: Keyed<'_>, absent: &[&Field]) -> Diagnostic {
    let entity = keyed.entity;
    let names = show::listed(absent.iter().map(|field| field.name.as_str()));
    let message = format!("items of {} that differ only in {names} overwrite each other", entity.name);
    let mut finding = Diagnostic::warning(RULE.code, place(keyed), message).label(format!("{names} is not in the key"));
    if absent.len() > 1 {
        finding = finding.label(format!("{names} are not in the key"));
    }
    for field in absent {
        finding = finding.also(field.name_span, "distinguishes items");
    }
    finding.help(format!("add it to the key: `{}`", suggestion(entity, absent)))
}

fn place(keyed: Keyed<'_>) -> keyform_language::span::Span {
    let last = keyed.key.sort.last().or(keyed.key.partition.last());
    last.map_or(keyed.entity.name_span, |part| keyed.span_of(part))
}

fn suggestion(entity: &Entity, absent: &[&Field]) -> String {
    let key = entity.key.as_ref();
    let last = key.and_then(|key| key.sort.last().or(key.partition.last()));
    let before = last.map(|part| show::template(entity, &part.template)).unwrap_or_default();
    absent.iter().fold(before, |text, field| format!("{text}#{{{}}}", field.name))
}
