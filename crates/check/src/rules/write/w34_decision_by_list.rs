//! W34: a write decides by how many items a read found, or by finding none.
//!
//! A request cannot test that no further item exists. Two concurrent writes both see an empty list, and both create.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::{Presence, Verb};
use keyform_language::schema::{
    Action, ChangeKind, EntityId, Expr, ExprKind, For, Model, Origin, Read, Test, ValuePath, Write, WriteStep,
};
use keyform_language::span::Span;

use super::origin::{argument, is_of_many, source};

pub(super) static RULE: Rule = Rule {
    code: Code("W34"),
    severity: Severity::Warning,
    title: "a write decides by the number of items that a read found",
    page: include_str!("../../../../../docs/rules/W34.md"),
    find,
};

/// Use of the result of a read, by the number of its `let`.
struct Use {
    number: usize,
    span: Span,
}

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for write in &context.model.writes {
        for require in &write.requires {
            let used = numbers(context.model, write, &require.condition).into_iter();
            let used = used.chain(absences(context.model, write, &require.condition));
            findings.extend(used.map(|used| finding(context, write, &used, "this decides")).next());
        }
        for action in write.actions() {
            let used = in_action(context.model, write, action);
            findings.extend(used.map(|used| finding(context, write, &used, "this is stored")));
        }
    }
}

/// Returns a value that an action computes from a number of items, and that neither its key nor `unique` protects.
fn in_action(model: &Model, write: &Write, action: &Action) -> Option<Use> {
    let entity = model.entity(action.entity?);
    let is_safe = |change: &&keyform_language::schema::Change| {
        change
            .field
            .is_none_or(|field| entity.key_fields().contains(&field) || entity.field(field).flags.unique.is_some())
    };
    let sets = action.changes.iter().filter(|change| change.written && !is_safe(change));
    let values = sets.filter_map(|change| match &change.kind {
        ChangeKind::Set(value) => Some(value),
        _ => None,
    });
    values.flat_map(|value| numbers(model, write, value)).next()
}

/// Returns the uses of the size of a list, or of a count, except of a list that the write goes through.
fn numbers(model: &Model, write: &Write, expr: &Expr) -> Vec<Use> {
    let mut found = Vec::new();
    expr.walk(&mut |part| {
        let of = match &part.kind {
            ExprKind::Call { function, arguments } if function == "size" => arguments.first().and_then(let_of),
            _ => let_of(part).filter(|number| is_count(model, write, *number)),
        };
        let of = of.filter(|number| is_list(model, write, *number) && !is_iterated(&write.steps, *number));
        found.extend(of.map(|number| Use { number, span: part.span }));
    });
    found
}

/// Returns the requirements that a read found no item, unless the request makes sure of it.
fn absences(model: &Model, write: &Write, condition: &Expr) -> Vec<Use> {
    let mut found = Vec::new();
    for part in condition.conjuncts() {
        let of = match &part.kind {
            ExprKind::IsNone(of) => let_of(of),
            ExprKind::Not(of) => match &of.kind {
                ExprKind::IsSome(of) => let_of(of),
                _ => None,
            },
            _ => None,
        };
        let of = of.filter(|number| !is_kept_absent(model, write, *number));
        found.extend(of.map(|number| Use { number, span: part.span }));
    }
    found
}

/// Returns the `let` whose whole result an expression is.
fn let_of(expr: &Expr) -> Option<usize> {
    match &expr.kind {
        ExprKind::ValuePath(ValuePath { origin: Origin::Let { number, field: None, .. }, path }) if path.is_empty() => {
            Some(*number)
        }
        _ => None,
    }
}

fn read_of<'a>(model: &'a Model, write: &'a Write, number: usize) -> Option<(&'a Read, &'a [Expr])> {
    write.lets.get(number).and_then(|of| source(model, of))
}

fn is_list(model: &Model, write: &Write, number: usize) -> bool {
    read_of(model, write, number).is_some_and(|(read, _)| is_of_many(read))
}

fn is_count(model: &Model, write: &Write, number: usize) -> bool {
    read_of(model, write, number)
        .is_some_and(|(read, _)| matches!(read.result, keyform_language::schema::Result::Count(..)))
}

fn is_iterated(steps: &[WriteStep], number: usize) -> bool {
    steps.iter().any(|step| match step {
        WriteStep::Action(_) => false,
        WriteStep::For(For { list, steps, .. }) => let_of(list) == Some(number) || is_iterated(steps, number),
    })
}

/// Returns whether the request refuses if the item exists by then: the write creates the item that was looked for, checks
/// that it is absent, or claims the unique value by which it was looked for.
fn is_kept_absent(model: &Model, write: &Write, number: usize) -> bool {
    let Some((read, arguments)) = read_of(model, write, number) else { return true };
    let Some(id) = read.result.entities().first().copied() else { return true };
    let entity = model.entity(id);
    let is_unique = read.parameters.iter().any(|parameter| {
        let field = entity.fields.iter().find(|field| field.name == parameter.field_name);
        parameter.test == Test::Equal && field.is_some_and(|field| field.flags.unique.is_some())
    });
    is_unique || write.actions().into_iter().any(|action| tests_absence(model, action, id, (read, arguments)))
}

fn tests_absence(model: &Model, action: &Action, id: EntityId, (read, arguments): (&Read, &[Expr])) -> bool {
    let is_absent = action.verb == Verb::Create || action.presence == Some(Presence::Absent) || names_absence(action);
    let entity = model.entity(id);
    let is_same = |(field, value): &(keyform_language::schema::FieldId, Expr)| {
        argument(read, arguments, &entity.field(*field).name).is_some_and(|given| given.same(value))
    };
    is_absent && action.entity == Some(id) && action.keys.iter().all(is_same)
}

fn names_absence(action: &Action) -> bool {
    action.conditions.iter().any(|condition| {
        let mut found = false;
        condition.condition.walk(&mut |part| found |= matches!(part.kind, ExprKind::Absent));
        found
    })
}

fn finding(context: &Context<'_>, write: &Write, used: &Use, label: &str) -> Diagnostic {
    let model = context.model;
    let of = &write.lets[used.number];
    let read = of.read().map(|id| model.read(id));
    let name = read.and_then(|read| read.result.entities().first().map(|id| model.entity(*id).name.clone()));
    let name = name.unwrap_or_else(|| "item".to_owned());
    let is_stale = read.is_some_and(|read| read.via.is_some());
    let why = if is_stale {
        "Concurrent calls see the same items, and an index lags behind its table."
    } else {
        "Concurrent calls see the same items, and each of them goes on."
    };
    Diagnostic::warning(
        RULE.code,
        used.span,
        format!("another {name} can appear between the read and the write of `{}`", write.name),
    )
    .label(format!("{label}, but the request cannot test it"))
    .also(of.name_span, "read here")
    .note(why)
    .help(format!(
        "for at most one, use `unique`, or a key of the values that must differ, and `create`; for a limit, count in a \
        field of the parent: `update … {{ count += 1 }} if count < …`, in every write that creates a {name}"
    ))
}

#[cfg(test)]
mod tests {
    use crate::Checked;

    fn check(steps: &str, is_reported: bool) {
        let text = format!(
            r#"model m
            table T "table" {{ key pk, sk  index gsi1 (gsi1pk, gsi1sk) sparse }}
            entity User in T {{
              key "U#{{id}}", "U"  gsi1 "MAIL#{{email}}", "U"
              id: ulid = ulid()  email: email  handle: slug unique  number: int = 0
            }}
            entity Seat in T {{ key "E#{{event}}", "S#{{no}}"  event: slug  no: int(1..99)  holder: slug }}
            read userByEmail(email) -> User? via gsi1
            read seat(event, no) -> Seat? strong
            read seats(event) -> [Seat] all
            read seatCount(event) -> count Seat
            write w(event: slug, no: int(1..99), holder: slug, email: email, handle: slug) {{ {steps} }}"#
        );
        let checked = Checked::read(&text);
        let broken = checked.diagnostics.iter().find(|finding| finding.code.0.starts_with(['S', 'N']));
        assert!(broken.is_none(), "{steps}: {broken:?}");
        assert_eq!(checked.diagnostics.iter().any(|finding| finding.code.0 == "W34"), is_reported, "{steps}");
    }

    #[test]
    fn decisions_by_what_a_read_found_are_reported() {
        check("let u = userByEmail(email)  require not u is some else Taken  create User {}", true);
        check("let all = seats(event)  require size(all) < 10 else Full  create Seat {} else Taken", true);
        check("let n = seatCount(event)  require n < 10 else Full  create Seat {} else Taken", true);
        check("let n = seatCount(event)  create User { number = n + 1 }", true);
    }

    #[test]
    fn decisions_that_the_request_repeats_are_not_reported() {
        check("let s = seat(event, no)  require not s is some else Taken  create Seat {} else Taken", false);
        check(
            "let all = seats(event)  require size(all) > 0 else Empty
            for s in all max 90 { delete Seat(event, s.no) if holder = s.holder else Changed }",
            false,
        );
        check("create Seat {} else Taken", false);
    }
}
