//! K01: a template names a field the entity does not declare.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::Part;
use keyform_language::span::Span;

use super::{Keyed, all_keys};
use crate::rules::show;

pub(super) static RULE: Rule = Rule {
    code: Code("K01"),
    severity: Severity::Error,
    title: "a key template names an unknown field",
    page: include_str!("../../../../../docs/rules/K01.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for keyed in all_keys(context.model) {
        for piece in keyed.parts().flat_map(|part| &part.template.parts) {
            // A placeholder without a name is a syntax error, which the parser has reported.
            if let Part::Unknown { name, span } = piece
                && !name.is_empty()
            {
                findings.push(finding(keyed, name, *span));
            }
        }
    }
}

fn finding(keyed: Keyed<'_>, name: &str, span: Span) -> Diagnostic {
    let entity = keyed.entity;
    let finding = Diagnostic::error(RULE.code, span, format!("{} has no field `{name}`", entity.name));
    let alike = entity.fields.iter().map(|field| (strsim::jaro_winkler(&field.name, name), field));
    match alike.filter(|(likeness, _)| *likeness > 0.8).max_by(|one, two| one.0.total_cmp(&two.0)) {
        Some((_, field)) => finding
            .also(field.name_span, "a field with a similar name")
            .help(format!("write `{{{}}}`", field.name))
            .edit(Span::new(span.start + 1, span.start + 1 + name.len()), &field.name),
        None => {
            let fields = show::listed(entity.fields.iter().map(|field| field.name.as_str()));
            finding.label(format!("the fields are {fields}")).help(format!("declare it: `{name}: ulid`"))
        }
    }
}
