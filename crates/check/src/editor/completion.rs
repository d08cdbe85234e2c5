//! Completion at an offset. The preceding words on the line decide, then the enclosing declaration.

use crate::Checked;
use crate::rules;
use keyform_language::document::keywords::{DECLARATIONS, ENTITY_ENTRIES, FLAGS, STEPS, TABLE_ENTRIES, TYPES};
use keyform_language::schema::{Entity, Model, Parameter, expression::FUNCTIONS, words};

use super::definition::read_by;
use super::place::{Around, around, entities_of, in_braces};

/// A completion candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Text to insert.
    pub label: String,
    /// Short description.
    pub detail: String,
    /// Kind, by which editors choose an icon.
    pub kind: CompletionKind,
}

/// Kind of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionKind {
    /// A keyword of the language or a rule code.
    Keyword,
    /// A field of an entity.
    Field,
    /// An entity, a table or a shape.
    Type,
    /// A read, a write, a guard or a function.
    Function,
    /// An index of a table.
    Index,
    /// A parameter or a `let`.
    Variable,
}

const FORMATS: [&str; 9] = ["ms", "s", "day", "hour", "month", "pad", "upper", "lower", "hash"];
const READ_CLAUSES: [&str; 14] = [
    "via",
    "newest first",
    "oldest first",
    "ordered by",
    "page",
    "all",
    "strong",
    "where",
    "select",
    "scan",
    "with expired",
    "key",
    "allow",
    "unscoped",
];
const STREAMS: [&str; 4] = ["new_and_old", "new", "old", "keys"];

/// Returns the candidates at an offset.
#[must_use]
pub fn complete(checked: &Checked, offset: usize) -> Vec<Completion> {
    let around = around(checked, offset);
    if let Some(inside) = in_braces(&checked.source, offset) {
        return in_template(checked, around, inside);
    }
    let before = checked.source.get(..offset).unwrap_or_default();
    let line = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
    let typed = line.rfind(|character: char| !character.is_alphanumeric() && character != '_').map_or(0, |at| at + 1);
    let lead = &line[..line.len().min(typed)];
    after(checked, around, lead.trim_end()).unwrap_or_else(|| anywhere(checked, around, lead.trim()))
}

fn keywords(words: &[&str]) -> Vec<Completion> {
    words.iter().map(|word| completion(word, "", CompletionKind::Keyword)).collect()
}

fn completion(label: &str, detail: &str, kind: CompletionKind) -> Completion {
    Completion { label: label.to_owned(), detail: detail.to_owned(), kind }
}

fn fields(model: &Model, entities: &[&Entity]) -> Vec<Completion> {
    let mut found: Vec<Completion> = Vec::new();
    for field in entities.iter().flat_map(|entity| &entity.fields) {
        if !found.iter().any(|known| known.label == field.name) {
            found.push(completion(&field.name, &words::field_type(model, field), CompletionKind::Field));
        }
    }
    found
}

fn parameters(parameters: &[Parameter]) -> Vec<Completion> {
    let names = parameters.iter().flat_map(|parameter| &parameter.arguments);
    names.map(|name| completion(name, "parameter", CompletionKind::Variable)).collect()
}

/// Returns the candidates inside `{…}` of a template.
fn in_template(checked: &Checked, around: Around<'_>, inside: &str) -> Vec<Completion> {
    if inside.contains(':') {
        return keywords(&FORMATS);
    }
    match around {
        Around::Read(read) => parameters(&read.parameters),
        _ => fields(&checked.model, &entities_of(&checked.model, around)),
    }
}

/// Returns the candidates that the preceding word decides; `None` if it does not.
fn after(checked: &Checked, around: Around<'_>, lead: &str) -> Option<Vec<Completion>> {
    let model = &checked.model;
    let last = lead.rsplit(|character: char| character.is_whitespace() || character == '(').next().unwrap_or_default();
    if let Some(owner) = last.strip_suffix('.') {
        return Some(members(model, around, owner));
    }
    Some(match last {
        "via" => indexes(model, around),
        "->" | "create" | "put" | "replace" | "update" | "upsert" | "delete" | "check" | "exists" | "ref" | "copy"
        | "count" | "on" | "evolve" | "unscoped" => entities(model),
        "in" if matches!(around, Around::Entity(_) | Around::Other | Around::Nothing) => {
            model.tables.iter().map(|table| completion(&table.name, "table", CompletionKind::Type)).collect()
        }
        "stream" => keywords(&STREAMS),
        "allow" => permissions(checked),
        _ if last.ends_with(':') => keywords(&TYPES),
        _ => return None,
    })
}

fn members(model: &Model, around: Around<'_>, owner: &str) -> Vec<Completion> {
    if owner == "caller" {
        let claims = model.caller.iter().flat_map(|caller| &caller.fields);
        return claims.map(|field| completion(&field.name, "claim of the caller", CompletionKind::Field)).collect();
    }
    if let Some(id) = model.entity_named(owner) {
        return fields(model, &[model.entity(id)]);
    }
    match around {
        Around::Write(write) => fields(model, &read_by(model, write, owner)),
        _ => Vec::new(),
    }
}

fn entities(model: &Model) -> Vec<Completion> {
    model.entities.iter().map(|entity| completion(&entity.name, "entity", CompletionKind::Type)).collect()
}

fn indexes(model: &Model, around: Around<'_>) -> Vec<Completion> {
    let tables = entities_of(model, around).into_iter().filter_map(|entity| entity.table);
    let named: Vec<Completion> = tables
        .flat_map(|table| &model.table(table).indexes)
        .map(|index| completion(&index.name, "index", CompletionKind::Index))
        .collect();
    if !named.is_empty() {
        return named;
    }
    let all = model.tables.iter().flat_map(|table| &table.indexes);
    all.map(|index| completion(&index.name, "index", CompletionKind::Index)).collect()
}

/// Returns the candidates after `allow`: permissions, guards and rule codes.
fn permissions(checked: &Checked) -> Vec<Completion> {
    let mut found = keywords(&["public", "system", "held"]);
    found.extend(checked.model.guards.iter().map(|guard| completion(&guard.name, "guard", CompletionKind::Function)));
    found.extend(rules::all().map(|rule| completion(rule.code.0, rule.title, CompletionKind::Keyword)));
    found
}

/// Returns the candidates that the enclosing declaration decides.
fn anywhere(checked: &Checked, around: Around<'_>, lead: &str) -> Vec<Completion> {
    let model = &checked.model;
    match around {
        Around::Nothing => keywords(&DECLARATIONS),
        Around::Table(_) if lead.is_empty() => keywords(&TABLE_ENTRIES),
        Around::Entity(entity) if lead.is_empty() => {
            let table = entity.table.map(|table| model.table(table));
            let indexes = table.into_iter().flat_map(|table| &table.indexes);
            let mut found = keywords(&ENTITY_ENTRIES);
            found.extend(indexes.map(|index| completion(&index.name, "index", CompletionKind::Index)));
            found
        }
        Around::Entity(_) if lead.contains(':') => {
            let mut found = keywords(&FLAGS);
            found.extend(FUNCTIONS.iter().map(|name| completion(name, "function", CompletionKind::Function)));
            found
        }
        Around::Read(read) => {
            let mut found = keywords(&READ_CLAUSES);
            found.extend(fields(model, &entities_of(model, around)));
            found.extend(parameters(&read.parameters));
            found
        }
        Around::Write(write) => {
            let mut found = if lead.is_empty() { keywords(&STEPS) } else { Vec::new() };
            found.extend(parameters(&write.parameters));
            found.extend(write.lets.iter().map(|binding| completion(&binding.name, "let", CompletionKind::Variable)));
            found.extend(fields(model, &entities_of(model, around)));
            found.extend(model.reads.iter().map(|read| completion(&read.name, "read", CompletionKind::Function)));
            found
        }
        Around::Entity(_) | Around::Table(_) | Around::Evolve(_) | Around::Other => {
            fields(model, &entities_of(model, around))
        }
    }
}
