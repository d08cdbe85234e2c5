//! W18: an update sets an `immutable` field.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Verb;
use keyform_language::schema::{Action, Change, Entity, FieldId, Write};

use super::actions;

pub(super) static RULE: Rule = Rule {
    code: Code("W18"),
    severity: Severity::Error,
    title: "an update changes an immutable field",
    page: include_str!("../../../../../docs/rules/W18.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (write, action, entity) in actions(context) {
        if action.verb == Verb::Update {
            findings.extend(changes(action, entity).map(|(change, field)| finding(write, entity, change, field)));
        }
    }
}

/// Returns the changes of `immutable` fields. Fields of the table's key are K06.
fn changes<'a>(action: &'a Action, entity: &'a Entity) -> impl Iterator<Item = (&'a Change, FieldId)> {
    let keys = entity.key_fields();
    let known = action.changes.iter().filter_map(|change| change.field.map(|field| (change, field)));
    known.filter(move |(_, field)| entity.field(*field).flags.immutable.is_some() && !keys.contains(field))
}

fn finding(write: &Write, entity: &Entity, change: &Change, id: FieldId) -> Diagnostic {
    let field = entity.field(id);
    let message = format!("`{}` sets `{}` of {}, which is immutable", write.name, field.name, entity.name);
    let finding = Diagnostic::error(RULE.code, change.span, message).also(field.name_span, "`immutable`");
    let parameter = write.parameters.iter().find(|parameter| parameter.arguments.contains(&field.name));
    match parameter.filter(|_| !change.written) {
        Some(parameter) => finding
            .also(parameter.span, "has the field's name, so the update sets the field to it")
            .help("rename the parameter, and give it the field's type"),
        None => finding.help("do not set it, or remove `immutable`"),
    }
}
