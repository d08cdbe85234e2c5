//! Resolves consumers and evolutions.

use std::cell::RefCell;

use crate::diagnostic::Diagnostic;
use crate::document::ast::{self, EvolveEntry, KeySource};
use crate::schema::change::{Consumer, Evolution, Target};
use crate::schema::field::Type;
use crate::schema::key::{EntityKey, IndexId, KeyAttribute, KeyPart, Part, Table, Template};
use crate::schema::pattern::{Read, Test};
use crate::schema::{EntityId, FieldId, Format, Model};
use crate::span::Span;

use super::expression::Scope;
use super::found::Found;
use super::names::{Declared, Names, field_of, index_of};
use super::{code, template};

/// Resolves an `on` declaration.
pub(super) fn consumer(
    names: &Names<'_>,
    model: &Model,
    declared: Declared<'_, ast::On>,
    found: &mut Found,
) -> Consumer {
    let it = declared.value;
    let entity = names.entity(&it.entity, found);
    let target = match &it.target {
        ast::Target::Handler(name) => Target::Handler(name.text.clone()),
        ast::Target::Live(read, fields) => {
            let id = names.read(read, found);
            let known: Vec<Option<FieldId>> =
                fields.iter().map(|field| entity.and_then(|entity| field_of(model, entity, field, found))).collect();
            if let Some(id) = id.filter(|_| entity.is_some()) {
                live_arguments(model.read(id), read, known.len(), found);
            }
            Target::Live(id, known.into_iter().flatten().collect())
        }
    };
    Consumer {
        entity,
        events: it.events.clone(),
        target,
        needs: it.needs.clone(),
        span: declared.span,
        docs: declared.docs.to_vec(),
    }
}

/// Checks that a live read gets one argument per equality parameter; its ranges stay open.
fn live_arguments(read: &Read, name: &ast::Name, given: usize, found: &mut Found) {
    let equal: Vec<&str> =
        read.parameters.iter().filter(|it| it.test == Test::Equal).map(|it| it.field_name.as_str()).collect();
    if equal.len() == given {
        return;
    }
    let message = format!("the live read `{}` takes {}, not {given}", read.name, counted(equal.len()));
    let finding = Diagnostic::error(code::ARGUMENTS, name.span, message);
    found.add(finding.help(format!("write `live {}({})`", read.name, equal.join(", "))));
}

fn counted(number: usize) -> String {
    match number {
        0 => "no field".into(),
        1 => "one field".into(),
        many => format!("{many} fields"),
    }
}

/// Resolves an `evolve` declaration.
pub(super) fn evolution(
    names: &Names<'_>,
    model: &Model,
    declared: Declared<'_, ast::Evolve>,
    found: &mut Found,
) -> Evolution {
    let it = declared.value;
    let entity = names.entity(&it.entity, found);
    let mut evolution = Evolution {
        entity,
        table: None,
        old_fields: Vec::new(),
        key: None,
        indexes: Vec::new(),
        renames: Vec::new(),
        sets: Vec::new(),
        span: declared.span,
    };
    for line in &it.body.lines {
        if let EvolveEntry::Table(name) = &line.value {
            evolution.table = names.table(name, found);
        }
    }
    if let Some(entity) = entity {
        Evolving { names, model, entity, old: RefCell::default() }.lines(it, &mut evolution, found);
    }
    evolution
}

struct Evolving<'a> {
    names: &'a Names<'a>,
    model: &'a Model,
    entity: EntityId,
    /// Names of fields that only old items have.
    old: RefCell<Vec<String>>,
}

impl Evolving<'_> {
    fn lines(&self, it: &ast::Evolve, evolution: &mut Evolution, found: &mut Found) {
        let table = evolution.table.or(self.model.entity(self.entity).table).map(|id| self.model.table(id));
        for line in &it.body.lines {
            match &line.value {
                EvolveEntry::Key(key) => {
                    let Some(table) = table else { continue };
                    let Some(key) = self.key(key, line.span, table, found) else { continue };
                    match key.index {
                        None => evolution.key = Some(key),
                        Some(_) => evolution.indexes.push(key),
                    }
                }
                EvolveEntry::Rename(from, to) => {
                    self.old_field(&from.text);
                    let field = field_of(self.model, self.entity, to, found);
                    evolution.renames.extend(field.map(|field| (from.text.clone(), field, line.span)));
                }
                EvolveEntry::Table(_) | EvolveEntry::Set(..) | EvolveEntry::Allow(_) => {}
            }
        }
        // Resolved last, because values may use any old field, wherever it first occurs.
        for line in &it.body.lines {
            if let EvolveEntry::Set(name, value) = &line.value {
                let field = field_of(self.model, self.entity, name, found);
                let kind = field.map(|field| self.model.entity(self.entity).field(field).kind.clone());
                let value = self.scope().value(value, &kind.unwrap_or(Type::Unknown), found);
                evolution.sets.extend(field.map(|field| (field, value, line.span)));
            }
        }
        evolution.old_fields.clone_from(&self.old.borrow());
    }

    fn scope(&self) -> Scope<'_> {
        Scope { old: Some(&self.old), ..Scope::of_items(self.names, self.model, vec![self.entity]) }
    }

    /// Returns the field of the entity, or else one that only old items have.
    fn field(&self, name: &str) -> FieldId {
        self.model.entity(self.entity).field_named(name).unwrap_or_else(|| self.old_field(name))
    }

    fn old_field(&self, name: &str) -> FieldId {
        let entity = self.model.entity(self.entity);
        if let Some(field) = entity.field_named(name) {
            return field;
        }
        let mut old = self.old.borrow_mut();
        let number = old.iter().position(|other| other == name).unwrap_or_else(|| {
            old.push(name.to_owned());
            old.len() - 1
        });
        FieldId(entity.fields.len() + number)
    }

    fn key(&self, key: &ast::EntityKey, span: Span, table: &Table, found: &mut Found) -> Option<EntityKey> {
        let (index, partition, sort): (Option<IndexId>, Vec<&KeyAttribute>, Vec<&KeyAttribute>) = match &key.index {
            None => (None, table.partition.iter().collect(), table.sort.iter().collect()),
            Some(name) => {
                let index = index_of(table, name, found)?;
                let it = table.index_at(index);
                (Some(index), it.partition.iter().collect(), it.sort.iter().collect())
            }
        };
        let partition = self.parts(&key.partition, &partition, found)?;
        let sort = match &key.sort {
            Some(source) => self.parts(source, &sort, found)?,
            None => Vec::new(),
        };
        Some(EntityKey { index, partition, sort, span, written: true })
    }

    fn parts(&self, source: &KeySource, attributes: &[&KeyAttribute], found: &mut Found) -> Option<Vec<KeyPart>> {
        let (templates, span) = match source {
            KeySource::Template(text) => {
                let template = template::resolve(text, found, |name, _| Some(self.field(&name.text)));
                template::check_formats(&template, |field| self.kind(field), found);
                (vec![template], text.span)
            }
            KeySource::Fields(names) => {
                let part = |name: &ast::Name| {
                    let field = self.field(&name.text);
                    let part = Part::Field { field, format: Format::Plain, span: name.span };
                    Template { parts: vec![part], span: name.span }
                };
                let span = names.iter().map(|name| name.span).reduce(Span::to).unwrap_or_default();
                (names.iter().map(part).collect(), span)
            }
        };
        if templates.len() != attributes.len() {
            let message = format!("this part of the key has {} attributes, not {}", attributes.len(), templates.len());
            found.error(code::KEY, span, message);
            return None;
        }
        let part = |(attribute, template): (&&KeyAttribute, _)| KeyPart { attribute: attribute.name.clone(), template };
        Some(attributes.iter().zip(templates).map(part).collect())
    }

    fn kind(&self, field: FieldId) -> (String, Type) {
        let field = self.model.entity(self.entity).fields.get(field.0);
        field.map_or((String::new(), Type::Unknown), |field| (field.name.clone(), field.kind.clone()))
    }
}
