//! Go to definition.

use crate::Checked;
use keyform_language::schema::{Entity, Field, LetSource, Model, Parameter, Write};
use keyform_language::span::Span;

use super::place::{Around, Word, around, entities_of, owner, word_at};

/// Returns the source range where the name at an offset is declared.
#[must_use]
pub fn definition(checked: &Checked, offset: usize) -> Option<Span> {
    let word = word_at(&checked.source, offset)?;
    let around = around(checked, offset);
    match owner(&checked.source, word.span) {
        Some(owner) => member(checked, around, owner, word.text),
        None => local(&checked.model, around, word).or_else(|| global(&checked.model, word.text)),
    }
}

/// Resolves `caller.userId`, `User.name`, `channel.serverId`.
fn member(checked: &Checked, around: Around<'_>, owner: Word<'_>, name: &str) -> Option<Span> {
    let model = &checked.model;
    if owner.text == "caller" {
        return field_named(model.caller.as_ref().map_or(&[], |caller| &caller.fields), name);
    }
    if let Some(entity) = model.entity_named(owner.text) {
        return field_named(&model.entity(entity).fields, name);
    }
    let Around::Write(write) = around else { return None };
    let entities = read_by(model, write, owner.text);
    entities.into_iter().find_map(|entity| field_named(&entity.fields, name))
}

/// Returns the entities that the `let` with this name reads.
pub(super) fn read_by<'a>(model: &'a Model, write: &Write, name: &str) -> Vec<&'a Entity> {
    let read = write.lets.iter().find(|binding| binding.name == name).and_then(|binding| match binding.source {
        LetSource::Read { read, .. } => Some(model.read(read)),
        LetSource::Value(_) | LetSource::Unknown => None,
    });
    read.map(|read| read.result.entities()).unwrap_or_default().into_iter().map(|id| model.entity(id)).collect()
}

fn field_named(fields: &[Field], name: &str) -> Option<Span> {
    fields.iter().find(|field| field.name == name).map(|field| field.name_span)
}

/// Resolves a name within the enclosing declaration.
fn local(model: &Model, around: Around<'_>, word: Word<'_>) -> Option<Span> {
    let name = word.text;
    let parameter = |parameters: &[Parameter]| {
        parameters
            .iter()
            .find(|parameter| parameter.arguments.iter().any(|argument| argument == name))
            .map(|found| found.span)
    };
    let own = match around {
        Around::Write(write) => {
            let bound = write.lets.iter().find(|binding| binding.name == name).map(|binding| binding.name_span);
            bound.or_else(|| parameter(&write.parameters))
        }
        // A parameter without an operator is a field, so its definition is that of the field.
        Around::Read(read) => parameter(&read.parameters).filter(|span| !span.contains(word.span)),
        _ => None,
    };
    let entities = entities_of(model, around);
    let fields = || entities.iter().find_map(|entity| field_named(&entity.fields, name));
    let index = || {
        let table = match around {
            Around::Table(table) => Some(table),
            _ => entities.iter().find_map(|entity| entity.table),
        };
        let table = model.table(table?);
        table.index_named(name).map(|index| table.index_at(index).name_span)
    };
    own.or_else(fields).or_else(index)
}

/// Resolves a top-level declaration.
fn global(model: &Model, name: &str) -> Option<Span> {
    let entities = model.entities.iter().map(|entity| (&entity.name, entity.name_span));
    let tables = model.tables.iter().map(|table| (&table.name, table.name_span));
    let reads = model.reads.iter().map(|read| (&read.name, read.name_span));
    let writes = model.writes.iter().map(|write| (&write.name, write.name_span));
    let guards = model.guards.iter().map(|guard| (&guard.name, guard.name_span));
    let mut all = entities.chain(tables).chain(reads).chain(writes).chain(guards);
    all.find(|(declared, _)| *declared == name).map(|(_, span)| span)
}
