//! A07: a key condition also matches items of entities that the read does not return.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::plan::{ReadPlan, RequestKind};
use keyform_language::schema::{Entity, EntityId, EntityKey, Read};

use super::words;

pub(super) static RULE: Rule = Rule {
    code: Code("A07"),
    severity: Severity::Warning,
    title: "a read also reads other entities",
    page: include_str!("../../../../../docs/rules/A07.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (read, plan) in context.plans.planned(context.model) {
        let others: Vec<EntityId> =
            plan.matches.iter().copied().filter(|entity| !plan.returns.contains(entity)).collect();
        if plan.request == RequestKind::Query && !others.is_empty() {
            findings.push(finding(context, read, plan, &others));
        }
    }
}

fn finding(context: &Context<'_>, read: &Read, plan: &ReadPlan, others: &[EntityId]) -> Diagnostic {
    let model = context.model;
    let names: Vec<&str> = others.iter().map(|&id| model.entity(id).name.as_str()).collect();
    let span = read.key.as_ref().map_or(read.name_span, |key| key.span);
    let verb = if plan.count { "counts" } else { "returns" };
    let wanted: Vec<&str> = plan.returns.iter().map(|&id| model.entity(id).name.as_str()).collect();
    let mut finding = Diagnostic::warning(
        RULE.code,
        span,
        format!("`{}` {verb} {}, but its key condition also reads {}", read.name, plain(&wanted), plain(&names)),
    )
    .label("meets both");
    for &id in others {
        let other = model.entity(id);
        if let Some(key) = other.key_of(plan.index) {
            finding = finding.also(shown(key), format!("{} is under the same key", other.name));
        }
    }
    let table = model.table(plan.table);
    finding = match &table.tag {
        Some(tag) => finding.note(format!("They are read and paid for, then discarded by `{}`.", tag.value)),
        None => finding.note(format!("Table {} has no `tag`, so nothing discards them.", table.name)),
    };
    finding.help(help(read, plan, model.entity(plan.returns[0])))
}

fn plain(names: &[&str]) -> String {
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        Some((last, _)) => (*last).to_owned(),
        None => String::new(),
    }
}

fn shown(key: &EntityKey) -> keyform_language::span::Span {
    key.sort.last().or(key.partition.last()).map_or(key.span, |part| part.template.span)
}

fn help(read: &Read, plan: &ReadPlan, entity: &Entity) -> String {
    let sort = entity.key_of(plan.index).and_then(|key| key.sort.first());
    match (&read.key, sort) {
        (Some(clause), Some(sort)) if clause.sort.is_none() && !sort.template.prefix().is_empty() => {
            let whole = sort.template.fields().next().is_none();
            let text = sort.template.prefix();
            let test = if whole { format!("\"{text}\"") } else { format!("begins \"{text}\"") };
            let partition = words::clause_template(read, &clause.partition.template);
            format!("restrict the sort key too: `key \"{partition}\", {test}`")
        }
        _ if plan.returns.len() > 1 => "return the others too, or give them another partition or prefix".to_owned(),
        _ => format!("give {} its own prefix in the sort key, or move the others to another partition", entity.name),
    }
}
