//! Resolves the keys of an entity: from its key lines, or from fields with the names of the key attributes.
//!
//! An attribute of an index key may also be part of the table's key, which the entity's key template fills, or the
//! table's tag, which is constant per entity.

use std::collections::BTreeSet;

use crate::diagnostic::Diagnostic;
use crate::document::ast::{self, EntityEntry, KeySource, KeyType, Name};
use crate::schema::field::Type;
use crate::schema::key::{EntityKey, Format, Index, IndexId, KeyAttribute, KeyPart, Part, Table, TableId, Template};
use crate::schema::{Entity, Model};
use crate::span::Span;

use super::found::Found;
use super::names::index_of;
use super::{code, template};

/// Resolves the keys of an entity whose fields have names but no types yet.
pub(super) fn resolve(entity: &mut Entity, written: &ast::Entity, table: &Table, found: &mut Found) {
    let lines = Lines::of(entity, written, table, found);
    entity.key = own(Filler { entity, table }, &lines, found);
    for (number, index) in table.indexes.iter().enumerate() {
        let filler = Filler { entity, table };
        let id = Some(IndexId(number));
        let key = match lines.of_key(id) {
            Some(line) => Some(filler.written_index(line, index, found).unwrap_or_else(|| reported(index, line.span))),
            None if lines.lost => filler.implicit_index(index).or_else(|| Some(reported(index, entity.name_span))),
            None => filler.implicit_index(index),
        };
        entity.indexes.extend(key.map(|key| EntityKey { index: id, ..key }));
    }
}

/// Removes implicit index keys that an entity fills only in part, because a field happens to have the partition key's
/// name, if another entity fills the index completely. If none does, the partial key is kept so that a rule can report
/// it.
pub(super) fn forget_halves(model: &mut Model) {
    let is_whole = |table: TableId, key: &EntityKey| {
        key.index.is_none_or(|index| key.sort.len() == model.tables[table.0].index_at(index).sort.len())
    };
    let places = model.entities.iter().filter_map(|entity| Some((entity.table?, &entity.indexes)));
    let filled: BTreeSet<(TableId, Option<IndexId>)> = places
        .flat_map(|(table, keys)| keys.iter().map(move |key| (table, key)))
        .filter(|(table, key)| is_whole(*table, key))
        .map(|(table, key)| (table, key.index))
        .collect();
    let mut entities = std::mem::take(&mut model.entities);
    for entity in &mut entities {
        let Some(table) = entity.table else { continue };
        entity.indexes.retain(|key| key.written || is_whole(table, key) || !filled.contains(&(table, key.index)));
    }
    model.entities = entities;
}

/// Returns the placeholder for an index key whose line was already reported: every part is unreadable.
fn reported(index: &Index, span: Span) -> EntityKey {
    let part = |attribute: &KeyAttribute| KeyPart {
        attribute: attribute.name.clone(),
        template: Template { parts: vec![template::unreadable(span)], span },
    };
    let (partition, sort) = (index.partition.iter().map(part).collect(), index.sort.iter().map(part).collect());
    EntityKey { index: None, partition, sort, span, written: true }
}

/// Key lines of an entity.
struct Lines<'a> {
    lines: Vec<Line<'a>>,
    /// True if a line names an index that does not exist and resembles no other.
    lost: bool,
}

/// Line for the table's key or an index key.
#[derive(Clone, Copy)]
struct Line<'a> {
    index: Option<IndexId>,
    key: &'a ast::EntityKey,
    span: Span,
}

impl<'a> Lines<'a> {
    fn of(entity: &Entity, written: &'a ast::Entity, table: &Table, found: &mut Found) -> Self {
        let mut lines = Self { lines: Vec::new(), lost: false };
        for line in &written.body.lines {
            let EntityEntry::Key(key) = &line.value else { continue };
            let index = key.index.as_ref().map(|name| index_of(table, name, found));
            if index == Some(None) {
                lines.lost = true;
                continue;
            }
            lines.add(Line { index: index.flatten(), key, span: line.span }, entity, found);
        }
        lines
    }

    fn add(&mut self, line: Line<'a>, entity: &Entity, found: &mut Found) {
        let Some(first) = self.of_key(line.index) else { return self.lines.push(line) };
        let title = line.key.index.as_ref().map_or("key", |name| &name.text);
        let message = format!("`{}` has two `{title}` lines", entity.name);
        let finding = Diagnostic::error(code::REPEATED, line.span, message).label("the second");
        found.add(finding.also(first.span, "the first").help("remove one of them"));
    }

    fn of_key(&self, index: Option<IndexId>) -> Option<&Line<'a>> {
        self.lines.iter().find(|line| line.index == index)
    }
}

fn own(filler: Filler<'_>, lines: &Lines<'_>, found: &mut Found) -> Option<EntityKey> {
    let partition = filler.table.partition.as_ref()?;
    match lines.of_key(None) {
        Some(line) => filler.written_own(line.key, line.span, partition, found),
        None => filler.implicit_own(partition, found),
    }
}

/// An entity and its table while keys are filled.
#[derive(Clone, Copy)]
pub(super) struct Filler<'a> {
    pub(super) entity: &'a Entity,
    pub(super) table: &'a Table,
}

impl Filler<'_> {
    fn written_own(
        &self,
        line: &ast::EntityKey,
        span: Span,
        partition: &KeyAttribute,
        found: &mut Found,
    ) -> Option<EntityKey> {
        let title = format!("the key of table `{}`", self.table.name);
        let wanted: Vec<&KeyAttribute> = self.table.sort.iter().collect();
        let partition = self.fill(&line.partition, &[partition], &title, found);
        let sort = match &line.sort {
            Some(source) if wanted.is_empty() => {
                let message = format!("{title} has no sort key, so one template is enough");
                found.error(code::KEY, source_span(source), message);
                return None;
            }
            Some(source) => self.fill(source, &wanted, &title, found)?,
            None => match self.implicit(&wanted) {
                Some(parts) => parts,
                None => {
                    self.no_sort(span, &title, &wanted, found);
                    return None;
                }
            },
        };
        Some(EntityKey { index: None, partition: partition?, sort, span, written: true })
    }

    fn no_sort(&self, span: Span, title: &str, wanted: &[&KeyAttribute], found: &mut Found) {
        let names = wanted.iter().map(|attribute| attribute.name.as_str()).collect::<Vec<_>>().join(", ");
        let message = format!("{title} has a sort key `{names}`, which `{}` does not fill", self.entity.name);
        found.add(Diagnostic::error(code::KEY, span, message).help("add a second template, separated by a comma"));
    }

    fn implicit_own(&self, partition: &KeyAttribute, found: &mut Found) -> Option<EntityKey> {
        let attributes: Vec<&KeyAttribute> = std::iter::once(partition).chain(&self.table.sort).collect();
        let missing: Vec<String> = attributes
            .iter()
            .filter(|attribute| self.attribute(&attribute.name).is_none())
            .map(|attribute| format!("`{}`", attribute.name))
            .collect();
        if !missing.is_empty() {
            let message = format!(
                "`{}` does not fill {} of table `{}`",
                self.entity.name,
                missing.join(" and "),
                self.table.name
            );
            let finding = Diagnostic::error(code::KEY, self.entity.name_span, message);
            found
                .add(finding.help("add a `key` line with a template for each key attribute, or fields of their names"));
            return None;
        }
        let sort: Vec<&KeyAttribute> = self.table.sort.iter().collect();
        Some(EntityKey {
            index: None,
            partition: self.implicit(&[partition])?,
            sort: self.implicit(&sort)?,
            span: self.entity.name_span,
            written: false,
        })
    }

    fn written_index(
        &self,
        Line { key: line, span, .. }: &Line<'_>,
        index: &Index,
        found: &mut Found,
    ) -> Option<EntityKey> {
        let span = *span;
        let title = format!("index `{}`", index.name);
        let sort: Vec<&KeyAttribute> = index.sort.iter().collect();
        if index.local {
            return self.written_local(line, span, index, found);
        }
        let attributes: Vec<&KeyAttribute> = index.partition.iter().collect();
        let partition = self.fill(&line.partition, &attributes, &title, found);
        let sort = match &line.sort {
            Some(source) if sort.is_empty() => {
                found.error(
                    code::KEY,
                    source_span(source),
                    format!("{title} has no sort key, so one template is enough"),
                );
                return None;
            }
            Some(source) => self.fill(source, &sort, &title, found)?,
            None => self.implicit(&sort).unwrap_or_default(),
        };
        Some(EntityKey { index: None, partition: partition?, sort, span, written: true })
    }

    /// Resolves the line of a local index, which has only one template because it shares the table's partition key.
    fn written_local(&self, line: &ast::EntityKey, span: Span, index: &Index, found: &mut Found) -> Option<EntityKey> {
        let title = format!("local index `{}`", index.name);
        let own = self.entity.key.as_ref()?;
        if let Some(source) = &line.sort {
            let message =
                format!("{title} has the table's partition key, so one template, for its sort key, is enough");
            found.error(code::KEY, source_span(source), message);
            return None;
        }
        let sort: Vec<&KeyAttribute> = index.sort.iter().collect();
        let sort = self.fill(&line.partition, &sort, &title, found)?;
        Some(EntityKey { index: None, partition: own.partition.clone(), sort, span, written: true })
    }

    fn implicit_index(&self, index: &Index) -> Option<EntityKey> {
        let attributes: Vec<&KeyAttribute> = index.partition.iter().collect();
        let partition = self.implicit(&attributes)?;
        let sort_attributes: Vec<&KeyAttribute> = index.sort.iter().collect();
        let sort = self.implicit(&sort_attributes);
        let by_field = index.partition.iter().any(|attribute| self.is_field(&attribute.name));
        if partition.is_empty() || sort.is_none() && (index.local || !by_field) {
            return None;
        }
        let sort = sort.unwrap_or_default();
        Some(EntityKey { index: None, partition, sort, span: self.entity.name_span, written: false })
    }

    /// Returns true if only a field fills the attribute: it is neither a table key nor the tag.
    fn is_field(&self, attribute: &str) -> bool {
        let key = self.table.key_names().any(|name| name == attribute);
        let tag = self.table.tag.as_ref().is_some_and(|tag| tag.value == attribute);
        !key && !tag && self.entity.field_named(attribute).is_some()
    }

    /// Fills these attributes without templates; `None` if one cannot be filled.
    fn implicit(&self, attributes: &[&KeyAttribute]) -> Option<Vec<KeyPart>> {
        let part = |attribute: &&KeyAttribute| {
            let template = self.attribute(&attribute.name)?;
            Some(KeyPart { attribute: attribute.name.clone(), template })
        };
        attributes.iter().map(part).collect()
    }

    /// Returns the implicit source of an attribute: the tag, the entity's key, or a field of its name.
    fn attribute(&self, name: &str) -> Option<Template> {
        let Entity { key, tag, name_span, .. } = self.entity;
        if self.table.tag.as_ref().is_some_and(|tag| tag.value == name) {
            return Some(Template { parts: vec![Part::Text(tag.clone())], span: *name_span });
        }
        let own = key.iter().flat_map(|key| key.partition.iter().chain(&key.sort));
        if let Some(part) = own.into_iter().find(|part| part.attribute == name) {
            return Some(part.template.clone());
        }
        let field = self.entity.field_named(name)?;
        let span = self.entity.field(field).name_span;
        Some(Template { parts: vec![Part::Field { field, format: Format::Plain, span }], span })
    }

    /// Fills these attributes from a written source.
    pub(super) fn fill(
        &self,
        source: &KeySource,
        attributes: &[&KeyAttribute],
        title: &str,
        found: &mut Found,
    ) -> Option<Vec<KeyPart>> {
        let templates: Vec<Template> = match source {
            KeySource::Template(text) => vec![self.template(text, found)],
            KeySource::Fields(names) => names.iter().map(|name| self.named(name)).collect(),
        };
        if templates.len() != attributes.len() {
            self.wrong_number(source, attributes, title, found);
            return None;
        }
        let part = |(attribute, template): (&&KeyAttribute, _)| KeyPart { attribute: attribute.name.clone(), template };
        Some(attributes.iter().zip(templates).map(part).collect())
    }

    fn template(&self, text: &ast::Text, found: &mut Found) -> Template {
        template::resolve(text, found, |name, _| self.entity.field_named(&name.text))
    }

    /// Returns the template of a name: a field, or an attribute that the key or the tag fills.
    fn named(&self, name: &Name) -> Template {
        let unknown = Part::Unknown { name: name.text.clone(), span: name.span };
        let template = self.attribute(&name.text).map(|template| match template.parts.as_slice() {
            [Part::Field { field, format, .. }] => {
                vec![Part::Field { field: *field, format: *format, span: name.span }]
            }
            _ => template.parts,
        });
        Template { parts: template.unwrap_or_else(|| vec![unknown]), span: name.span }
    }

    fn wrong_number(&self, source: &KeySource, attributes: &[&KeyAttribute], title: &str, found: &mut Found) {
        let names = attributes.iter().map(|attribute| attribute.name.as_str()).collect::<Vec<_>>().join(", ");
        let message = match attributes.len() {
            0 => format!("{title} has no attribute for this"),
            1 => format!("{title} has one attribute here, `{names}`"),
            many => format!("{title} has {many} attributes here: `{names}`"),
        };
        let finding = Diagnostic::error(code::KEY, source_span(source), message);
        found.add(match attributes.len() {
            0 => finding.help("remove it"),
            1 => finding.help("write one template, or one field in parentheses"),
            _ => finding.help(format!("name a field for each of them: `({names})`")),
        });
    }
}

fn source_span(source: &KeySource) -> Span {
    match source {
        KeySource::Template(text) => text.span,
        KeySource::Fields(names) => names.iter().map(|name| name.span).reduce(Span::to).unwrap_or_default(),
    }
}

/// Reports formats that do not fit their field; runs after types are known.
pub(super) fn check_formats(model: &Model, found: &mut Found) {
    for entity in &model.entities {
        for key in entity.key.iter().chain(&entity.indexes) {
            for part in key.partition.iter().chain(&key.sort) {
                let kind = |field| {
                    let field = entity.field(field);
                    (field.name.clone(), field.kind.clone())
                };
                template::check_formats(&part.template, kind, found);
            }
        }
    }
}

/// Infers the type of key attributes without a declared type.
pub(super) fn infer_kinds(model: &mut Model) {
    for number in 0..model.tables.len() {
        let table = &model.tables[number];
        let names = table.key_names().chain(table.indexes.iter().flat_map(index_attributes));
        let names: Vec<String> = names.map(str::to_owned).collect();
        for name in names {
            let kind = kind_of(model, TableId(number), &name);
            let table = &mut model.tables[number];
            let indexes = table.indexes.iter_mut().flat_map(|index| index.partition.iter_mut().chain(&mut index.sort));
            let all = table.partition.iter_mut().chain(&mut table.sort).chain(indexes);
            all.filter(|attribute| attribute.name == name && !attribute.declared)
                .for_each(|attribute| attribute.kind = kind);
        }
    }
}

fn index_attributes(index: &Index) -> impl Iterator<Item = &str> {
    index.partition.iter().chain(&index.sort).map(|attribute| attribute.name.as_str())
}

/// Returns number or binary if every source of the attribute is a plain field of that type, else string.
fn kind_of(model: &Model, table: TableId, attribute: &str) -> KeyType {
    let mut kinds = Vec::new();
    for (_, entity) in model.entities_of(table) {
        let keys = entity.key.iter().chain(&entity.indexes);
        let parts = keys.flat_map(|key| key.partition.iter().chain(&key.sort));
        kinds.extend(
            parts.filter(|part| part.attribute == attribute).filter_map(|part| part_kind(entity, &part.template)),
        );
    }
    match kinds.first() {
        Some(first) if kinds.iter().all(|kind| kind == first) => *first,
        _ => KeyType::String,
    }
}

/// Returns the type a template yields; `None` if the template was already reported.
fn part_kind(entity: &Entity, template: &Template) -> Option<KeyType> {
    let [Part::Field { field, format: Format::Plain, .. }] = template.parts.as_slice() else {
        return (!template.is_broken()).then_some(KeyType::String);
    };
    let kind = &entity.field(*field).kind;
    match kind.resolved() {
        Type::Unknown => None,
        _ if kind.is_bytes() => Some(KeyType::Binary),
        _ if kind.is_numeric() => Some(KeyType::Number),
        _ => Some(KeyType::String),
    }
}
