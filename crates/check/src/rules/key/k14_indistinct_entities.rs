//! K14: a read encounters items of several entities that neither a tag nor the literal text of their keys
//! distinguishes.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::plan::ReadPlan;
use keyform_language::schema::{Entity, EntityId, KeyPart, Model, Read};

pub(super) static RULE: Rule = Rule {
    code: Code("K14"),
    severity: Severity::Warning,
    title: "nothing distinguishes items of two entities",
    page: include_str!("../../../../../docs/rules/K14.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let mut reported = Vec::new();
    for (read, plan) in context.plans.planned(context.model) {
        if context.model.table(plan.table).tag.is_some() {
            continue;
        }
        if let Some(pair) = alike(context.model, plan).filter(|pair| !reported.contains(pair)) {
            reported.push(pair);
            findings.push(finding(context.model, read, plan, pair));
        }
    }
}

/// Returns two entities that the read encounters and whose keys do not start with different text.
fn alike(model: &Model, plan: &ReadPlan) -> Option<(EntityId, EntityId)> {
    let met = &plan.matches;
    let pairs = met.iter().enumerate().flat_map(|(number, &one)| met[..number].iter().map(move |&two| (two, one)));
    pairs.into_iter().find(|&(one, two)| !are_told_apart(model.entity(one), model.entity(two)))
}

/// Returns whether the literal prefixes of some attribute of the table's key differ. Every item has the table's key,
/// also when it is read through an index.
fn are_told_apart(one: &Entity, two: &Entity) -> bool {
    let parts = |entity: &'_ Entity| -> Vec<(String, bool)> {
        let parts = entity.key.iter().flat_map(|key| key.partition.iter().chain(&key.sort));
        parts
            .map(|part: &KeyPart| (part.template.prefix().to_owned(), part.template.fields().next().is_none()))
            .collect()
    };
    parts(one).iter().zip(&parts(two)).any(|((one, one_whole), (two, two_whole))| {
        let differ = one.chars().zip(two.chars()).any(|(one, two)| one != two);
        differ || (*one_whole && *two_whole && one != two)
    })
}

fn finding(model: &Model, read: &Read, plan: &ReadPlan, (one, two): (EntityId, EntityId)) -> Diagnostic {
    let (first, second) = (model.entity(one), model.entity(two));
    let table = model.table(plan.table);
    let message =
        format!("`{}` reads items of {} and {}, and nothing distinguishes them", read.name, first.name, second.name);
    Diagnostic::warning(RULE.code, read.name_span, message)
        .also(first.name_span, "one of them")
        .also(second.name_span, "the other")
        .help(format!("add a tag to table {}: `tag entityType`", table.name))
}
