//! A13: a write needs two requests where a different key would need one.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::plan;
use keyform_language::schema::FieldId;

use super::lookup::{self, Lookup};

pub(super) static RULE: Rule = Rule {
    code: Code("A13"),
    severity: Severity::Warning,
    title: "a lookup by a unique field takes two requests",
    page: include_str!("../../../../../docs/rules/A13.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for lookup in lookup::all(context) {
        if let Some(field) = naming_field(&lookup) {
            findings.push(finding(&lookup, field));
        }
    }
}

/// Returns the field that identifies the item, if it is unique in the whole table.
fn naming_field(lookup: &Lookup<'_>) -> Option<FieldId> {
    let fixed = plan::fixed_fields(lookup.entity, lookup.plan);
    fixed
        .into_iter()
        .find(|&field| lookup.entity.field(field).flags.unique.as_ref().is_some_and(|unique| unique.per.is_empty()))
}

fn finding(lookup: &Lookup<'_>, field: FieldId) -> Diagnostic {
    let entity = lookup.entity;
    let name = &entity.field(field).name;
    let finding = Diagnostic::warning(
        RULE.code,
        lookup.binding.span,
        format!(
            "`{}` needs two requests for {}, although `{name}` alone identifies it",
            lookup.write.name, entity.name
        ),
    )
    .label("first a Query of an index for the key")
    .also(lookup.action.span, "then the item itself");
    let finding = match &entity.key {
        Some(key) => finding.also(key.span, "the key contains more than the name"),
        None => finding,
    };
    finding.help(format!(
        "key {} by it, as \"{}#{{{name}}}\": then it is one consistent request, and the key keeps `{name}` unique \
        without a sentinel",
        entity.name,
        entity.name.to_uppercase()
    ))
}
