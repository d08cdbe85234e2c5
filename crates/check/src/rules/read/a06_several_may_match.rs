//! A06: a read returns a single item, but several items can have its key.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Number;
use keyform_language::plan::{self, ReadPlan, RequestKind};
use keyform_language::schema::{EntityId, FieldId, Read, Result as ReadResult};
use keyform_language::span::Span;

use super::words;

pub(super) static RULE: Rule = Rule {
    code: Code("A06"),
    severity: Severity::Warning,
    title: "a read of one item may match several",
    page: include_str!("../../../../../docs/rules/A06.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (read, plan) in context.plans.planned(context.model) {
        let ordered = read.newest_first.is_some() || read.ordered.is_some();
        if plan.request == RequestKind::Query && !plan.unique && !ordered {
            findings.extend(promised(read).map(|(entity, span)| finding(context, read, plan, entity, span)));
        }
    }
}

/// Returns the entities that the read returns as a single item.
fn promised(read: &Read) -> impl Iterator<Item = (EntityId, Span)> {
    let parts = match &read.result {
        ReadResult::Parts(parts) => parts.as_slice(),
        ReadResult::Count(..) => &[],
    };
    parts
        .iter()
        .filter(|(_, number, _)| *number != Number::Many)
        .filter_map(|(entity, _, span)| entity.map(|entity| (entity, *span)))
}

fn finding(context: &Context<'_>, read: &Read, plan: &ReadPlan, entity: EntityId, span: Span) -> Diagnostic {
    let entity = context.model.entity(entity);
    let name = &entity.name;
    let fixed = plan::fixed_fields(entity, plan);
    let by =
        if fixed.is_empty() { "this key".to_owned() } else { format!("the same {}", words::fields(entity, &fixed)) };
    let finding = Diagnostic::warning(
        RULE.code,
        span,
        format!("`{}` returns one {name}, but several items can have {by}", read.name),
    )
    .label("returns whichever item comes first");
    let finding = match plan.index {
        Some(_) => finding.note("An index does not make its key unique: it contains every item with that key."),
        None => finding,
    };
    finding.help(help(name, entity, &fixed))
}

fn help(name: &str, entity: &keyform_language::schema::Entity, fixed: &[FieldId]) -> String {
    let id = entity.id_field();
    let candidate = fixed.iter().copied().find(|&field| Some(field) == id).or_else(|| fixed.last().copied());
    match candidate {
        Some(field) => format!(
            "make `{}` unique (`{}: … unique`), which a sentinel item enforces, or return `[{name}]`",
            entity.field(field).name,
            entity.field(field).name
        ),
        None => format!("return `[{name}]`"),
    }
}
