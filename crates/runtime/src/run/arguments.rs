//! Checks that each argument has the type of its parameter, before keys are built from it.

use keyform_core::{AttributeValue, Attributes};

use keyform_language::bind::BindError;
use keyform_language::schema::{Model, Parameter, Test, Type, misfit_at};

use super::{fits, in_words};

/// Returns an error for an argument of the wrong type. Binding reports missing arguments.
pub(super) fn check(model: &Model, parameters: &[Parameter], arguments: &Attributes) -> Result<(), BindError> {
    for parameter in parameters {
        for name in &parameter.arguments {
            if let Some(value) = arguments.get(name).filter(|value| !is_of_type(model, parameter, value)) {
                return Err(misfit(name, parameter, value));
            }
        }
    }
    Ok(())
}

fn misfit(name: &str, parameter: &Parameter, value: &AttributeValue) -> BindError {
    let (argument, kind) = match (parameter.test, value) {
        (Test::In, AttributeValue::L(parts)) => {
            let wrong = parts.iter().enumerate().find(|(_, part)| !fits(part, &parameter.kind));
            let wrong = wrong.map(|(number, part)| misfit_at(&format!("{name}[{number}]"), part, &parameter.kind));
            wrong.unwrap_or_else(|| (name.to_owned(), in_words(&parameter.kind)))
        }
        _ => misfit_at(name, value, &parameter.kind),
    };
    BindError::Misfit { argument, kind }
}

fn is_of_type(model: &Model, parameter: &Parameter, value: &AttributeValue) -> bool {
    match (parameter.test, value) {
        (_, AttributeValue::Null) => {
            let field = parameter.field.map(|(entity, field)| model.entity(entity).field(field));
            matches!(parameter.kind, Type::Json) || field.is_some_and(|field| field.null)
        }
        // A prefix of a value need not be a valid value.
        (Test::Begins, AttributeValue::S(_)) => true,
        (Test::In, AttributeValue::L(parts)) => parts.iter().all(|part| fits(part, &parameter.kind)),
        (_, value) => fits(value, &parameter.kind),
    }
}
