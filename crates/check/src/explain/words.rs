//! Describes plans in sentences.

use keyform_language::bind::taken_name;
use keyform_language::document::ast::{Presence, Verb};
use keyform_language::plan::{
    BoundKey, BoundPart, Filter, PlannedAction, ReadPlan, RequestKind, Role, SortRange, WriteKind, WritePlan,
};
use keyform_language::schema::{
    Action, Equality, Expr, LetSource, Model, Outcome, Read, Test, Write, WriteStep, limit,
};

/// Describes the request of a read.
#[must_use]
pub fn of_read(model: &Model, read: &Read, plan: &ReadPlan) -> Vec<String> {
    let mut lines = vec![request(model, plan)];
    lines.extend(plan.partition.iter().chain(&plan.sort.equal).map(|key| equal(read, key)));
    lines.extend(plan.sort.range.as_ref().map(|range| limited(read, range)));
    lines.extend(order(plan));
    lines.extend(plan.filters.iter().filter_map(|filter| filtered(model, read, plan, filter)));
    lines.extend(company(model, plan));
    lines
}

fn request(model: &Model, plan: &ReadPlan) -> String {
    let table = model.table(plan.table);
    let what = match plan.index {
        Some(index) => format!("index {} of table {}", table.index_at(index).name, table.name),
        None => format!("table {}", table.name),
    };
    let strong = if plan.strong { ", consistent" } else { "" };
    match plan.request {
        RequestKind::Get => format!("GetItem of {what}{strong}"),
        RequestKind::BatchGet => format!("BatchGetItem of {what}{strong}, up to 100 keys a request"),
        RequestKind::Query if plan.count => format!("Query of {what}{strong}, count only"),
        RequestKind::Query => format!("Query of {what}{strong}"),
        RequestKind::Scan => format!("Scan of all of {what}{strong}"),
    }
}

fn equal(read: &Read, key: &BoundKey) -> String {
    format!("{} = \"{}\"", key.attribute, written(read, key))
}

fn limited(read: &Read, range: &SortRange) -> String {
    let compared = |key: &BoundKey, sign: &str| format!("{} {sign} \"{}\"", key.attribute, written(read, key));
    match range {
        SortRange::Equal(key) => compared(key, "="),
        SortRange::Begins(key) => compared(key, "begins with"),
        SortRange::From(key) => compared(key, ">="),
        SortRange::After(key) => compared(key, ">"),
        SortRange::Until(key) => compared(key, "<="),
        SortRange::Before(key) => compared(key, "<"),
        SortRange::Between(low, high) => {
            format!("{} between \"{}\" and \"{}\"", low.attribute, written(read, low), written(read, high))
        }
    }
}

/// Formats a key with the names of its arguments.
fn written(read: &Read, key: &BoundKey) -> String {
    let part = |part: &BoundPart| match part {
        BoundPart::Text(text) => text.replace('\0', "\\0").replace(char::MAX, "\\u{10FFFF}"),
        BoundPart::Argument { parameter, argument, format } => {
            let name = read.parameters.get(*parameter).and_then(|found| found.arguments.get(*argument));
            format!("{{{}{format}}}", name.map_or("", String::as_str))
        }
    };
    key.parts.iter().map(part).collect()
}

fn order(plan: &ReadPlan) -> Option<String> {
    let pages = plan.page.map(|page| if page == 1 { "one item".to_owned() } else { format!("{page} items a page") });
    let backwards = plan.backwards.then(|| "descending by sort key".to_owned());
    let parts: Vec<String> = backwards.into_iter().chain(pages).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Describes an equality that the key does not decide.
fn verified(name: &str, plan: &ReadPlan) -> String {
    let place = match plan.request {
        RequestKind::Get | RequestKind::BatchGet => "after the read",
        RequestKind::Query | RequestKind::Scan => "filter",
    };
    let cost = if plan.request == RequestKind::Get { "" } else { "; the rest is read and paid for, then discarded" };
    format!("verified: {name} = {{{name}}}, else not found ({place}){cost}")
}

fn filtered(model: &Model, read: &Read, plan: &ReadPlan, filter: &Filter) -> Option<String> {
    let cost = if plan.request == RequestKind::Get { "" } else { "; the rest is read and paid for, then discarded" };
    Some(match filter {
        Filter::Where if plan.returns.len() > 1 => {
            let parts = read.filter.iter().flat_map(Expr::own_entities).map(|id| model.entity(id).name.as_str());
            let parts: Vec<&str> = parts.collect();
            format!("of {}, only items that match the `where`{cost}", parts.join(" and "))
        }
        Filter::Where => format!("only items that match the `where`{cost}"),
        Filter::Parameter(number) => {
            let parameter = read.parameters.get(*number)?;
            if parameter.test == Test::Equal {
                return Some(verified(&parameter.field_name, plan));
            }
            format!("only items whose `{}` equals the argument{cost}", parameter.field_name)
        }
        Filter::Tag(entities) => {
            let tag = model.table(plan.table).tag.as_ref().map_or("", |tag| tag.value.as_str());
            let names: Vec<&str> = entities.iter().map(|&entity| model.entity(entity).tag.as_str()).collect();
            format!("only items whose `{tag}` is {}{cost}", names.join(" or "))
        }
        Filter::NotSentinel(attribute) => format!("without sentinels of unique values, by `{attribute}`{cost}"),
        Filter::NotExpired(attribute) => format!("only items that have not expired by `{attribute}`{cost}"),
    })
}

/// Describes the entities a read matches besides those it returns.
fn company(model: &Model, plan: &ReadPlan) -> Option<String> {
    let others = plan.matches.iter().filter(|entity| !plan.returns.contains(entity));
    let names: Vec<&str> = others.map(|&entity| model.entity(entity).name.as_str()).collect();
    (!names.is_empty()).then(|| format!("also reads items of {}", names.join(", ")))
}

/// Describes the reads of a write's `let`s.
#[must_use]
pub fn lets(model: &Model, write: &Write, plan: &WritePlan) -> Vec<String> {
    let mut lines = Vec::new();
    for number in &plan.lets {
        if let Some(binding) = write.lets.get(*number)
            && let LetSource::Read { read, .. } = binding.source
        {
            lines.push(format!(
                "first reads `{}` with `{}`{}",
                binding.name,
                model.read(read).name,
                otherwise(binding.outcome.as_ref())
            ));
        }
    }
    lines
}

/// Describes the request of a write.
#[must_use]
pub fn of_write(model: &Model, write: &Write, plan: &WritePlan) -> Vec<String> {
    let mut lines = vec![sent(write, plan)];
    let apart = |planned: &&PlannedAction| planned.role == Role::Intend && plan.request == WriteKind::Batch;
    let own = plan.actions.iter().filter(|planned| !apart(planned));
    lines.extend(own.map(|planned| format!("- {}", action(model, write, planned))));
    if let Some(before) = plan.actions.iter().find(apart) {
        lines.insert(
            0,
            format!(
                "first puts the intent to delete what refers to each {}: PutItem",
                model.entity(before.entity).name
            ),
        );
    }
    lines
}

fn otherwise(outcome: Option<&Outcome>) -> String {
    outcome.map_or_else(String::new, |outcome| format!(", else {}", outcome.name))
}

fn sent(write: &Write, plan: &WritePlan) -> String {
    let count = plan.actions_max.map_or_else(
        || "any number of actions".to_owned(),
        |most| match most {
            1 => "1 action".to_owned(),
            most => format!("up to {most} actions"),
        },
    );
    match plan.request {
        WriteKind::Put => "PutItem".to_owned(),
        WriteKind::Update => "UpdateItem".to_owned(),
        WriteKind::Delete => "DeleteItem".to_owned(),
        WriteKind::Batch => format!("BatchWriteItem, {count}, not atomic"),
        WriteKind::Transaction if write.idempotent.is_some() => {
            format!("TransactWriteItems, {count}, atomic, with a token that makes retries idempotent")
        }
        WriteKind::Transaction => format!("TransactWriteItems, {count}, atomic"),
    }
}

fn action(model: &Model, write: &Write, planned: &PlannedAction) -> String {
    let entity = model.entity(planned.entity);
    let what = match planned.role {
        Role::Put if find(&write.steps, &planned.step).is_some_and(|step| step.replace) => {
            format!("Put {}, in place of any other", entity.name)
        }
        Role::Put => format!("Put {}", entity.name),
        Role::Update => format!("Update {}", entity.name),
        Role::Delete => format!("Delete {}", entity.name),
        Role::Check => format!("Check {}", entity.name),
        Role::Claim(field) => format!("Put the sentinel of {}.{}", entity.name, entity.field(field).name),
        Role::Release(field) => format!("Delete the sentinel of the old {}.{}", entity.name, entity.field(field).name),
        Role::Intend => format!("Put the intent to delete what refers to the {}", entity.name),
    };
    let presence = match planned.presence {
        Some(Presence::Exists) => ", which must exist",
        Some(Presence::Absent) => ", which must not exist",
        None => "",
    };
    let each = if planned.repeated { ", for each element" } else { "" };
    let own = matches!(planned.role, Role::Put | Role::Update | Role::Delete | Role::Check);
    let step = find(&write.steps, &planned.step);
    let outcome = step.map(|step| outcome(model, planned, step)).unwrap_or_default();
    let verified = step.filter(|_| own).map(|step| equalities(model, write, planned, step)).unwrap_or_default();
    let conditions = step.filter(|_| own).map(conditions).unwrap_or_default();
    let limits = step.filter(|_| own).map(|step| limits(&limit::outcomes(entity, step, &write.parameters)));
    let limits = limits.unwrap_or_default();
    let upsert = step.is_some_and(|step| own && step.verb == Verb::Upsert);
    let upsert = if upsert { ", or creates it" } else { "" };
    format!("{what}{upsert}{presence}{outcome}{verified}{conditions}{limits}{each}")
}

/// Describes the outcome if the presence of the item or the sentinel is not as required.
fn outcome(model: &Model, planned: &PlannedAction, step: &Action) -> String {
    match planned.role {
        Role::Release(_) | Role::Intend => String::new(),
        Role::Claim(field) if step.verb != Verb::Create || step.outcome.is_none() => {
            format!(", else {}", taken_name(&model.entity(planned.entity).field(field).name))
        }
        _ => otherwise(step.outcome.as_ref()),
    }
}

/// Describes the fields that the stored item must have besides its key.
fn equalities(model: &Model, write: &Write, planned: &PlannedAction, step: &Action) -> String {
    let entity = model.entity(planned.entity);
    let test = |equality: &Equality| {
        let value = match equality.value.parameters().as_slice() {
            [number] => write.parameters.get(*number).map(|parameter| format!("{{{}}}", parameter.field_name)),
            _ => None,
        };
        let name = &entity.field(equality.field).name;
        format!("; verified: {name} = {}, else not found (condition)", value.as_deref().unwrap_or("the given value"))
    };
    step.equalities.iter().map(test).collect()
}

fn conditions(step: &Action) -> String {
    let names: Vec<String> = step.conditions.iter().map(|condition| otherwise(condition.outcome.as_ref())).collect();
    match names.len() {
        0 => String::new(),
        1 => format!("; on 1 condition{}", names.concat()),
        count => format!("; on {count} conditions{}", names.concat()),
    }
}

/// Describes the conditions that keep the changes within the types of their fields.
fn limits(outcomes: &[String]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for outcome in outcomes {
        if !names.contains(&outcome.as_str()) {
            names.push(outcome);
        }
    }
    if names.is_empty() { String::new() } else { format!("; within its types, else {}", names.join(", else ")) }
}

/// Returns the step with this path.
pub fn find<'a>(steps: &'a [WriteStep], path: &[usize]) -> Option<&'a Action> {
    let (first, rest) = path.split_first()?;
    match steps.get(*first)? {
        WriteStep::Action(action) => Some(action),
        WriteStep::For(each) => find(&each.steps, rest),
    }
}
