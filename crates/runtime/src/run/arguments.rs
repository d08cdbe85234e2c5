//! Arguments as they come: each must be a value of its parameter's type before anything is made of it, keys above all.

use keyform_core::{AttributeValue, Attributes};

use keyform_language::bind::BindError;
use keyform_language::schema::{Model, Parameter, Test, Type};

use super::{fits, in_words};

/// Refuses an argument that is not of its type. One that is missing is for the binding to miss.
pub(super) fn check(model: &Model, parameters: &[Parameter], arguments: &Attributes) -> Result<(), BindError> {
    for parameter in parameters {
        for name in &parameter.arguments {
            if arguments.get(name).is_some_and(|value| !is_of_type(model, parameter, value)) {
                return Err(BindError::Misfit { argument: name.clone(), kind: in_words(&parameter.kind) });
            }
        }
    }
    Ok(())
}

fn is_of_type(model: &Model, parameter: &Parameter, value: &AttributeValue) -> bool {
    match (parameter.test, value) {
        (_, AttributeValue::Null) => {
            let field = parameter.field.map(|(entity, field)| model.entity(entity).field(field));
            matches!(parameter.kind, Type::Json) || field.is_some_and(|field| field.null)
        }
        // The beginning of a value need not be one.
        (Test::Begins, AttributeValue::S(_)) => true,
        (Test::In, AttributeValue::L(parts)) => parts.iter().all(|part| fits(part, &parameter.kind)),
        (_, value) => fits(value, &parameter.kind),
    }
}
