//! Hover text as Markdown: request, key condition and cost of a read, type of a field, keys of an entity.

use crate::Checked;
use crate::cost::text::number;
use crate::cost::{read as read_cost, write as write_cost};
use crate::rules;
use keyform_language::plan::{ReadOutcome, words as plan_words};
use keyform_language::schema::{Entity, Field, Model, Read, Table, Write, words};
use keyform_language::span::Span;

use super::place::{Around, Word, around, entities_of, owner, word_at};

/// Hover text for a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// Source range of the word.
    pub span: Span,
    /// Markdown to show.
    pub text: String,
}

/// Returns the hover text for the word at an offset.
#[must_use]
pub fn hover(checked: &Checked, offset: usize) -> Option<Hover> {
    let word = word_at(&checked.source, offset)?;
    let around = around(checked, offset);
    let text = field(checked, around, word).or_else(|| declared(checked, word.text)).or_else(|| rule(word.text))?;
    Some(Hover { span: word.span, text })
}

fn rule(code: &str) -> Option<String> {
    let rule = rules::all().find(|rule| rule.code.0 == code)?;
    Some(format!("**{}** {}", rule.code, rule.title))
}

fn field(checked: &Checked, around: Around<'_>, word: Word<'_>) -> Option<String> {
    let model = &checked.model;
    let entities: Vec<&Entity> = match owner(&checked.source, word.span) {
        Some(owner) => match (model.entity_named(owner.text), around) {
            (Some(id), _) => vec![model.entity(id)],
            (None, Around::Write(write)) => super::definition::read_by(model, write, owner.text),
            _ => Vec::new(),
        },
        None => entities_of(model, around),
    };
    let (entity, field) =
        entities.iter().find_map(|entity| Some((entity, entity.field(entity.field_named(word.text)?))))?;
    Some(of_field(model, entity, field))
}

fn of_field(model: &Model, entity: &Entity, field: &Field) -> String {
    let flags = words::flags(&field.flags).join(" ");
    let line = format!("{}: {} {flags}", field.name, words::field_type(model, field));
    with_docs(format!("```kf\n{}\n```\nof {}", line.trim_end(), entity.name), &field.docs)
}

fn with_docs(text: String, docs: &[String]) -> String {
    if docs.is_empty() {
        text
    } else {
        format!("{text}\n\n{}", docs.iter().map(|line| line.trim()).collect::<Vec<_>>().join("\n"))
    }
}

fn declared(checked: &Checked, name: &str) -> Option<String> {
    let model = &checked.model;
    if let Some(number) = model.reads.iter().position(|read| read.name == name) {
        return Some(of_read(checked, &model.reads[number], &checked.plans.reads[number]));
    }
    if let Some(number) = model.writes.iter().position(|write| write.name == name) {
        return Some(of_write(checked, number));
    }
    if let Some(id) = model.entity_named(name) {
        return Some(of_entity(model, model.entity(id)));
    }
    model.tables.iter().find(|table| table.name == name).map(of_table)
}

fn of_read(checked: &Checked, read: &Read, outcome: &ReadOutcome) -> String {
    let model = &checked.model;
    let ReadOutcome::Planned(plan) = outcome else {
        return with_docs(format!("`{}` cannot run as one request: see the findings", read.name), &read.docs);
    };
    let cost = read_cost::read(model, read, plan);
    let table = model.table(plan.table);
    let index = plan.index.map(|index| format!(" of index `{}`", table.index_at(index).name)).unwrap_or_default();
    let condition = plan_words::key_condition(read, plan);
    let assumed = if cost.assumed { " (assumed values)" } else { "" };
    let text = format!(
        "**{}** on `{}`{index}\n\n`{condition}`\n\n{} read units, {} items, {} round trips{assumed}",
        plan_words::request_name(plan.request),
        table.name,
        number(cost.units),
        cost.examined_items,
        cost.pages
    );
    with_docs(text, &read.docs)
}

fn of_write(checked: &Checked, number_of: usize) -> String {
    let write: &Write = &checked.model.writes[number_of];
    let Some(plan) = &checked.plans.writes[number_of] else {
        return with_docs(format!("`{}`", write.name), &write.docs);
    };
    let cost = write_cost::write(&checked.model, write, plan);
    let request = plan_words::write_name(plan.request);
    let text = format!(
        "**{request}** of {} actions\n\n{} write units, plus {} for indexes",
        cost.actions,
        number(cost.units),
        number(cost.index_units)
    );
    with_docs(text, &write.docs)
}

fn of_entity(model: &Model, entity: &Entity) -> String {
    let table = entity.table.map(|table| model.table(table));
    let lines = entity.key.iter().chain(&entity.indexes).map(|key| {
        let name = key.index.zip(table).map_or("key", |(index, table)| &table.index_at(index).name);
        let templates: Vec<String> =
            key.parts().map(|part| format!("\"{}\"", part.template.text(|field| &entity.field(field).name))).collect();
        format!("{name} {}", templates.join(", "))
    });
    let keys = lines.collect::<Vec<_>>().join("\n");
    let place = table.map_or("?", |table| &table.name);
    with_docs(format!("entity **{}** in {place}\n\n```kf\n{keys}\n```", entity.name), &entity.docs)
}

fn of_table(table: &Table) -> String {
    let keys = table.key_names().collect::<Vec<_>>().join(", ");
    with_docs(
        format!("table **{}** `{}`\n\nkey `{keys}`, {} indexes", table.name, table.physical, table.indexes.len()),
        &table.docs,
    )
}
