//! V05: a small change pays for a large item.

use crate::check::{Context, Rule};
use crate::cost::{size, text::bytes};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Verb;
use keyform_language::schema::{Action, ChangeKind};

pub(super) static RULE: Rule = Rule {
    code: Code("V05"),
    severity: Severity::Warning,
    title: "a small change pays for a large item",
    page: include_str!("../../../../../docs/rules/V05.md"),
    find,
};

const UNITS_LARGE: u64 = 4;

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for write in context.model.writes.iter().filter(|write| write.rate.is_some()) {
        for action in write.actions() {
            let Some(entity) = action.entity.map(|id| context.model.entity(id)) else { continue };
            let (size, assumed) = size::item(context.model, entity);
            let units = size.div_ceil(1024);
            if action.verb == Verb::Update && !assumed && units >= UNITS_LARGE && only_counts(action) {
                let message = format!("`{}` writes {} to change a number", write.name, bytes(size));
                findings.push(
                    Diagnostic::warning(RULE.code, action.entity_span, message)
                        .label(format!("{units} write units each time"))
                        .help(format!("keep the counter in a separate item beside {}", entity.name)),
                );
            }
        }
    }
}

fn only_counts(action: &Action) -> bool {
    let mut written = action.changes.iter().filter(|change| change.written).peekable();
    written.peek().is_some()
        && written.all(|change| matches!(change.kind, ChangeKind::Increase(_) | ChangeKind::Decrease(_)))
}
