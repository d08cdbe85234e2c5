//! A20: a `for` runs over one page of a longer list.

use crate::check::{Context, Rule};
use crate::cost::partition;
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{
    Change, Entity, Expr, ExprKind, For, Let, Model, Origin, Permission, Read, ValuePath, Write, WriteStep,
};

pub(super) static RULE: Rule = Rule {
    code: Code("A20"),
    severity: Severity::Warning,
    title: "a `for` runs over one page of a longer list",
    page: include_str!("../../../../../docs/rules/A20.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for write in &context.model.writes {
        // Code calls such a write again until nothing is left.
        if !matches!(write.allow, Some(Permission::System(_))) {
            in_steps(context.model, write, &write.steps, findings);
        }
    }
}

fn in_steps(model: &Model, write: &Write, steps: &[WriteStep], findings: &mut Vec<Diagnostic>) {
    for step in steps {
        if let WriteStep::For(each) = step {
            findings.extend(judge(model, write, each));
            in_steps(model, write, &each.steps, findings);
        }
    }
}

fn judge(model: &Model, write: &Write, each: &For) -> Option<Diagnostic> {
    let ExprKind::ValuePath(ValuePath { origin: Origin::Let { number, .. }, path }) = &each.list.kind else {
        return None;
    };
    let read = model.read(write.lets.get(*number).filter(|_| path.is_empty()).and_then(Let::read)?);
    let page = read.page.as_ref().filter(|_| read.all.is_none())?.value;
    // W21 reports a `for` that refuses the page.
    let is_whole = each.max.is_some_and(|max| max < page);
    let index = read.via.as_ref().and_then(|(_, _, index)| *index);
    let entity = *read.result.entities().first()?;
    let items = partition::of(model, entity, index);
    let most = items.max.or_else(|| (!items.assumed).then_some(items.mean))?;
    let is_settled = is_whole || is_counted(write, *number) || expires(model, model.entity(entity));
    (!is_settled && most > page as f64).then(|| finding(each, read, page))
}

/// Returns true if the write takes the number of elements into account: `if members = size(people) else TooMany`.
fn is_counted(write: &Write, list: usize) -> bool {
    let mut found = false;
    let mut visit = |part: &Expr| {
        if let ExprKind::Call { function, arguments } = &part.kind
            && function == "size"
        {
            found |= arguments.iter().any(|argument| {
                matches!(&argument.kind, ExprKind::ValuePath(ValuePath { origin: Origin::Let { number, .. }, .. })
                    if *number == list)
            });
        }
    };
    write.requires.iter().for_each(|require| require.condition.walk(&mut visit));
    for action in write.actions() {
        action.conditions.iter().for_each(|condition| condition.condition.walk(&mut visit));
        action.changes.iter().filter_map(Change::value).for_each(|value| value.walk(&mut visit));
    }
    found
}

/// Returns true if items that are left expire on their own.
fn expires(model: &Model, entity: &Entity) -> bool {
    let ttl = entity.table.and_then(|table| model.table(table).ttl.as_ref());
    ttl.is_some_and(|ttl| entity.field_named(&ttl.value).is_some())
}

fn finding(each: &For, read: &Read, page: u64) -> Diagnostic {
    let message = format!("this `for` runs over the first page of `{}`, {page} items, and leaves the rest", read.name);
    let finding = Diagnostic::warning(RULE.code, each.list.span, message);
    let finding = match &read.page {
        Some(size) => finding.also(size.span, "the read returns one page"),
        None => finding,
    };
    finding.help(
        "take the elements as an argument, delete by `cascade`, or make it a write of the system that a job repeats \
        until the page is empty",
    )
}
