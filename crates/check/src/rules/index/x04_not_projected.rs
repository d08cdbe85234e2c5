//! X04: a read through an index returns or filters by attributes that the index does not project.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::plan::{Filter, ReadPlan};
use keyform_language::schema::{Entity, EntityId, Expr, FieldId, Index, Model, Read, Table};

use crate::rules::show;

pub(super) static RULE: Rule = Rule {
    code: Code("X04"),
    severity: Severity::Error,
    title: "a read needs attributes that the index does not project",
    page: include_str!("../../../../../docs/rules/X04.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (read, plan) in context.plans.planned(context.model) {
        let Some(id) = plan.index else { continue };
        let table = context.model.table(plan.table);
        let index = table.index_at(id);
        let Some(projection) = &index.projection else { continue };
        let held = |name: &str| projection.iter().any(|own| own.value == name) || is_key(table, index, name);
        findings.extend(missing_for_filter(context, read, plan, index, &held));
        for &entity in &plan.returns {
            findings.extend(missing_in_answer(context.model, (read, plan), index, context.model.entity(entity), &held));
        }
    }
}

fn is_key(table: &Table, index: &Index, name: &str) -> bool {
    let of_index = index.partition.iter().chain(&index.sort).map(|attribute| attribute.name.as_str());
    table.key_names().chain(of_index).any(|own| own == name)
}

/// Reports returned fields that are neither projected nor key attributes. A field that only occurs inside a key
/// template is not an attribute of the index.
fn missing_in_answer(
    model: &Model,
    (read, plan): (&Read, &ReadPlan),
    index: &Index,
    entity: &Entity,
    held: &dyn Fn(&str) -> bool,
) -> Option<Diagnostic> {
    let wanted = wanted(model, read, plan, entity);
    let missing: Vec<&str> =
        wanted.into_iter().map(|field| entity.field(field).name.as_str()).filter(|name| !held(name)).collect();
    if missing.is_empty() {
        return None;
    }
    let names = show::listed(missing.iter().copied());
    let (severity, message) = if index.local {
        (Severity::Warning, format!("`{}` fetches {names} from the table, item by item", read.name))
    } else {
        (Severity::Error, format!("`{}` returns {names}, which `{}` does not contain", read.name, index.name))
    };
    Some(finding(read, index, severity, message, &missing))
}

fn finding(read: &Read, index: &Index, severity: Severity, message: String, missing: &[&str]) -> Diagnostic {
    let place = read.via.as_ref().map_or(read.name_span, |(_, span, _)| *span);
    let projected = index.projection.iter().flatten().map(|name| name.value.as_str());
    let all: Vec<&str> = projected.chain(missing.iter().copied()).collect();
    Diagnostic::new(RULE.code, severity, place, message)
        .also(index.span, "contains the keys and the projected attributes")
        .help(format!("project them: `project ({})`, or select fewer: `select (…)`", all.join(", ")))
}

fn wanted(model: &Model, read: &Read, plan: &ReadPlan, entity: &Entity) -> Vec<FieldId> {
    if plan.count {
        return Vec::new();
    }
    match &read.select {
        Some(fields) => {
            let name = |(of, field): &(EntityId, FieldId)| model.entity(*of).field(*field).name.as_str();
            fields.iter().filter_map(|(field, _)| entity.field_named(name(field))).collect()
        }
        None => (0..entity.fields.len()).map(FieldId).collect(),
    }
}

/// Reports attributes that a filter tests and a global index does not hold. DynamoDB fetches them for a local index.
fn missing_for_filter(
    context: &Context<'_>,
    read: &Read,
    plan: &ReadPlan,
    index: &Index,
    held: &dyn Fn(&str) -> bool,
) -> Option<Diagnostic> {
    let attributes: Vec<String> =
        plan.filters.iter().flat_map(|filter| looked_at(context, read, plan, filter)).collect();
    let missing: Vec<&str> = attributes.iter().map(String::as_str).filter(|name| !held(name)).collect();
    if missing.is_empty() || index.local {
        return None;
    }
    let names = show::listed(missing.iter().copied());
    let message = format!("`{}` filters by {names}, which `{}` does not contain", read.name, index.name);
    Some(finding(read, index, Severity::Error, message, &missing))
}

fn looked_at(context: &Context<'_>, read: &Read, plan: &ReadPlan, filter: &Filter) -> Vec<String> {
    match filter {
        Filter::Where => {
            let of = |condition: &Expr| {
                let entity = condition.own_entities().into_iter().next().map(|id| context.model.entity(id));
                let fields = condition.own_fields();
                entity
                    .into_iter()
                    .flat_map(move |entity| fields.clone().into_iter().map(|field| entity.field(field).name.clone()))
                    .collect::<Vec<_>>()
            };
            read.filter.iter().flat_map(Expr::conjuncts).flat_map(of).collect()
        }
        Filter::Parameter(number) => vec![read.parameters[*number].field_name.clone()],
        Filter::Tag(_) => context.model.table(plan.table).tag.iter().map(|tag| tag.value.clone()).collect(),
        Filter::NotExpired(attribute) | Filter::NotSentinel(attribute) => vec![attribute.clone()],
    }
}
