//! Resolves entities: their fields and those of their shapes, then keys, then types, flags and defaults.
//!
//! The order matters. The type of `ref E` is the type of E's id field, which follows from E's key. Keys are therefore
//! resolved by names alone, before any type is known.

use std::collections::HashMap;

use crate::diagnostic::Diagnostic;
use crate::document::ast::{self, EntityEntry};
use crate::schema::field::{Field, Flags, Type};
use crate::schema::key::Table;
use crate::schema::{Entity, EntityId, FieldId, Model};
use crate::span::Span;

use super::expression::Scope;
use super::found::Found;
use super::names::{Declared, Names, field_of, twice};
use super::types::Types;
use super::{code, flags, key};

/// A field in source form, from the entity or one of its shapes.
#[derive(Clone, Copy)]
pub(super) struct Written<'a> {
    pub(super) field: &'a ast::Field,
    pub(super) span: Span,
    pub(super) docs: &'a [String],
}

/// Fields of every entity in source form.
pub(super) type AllWritten<'a> = Vec<Vec<Written<'a>>>;

/// Creates every entity with field names and keys, but without types.
pub(super) fn outlines<'a>(names: &Names<'a>, tables: &[Table], found: &mut Found) -> (Vec<Entity>, AllWritten<'a>) {
    let outline = |declared: &Declared<'a, ast::Entity>| {
        let written = merge(names, declared.value, found);
        let mut entity = outline(names, *declared, &written, found);
        if let Some(table) = entity.table.and_then(|id| tables.get(id.0)) {
            key::resolve(&mut entity, declared.value, table, found);
        }
        (entity, written)
    };
    names.entities.iter().map(outline).unzip()
}

/// Returns the fields of the shapes in the order the shapes are named, then the entity's own.
fn merge<'a>(names: &Names<'a>, entity: &'a ast::Entity, found: &mut Found) -> Vec<Written<'a>> {
    let mut fields = Merged::default();
    for name in &entity.shapes {
        let Some(shape) = names.shape(name, found) else { continue };
        for line in &shape.body.lines {
            fields.push(Written { field: &line.value, span: line.span, docs: &line.notes.docs }, entity, found);
        }
    }
    for line in &entity.body.lines {
        if let EntityEntry::Field(field) = &line.value {
            fields.push(Written { field, span: line.span, docs: &line.notes.docs }, entity, found);
        }
    }
    fields.written
}

/// Fields of an entity, each name once. The names are indexed: an entity may have thousands of fields.
#[derive(Default)]
struct Merged<'a> {
    written: Vec<Written<'a>>,
    by_name: HashMap<&'a str, usize>,
}

impl<'a> Merged<'a> {
    fn push(&mut self, field: Written<'a>, entity: &ast::Entity, found: &mut Found) {
        let name = &field.field.name;
        match self.by_name.get(name.text.as_str()) {
            Some(first) => {
                let message = format!("`{}` has two fields named `{}`", entity.name.text, name.text);
                found.add(twice(code::REPEATED, name, &self.written[*first].field.name, message));
            }
            None => {
                self.by_name.insert(&name.text, self.written.len());
                self.written.push(field);
            }
        }
    }
}

fn outline(
    names: &Names<'_>,
    declared: Declared<'_, ast::Entity>,
    written: &[Written<'_>],
    found: &mut Found,
) -> Entity {
    let it = declared.value;
    let mut entity = Entity {
        name: it.name.text.clone(),
        name_span: it.name.span,
        span: declared.span,
        docs: declared.docs.to_vec(),
        table: names.table(&it.table, found),
        tag: it.name.text.clone(),
        fields: written.iter().map(named).collect(),
        key: None,
        indexes: Vec::new(),
        volume: ast::Volume::default(),
        volume_span: None,
    };
    figures(&mut entity, it, found);
    entity
}

/// Sets the tag and the volume.
fn figures(entity: &mut Entity, it: &ast::Entity, found: &mut Found) {
    let mut tag = None;
    for line in &it.body.lines {
        let (word, first) = match &line.value {
            EntityEntry::Tag(text) => {
                entity.tag.clone_from(&text.text);
                ("tag", tag.replace(line.span))
            }
            EntityEntry::Volume(volume) => {
                entity.volume.clone_from(volume);
                ("volume", entity.volume_span.replace(line.span))
            }
            EntityEntry::Key(_) | EntityEntry::Field(_) | EntityEntry::Allow(_) => continue,
        };
        if let Some(first) = first {
            let finding = Diagnostic::error(code::REPEATED, line.span, format!("an entity has one `{word}` line"));
            found.add(finding.label("the second").also(first, "the first").help("remove one of them"));
        }
    }
}

/// Creates a field with its name and presence, but without type.
fn named(written: &Written<'_>) -> Field {
    let it = written.field;
    Field {
        name: it.name.text.clone(),
        name_span: it.name.span,
        span: written.span,
        docs: written.docs.to_vec(),
        kind: Type::Unknown,
        type_span: it.kind.span,
        optional: it.kind.optional,
        null: it.kind.null,
        flags: Flags::default(),
        default: None,
    }
}

/// Sets the type and flags of every field.
pub(super) fn types(names: &Names<'_>, model: &mut Model, written: &AllWritten<'_>, found: &mut Found) {
    let mut kinds: Vec<Vec<(Type, Flags)>> = Vec::new();
    let types = Types { names, entities: &model.entities, written };
    for (number, fields) in written.iter().enumerate() {
        let typed = fields.iter().enumerate().map(|(field, it)| {
            let kind = types.of_field((EntityId(number), FieldId(field)), &it.field.kind, found);
            let flags = flags::resolve(it.field, &kind, found);
            (kind, flags)
        });
        kinds.push(typed.collect());
    }
    for shape in &names.shapes {
        for line in &shape.value.body.lines {
            types.convert(&line.value.kind, found);
        }
    }
    for (entity, kinds) in model.entities.iter_mut().zip(kinds) {
        for (field, (kind, flags)) in entity.fields.iter_mut().zip(kinds) {
            (field.kind, field.flags) = (kind, flags);
        }
    }
}

/// Resolves the names in flags and defaults, which may refer to other fields.
pub(super) fn defaults(names: &Names<'_>, model: &mut Model, written: &AllWritten<'_>, found: &mut Found) {
    for (number, fields) in written.iter().enumerate() {
        let id = EntityId(number);
        for (field, it) in fields.iter().enumerate() {
            let per = per(model, id, it.field, found);
            let kind = model.entities[number].fields[field].kind.clone();
            let scope = Scope::of_items(names, model, vec![id]);
            let default = it.field.default.as_ref().map(|default| scope.value(default, &kind, found));
            let target = &mut model.entities[number].fields[field];
            target.default = default;
            if let Some(unique) = &mut target.flags.unique {
                unique.per = per;
            }
        }
    }
}

/// Resolves the fields after `unique per`.
fn per(model: &Model, entity: EntityId, field: &ast::Field, found: &mut Found) -> Vec<FieldId> {
    let names = field.flags.iter().filter_map(|flag| match &flag.kind {
        ast::FlagKind::Unique(names) => Some(names),
        _ => None,
    });
    names.flatten().filter_map(|name| field_of(model, entity, name, found)).collect()
}
