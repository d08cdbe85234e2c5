//! Formats guards and reads.
//!
//! A read occupies one line if it fits, with its permission in a separate column:
//!
//! ```text
//! read userById(userId) -> User?              allow public
//! read userByEmail(email) -> User? via gsi1   allow system
//! ```

use super::super::ast::{
    Expr, Guard, KeyCondition, KeyTest, Line, Notes, Number, Parameter, Permission, Read, ReadClause, ReadResult,
    ResultPart, Test,
};
use super::row::{Row, columns, indented, notes_before};
use super::{WIDTH, expression, types, word};

/// Row kind of reads.
pub(super) const KIND: u8 = 3;

/// Formats `guard NAME(params) = exists ENTITY(keys) where …`.
pub(super) fn guard(guard: &Guard) -> Vec<String> {
    let head = format!("guard {}({}) =", word::name(&guard.name), parameters(&guard.parameters));
    let item = format!("exists {}", expression::item(&guard.item, true));
    let Some(condition) = &guard.condition else {
        return vec![format!("{head} {item}")];
    };
    let line = format!("{head} {item} where {}", expression::text(condition));
    if columns(&line) <= WIDTH {
        return vec![line];
    }
    let mut lines = vec![format!("{head} {item}")];
    lines.extend(indented(expression::wrapped("where ", condition, "", 2)));
    lines
}

/// Formats `read NAME(params) -> RESULT clauses`.
pub(super) fn read<'a>(read: &Read, notes: &'a Notes) -> Row<'a> {
    let head = format!("read {}({}) -> {}", word::name(&read.name), parameters(&read.parameters), result(&read.result));
    let split = read.clauses.iter().position(|clause| is_allow(&clause.value)).unwrap_or(read.clauses.len());
    let (clauses, allows) = read.clauses.split_at(split);
    let ordered = allows.iter().all(|clause| is_allow(&clause.value));
    if !ordered || read.clauses.iter().any(|clause| !clause.notes.is_empty()) {
        return clause_lines(head, &read.clauses, notes);
    }
    let clauses: Vec<String> = clauses.iter().map(|line| clause_text(&line.value)).collect();
    let mut lines = head_lines(&head, clauses, &read.parameters);
    let permit = allows.first().filter(|clause| matches!(clause.value, ReadClause::Permit(_)));
    let tail = permit.map(|clause| clause_text(&clause.value));
    let rest = &allows[usize::from(permit.is_some())..];
    let more: Vec<String> = rest.iter().flat_map(|line| indented(clause_wrapped(&line.value))).collect();
    let alone = lines.len() == 1 && tail.as_ref().is_none_or(|tail| columns(tail) + 2 <= WIDTH);
    if alone {
        return Row { tail, more, ..Row::cells(notes, KIND, lines) };
    }
    if let Some(permit) = permit {
        lines.extend(indented(clause_wrapped(&permit.value)));
    }
    lines.extend(more);
    Row { kind: KIND, ..Row::plain(notes, lines) }
}

/// Formats the head with its clauses on one line if they fit, else with as many clauses per continuation line as fit.
fn head_lines(head: &str, clauses: Vec<String>, parameters: &[Parameter]) -> Vec<String> {
    let line = if clauses.is_empty() { head.to_owned() } else { format!("{head} {}", clauses.join(", ")) };
    if columns(&line) <= WIDTH {
        return vec![line];
    }
    let mut lines = broken(head.to_owned(), parameters);
    let mut current = String::new();
    for clause in clauses {
        if current.is_empty() {
            current = clause;
        } else if columns(&current) + columns(&clause) + 4 <= WIDTH {
            current = format!("{current}, {clause}");
        } else {
            lines.push(format!("  {current}"));
            current = clause;
        }
    }
    if !current.is_empty() {
        lines.push(format!("  {current}"));
    }
    lines
}

/// Breaks a line that is too long between its parameters.
pub(super) fn broken(line: String, parameters: &[Parameter]) -> Vec<String> {
    let (Some(open), Some(last)) = (line.find('('), parameters.len().checked_sub(1)) else { return vec![line] };
    if columns(&line) <= WIDTH {
        return vec![line];
    }
    let (name, rest) = line.split_at(open + 1);
    let Some(rest) = rest.strip_prefix(self::parameters(parameters).as_str()) else { return vec![line] };
    let mut lines = vec![name.to_owned()];
    let mut current = String::new();
    for (number, own) in parameters.iter().map(parameter).enumerate() {
        let own = if number == last { own } else { format!("{own},") };
        if !current.is_empty() && columns(&current) + columns(&own) + 3 > WIDTH {
            lines.push(format!("  {}", std::mem::take(&mut current)));
        }
        current = if current.is_empty() { own } else { format!("{current} {own}") };
    }
    lines.push(format!("  {current}"));
    lines.push(rest.to_owned());
    lines
}

/// Formats each clause on its own line, with its comments.
fn clause_lines<'a>(head: String, clauses: &[Line<ReadClause>], notes: &'a Notes) -> Row<'a> {
    let mut lines = Vec::new();
    for clause in clauses {
        notes_before(&clause.notes, &mut lines);
        let mut own = clause_wrapped(&clause.value);
        if let (Some(comment), Some(last)) = (&clause.notes.trailing, own.last_mut()) {
            last.push_str(&format!("  // {comment}"));
        }
        lines.append(&mut own);
    }
    let all: Vec<String> = std::iter::once(head).chain(indented(lines)).collect();
    Row { kind: KIND, ..Row::plain(notes, all) }
}

fn is_allow(clause: &ReadClause) -> bool {
    matches!(clause, ReadClause::Permit(_) | ReadClause::Unscoped(_) | ReadClause::Allow(_))
}

/// Formats a clause, with line breaks in its condition if it is too long.
fn clause_wrapped(clause: &ReadClause) -> Vec<String> {
    match clause {
        ReadClause::Where(condition) => expression::wrapped("where ", condition, "", 2),
        ReadClause::Permit(value) => permission_lines(value, 2),
        _ => vec![clause_text(clause)],
    }
}

fn clause_text(clause: &ReadClause) -> String {
    match clause {
        ReadClause::Via(index) => format!("via {}", word::name(index)),
        ReadClause::NewestFirst => "newest first".to_owned(),
        ReadClause::OldestFirst => "oldest first".to_owned(),
        ReadClause::Ordered { field, descending } => {
            format!("ordered by {}{}", word::name(field), if *descending { " descending" } else { "" })
        }
        ReadClause::Page(size) => format!("page {size}"),
        ReadClause::All => "all".to_owned(),
        ReadClause::Strong => "strong".to_owned(),
        ReadClause::Where(condition) => format!("where {}", expression::text(condition)),
        ReadClause::Select(fields) => format!("select ({})", word::names(fields)),
        ReadClause::Scan => "scan".to_owned(),
        ReadClause::WithExpired => "with expired".to_owned(),
        ReadClause::Key(condition) => key_condition(condition),
        ReadClause::Rate(rate) => word::rate(rate),
        ReadClause::Permit(value) => permission(value),
        ReadClause::Unscoped(unscoped) => word::unscoped(unscoped),
        ReadClause::Allow(allow) => word::allow(allow),
    }
}

/// Formats `allow public`, `allow system` or `allow CONDITION`.
fn permission(permission: &Permission) -> String {
    match permission {
        Permission::Public => "allow public".to_owned(),
        Permission::System => "allow system".to_owned(),
        Permission::When(condition) => format!("allow {}", expression::text(condition)),
        Permission::Held(condition) => format!("allow {}", held(condition)),
        Permission::Before(condition, reason) => {
            format!("allow {} before {}", expression::text(condition), word::text(reason))
        }
    }
}

/// Formats `held CONDITION`, in parentheses if the condition begins with a mark, which would make `held` a name.
fn held(condition: &Expr) -> String {
    let text = expression::text(condition);
    if text.starts_with(['{', '-']) { format!("held ({text})") } else { format!("held {text}") }
}

/// Formats a permission, with line breaks in its condition if it is too long.
pub(super) fn permission_lines(value: &Permission, indent: usize) -> Vec<String> {
    match value {
        Permission::Public | Permission::System => vec![permission(value)],
        Permission::When(condition) => expression::wrapped("allow ", condition, "", indent),
        Permission::Held(condition) if held(condition).starts_with("held (") => vec![permission(value)],
        Permission::Held(condition) => expression::wrapped("allow held ", condition, "", indent),
        Permission::Before(condition, reason) => {
            expression::wrapped("allow ", condition, &format!(" before {}", word::text(reason)), indent)
        }
    }
}

fn key_condition(condition: &KeyCondition) -> String {
    let sort = condition.sort.as_ref().map(|sort| format!(", {}", key_test(sort))).unwrap_or_default();
    format!("key {}{sort}", key_test(&condition.partition))
}

fn key_test(test: &KeyTest) -> String {
    match test {
        KeyTest::Equal(text) => word::text(text),
        KeyTest::Begins(text) => format!("begins {}", word::text(text)),
        KeyTest::After(text) => format!("> {}", word::text(text)),
        KeyTest::From(text) => format!(">= {}", word::text(text)),
        KeyTest::Before(text) => format!("< {}", word::text(text)),
        KeyTest::Until(text) => format!("<= {}", word::text(text)),
        KeyTest::Between(low, high) => format!("between {} and {}", word::text(low), word::text(high)),
    }
}

/// Formats `a, b > c, …`.
pub(super) fn parameters(parameters: &[Parameter]) -> String {
    parameters.iter().map(parameter).collect::<Vec<_>>().join(", ")
}

fn parameter(parameter: &Parameter) -> String {
    let kind = parameter.kind.as_ref().map(|kind| format!(": {}", types::type_ref(kind))).unwrap_or_default();
    let test = match &parameter.test {
        Test::Equal => String::new(),
        Test::After(name) => format!(" > {}", word::name(name)),
        Test::From(name) => format!(" >= {}", word::name(name)),
        Test::Before(name) => format!(" < {}", word::name(name)),
        Test::Until(name) => format!(" <= {}", word::name(name)),
        Test::Between(from, to) => format!(" between {} and {}", word::name(from), word::name(to)),
        Test::Begins(name) => format!(" begins {}", word::name(name)),
        Test::In(name) => format!(" in {}", word::name(name)),
    };
    format!("{}{kind}{test}", word::name(&parameter.field))
}

fn result(result: &ReadResult) -> String {
    match result {
        ReadResult::Count(entity) => format!("count {}", word::name(entity)),
        ReadResult::Parts(parts) => parts.iter().map(result_part).collect::<Vec<_>>().join(" + "),
    }
}

fn result_part(part: &ResultPart) -> String {
    let name = word::name_unless(&part.entity, &["count"]);
    match part.number {
        Number::One => name,
        Number::Maybe => format!("{name}?"),
        Number::Many => format!("[{name}]"),
    }
}
