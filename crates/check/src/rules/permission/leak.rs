//! Shows a leak: two items of different scopes, the call, and what it does to the wrong item.

use keyform_language::document::ast::Verb;
use keyform_language::schema::{Entity, EntityId, FieldId, Model, Parameter};
use keyform_language::scope::judge::{Act, Unbound};
use keyform_language::scope::{Domain, Domains};
use keyform_language::template::{KeyShape, ambiguity, sample};

use crate::rules::show;

/// Describes a leak of a pattern with these parameters. `allow` names the ones in `scope`.
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
    let shared = shared(entity, parameters, scope);
    if let Some(note) = collision(entity, &shared) {
        return vec![note];
    }
    // The call names the caller's own scope, so an item that it reaches by its key has the same value there.
    let value = |field: FieldId, number: usize| {
        let is_shared = shared.contains(&field) && unbound.act != Act::Step(Verb::Create);
        sample::value(entity.field(field), if is_shared { 0 } else { number })
    };
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

/// Returns the fields of the key that have the value of a parameter that `allow` names.
fn shared(entity: &Entity, parameters: &[Parameter], scope: &[usize]) -> Vec<FieldId> {
    let named = scope.iter().filter_map(|number| entity.field_named(&parameters.get(*number)?.field_name));
    let keys = entity.key_fields();
    named.filter(|field| keys.contains(field)).collect()
}

/// Describes two items with the same key, only one of them in the caller's scope.
fn collision(entity: &Entity, shared: &[FieldId]) -> Option<String> {
    let shape = KeyShape::of(entity, entity.key.as_ref()?)?;
    let example = ambiguity(&shape)?.example?;
    let [first, second] = [&example.first, &example.second].map(|values| show::item(entity, values));
    let differs = |field: &FieldId| example.first.get(field) != example.second.get(field);
    shared.iter().any(differs).then(|| {
        format!(
            "{first} and {second} have the same key {:?}: a caller of one scope reaches the item of the other",
            example.text
        )
    })
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
