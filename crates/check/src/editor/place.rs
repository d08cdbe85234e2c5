//! Finds the word at an offset, the text before it, and the enclosing declaration.

use crate::Checked;
use keyform_language::document::ast::DeclarationKind;
use keyform_language::schema::{Entity, Model, Read, TableId, Write};
use keyform_language::span::Span;

/// A word with its source range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    pub(super) span: Span,
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Returns the word that an offset touches.
pub(super) fn word_at(source: &str, offset: usize) -> Option<Word<'_>> {
    let before = source.get(..offset)?;
    let start = before
        .char_indices()
        .rev()
        .take_while(|(_, character)| is_word(*character))
        .last()
        .map_or(offset, |(at, _)| at);
    let length = source[start..].find(|character| !is_word(character)).unwrap_or(source.len() - start);
    let span = Span::new(start, start + length);
    (length > 0).then(|| Word { text: &source[start..start + length], span })
}

/// Returns the word before a dot that directly precedes `word`: `channel` in `channel.serverId`.
pub(super) fn owner<'a>(source: &'a str, word: Span) -> Option<Word<'a>> {
    source.get(..word.start)?.strip_suffix('.').and_then(|before| word_at(source, before.len()))
}

/// Returns the text between an open brace and the offset, if the offset is inside the braces of a template on the same
/// line.
pub(super) fn in_braces(source: &str, offset: usize) -> Option<&str> {
    let before = source.get(..offset)?;
    let line = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
    let quote = line.rfind('"').filter(|_| line.matches('"').count() % 2 == 1)?;
    let text = &line[quote + 1..];
    let open = text.rfind('{')?;
    (!text[open..].contains('}')).then(|| &text[open + 1..])
}

/// Declaration that encloses an offset.
#[derive(Clone, Copy, Debug)]
pub(super) enum Around<'a> {
    Table(TableId),
    Entity(&'a Entity),
    Read(&'a Read),
    Write(&'a Write),
    Evolve(Option<&'a Entity>),
    Other,
    Nothing,
}

/// Returns the declaration that encloses an offset: `Nothing` between top-level declarations. An unfinished declaration
/// extends to the next one.
pub(super) fn around(checked: &Checked, offset: usize) -> Around<'_> {
    let model = &checked.model;
    let inside = checked
        .document
        .declarations
        .iter()
        .find(|declaration| declaration.span.start <= offset && offset <= declaration.span.end);
    let Some(declaration) = inside else { return Around::Nothing };
    match &declaration.value {
        DeclarationKind::Table(table) => table_named(model, &table.name.text).map_or(Around::Other, Around::Table),
        DeclarationKind::Entity(entity) => {
            model.entity_named(&entity.name.text).map_or(Around::Other, |id| Around::Entity(model.entity(id)))
        }
        DeclarationKind::Read(read) => {
            model.reads.iter().find(|candidate| candidate.name == read.name.text).map_or(Around::Other, Around::Read)
        }
        DeclarationKind::Write(write) => {
            model.writes.iter().find(|candidate| candidate.name == write.name.text).map_or(Around::Other, Around::Write)
        }
        DeclarationKind::Evolve(evolve) => {
            Around::Evolve(model.entity_named(&evolve.entity.text).map(|id| model.entity(id)))
        }
        _ => Around::Other,
    }
}

fn table_named(model: &Model, name: &str) -> Option<TableId> {
    model.tables.iter().position(|table| table.name == name).map(TableId)
}

/// Returns the entities a declaration refers to, in the order it names them.
pub(super) fn entities_of<'a>(model: &'a Model, around: Around<'a>) -> Vec<&'a Entity> {
    match around {
        Around::Entity(entity) => vec![entity],
        Around::Evolve(entity) => entity.into_iter().collect(),
        Around::Read(read) => read.result.entities().into_iter().map(|id| model.entity(id)).collect(),
        Around::Write(write) => {
            write.actions().into_iter().filter_map(|action| action.entity).map(|id| model.entity(id)).collect()
        }
        Around::Table(_) | Around::Other | Around::Nothing => Vec::new(),
    }
}
