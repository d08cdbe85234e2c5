//! T03: an entity refers to one whose items expire, and does not expire itself.
//!
//! ADR 0020: expiry is not a delete, so `cascade` does not run when the store expires the parent.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Entity, Field, Type};

use super::ttl_field;

pub(super) static RULE: Rule = Rule {
    code: Code("T03"),
    severity: Severity::Warning,
    title: "a child outlives its expiring parent",
    page: include_str!("../../../../../docs/rules/T03.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for child in &context.model.entities {
        for field in &child.fields {
            let Type::Ref { entity: Some(parent), .. } = field.kind else { continue };
            let parent = context.model.entity(parent);
            let settled = field.flags.keep.is_some();
            if ttl_field(context.model, parent).is_some() && ttl_field(context.model, child).is_none() && !settled {
                findings.push(finding(child, field, parent));
            }
        }
    }
}

fn finding(child: &Entity, field: &Field, parent: &Entity) -> Diagnostic {
    let message = format!("a {} expires, but the {} that refers to it stays", parent.name, child.name);
    Diagnostic::warning(RULE.code, field.name_span, message).also(parent.name_span, "its items expire").help(
        "add the TTL attribute to the child too, or `keep` to the `ref` if it may stay; `cascade` applies to deletes, \
        not to expiry",
    )
}
