//! Generates a method for each write, with its input and error types.

use keyform_check::cost;
use keyform_check::explain::words as sentences;
use keyform_check::surface::Pattern;
use keyform_language::schema::{EntityId, Write};

use super::argument::{self, Argument};
use super::names::{Scope, pascal};
use super::types::{Passed, Types};
use super::{Items, docs, layout};

/// Limit of separate parameters; more arguments become fields of an input struct.
const ARGUMENTS_MAX: usize = 4;
/// Limit of parameters in clippy's `too_many_arguments`.
const PARAMETERS_MAX: usize = 7;

/// Generates the method of a write, and the items that belong to it.
pub(super) fn print(types: &mut Types<'_>, items: &Items, number: usize, method: &str) -> (String, String) {
    let checked = types.checked;
    let write = &checked.model.writes[number];
    let arguments = argument::of(types, Pattern::Write(write));
    let grouped =
        arguments.len() > ARGUMENTS_MAX || arguments.iter().any(|argument| !argument.required || argument.null);
    let error = types.names.take(&format!("{}Error", pascal(&write.name)), "Refusal");
    let (kind, end) = returned(types, write);
    let mut code = docs::comment(4, &about(types, number));
    let start = format!("pub async fn {method}");
    let result = format!("Result<{kind}, {error}>");
    let mut made = String::new();
    if grouped {
        let input = types.names.take(&format!("{}Input", pascal(&write.name)), "Arguments");
        let parameters = ["&self".to_owned(), format!("input: {input}")];
        code.push_str(&layout::signature(&start, &parameters, &result));
        code.push_str(&super::handle::begun_by(&write.name, &arguments, |argument| {
            format!("&input.{}", argument.rust)
        }));
        made.push_str(&input_struct(&input, &items.handle, method, &arguments));
    } else {
        let mut parameters = vec!["&self".to_owned()];
        parameters.extend(arguments.iter().map(Argument::parameter));
        code.push_str(&layout::signature(&start, &parameters, &result));
        code.push_str(&super::handle::begun(&write.name, &arguments));
    }
    code.push_str(&format!("        call.{end}().await\n    }}\n"));
    made.push_str(&refusals(types, items, number, &error, method));
    (code, made)
}

/// Returns the result type of a write, and the name of the method that ends its call.
fn returned(types: &Types<'_>, write: &Write) -> (String, &'static str) {
    let Some(entity) = write.returned_entity() else { return ("()".to_owned(), "write") };
    let name = types.entity(entity);
    match Pattern::Write(write).may_be_none() {
        false => (name.to_owned(), "write_one"),
        true => (format!("Option<{name}>"), "written"),
    }
}

fn input_struct(name: &str, handle: &str, method: &str, arguments: &[Argument]) -> String {
    let optional = arguments.iter().filter(|argument| !argument.required).count();
    let default = if optional == arguments.len() { "Default, " } else { "" };
    let mut code = format!(
        "/// Arguments of [`{handle}::{method}`].\n#[derive(Clone, Debug, {default}PartialEq, Eq)]\npub struct {name} {{\n"
    );
    for argument in arguments {
        code.push_str(&docs::comment(4, &[docs::code(&argument.name)]));
        code.push_str(&layout::field(4, &argument.rust, &field_type(argument)));
    }
    code.push_str("}\n\n");
    if optional > 0 && optional < arguments.len() {
        code.push_str(&constructor(name, arguments));
    }
    code
}

fn field_type(argument: &Argument) -> String {
    let owned = &argument.kind.owned;
    if argument.required && !argument.null { owned.clone() } else { format!("Option<{owned}>") }
}

/// Generates `new` with the required arguments.
fn constructor(name: &str, arguments: &[Argument]) -> String {
    let required: Vec<&Argument> = arguments.iter().filter(|argument| argument.required).collect();
    let parameters: Vec<String> = required
        .iter()
        .map(|argument| match argument.kind.passed {
            Passed::Text if !argument.null => format!("{}: impl Into<String>", argument.rust),
            _ => format!("{}: {}", argument.rust, field_type(argument)),
        })
        .collect();
    let values: Vec<String> = arguments
        .iter()
        .map(|argument| match (argument.required, &argument.kind.passed) {
            (false, _) => format!("{}: None", argument.rust),
            (true, Passed::Text) if !argument.null => format!("{0}: {0}.into()", argument.rust),
            (true, _) => argument.rust.clone(),
        })
        .collect();
    let mut code = format!(
        "impl {name} {{\n    /// Creates the arguments with all required values; optional ones are absent.\n    #[must_use]\n"
    );
    if required.len() > PARAMETERS_MAX {
        code.push_str("    #[allow(clippy::too_many_arguments, reason = \"the model declares this many\")]\n");
    }
    code.push_str(&layout::signature("pub fn new", &parameters, "Self"));
    code.push_str(&layout::value("Self", &values, ""));
    code.push_str("    }\n}\n\n");
    code
}

/// Generates the enum of a write's refusals.
fn refusals(types: &Types<'_>, items: &Items, number: usize, name: &str, method: &str) -> String {
    let mut texts = Pattern::Write(&types.checked.model.writes[number]).outcomes(types.checked);
    // This outcome shares the variant for version conflicts (ADR 0018).
    texts.retain(|text| text != "Conflict");
    let mut scope = Scope::with(&["Conflict", "Failed", "Self"]);
    let variants: Vec<String> = texts.iter().map(|text| scope.take(&pascal(text), "Outcome")).collect();
    let mut code = format!(
        "/// Errors of [`{}::{method}`].\n#[derive(Clone, Debug, PartialEq)]\npub enum {name} {{\n",
        items.handle
    );
    for (variant, text) in variants.iter().zip(&texts) {
        code.push_str(&docs::comment(4, &[format!("Refused: {}.", docs::code(text))]));
        code.push_str(&format!("    {variant},\n"));
    }
    code.push_str("    /// An item has changed since it was read, or does not exist; contains the current item.\n");
    code.push_str(&format!("    Conflict(Option<Box<{}>>),\n", conflicting(types, items, number)));
    code.push_str("    /// The call failed for a reason outside the model.\n    Failed(keyform::CallError),\n}\n\n");
    let pairs: Vec<String> =
        variants.iter().zip(&texts).map(|(variant, text)| format!("{variant} = {text:?}")).collect();
    code.push_str(&layout::implementation("outcomes", name, &pairs));
    code.push('\n');
    code
}

/// Returns the type of a conflicting item: the only entity of the write, or the enum of all.
fn conflicting(types: &Types<'_>, items: &Items, number: usize) -> String {
    let plan = types.checked.plans.writes[number].as_ref();
    let mut entities: Vec<EntityId> = plan.iter().flat_map(|plan| &plan.actions).map(|action| action.entity).collect();
    entities.dedup();
    entities.sort_unstable();
    entities.dedup();
    match entities.as_slice() {
        [entity] => types.entity(*entity).to_owned(),
        [] => "keyform::typed::Nothing".to_owned(),
        _ => items.entity.clone(),
    }
}

/// Writes the documentation of a write: the author's, the request with its actions, and its cost.
fn about(types: &Types<'_>, number: usize) -> Vec<String> {
    let checked = types.checked;
    let write = &checked.model.writes[number];
    let mut own = docs::of(&write.docs);
    if own.is_empty() {
        own = vec![format!("The write {}.", docs::code(&write.name))];
    }
    let Some(plan) = &checked.plans.writes[number] else { return own };
    let lines = sentences::of_write(&checked.model, write, plan);
    let (actions, request): (Vec<String>, Vec<String>) = lines.into_iter().partition(|line| line.starts_with("- "));
    let costs = cost::write::write(&checked.model, write, plan);
    let about = if costs.assumed { "about " } else { "" };
    let indexes = match costs.index_units {
        0.0 => String::new(),
        units => format!(", and {} on indexes", cost::text::number(units)),
    };
    let request = request.join("; then ");
    let request = if actions.is_empty() { format!("{request}.") } else { format!("{request}:") };
    let mut last = vec![format!("Costs {about}{} write units{indexes}.", cost::text::number(costs.units))];
    last.extend(super::handle::allowed(checked, write.allow.as_ref()));
    docs::joined(vec![own, vec![request], docs::of(&actions), last])
}
