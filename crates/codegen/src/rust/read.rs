//! Generates a method for each read.

use keyform_check::cost;
use keyform_check::explain::words as sentences;
use keyform_check::surface::Pattern;
use keyform_language::document::ast::Number;
use keyform_language::plan::{ReadOutcome, ReadPlan, words};
use keyform_language::schema::{EntityId, FieldId, Result as ReadResult};

use super::argument::{self, Argument};
use super::names::{Scope, pascal, plural, snake};
use super::types::Types;
use super::{docs, entity, layout};

/// Generates the method of a read, and the structs that only it returns.
pub(super) fn print(types: &mut Types<'_>, number: usize, method: &str) -> (String, String) {
    let checked = types.checked;
    let read = &checked.model.reads[number];
    let arguments = argument::of(types, Pattern::Read(read));
    let mut items = String::new();
    let shape = shape(types, number, &mut items);
    let mut code = docs::comment(4, &about(types, number));
    let mut parameters = vec!["&self".to_owned()];
    parameters.extend(arguments.iter().map(Argument::parameter));
    let start = if shape.is_lazy { "pub fn" } else { "pub async fn" };
    code.push_str(&layout::signature(&format!("{start} {method}"), &parameters, &shape.result));
    code.push_str(&super::handle::begun(&read.name, &arguments));
    code.push_str(&shape.end);
    code.push_str("    }\n");
    (code, items)
}

/// Result type of a read, and the end of its method.
struct Shape {
    result: String,
    end: String,
    /// The method returns a value that becomes a future when awaited.
    is_lazy: bool,
}

impl Shape {
    fn now(result: &str, call: &str) -> Self {
        let result = format!("Result<{result}, keyform::CallError>");
        Self { result, end: format!("        call.{call}().await\n"), is_lazy: false }
    }
}

fn shape(types: &mut Types<'_>, number: usize, items: &mut String) -> Shape {
    let read = &types.checked.model.reads[number];
    let parts = match &read.result {
        ReadResult::Count(..) => return Shape::now("u64", "count"),
        ReadResult::Parts(parts) => parts,
    };
    let [(entity, how_many, _)] = parts.as_slice() else { return collection(types, number, items) };
    let kind = entity.map_or_else(|| "()".to_owned(), |entity| returned(types, number, entity, items));
    match how_many {
        Number::One => Shape::now(&kind, "one"),
        Number::Maybe => Shape::now(&format!("Option<{kind}>"), "maybe"),
        Number::Many if Pattern::Read(read).has_pages() => {
            Shape { result: format!("keyform::Pages<{kind}>"), end: "        call.pages()\n".to_owned(), is_lazy: true }
        }
        Number::Many => Shape::now(&format!("Vec<{kind}>"), "all"),
    }
}

/// Returns the struct of a read's items: the entity's, or a new one with the selected and projected fields.
fn returned(types: &mut Types<'_>, number: usize, entity: EntityId, items: &mut String) -> String {
    let read = &types.checked.model.reads[number];
    let fields = selected(types, number, entity);
    let of = types.checked.model.entity(entity);
    if fields.len() == of.fields.len() {
        return types.entity(entity).to_owned();
    }
    let wanted = format!("{}{}", pascal(&read.name), types.entity(entity));
    let name = types.names.take(&wanted, "Part");
    let about = vec![format!("Fields of a [`{}`] that `{}` returns.", types.entity(entity), read.name)];
    items.push_str(&entity::part(types, entity, &name, &about, &|field| fields.contains(&field)));
    name
}

/// Returns the fields that a read returns: those it selects, as far as the index projects them.
fn selected(types: &Types<'_>, number: usize, id: EntityId) -> Vec<FieldId> {
    let model = &types.checked.model;
    let (read, entity) = (&model.reads[number], model.entity(id));
    let chosen = |field: FieldId| {
        read.select.as_ref().is_none_or(|select| {
            select.iter().any(|((of, chosen), _)| model.entity(*of).field(*chosen).name == entity.field(field).name)
        })
    };
    let copied = |field: FieldId| match &types.checked.plans.reads[number] {
        ReadOutcome::Planned(plan) => is_copied(types, plan, &entity.field(field).name),
        ReadOutcome::Blocked(_) | ReadOutcome::Broken => true,
    };
    (0..entity.fields.len()).map(FieldId).filter(|&field| chosen(field) && copied(field)).collect()
}

fn is_copied(types: &Types<'_>, plan: &ReadPlan, name: &str) -> bool {
    let table = types.checked.model.table(plan.table);
    let Some(index) = plan.index.map(|index| table.index_at(index)) else { return true };
    let Some(copied) = &index.projection else { return true };
    let is_key = index.partition.iter().chain(&index.sort).any(|attribute| attribute.name == name);
    is_key || table.key_names().any(|key| key == name) || copied.iter().any(|copied| copied.value == name)
}

/// Generates a struct with a field for each part.
fn collection(types: &mut Types<'_>, number: usize, items: &mut String) -> Shape {
    let read = &types.checked.model.reads[number];
    let ReadResult::Parts(parts) = &read.result else { return Shape::now("()", "count") };
    let name = types.names.take(&format!("{}Collection", pascal(&read.name)), "Parts");
    let mut scope = Scope::default();
    let (mut fields, mut values) = (String::new(), Vec::new());
    for (entity, how_many, _) in parts {
        let Some(entity) = *entity else { continue };
        let kind = returned(types, number, entity, items);
        let one = snake(&types.checked.model.entity(entity).name);
        let (field, kind, taken) = match how_many {
            Number::One => (one, kind, "one"),
            Number::Maybe => (one, format!("Option<{kind}>"), "maybe"),
            Number::Many => (plural(&one), format!("Vec<{kind}>"), "many"),
        };
        let field = scope.take(&field, "_");
        let words = if taken == "many" { "items" } else { "item" };
        fields.push_str(&format!("    /// The {words} of [`{}`].\n", types.entity(entity)));
        fields.push_str(&layout::field(4, &field, &kind));
        values.push(format!("{field}: parts.{taken}({})?", entity.0));
    }
    items.push_str(&format!(
        "/// Result of `{}`: the items of one collection.\n#[derive(Clone, Debug, PartialEq, Eq)]\npub struct {name} {{\n{fields}}}\n\n",
        read.name
    ));
    let mut end = "        let mut parts = call.collection().await?;\n".to_owned();
    end.push_str(&layout::value(&format!("Ok({name}"), &values, ")"));
    Shape { result: format!("Result<{name}, keyform::CallError>"), end, is_lazy: false }
}

/// Writes the documentation of a read: the author's, the request with its key condition, and its cost.
fn about(types: &Types<'_>, number: usize) -> Vec<String> {
    let checked = types.checked;
    let read = &checked.model.reads[number];
    let mut own = docs::of(&read.docs);
    if own.is_empty() {
        own = vec![format!("The read {}.", docs::code(&read.name))];
    }
    let ReadOutcome::Planned(plan) = &checked.plans.reads[number] else { return own };
    let request = sentences::of_read(&checked.model, read, plan).into_iter().next().unwrap_or_default();
    let condition = words::key_condition(read, plan);
    let request = match condition.as_str() {
        "" => format!("{request}."),
        condition => format!("{request}: {}.", docs::code(&shown(condition))),
    };
    let costs = cost::read::read(&checked.model, read, plan);
    let about = if costs.assumed { "about " } else { "" };
    let unit = if plan.page.is_some() && read.all.is_none() { " a page" } else { "" };
    let mut lines = vec![request, format!("Costs {about}{} read units{unit}.", cost::text::number(costs.units))];
    lines.extend(super::handle::allowed(checked, read.allow.as_ref()));
    docs::joined(vec![own, lines])
}

/// Escapes the characters that delimit key ranges.
fn shown(condition: &str) -> String {
    condition.replace('\0', "\\0").replace(char::MAX, "\\u{10FFFF}")
}
