//! K10: an e-mail address or user name in a key that nothing normalises.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Field, Format, Part, Type};
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
    let mut reported = Vec::new();
    for keyed in keys(context.model) {
        for piece in keyed.parts().flat_map(|part| &part.template.parts) {
            let Part::Field { field: id, format, span } = piece else { continue };
            let field = keyed.entity.field(*id);
            if is_raw(field, *format) && !reported.contains(&field.name_span) {
                reported.push(field.name_span);
                findings.push(finding(keyed, field, *span));
            }
        }
    }
}

fn is_raw(field: &Field, format: Format) -> bool {
    let text = matches!(field.kind, Type::Scalar(..)) && field.kind.characters().is_some();
    text && !matches!(format, Format::Upper | Format::Lower)
        && naming::is_personal_name(&field.name)
        && !field.is_generated()
}

fn finding(keyed: Keyed<'_>, field: &Field, span: Span) -> Diagnostic {
    let name = &field.name;
    let mail = name.to_lowercase().contains("mail");
    let (one, two) = if mail { ("Ada@example.com", "ada@example.com") } else { ("Ada", "ada") };
    let message = format!("`{name}` is written to {} exactly as typed", keyed.title());
    let repair = if mail {
        format!("make it an `email`, which is trimmed and converted to lower case: `{name}: email`")
    } else {
        format!("write `{{{name}:lower}}`")
    };
    Diagnostic::warning(RULE.code, keyed.place_of(span), message)
        .also(field.type_span, "upper and lower case differ")
        .note(format!("{one:?} and {two:?} are two keys for one person"))
        .help(repair)
}
