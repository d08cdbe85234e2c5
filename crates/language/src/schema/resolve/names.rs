//! Names that a file declares, each with its index. If two declarations share a name, the first wins.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::diagnostic::{Code, Diagnostic};
use crate::document::ast::{self, DeclarationKind, Document, Name};
use crate::schema::key::{IndexId, Table, TableId};
use crate::schema::pattern::{GuardId, ReadId};
use crate::schema::{Entity, EntityId, FieldId, Model};
use crate::span::Span;

use super::code;
use super::found::Found;

/// A declaration with its position and documentation.
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

/// All declarations; the index in its list is a declaration's id.
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
    /// Positions in the lists, by kind and name.
    numbers: HashMap<(&'static str, &'a str), usize>,
}

/// Names declared so far, each with its namespace.
#[derive(Default)]
struct Taken<'a>(HashMap<(&'static str, &'a str), &'a Name>);

impl<'a> Taken<'a> {
    /// Declares a name; reports a duplicate and returns false.
    fn take(&mut self, space: &'static str, name: &'a Name, found: &mut Found) -> bool {
        match self.0.entry((space, &name.text)) {
            Entry::Occupied(first) => {
                found.add(twice(code::TWICE, name, first.get(), format!("two {space} are named `{}`", name.text)));
                false
            }
            Entry::Vacant(free) => {
                free.insert(name);
                true
            }
        }
    }
}

/// Creates the finding for a duplicate name.
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
        names.number();
        names
    }

    /// Records the position of each declaration that others refer to.
    fn number(&mut self) {
        let mut numbers = HashMap::new();
        let mut add = |kind: &'static str, (number, name): (usize, &'a Name)| {
            numbers.entry((kind, name.text.as_str())).or_insert(number);
        };
        self.tables.iter().map(|it| &it.value.name).enumerate().for_each(|it| add("table", it));
        self.shapes.iter().map(|it| &it.value.name).enumerate().for_each(|it| add("shape", it));
        self.entities.iter().map(|it| &it.value.name).enumerate().for_each(|it| add("entity", it));
        self.reads.iter().map(|it| &it.value.name).enumerate().for_each(|it| add("read", it));
        self.guards.iter().map(|it| &it.value.name).enumerate().for_each(|it| add("guard", it));
        self.numbers = numbers;
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

    /// Returns the table with this name; reports an unknown one.
    pub(super) fn table(&self, name: &Name, found: &mut Found) -> Option<TableId> {
        self.find(&self.tables, |table| &table.name, (code::TABLE, "table"), name, found).map(TableId)
    }

    /// Returns the shape with this name; reports an unknown one.
    pub(super) fn shape(&self, name: &Name, found: &mut Found) -> Option<&'a ast::Shape> {
        let number = self.find(&self.shapes, |shape| &shape.name, (code::SHAPE, "shape"), name, found);
        number.map(|number| self.shapes[number].value)
    }

    /// Returns the entity with this name; reports an unknown one.
    pub(super) fn entity(&self, name: &Name, found: &mut Found) -> Option<EntityId> {
        self.find(&self.entities, |entity| &entity.name, (code::ENTITY, "entity"), name, found).map(EntityId)
    }

    /// Returns the read with this name; reports an unknown one.
    pub(super) fn read(&self, name: &Name, found: &mut Found) -> Option<ReadId> {
        self.find(&self.reads, |read| &read.name, (code::READ, "read"), name, found).map(ReadId)
    }

    /// Returns the index of a declaration; reports an unknown name and returns the most similar declaration.
    fn find<T>(
        &self,
        list: &[Declared<'a, T>],
        name_of: impl Fn(&'a T) -> &'a Name,
        (code, what): (Code, &'static str),
        name: &Name,
        found: &mut Found,
    ) -> Option<usize> {
        let known = || list.iter().map(|it| name_of(it.value).text.as_str());
        let number = |name: &str| self.numbers.get(&(what, name)).copied();
        number(&name.text).or_else(|| {
            let message = format!("unknown {what} `{}`", name.text);
            found.unknown(code, name, message, known()).and_then(number)
        })
    }

    /// Returns the read with this name without reporting.
    pub(super) fn read_named(&self, name: &str) -> Option<ReadId> {
        self.numbers.get(&("read", name)).copied().map(ReadId)
    }

    /// Returns the guard with this name without reporting.
    pub(super) fn guard_named(&self, name: &str) -> Option<GuardId> {
        self.numbers.get(&("guard", name)).copied().map(GuardId)
    }

    /// Returns the entity with this name without reporting.
    pub(super) fn entity_named(&self, name: &str) -> Option<EntityId> {
        self.numbers.get(&("entity", name)).copied().map(EntityId)
    }
}

/// Returns the index with this name; reports an unknown one.
pub(super) fn index_of(table: &Table, name: &Name, found: &mut Found) -> Option<IndexId> {
    table.index_named(&name.text).or_else(|| {
        let known = table.indexes.iter().map(|index| index.name.as_str());
        let message = format!("table `{}` has no index `{}`", table.name, name.text);
        found.unknown(code::INDEX, name, message, known).and_then(|near| table.index_named(near))
    })
}

/// Returns the field with this name; reports an unknown one.
pub(super) fn field_of(model: &Model, entity: EntityId, name: &Name, found: &mut Found) -> Option<FieldId> {
    field_in(model.entity(entity), name, found)
}

/// Returns the field with this name; reports an unknown one.
pub(super) fn field_in(entity: &Entity, name: &Name, found: &mut Found) -> Option<FieldId> {
    entity.field_named(&name.text).or_else(|| {
        let known = entity.fields.iter().map(|field| field.name.as_str());
        let message = format!("`{}` has no field `{}`", entity.name, name.text);
        found.unknown(code::FIELD, name, message, known).and_then(|near| entity.field_named(near))
    })
}
