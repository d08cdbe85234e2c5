//! Formats writes: clauses, steps and changes.

use super::super::ast::{
    Action, Change, Condition, Expr, For, Let, Line, Name, Notes, Presence, Require, Step, Verb, Write, WriteClause,
};
use super::row::{Row, braced, columns, indented, lines, notes_before};
use super::{WIDTH, expression, read, word};

/// Row kind of `let`.
const LET: u8 = 1;
/// Row kind of changes.
const CHANGE: u8 = 2;

/// Formats `write NAME(params) -> ENTITY clauses { … }`.
pub(super) fn write(write: &Write) -> Vec<String> {
    let result = write.result.as_ref().map(|name| format!(" -> {}", word::name(name))).unwrap_or_default();
    let head = format!("write {}({}){result}", word::name(&write.name), read::parameters(&write.parameters));
    let body = lines(steps(&write.body.lines, 2), &write.body.tail);
    let clauses: Vec<String> = write.clauses.iter().map(|line| clause(&line.value)).collect();
    let header = if clauses.is_empty() { head.clone() } else { format!("{head} {}", clauses.join(", ")) };
    let plain = write.clauses.iter().all(|line| line.notes.is_empty());
    if plain && (clauses.is_empty() || columns(&header) + 2 <= WIDTH) {
        let mut all = braced(&header, body);
        let first = read::broken(all.remove(0), &write.parameters);
        return first.into_iter().chain(all).collect();
    }
    let mut all = vec![head];
    all.extend(indented(clause_lines(&write.clauses)));
    all.push("{".to_owned());
    all.extend(indented(body));
    all.push("}".to_owned());
    all
}

fn clause_lines(clauses: &[Line<WriteClause>]) -> Vec<String> {
    let mut lines = Vec::new();
    for line in clauses {
        notes_before(&line.notes, &mut lines);
        let comment = line.notes.trailing.as_ref().map(|comment| format!("  // {comment}")).unwrap_or_default();
        lines.push(format!("{}{comment}", clause(&line.value)));
    }
    lines
}

fn clause(clause: &WriteClause) -> String {
    match clause {
        WriteClause::Idempotent => "idempotent".to_owned(),
        WriteClause::Batch => "batch".to_owned(),
        WriteClause::Rate(rate) => word::rate(rate),
        WriteClause::Allow(allow) => word::allow(allow),
    }
}

/// Formats the steps of a block at this indentation.
fn steps(steps: &[Line<Step>], indent: usize) -> Vec<Row<'_>> {
    steps.iter().map(|line| step(line, indent)).collect()
}

fn step(line: &Line<Step>, indent: usize) -> Row<'_> {
    let notes = &line.notes;
    match &line.value {
        Step::Let(value) => let_step(value, notes),
        Step::Permit(value) => Row::plain(notes, read::permission_lines(value, indent)),
        Step::Unscoped(unscoped) => Row::plain(notes, vec![word::unscoped(unscoped)]),
        Step::Allow(allow) => Row::plain(notes, vec![word::allow(allow)]),
        Step::Require(value) => Row::plain(notes, require(value, indent)),
        Step::Action(value) => {
            let row = Row::block(notes, action(value, notes, indent));
            Row { opens: row.opens || !value.conditions.is_empty(), ..row }
        }
        Step::For(value) => Row::block(notes, for_step(value, indent)),
    }
}

fn let_step<'a>(step: &Let, notes: &'a Notes) -> Row<'a> {
    let value = format!("= {}{}", expression::text(&step.value), outcome(step.outcome.as_ref()));
    Row::cells(notes, LET, vec![format!("let {}", word::name(&step.name)), value])
}

fn require(step: &Require, indent: usize) -> Vec<String> {
    expression::wrapped("require ", &step.condition, &outcome(step.outcome.as_ref()), indent)
}

fn for_step(step: &For, indent: usize) -> Vec<String> {
    let max = step.max.map(|max| format!(" max {max}")).unwrap_or_default();
    let header = format!("for {} in {}{max}", word::name(&step.name), expression::text(&step.list));
    braced(&header, lines(steps(&step.body.lines, indent + 2), &step.body.tail))
}

fn outcome(outcome: Option<&Name>) -> String {
    outcome.map(|name| format!(" else {}", word::name(name))).unwrap_or_default()
}

fn action(action: &Action, notes: &Notes, indent: usize) -> Vec<String> {
    let keyed = !matches!(action.verb, Verb::Create | Verb::Put);
    let verb = if action.replace { "replace" } else { verb(action.verb) };
    let head = format!("{verb} {}", expression::item(&action.item, keyed));
    let after = format!("{}{}", presence(action.presence), outcome(action.outcome.as_ref()));
    let mut lines = changed(action, &head, &after, indent);
    if let Some(line) = short_condition(action, notes, &lines, indent) {
        return vec![line];
    }
    lines.extend(indented(conditions(&action.conditions, indent + 2)));
    lines
}

/// Formats a `check` or `delete` with a single short condition on one line; `None` otherwise.
fn short_condition(action: &Action, notes: &Notes, lines: &[String], indent: usize) -> Option<String> {
    let [condition] = action.conditions.as_slice() else { return None };
    let short =
        matches!(action.verb, Verb::Check | Verb::Delete) && condition.notes.is_empty() && notes.trailing.is_none();
    let line = format!("{} {}", lines.first()?, condition_text(condition));
    (short && lines.len() == 1 && columns(&line) + indent <= WIDTH).then_some(line)
}

/// Formats the head of a step with its changes, on one line if they fit.
fn changed(action: &Action, head: &str, after: &str, indent: usize) -> Vec<String> {
    if action.changes.is_empty() {
        let braces = if matches!(action.verb, Verb::Delete | Verb::Check) { "" } else { " {}" };
        return vec![format!("{head}{braces}{after}")];
    }
    let plain = action.changes.iter().enumerate().all(|(number, line)| is_plain(&line.notes, number));
    let texts: Vec<String> = action.changes.iter().map(|line| change_cells(&line.value).join(" ")).collect();
    let line = format!("{head} {{ {} }}{after}", texts.join(", "));
    if plain && columns(&line) + indent <= WIDTH {
        return vec![line];
    }
    let rows = action.changes.iter().map(|line| Row::cells(&line.notes, CHANGE, change_cells(&line.value))).collect();
    let mut all = braced(head, lines(rows, &[]));
    if let Some(last) = all.last_mut() {
        last.push_str(after);
    }
    all
}

/// Returns true if a change has no comments. An empty line before the first change does not count.
fn is_plain(notes: &Notes, number: usize) -> bool {
    Notes { gap: notes.gap && number > 0, ..notes.clone() }.is_empty()
}

fn change_cells(change: &Change) -> Vec<String> {
    let operated =
        |path: &Expr, op: &str, value: &Expr| vec![expression::text(path), format!("{op} {}", expression::text(value))];
    let verb = |verb: &str, path: &Expr, value: &Expr| {
        vec![format!("{verb} {} {}", expression::text(path), expression::text(value))]
    };
    match change {
        Change::Set(path, value) => operated(path, "=", value),
        Change::Increase(path, value) => operated(path, "+=", value),
        Change::Decrease(path, value) => operated(path, "-=", value),
        Change::Append(path, value) => verb("append", path, value),
        Change::Add(path, value) => verb("add", path, value),
        Change::Take(path, value) => verb("remove", path, value),
        Change::Remove(path) => vec![format!("remove {}", expression::text(path))],
    }
}

/// Formats `if CONDITION else Outcome`, one per line, with the outcomes aligned if they fit.
fn conditions(conditions: &[Condition], indent: usize) -> Vec<String> {
    let text = |condition: &Condition| format!("if {}", expression::text(&condition.condition));
    let width = conditions.iter().map(|condition| columns(&text(condition))).max().unwrap_or_default();
    let outcomes =
        conditions.iter().map(|condition| columns(&outcome(condition.outcome.as_ref()))).max().unwrap_or_default();
    let aligned = conditions.len() > 1 && width + outcomes + indent <= WIDTH;
    let mut lines = Vec::new();
    for condition in conditions {
        notes_before(&condition.notes, &mut lines);
        let after = outcome(condition.outcome.as_ref());
        let mut own = if aligned && !after.is_empty() {
            let text = text(condition);
            vec![format!("{text}{}{after}", " ".repeat(width - columns(&text)))]
        } else {
            expression::wrapped("if ", &condition.condition, &after, indent)
        };
        if let (Some(comment), Some(last)) = (&condition.notes.trailing, own.last_mut()) {
            last.push_str(&format!("  // {comment}"));
        }
        lines.append(&mut own);
    }
    lines
}

fn condition_text(condition: &Condition) -> String {
    format!("if {}{}", expression::text(&condition.condition), outcome(condition.outcome.as_ref()))
}

fn presence(presence: Option<Presence>) -> &'static str {
    match presence {
        None => "",
        Some(Presence::Exists) => " exists",
        Some(Presence::Absent) => " absent",
    }
}

fn verb(verb: Verb) -> &'static str {
    match verb {
        Verb::Create => "create",
        Verb::Put => "put",
        Verb::Update => "update",
        Verb::Upsert => "upsert",
        Verb::Delete => "delete",
        Verb::Check => "check",
    }
}
