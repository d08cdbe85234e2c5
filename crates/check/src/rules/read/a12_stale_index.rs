//! A12: a write finds an item through a global index, which may lag behind the table.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};

use super::lookup::{self, Lookup};
use super::words;

pub(super) static RULE: Rule = Rule {
    code: Code("A12"),
    severity: Severity::Warning,
    title: "a write depends on an index that may lag behind",
    page: include_str!("../../../../../docs/rules/A12.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    findings.extend(lookup::all(context).iter().map(|lookup| finding(context, lookup)));
}

fn finding(context: &Context<'_>, lookup: &Lookup<'_>) -> Diagnostic {
    let Lookup { write, binding, read, plan, entity, action } = lookup;
    let table = context.model.table(plan.table);
    let index = plan.index.map_or("", |index| table.index_at(index).name.as_str());
    let keys = words::fields(entity, &entity.key_fields());
    Diagnostic::warning(
        RULE.code,
        binding.span,
        format!("`{}` finds the {} that it changes in index {index}, which may lag behind", write.name, entity.name),
    )
    .label(format!("`{}` reads the index", read.name))
    .also(action.span, "and this changes the item found there")
    .note(
        "An index is updated with a delay: recently written items are missing, recently deleted ones are still \
        found.",
    )
    .help(format!("take {keys} as parameters: a client that has seen the item knows its key"))
}
