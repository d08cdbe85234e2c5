//! Decides if a key condition can match more than one item of an entity.

use crate::schema::{Entity, EntityId, EntityKey, FieldId, Format, Part, Template, Type};

use super::read::{Condition, Pass};
use super::{BoundKey, BoundPart, ReadPlan, SortCondition, SortRange, loose, range};

/// Returns true if the condition matches at most one item of the entity.
pub(super) fn is_unique(pass: &Pass<'_>, entity: EntityId, condition: &Condition) -> bool {
    let Some(key) = pass.key(entity) else { return false };
    let entity = pass.model.entity(entity);
    let fixed = fixed(entity, key, &condition.partition, &condition.sort);
    identifies(entity, &fixed)
}

/// Returns the fields of an entity that a plan's key condition fixes.
#[must_use]
pub fn fixed_fields(entity: &Entity, plan: &ReadPlan) -> Vec<FieldId> {
    let key = entity.key_of(plan.index);
    key.map(|key| fixed(entity, key, &plan.partition, &plan.sort)).unwrap_or_default()
}

/// An argument that stands in the place of a field in a key condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InPlace {
    /// Field of the entity's template.
    pub field: FieldId,
    /// Index of the parameter.
    pub parameter: usize,
    /// True if the key condition matches only items whose field has this value.
    pub is_exact: bool,
}

/// Returns the arguments of a plan's key condition that stand in the places of an entity's fields.
#[must_use]
pub fn arguments_in_place(entity: &Entity, plan: &ReadPlan) -> Vec<InPlace> {
    let Some(key) = entity.key_of(plan.index) else { return Vec::new() };
    let is_whole = matches!(plan.sort.range, Some(SortRange::Equal(_)));
    let last = plan.sort.range.iter().flat_map(SortRange::prefix).map(|bound| (bound, is_whole));
    let fixed = plan.partition.iter().chain(&plan.sort.equal).map(|bound| (bound.clone(), true));
    let mut found = Vec::new();
    for (bound, is_whole) in fixed.chain(last) {
        let Some(part) = key.parts().find(|part| part.attribute == bound.attribute) else { continue };
        let pairs = part.template.parts.iter().zip(&bound.parts).enumerate();
        for (place, pair) in pairs.take_while(|(_, (part, piece))| fits(part, piece)) {
            let (Part::Field { field, format, .. }, BoundPart::Argument { parameter, .. }) = pair else { continue };
            let is_cut = !is_whole && place + 1 == bound.parts.len() && place + 1 < part.template.parts.len();
            let is_exact = !is_cut
                && is_injective(&entity.field(*field).kind, *format)
                && !loose::may_continue(entity, &part.template, place, !is_whole);
            found.push(InPlace { field: *field, parameter: *parameter, is_exact });
        }
    }
    found
}

/// Returns true if these fields identify an item: they contain its key, a generated id, or a unique field.
fn identifies(entity: &Entity, fixed: &[FieldId]) -> bool {
    let whole_key = entity.key.is_some() && entity.key_fields().iter().all(|field| fixed.contains(field));
    whole_key || fixed.iter().any(|&field| is_fresh(entity, field) || is_declared_unique(entity, field, fixed))
}

/// Returns true if the field is a generated id that never repeats.
pub(super) fn is_fresh(entity: &Entity, field: FieldId) -> bool {
    let field = entity.field(field);
    field.is_generated() && field.kind.scalar().is_some_and(|(scalar, _)| scalar.is_globally_unique())
}

fn is_declared_unique(entity: &Entity, field: FieldId, fixed: &[FieldId]) -> bool {
    let unique = entity.field(field).flags.unique.as_ref();
    unique.is_some_and(|unique| unique.per.iter().all(|per| fixed.contains(per)))
}

fn fixed(entity: &Entity, key: &EntityKey, partition: &[BoundKey], sort: &SortCondition) -> Vec<FieldId> {
    let mut fields = Vec::new();
    for (part, bound) in key.partition.iter().zip(partition) {
        fields.extend(aligned(entity, &part.template, bound));
    }
    let last = match &sort.range {
        Some(SortRange::Equal(key) | SortRange::Begins(key)) => Some(key),
        _ => None,
    };
    for (part, bound) in key.sort.iter().zip(sort.equal.iter().chain(last)) {
        fields.extend(aligned(entity, &part.template, bound));
    }
    let mut seen = Vec::new();
    fields.retain(|field| {
        !seen.contains(field) && {
            seen.push(*field);
            true
        }
    });
    fields
}

/// Returns true if a key condition holds the argument of a parameter exactly in the place of a field of the entity. If
/// the entity has a field of the parameter's name, it must be that one.
pub(super) fn is_in_place(pass: &Pass<'_>, entity: EntityId, condition: &Condition, parameter: usize) -> bool {
    let Some(key) = pass.key(entity) else { return false };
    let entity = pass.model.entity(entity);
    let own = entity.field_named(&pass.read.parameters[parameter].field_name);
    let is_whole = matches!(condition.sort.range, Some(SortRange::Equal(_)));
    let last = condition.sort.range.iter().flat_map(SortRange::keys).map(|bound| (bound, is_whole));
    let fixed = condition.partition.iter().chain(&condition.sort.equal).map(|bound| (bound, true));
    fixed.chain(last).any(|(bound, is_whole)| {
        let Some(part) = key.parts().find(|part| part.attribute == bound.attribute) else { return false };
        let pairs = part.template.parts.iter().zip(&bound.parts).enumerate();
        pairs.take_while(|(_, (part, piece))| fits(part, piece)).any(|(place, pair)| {
            let (Part::Field { field, .. }, BoundPart::Argument { parameter: number, .. }) = pair else { return false };
            let is_cut = !is_whole && place + 1 == bound.parts.len() && place + 1 < part.template.parts.len();
            *number == parameter
                && own.is_none_or(|own| own == *field)
                && !is_cut
                && !loose::may_continue(entity, &part.template, place, !is_whole)
        })
    })
}

/// Returns true if a piece of a bound key has the form of a template's part. The last text of a prefix may be shorter.
fn fits(part: &Part, piece: &BoundPart) -> bool {
    match (part, piece) {
        (Part::Text(wanted), BoundPart::Text(text)) => wanted == text,
        (Part::Field { format, .. }, BoundPart::Argument { format: given, .. }) => format == given,
        _ => false,
    }
}

/// Returns the fields of a template that coincide with an argument of the bound key, up to the first mismatch.
fn aligned(entity: &Entity, template: &Template, bound: &BoundKey) -> Vec<FieldId> {
    let mut fields = Vec::new();
    for (part, piece) in template.parts.iter().zip(&bound.parts) {
        match (part, piece) {
            (Part::Text(wanted), BoundPart::Text(text)) if wanted == text => {}
            (Part::Field { field, format, .. }, BoundPart::Argument { format: given, .. }) if format == given => {
                if is_injective(&entity.field(*field).kind, *format) {
                    fields.push(*field);
                }
            }
            _ => break,
        }
    }
    fields
}

/// Returns true if different values always have different strings.
fn is_injective(kind: &Type, format: Format) -> bool {
    match format {
        Format::Upper | Format::Lower => kind.scalar().is_some_and(|(scalar, _)| scalar.has_one_case()),
        Format::Plain | Format::Milliseconds | Format::Pad(_) | Format::Hash => true,
        Format::Seconds | Format::Month | Format::Day | Format::Hour => !range::is_coarse(kind, format),
    }
}
