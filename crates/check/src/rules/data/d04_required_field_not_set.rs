//! D04: a step that puts an item leaves a required field without a value.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Verb;
use keyform_language::schema::{Field, FieldId};

use super::site::{Site, sites};

pub(super) static RULE: Rule = Rule {
    code: Code("D04"),
    severity: Severity::Error,
    title: "a new item lacks a required field",
    page: include_str!("../../../../../docs/rules/D04.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for site in sites(context).into_iter().filter(Site::makes) {
        let unset: Vec<&Field> = unset(&site);
        if let Some(first) = unset.first() {
            findings.push(finding(&site, first, &unset));
        }
    }
}

fn unset<'a>(site: &Site<'a>) -> Vec<&'a Field> {
    let is_set = |id: FieldId| site.action.changes.iter().any(|change| change.field == Some(id));
    let fields = site.entity.fields.iter().enumerate();
    let unset = fields.filter(|(number, field)| field.must_have_value() && !is_set(FieldId(*number)));
    unset.map(|(_, field)| field).collect()
}

fn finding(site: &Site<'_>, first: &Field, unset: &[&Field]) -> Diagnostic {
    let names = unset.iter().map(|field| format!("`{}`", field.name)).collect::<Vec<_>>().join(", ");
    let verb = if site.action.verb == Verb::Create { "creates" } else { "puts" };
    let message = format!("`{}` {verb} {} without {names}", site.write.name, site.entity.name);
    Diagnostic::error(RULE.code, site.action.entity_span, message)
        .also(first.name_span, "required, and has no default")
        .help(format!("add a parameter `{}`, set the field, or give it a default or `?`", first.name))
}
