//! A16: a read `with expired` returns expired items.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::span::Spanned;

pub(super) static RULE: Rule = Rule {
    code: Code("A16"),
    severity: Severity::Warning,
    title: "a read returns expired items",
    page: include_str!("../../../../../docs/rules/A16.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for read in &context.model.reads {
        let Some(span) = read.with_expired else { continue };
        for id in read.result.entities() {
            let entity = context.model.entity(id);
            let ttl = entity.table.and_then(|table| context.model.table(table).ttl.as_ref());
            let Some(Spanned { value: attribute, span: ttl }) = ttl else { continue };
            let Some(field) = entity.field_named(attribute) else { continue };
            findings.push(
                Diagnostic::warning(
                    RULE.code,
                    span,
                    format!(
                        "`{}` returns each {} until it is deleted, possibly days after it expires",
                        read.name, entity.name
                    ),
                )
                .label("includes expired items")
                .also(entity.field(field).name_span, "its time")
                .also(*ttl, "the service deletes expired items late")
                .help("without `with expired`, the read omits expired items"),
            );
        }
    }
}
