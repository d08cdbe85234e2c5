//! K10: an e-mail address or user name in a key that nothing normalises. The key of a sentinel is a key too.

use std::collections::BTreeSet;

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Entity, Field, Format, Part, Type};
use keyform_language::span::Span;

use super::{Keyed, keys, naming};

pub(super) static RULE: Rule = Rule {
    code: Code("K10"),
    severity: Severity::Warning,
    title: "a name in a key has many spellings",
    page: include_str!("../../../../../docs/rules/K10.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let mut reported = BTreeSet::new();
    for keyed in keys(context.model) {
        for piece in keyed.parts().flat_map(|part| &part.template.parts) {
            let Part::Field { field: id, format, span } = piece else { continue };
            let field = keyed.entity.field(*id);
            if is_raw(field, *format) && reported.insert(field.name_span) {
                findings.push(finding(keyed, field, *span));
            }
        }
    }
    for entity in &context.model.entities {
        for field in entity.fields.iter().filter(|field| is_unique_mail(field)) {
            if reported.insert(field.name_span) {
                findings.push(unique(entity, field));
            }
        }
    }
}

/// Returns true for an address whose sentinel distinguishes upper and lower case.
fn is_unique_mail(field: &Field) -> bool {
    field.flags.unique.is_some() && field.kind.free_text().is_some() && naming::is_mail(&field.name)
}

fn unique(entity: &Entity, field: &Field) -> Diagnostic {
    let name = &field.name;
    let message = format!("`{name}` of {} is unique exactly as typed", entity.name);
    Diagnostic::warning(RULE.code, field.type_span, message)
        .label("upper and lower case differ")
        .note("\"Ada@example.com\" and \"ada@example.com\" are two unique values for one person")
        .help(format!("make it an `email`, which is trimmed and converted to lower case: `{name}: email`"))
        .edit(field.type_span, "email")
}

fn is_raw(field: &Field, format: Format) -> bool {
    let text = matches!(field.kind, Type::Scalar(..)) && field.kind.characters().is_some();
    text && !matches!(format, Format::Upper | Format::Lower)
        && (naming::is_personal_name(&field.name) || field.kind.free_text().is_some() && naming::is_host(&field.name))
        && !field.is_generated()
}

fn finding(keyed: Keyed<'_>, field: &Field, span: Span) -> Diagnostic {
    let name = &field.name;
    let mail = naming::is_mail(name);
    let (one, two, whose) = match (mail, naming::is_host(name)) {
        (true, _) => ("Ada@example.com", "ada@example.com", "person"),
        (_, true) => ("Example.com", "example.com", "host"),
        _ => ("Ada", "ada", "person"),
    };
    let message = format!("`{name}` is written to {} exactly as typed", keyed.title());
    let repair = if mail {
        format!("make it an `email`, which is trimmed and converted to lower case: `{name}: email`")
    } else {
        format!("write `{{{name}:lower}}`")
    };
    Diagnostic::warning(RULE.code, keyed.place_of(span), message)
        .also(field.type_span, "upper and lower case differ")
        .note(format!("{one:?} and {two:?} are two keys for one {whose}"))
        .help(repair)
}
