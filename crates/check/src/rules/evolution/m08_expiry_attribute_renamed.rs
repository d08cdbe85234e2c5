//! M08: the attribute with the expiry time of a table's items has another name.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Entity, Model, Table};

use super::{evolution, kept};

pub(super) static RULE: Rule = Rule {
    code: Code("M08"),
    severity: Severity::Error,
    title: "existing items no longer expire",
    page: include_str!("../../../../../docs/rules/M08.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let Some(before) = context.before else { return };
    for (old, new) in kept(context) {
        let (Some(then), Some(now)) = (table_of(before, old), table_of(context.model, new)) else { continue };
        let (Some(old_ttl), Some(ttl)) = (&then.ttl, &now.ttl) else { continue };
        let had_one = old.field_named(&old_ttl.value).is_some();
        if then.name != now.name || old_ttl.value == ttl.value || !had_one || evolution(context, new).is_some() {
            continue;
        }
        findings.push(
            Diagnostic::error(
                RULE.code,
                ttl.span,
                format!(
                    "existing items of {} hold their expiry time in `{}` and no longer expire",
                    new.name, old_ttl.value
                ),
            )
            .label(format!("was `{}`", old_ttl.value))
            .help(format!(
                "keep `ttl {0}`, or move the values: `evolve {1} {{ rename {0} -> {2} }}`",
                old_ttl.value, new.name, ttl.value
            )),
        );
    }
}

fn table_of<'a>(model: &'a Model, entity: &Entity) -> Option<&'a Table> {
    entity.table.map(|table| model.table(table))
}
