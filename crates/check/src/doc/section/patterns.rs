//! Section with the access patterns: each read with its request, each write with its steps.

use crate::Checked;
use crate::doc::block::Page;
use crate::surface::Pattern;
use keyform_language::document::ast::Verb;
use keyform_language::plan::{Filter, ReadOutcome, ReadPlan, WritePlan, words as plan_words};
use keyform_language::schema::{Action, Model, Parameter, Permission, Read, Write, words};

use super::code;

pub(crate) fn write(checked: &Checked, page: &mut Page) {
    let Checked { model, plans, .. } = checked;
    page.heading(2, "Access patterns");
    let reads = model.reads.iter().zip(&plans.reads).map(|(read, outcome)| read_row(checked, read, outcome)).collect();
    if !model.reads.is_empty() {
        page.heading(3, "Reads");
    }
    page.table(&["read", "returns", "request", "key condition", "then", "who"], reads);
    let writes =
        model.writes.iter().zip(&plans.writes).map(|(write, plan)| write_row(checked, write, plan.as_ref())).collect();
    if !model.writes.is_empty() {
        page.heading(3, "Writes");
    }
    page.table(&["write", "request", "steps", "outcomes", "who"], writes);
    let documented = model
        .reads
        .iter()
        .map(|read| (&read.name, &read.docs))
        .chain(model.writes.iter().map(|write| (&write.name, &write.docs)));
    let points = documented
        .filter(|(_, docs)| !docs.is_empty())
        .map(|(name, docs)| format!("`{name}`: {}", docs.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")));
    page.list(points.collect());
}

fn parameters(parameters: &[Parameter]) -> String {
    parameters.iter().flat_map(|parameter| &parameter.arguments).map(String::as_str).collect::<Vec<_>>().join(", ")
}

fn who(checked: &Checked, allow: Option<&Permission>) -> String {
    match allow {
        None => String::new(),
        Some(Permission::Public(_)) => "everyone".to_owned(),
        Some(Permission::System(_)) => "only code".to_owned(),
        Some(Permission::When(condition)) => code(&checked.words(condition.span)),
    }
}

fn read_row(checked: &Checked, read: &Read, outcome: &ReadOutcome) -> Vec<String> {
    let name = code(&format!("{}({})", read.name, parameters(&read.parameters)));
    let returns = code(&words::result(&checked.model, read));
    let allow = who(checked, read.allow.as_ref());
    match outcome {
        ReadOutcome::Planned(plan) => {
            let condition = code(&plan_words::key_condition(read, plan));
            vec![name, returns, request(&checked.model, plan), condition, then(checked, read, plan), allow]
        }
        ReadOutcome::Blocked(_) | ReadOutcome::Broken => {
            vec![name, returns, "cannot run".to_owned(), String::new(), "see the findings".to_owned(), allow]
        }
    }
}

fn request(model: &Model, plan: &ReadPlan) -> String {
    let table = model.table(plan.table);
    let index = plan.index.map(|index| format!(" of `{}`", table.index_at(index).name)).unwrap_or_default();
    format!("{}{index}{}", plan_words::request_name(plan.request), if plan.strong { ", consistent" } else { "" })
}

/// Formats order, page size and filters of a read.
fn then(checked: &Checked, read: &Read, plan: &ReadPlan) -> String {
    let mut parts = Vec::new();
    parts.extend(read.newest_first.map(|newest| if newest.value { "newest first" } else { "oldest first" }.to_owned()));
    parts.extend(plan.page.map(|page| format!("pages of {page}")));
    for filter in &plan.filters {
        parts.push(match filter {
            Filter::Where => read
                .filter
                .as_ref()
                .map(|filter| format!("only where `{}`", checked.words(filter.span)))
                .unwrap_or_default(),
            Filter::Parameter(number) => format!("only by `{}`", read.parameters[*number].field_name),
            Filter::Tag(entities) => {
                let names: Vec<&str> = entities.iter().map(|&id| checked.model.entity(id).name.as_str()).collect();
                format!("only {}", names.join(", "))
            }
            Filter::NotSentinel(_) => "without sentinels of unique values".to_owned(),
            Filter::NotExpired(attribute) => format!("without items expired by `{attribute}`"),
        });
    }
    parts.join(", ")
}

fn write_row(checked: &Checked, write: &Write, plan: Option<&WritePlan>) -> Vec<String> {
    let model = &checked.model;
    let request = plan.map_or("cannot run", |plan| plan_words::write_name(plan.request));
    let lets = write.lets.iter().filter_map(|read| read.read()).map(|read| format!("read `{}`", model.read(read).name));
    let actions = write.actions().into_iter().map(|action| step(model, action));
    vec![
        code(&format!("{}({})", write.name, parameters(&write.parameters))),
        request.to_owned(),
        lets.chain(actions).collect::<Vec<_>>().join(", "),
        outcomes(checked, write).join(", "),
        who(checked, write.allow.as_ref()),
    ]
}

fn step(model: &Model, action: &Action) -> String {
    let verb = match action.verb {
        Verb::Create => "create",
        Verb::Put if action.replace => "replace",
        Verb::Put => "put",
        Verb::Update => "update",
        Verb::Upsert => "upsert",
        Verb::Delete => "delete",
        Verb::Check => "check",
    };
    format!("{verb} {}", action.entity.map_or("?", |id| &model.entity(id).name))
}

/// Returns the outcome names of a write, each once.
fn outcomes(checked: &Checked, write: &Write) -> Vec<String> {
    Pattern::Write(write).outcomes(checked).iter().map(|name| code(name)).collect()
}
