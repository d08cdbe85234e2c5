//! The names a file declares, each with its number. Of two declarations with one name the first counts.

use crate::diagnostic::{Code, Diagnostic};
use crate::document::ast::{self, DeclarationKind, Document, Name};
use crate::schema::key::TableId;
use crate::schema::pattern::{GuardId, ReadId};
use crate::schema::{EntityId, Model};
use crate::span::Span;

use super::code;
use super::found::Found;

/// A declaration with what stands around it.
#[derive(Debug)]
pub(super) struct Declared<'a, T> {
    pub(super) value: &'a T,
    pub(super) span: Span,
    pub(super) docs: &'a [String],
}

impl<T> Clone for Declared<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Declared<'_, T> {}

/// Everything that is declared; the place in its list is a declaration's number.
#[derive(Default)]
pub(super) struct Names<'a> {
    pub(super) tables: Vec<Declared<'a, ast::Table>>,
    pub(super) shapes: Vec<Declared<'a, ast::Shape>>,
    pub(super) entities: Vec<Declared<'a, ast::Entity>>,
    pub(super) guards: Vec<Declared<'a, ast::Guard>>,
    pub(super) reads: Vec<Declared<'a, ast::Read>>,
    pub(super) writes: Vec<Declared<'a, ast::Write>>,
    pub(super) callers: Vec<Declared<'a, Vec<ast::CallerField>>>,
    pub(super) consumers: Vec<Declared<'a, ast::On>>,
    pub(super) evolutions: Vec<Declared<'a, ast::Evolve>>,
}

/// The names taken so far, by what they share a space with.
#[derive(Default)]
struct Taken<'a>(Vec<(&'static str, &'a Name)>);

impl<'a> Taken<'a> {
    /// Whether the name was free.
    fn take(&mut self, space: &'static str, name: &'a Name, found: &mut Found) -> bool {
        let first = self.0.iter().find(|(other, old)| *other == space && old.text == name.text);
        if let Some((_, first)) = first {
            found.add(twice(code::TWICE, name, first, format!("there are two {space} named `{}`", name.text)));
            return false;
        }
        self.0.push((space, name));
        true
    }
}

/// A name that is given a second time.
pub(super) fn twice(code: Code, name: &Name, first: &Name, message: String) -> Diagnostic {
    let finding = Diagnostic::error(code, name.span, message).label("the second");
    finding.also(first.span, "the first").help("rename one of them")
}

impl<'a> Names<'a> {
    /// Collects the declarations of a file.
    pub(super) fn collect(document: &'a Document, found: &mut Found) -> Self {
        let mut names = Self::default();
        let mut taken = Taken::default();
        for line in &document.declarations {
            names.add(line, &mut taken, found);
        }
        names
    }

    fn add(&mut self, line: &'a ast::Declaration, taken: &mut Taken<'a>, found: &mut Found) {
        const TYPES: &str = "entities or shapes";
        const PATTERNS: &str = "reads, writes or guards";
        fn put<'a, T>(list: &mut Vec<Declared<'a, T>>, value: &'a T, line: &'a ast::Declaration) {
            list.push(Declared { value, span: line.span, docs: &line.notes.docs });
        }
        match &line.value {
            DeclarationKind::Table(it) if taken.take("tables", &it.name, found) => put(&mut self.tables, it, line),
            DeclarationKind::Shape(it) if taken.take(TYPES, &it.name, found) => put(&mut self.shapes, it, line),
            DeclarationKind::Entity(it) if taken.take(TYPES, &it.name, found) => put(&mut self.entities, it, line),
            DeclarationKind::Guard(it) if taken.take(PATTERNS, &it.name, found) => put(&mut self.guards, it, line),
            DeclarationKind::Read(it) if taken.take(PATTERNS, &it.name, found) => put(&mut self.reads, it, line),
            DeclarationKind::Write(it) if taken.take(PATTERNS, &it.name, found) => put(&mut self.writes, it, line),
            DeclarationKind::Caller(it) => put(&mut self.callers, it, line),
            DeclarationKind::On(it) => put(&mut self.consumers, it, line),
            DeclarationKind::Evolve(it) => put(&mut self.evolutions, it, line),
            _ => {}
        }
    }

    /// The table of that name, reported if there is none.
    pub(super) fn table(&self, name: &Name, found: &mut Found) -> Option<TableId> {
        let known = || self.tables.iter().map(|table| table.value.name.text.as_str());
        let number = known().position(|other| other == name.text);
        if number.is_none() {
            found.unknown(code::TABLE, name, format!("there is no table `{}`", name.text), known());
        }
        number.map(TableId)
    }

    /// The shape of that name, reported if there is none.
    pub(super) fn shape(&self, name: &Name, found: &mut Found) -> Option<&'a ast::Shape> {
        let shape = self.shapes.iter().find(|shape| shape.value.name.text == name.text);
        if shape.is_none() {
            let known = self.shapes.iter().map(|shape| shape.value.name.text.as_str());
            found.unknown(code::SHAPE, name, format!("there is no shape `{}`", name.text), known);
        }
        shape.map(|shape| shape.value)
    }

    /// The entity of that name, reported if there is none.
    pub(super) fn entity(&self, name: &Name, found: &mut Found) -> Option<EntityId> {
        let known = || self.entities.iter().map(|entity| entity.value.name.text.as_str());
        let number = known().position(|other| other == name.text);
        if number.is_none() {
            found.unknown(code::ENTITY, name, format!("there is no entity `{}`", name.text), known());
        }
        number.map(EntityId)
    }

    /// The read of that name, reported if there is none.
    pub(super) fn read(&self, name: &Name, found: &mut Found) -> Option<ReadId> {
        let number = self.read_named(&name.text);
        if number.is_none() {
            let known = self.reads.iter().map(|read| read.value.name.text.as_str());
            found.unknown(code::READ, name, format!("there is no read `{}`", name.text), known);
        }
        number
    }

    /// The read of that name.
    pub(super) fn read_named(&self, name: &str) -> Option<ReadId> {
        self.reads.iter().position(|read| read.value.name.text == name).map(ReadId)
    }

    /// The guard of that name.
    pub(super) fn guard_named(&self, name: &str) -> Option<GuardId> {
        self.guards.iter().position(|guard| guard.value.name.text == name).map(GuardId)
    }
}

/// The field of an entity, reported if it has none of that name.
pub(super) fn field_of(
    model: &Model,
    entity: EntityId,
    name: &Name,
    found: &mut Found,
) -> Option<crate::schema::FieldId> {
    let entity = model.entity(entity);
    let field = entity.field_named(&name.text);
    if field.is_none() {
        let known = entity.fields.iter().map(|field| field.name.as_str());
        found.unknown(code::FIELD, name, format!("`{}` has no field `{}`", entity.name, name.text), known);
    }
    field
}
