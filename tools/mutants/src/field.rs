//! Mutants of fields and claims: their types and flags.

use keyform_language::document::ast::{DeclarationKind, EntityEntry, Field, Flag, FlagKind, Type, TypeKind, TypeRef};
use keyform_language::scalar::Scalar;

use crate::{Operator, key};

/// Returns the fields of a declaration.
fn fields(kind: &mut DeclarationKind) -> Vec<&mut Field> {
    match kind {
        DeclarationKind::Entity(entity) => {
            let lines = entity.body.lines.iter_mut();
            lines
                .filter_map(|line| match &mut line.value {
                    EntityEntry::Field(field) => Some(field),
                    _ => None,
                })
                .collect()
        }
        DeclarationKind::Shape(shape) => shape.body.lines.iter_mut().map(|line| &mut line.value).collect(),
        _ => Vec::new(),
    }
}

/// Returns the declaration once for each changed field.
fn each(kind: &DeclarationKind, change: &dyn Fn(&Field) -> Option<Field>) -> Vec<DeclarationKind> {
    let mut copy = kind.clone();
    let changed: Vec<Option<Field>> = fields(&mut copy).into_iter().map(|field| change(field)).collect();
    let changed = changed.into_iter().enumerate().filter_map(|(number, field)| Some((number, field?)));
    changed
        .map(|(number, field)| {
            let mut kind = kind.clone();
            if let Some(place) = fields(&mut kind).into_iter().nth(number) {
                *place = field;
            }
            kind
        })
        .collect()
}

fn as_string(kind: &TypeRef) -> Option<TypeRef> {
    match &kind.kind {
        TypeKind::Type(Type::Scalar(Scalar::Slug, bounds)) => {
            Some(TypeRef { kind: TypeKind::Type(Type::Scalar(Scalar::String, *bounds)), ..kind.clone() })
        }
        _ => None,
    }
}

pub(crate) fn slug_to_string(kind: &DeclarationKind) -> Vec<DeclarationKind> {
    let mut all = each(kind, &|field| Some(Field { kind: as_string(&field.kind)?, ..field.clone() }));
    if let DeclarationKind::Caller(claims) = kind {
        for (number, claim) in claims.iter().enumerate() {
            if let Some(kind) = as_string(&claim.kind) {
                let mut claims = claims.clone();
                claims[number].kind = kind;
                all.push(DeclarationKind::Caller(claims));
            }
        }
    }
    all
}

pub(crate) fn drop_per(kind: &DeclarationKind) -> Vec<DeclarationKind> {
    each(kind, &|field| {
        let mut field = field.clone();
        let per = field.flags.iter_mut().find_map(|flag| match &mut flag.kind {
            FlagKind::Unique(per) if !per.is_empty() => Some(per),
            _ => None,
        });
        per?.clear();
        Some(field)
    })
}

pub(crate) fn drop_flag(kind: &DeclarationKind, operator: Operator) -> Vec<DeclarationKind> {
    let is_dropped = |flag: &Flag| {
        matches!(
            (&flag.kind, operator),
            (FlagKind::Secret, Operator::DropSecret)
                | (FlagKind::Internal, Operator::DropInternal)
                | (FlagKind::Immutable, Operator::DropImmutable)
                | (FlagKind::Version, Operator::DropVersion)
        )
    };
    each(kind, &|field| {
        let mut changed = field.clone();
        changed.flags.retain(|flag| !is_dropped(flag));
        (changed.flags.len() < field.flags.len()).then_some(changed)
    })
}

pub(crate) fn add_grants(kind: &DeclarationKind) -> Vec<DeclarationKind> {
    let is_ref = |field: &Field| matches!(field.kind.kind, TypeKind::Type(Type::Ref { .. }));
    let has = |field: &Field| field.flags.iter().any(|flag| matches!(flag.kind, FlagKind::Grants));
    each(kind, &|field| (is_ref(field) && !has(field)).then(|| with(field, FlagKind::Grants)))
}

pub(crate) fn add_bearer(kind: &DeclarationKind) -> Vec<DeclarationKind> {
    let DeclarationKind::Entity(entity) = kind else { return Vec::new() };
    let keys = key::fields(entity);
    let is_text = |field: &Field| matches!(field.kind.kind, TypeKind::Type(Type::Scalar(..)));
    let has = |field: &Field| field.flags.iter().any(|flag| matches!(flag.kind, FlagKind::Bearer));
    let is_unique = |field: &Field| field.flags.iter().any(|flag| matches!(flag.kind, FlagKind::Unique(_)));
    let is_id = |field: &Field| keys.contains(&field.name.text) || is_unique(field);
    each(kind, &|field| (is_text(field) && is_id(field) && !has(field)).then(|| with(field, FlagKind::Bearer)))
}

fn with(field: &Field, flag: FlagKind) -> Field {
    let mut field = field.clone();
    field.flags.push(flag.into());
    field
}
