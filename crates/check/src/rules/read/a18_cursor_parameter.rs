//! A18: a paged read has an argument named `cursor`, which hides the cursor of the HTTP API.

use crate::check::{Context, Rule};
use crate::surface::{CURSOR, Pattern};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};

pub(super) static RULE: Rule = Rule {
    code: Code("A18"),
    severity: Severity::Warning,
    title: "a paged read may not take a parameter named `cursor`",
    page: include_str!("../../../../../docs/rules/A18.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for read in context.model.reads.iter().filter(|read| Pattern::Read(read).has_pages()) {
        let is_mixed = |name: &String| name == CURSOR;
        for parameter in read.parameters.iter().filter(|parameter| parameter.arguments.iter().any(is_mixed)) {
            findings.push(
                Diagnostic::warning(
                    RULE.code,
                    parameter.span,
                    format!("`{}` has a parameter `{CURSOR}` and returns pages", read.name),
                )
                .label("the HTTP API uses this name for the position of the next page")
                .help("rename the field or the parameter, or use `all` if there are never many"),
            );
        }
    }
}
