//! Shows a leak: two items of different scopes, the call, and what it does to the wrong item.

use keyform_language::document::ast::Verb;
use keyform_language::schema::{Entity, EntityId, FieldId, Model, Parameter};
use keyform_language::scope::judge::{Act, Unbound};
use keyform_language::scope::{Domain, Domains};
use keyform_language::template::sample;

/// Describes a leak of a pattern with these parameters, of which `scope` are those that `allow` names.
pub(super) fn shown(
    model: &Model,
    domains: &Domains<'_>,
    name: &str,
    parameters: &[Parameter],
    scope: &[usize],
    unbound: &Unbound,
) -> Vec<String> {
    let entity = model.entity(unbound.entity);
    let fields = shown_fields(entity, domains, unbound.entity);
    let value = |field: FieldId, number: usize| sample::value(entity.field(field), number);
    let item = |number: usize| {
        let own: Vec<String> =
            fields.iter().map(|&f| format!("{} = {:?}", entity.field(f).name, value(f, number))).collect();
        format!("{} {{ {} }}", entity.name, own.join(", "))
    };
    let argument = |(number, parameter): (usize, &Parameter)| {
        let field = entity.field_named(&parameter.field_name);
        let is_foreign = field.is_some() && !scope.contains(&number);
        let text = match field {
            Some(field) => value(field, usize::from(is_foreign)),
            None => sample::of_type(&parameter.kind, &parameter.field_name, usize::from(!scope.contains(&number))),
        };
        parameter.arguments.iter().map(|argument| format!("{argument}: {text:?}")).collect::<Vec<_>>().join(", ")
    };
    let arguments: Vec<String> = parameters.iter().enumerate().map(argument).collect();
    let call = format!("{name}({})", arguments.join(", "));
    if unbound.act == Act::Step(Verb::Create) {
        return vec![format!("a caller of another scope calls {call} and creates {}", item(1))];
    }
    vec![
        format!("two items: {} of the caller, and {} of another scope", item(0), item(1)),
        format!("the caller calls {call}, which {} the second", effect(unbound.act)),
    ]
}

const fn effect(act: Act) -> &'static str {
    match act {
        Act::Read => "returns",
        Act::Step(Verb::Create) => "creates",
        Act::Step(Verb::Put) => "replaces",
        Act::Step(Verb::Update | Verb::Upsert) => "changes",
        Act::Step(Verb::Delete) | Act::Cascade => "deletes",
        Act::Step(Verb::Check) => "reveals",
    }
}

/// Returns the fields that tell two items apart: those of the key, and those that identify other things.
fn shown_fields(entity: &Entity, domains: &Domains<'_>, id: EntityId) -> Vec<FieldId> {
    let mut fields = entity.key_fields();
    let others = (0..entity.fields.len()).map(FieldId).filter(|field| {
        let domain = domains.field(id, *field);
        !fields.contains(field) && matches!(domain, Some(Domain::Entity(_)))
    });
    let others: Vec<FieldId> = others.take(1).collect();
    fields.extend(others);
    fields.truncate(4);
    fields
}
