//! Expressions of a declaration, and declarations with one of them replaced.

use keyform_language::document::ast::{
    Action, Change, DeclarationKind, Expr, ExprKind, Name, Parameter, Permission, ReadClause, Step, Test,
};

/// Role of an expression in its declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Allow,
    /// `where`, `if` or `require`.
    Condition,
    /// Value of a `let`.
    Let,
    /// Key argument or new value.
    Value,
}

/// Returns the expressions of a declaration with their roles.
pub(crate) fn expressions(kind: &mut DeclarationKind) -> Vec<(Place, &mut Expr)> {
    let mut found = Vec::new();
    match kind {
        DeclarationKind::Guard(guard) => {
            found.extend(guard.item.keys.iter_mut().map(|key| (Place::Value, &mut key.value)));
            found.extend(guard.condition.iter_mut().map(|condition| (Place::Condition, condition)));
        }
        DeclarationKind::Read(read) => {
            for line in &mut read.clauses {
                match &mut line.value {
                    ReadClause::Permit(permission) => found.extend(condition(permission)),
                    ReadClause::Where(condition) => found.push((Place::Condition, condition)),
                    _ => {}
                }
            }
        }
        DeclarationKind::Write(write) => {
            for line in &mut write.body.lines {
                of_step(&mut line.value, &mut found);
            }
        }
        _ => {}
    }
    found
}

fn condition(permission: &mut Permission) -> Option<(Place, &mut Expr)> {
    match permission {
        Permission::Public | Permission::System => None,
        Permission::When(condition) | Permission::Held(condition) | Permission::Before(condition, _) => {
            Some((Place::Allow, condition))
        }
    }
}

fn of_step<'a>(step: &'a mut Step, found: &mut Vec<(Place, &'a mut Expr)>) {
    match step {
        Step::Let(binding) => found.push((Place::Let, &mut binding.value)),
        Step::Permit(permission) => found.extend(condition(permission)),
        Step::Require(require) => found.push((Place::Condition, &mut require.condition)),
        Step::Action(action) => of_action(action, found),
        Step::For(each) => {
            found.push((Place::Value, &mut each.list));
            each.body.lines.iter_mut().for_each(|line| of_step(&mut line.value, found));
        }
        Step::Unscoped(_) | Step::Allow(_) => {}
    }
}

fn of_action<'a>(action: &'a mut Action, found: &mut Vec<(Place, &'a mut Expr)>) {
    found.extend(action.item.keys.iter_mut().map(|key| (Place::Value, &mut key.value)));
    for line in &mut action.changes {
        match &mut line.value {
            Change::Set(_, value)
            | Change::Increase(_, value)
            | Change::Decrease(_, value)
            | Change::Append(_, value)
            | Change::Add(_, value)
            | Change::Take(_, value) => found.push((Place::Value, value)),
            Change::Remove(_) => {}
        }
    }
    found.extend(action.conditions.iter_mut().map(|it| (Place::Condition, &mut it.condition)));
}

/// Returns the declaration once for each replacement of an expression, or of a part of one.
pub(crate) fn vary(
    kind: &DeclarationKind,
    is_at: impl Fn(Place) -> bool,
    change: &dyn Fn(&Expr) -> Vec<Expr>,
) -> Vec<DeclarationKind> {
    let mut all = Vec::new();
    let mut copy = kind.clone();
    let before: Vec<(Place, Expr)> = expressions(&mut copy).into_iter().map(|(at, expr)| (at, expr.clone())).collect();
    for (number, (_, expr)) in before.iter().enumerate().filter(|(_, (at, _))| is_at(*at)) {
        for changed in each(expr, change) {
            let mut kind = kind.clone();
            if let Some((_, place)) = expressions(&mut kind).into_iter().nth(number) {
                *place = changed;
            }
            all.push(kind);
        }
    }
    all
}

/// Returns the expression once for each replacement of it or of one of its parts.
pub(crate) fn each(expr: &Expr, change: &dyn Fn(&Expr) -> Vec<Expr>) -> Vec<Expr> {
    let mut all = change(expr);
    let mut copy = expr.clone();
    let count = parts(&mut copy).len();
    for number in 0..count {
        let part = parts(&mut copy)[number].clone();
        for changed in each(&part, change) {
            let mut whole = expr.clone();
            *parts(&mut whole)[number] = changed;
            all.push(whole);
        }
    }
    all
}

/// Returns the operands of an expression.
fn parts(expr: &mut Expr) -> Vec<&mut Expr> {
    match &mut *expr.kind {
        ExprKind::Text(_)
        | ExprKind::Number(_)
        | ExprKind::Duration(_)
        | ExprKind::Bool(_)
        | ExprKind::None
        | ExprKind::Name(_)
        | ExprKind::Absent
        | ExprKind::Exists => Vec::new(),
        ExprKind::List(of) => of.iter_mut().collect(),
        ExprKind::Record(of) => of.iter_mut().map(|(_, value)| value).collect(),
        ExprKind::Member(of, _) | ExprKind::Not(of) | ExprKind::IsNone(of) | ExprKind::IsSome(of) => vec![of],
        ExprKind::Element(one, other) | ExprKind::Binary(_, one, other) => vec![one, other],
        ExprKind::Call(_, arguments) => arguments.iter_mut().map(|argument| &mut argument.value).collect(),
        ExprKind::Between(of, low, high) => vec![of, low, high],
        ExprKind::In(of, list) => std::iter::once(of).chain(list).collect(),
    }
}

/// Returns the names that a declaration calls: guards and reads.
pub(crate) fn called(kind: &DeclarationKind) -> Vec<String> {
    let mut copy = kind.clone();
    let mut names = Vec::new();
    for (_, expr) in expressions(&mut copy) {
        calls(expr, &mut names);
    }
    names
}

fn calls(expr: &mut Expr, names: &mut Vec<String>) {
    if let ExprKind::Call(name, _) = &*expr.kind {
        names.push(name.text.clone());
    }
    parts(expr).into_iter().for_each(|part| calls(part, names));
}

/// Returns the permission of a pattern.
pub(crate) fn permission(kind: &mut DeclarationKind) -> Option<&mut Permission> {
    match kind {
        DeclarationKind::Read(read) => read.clauses.iter_mut().find_map(|line| match &mut line.value {
            ReadClause::Permit(permission) => Some(permission),
            _ => None,
        }),
        DeclarationKind::Write(write) => write.body.lines.iter_mut().find_map(|line| match &mut line.value {
            Step::Permit(permission) => Some(permission),
            _ => None,
        }),
        _ => None,
    }
}

/// Returns the name of a declaration.
pub(crate) fn name(kind: &DeclarationKind) -> &str {
    match kind {
        DeclarationKind::Model(name) => &name.text,
        DeclarationKind::Caller(_) => "caller",
        DeclarationKind::Table(table) => &table.name.text,
        DeclarationKind::Shape(shape) => &shape.name.text,
        DeclarationKind::Entity(entity) => &entity.name.text,
        DeclarationKind::Guard(guard) => &guard.name.text,
        DeclarationKind::Read(read) => &read.name.text,
        DeclarationKind::Write(write) => &write.name.text,
        DeclarationKind::On(on) => &on.entity.text,
        DeclarationKind::Evolve(evolve) => &evolve.entity.text,
        DeclarationKind::Allow(allow) => &allow.code.text,
    }
}

/// Returns the parameters of a declaration.
pub(crate) fn parameters(kind: &mut DeclarationKind) -> Option<&mut Vec<Parameter>> {
    match kind {
        DeclarationKind::Guard(guard) => Some(&mut guard.parameters),
        DeclarationKind::Read(read) => Some(&mut read.parameters),
        DeclarationKind::Write(write) => Some(&mut write.parameters),
        _ => None,
    }
}

/// Returns the names of the parameters that take one value.
pub(crate) fn arguments(kind: &DeclarationKind) -> Vec<String> {
    let mut kind = kind.clone();
    let parameters = parameters(&mut kind).map(std::mem::take).unwrap_or_default();
    let equal = parameters.into_iter().filter(|parameter| matches!(parameter.test, Test::Equal));
    equal.map(|parameter| parameter.field.text).collect()
}

/// Returns an expression that is a name.
pub(crate) fn named(name: &str) -> Expr {
    ExprKind::Name(Name::from(name.to_owned())).into()
}

/// Returns the claim that an expression is.
pub(crate) fn claim(expr: &Expr) -> Option<&str> {
    match &*expr.kind {
        ExprKind::Member(of, name) if matches!(&*of.kind, ExprKind::Name(of) if of.text == "caller") => {
            Some(&name.text)
        }
        _ => None,
    }
}
