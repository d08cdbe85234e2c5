//! Resolves the names in conditions and values.

use crate::diagnostic::Diagnostic;
use crate::document::ast::{self, Argument, BinaryOp, Name};
use crate::scalar::Scalar;
use crate::schema::expression::{Expr, ExprKind, FUNCTIONS};
use crate::schema::field::Type;
use crate::schema::pattern::Parameter;
use crate::span::Span;

use super::found::Found;
use super::{code, value};

pub(super) use super::scope::Scope;

/// Returns the minimum and maximum number of arguments of a function.
fn arity(function: &str) -> (usize, usize) {
    match function {
        "now" | "today" | "ulid" => (0, 0),
        "uuid" => (0, 1),
        _ => (1, 1),
    }
}

impl Scope<'_> {
    pub(super) fn expr(&self, expr: &ast::Expr, found: &mut Found) -> Expr {
        self.typed(expr, found).0
    }

    /// Resolves an expression and checks that a literal fits the type.
    pub(super) fn value(&self, expr: &ast::Expr, wanted: &Type, found: &mut Found) -> Expr {
        let value = self.expr(expr, found);
        value::check(&value, wanted, found);
        value
    }

    /// Resolves an expression and returns its type, if known.
    pub(super) fn typed(&self, expr: &ast::Expr, found: &mut Found) -> (Expr, Type) {
        let (kind, of) = self.kind(expr, found);
        (Expr { kind, span: expr.span }, of)
    }

    fn boxed(&self, expr: &ast::Expr, found: &mut Found) -> Box<Expr> {
        Box::new(self.expr(expr, found))
    }

    fn list(&self, list: &[ast::Expr], found: &mut Found) -> Vec<Expr> {
        list.iter().map(|part| self.expr(part, found)).collect()
    }

    fn kind(&self, expr: &ast::Expr, found: &mut Found) -> (ExprKind, Type) {
        let text = || Type::from(Scalar::String);
        let truth = || Type::from(Scalar::Bool);
        match expr.kind.as_ref() {
            ast::ExprKind::Text(it) => (ExprKind::Text(it.clone()), text()),
            ast::ExprKind::Number(it) => (ExprKind::Number(it.clone()), Scalar::Number.into()),
            ast::ExprKind::Duration(seconds) => (ExprKind::Duration(*seconds), Type::Unknown),
            ast::ExprKind::Bool(it) => (ExprKind::Bool(*it), truth()),
            ast::ExprKind::None => (ExprKind::None, Type::Unknown),
            ast::ExprKind::List(list) => (ExprKind::List(self.list(list, found)), Type::Unknown),
            ast::ExprKind::Record(parts) => (self.record(parts, found), Type::Unknown),
            ast::ExprKind::Name(_) | ast::ExprKind::Member(..) | ast::ExprKind::Element(..) => self.chain(expr, found),
            ast::ExprKind::Call(name, arguments) => self.call(name, arguments, expr.span, found),
            ast::ExprKind::Not(of) => (ExprKind::Not(self.boxed(of, found)), truth()),
            ast::ExprKind::Binary(op, left, right) => self.binary(*op, left, right, found),
            ast::ExprKind::Between(of, low, high) => self.between(of, low, high, found),
            ast::ExprKind::In(of, list) => self.one_of(of, list, found),
            ast::ExprKind::IsNone(of) => (ExprKind::IsNone(self.boxed(of, found)), truth()),
            ast::ExprKind::IsSome(of) => (ExprKind::IsSome(self.boxed(of, found)), truth()),
            ast::ExprKind::Absent => (self.presence(ExprKind::Absent, "absent", expr.span, found), truth()),
            ast::ExprKind::Exists => (self.presence(ExprKind::Exists, "exists", expr.span, found), truth()),
        }
    }

    fn record(&self, parts: &[(Name, ast::Expr)], found: &mut Found) -> ExprKind {
        ExprKind::Record(parts.iter().map(|(name, part)| (name.text.clone(), self.expr(part, found))).collect())
    }

    fn presence(&self, kind: ExprKind, word: &str, span: Span, found: &mut Found) -> ExprKind {
        if self.presence {
            return kind;
        }
        let message = format!("`{word}` is allowed only in the conditions of a step");
        let finding = Diagnostic::error(code::PLACE, span, message);
        found.add(finding.help("for a field write `is some` or `is none`; for an item, `check Entity(…) exists`"));
        ExprKind::Unknown
    }

    fn binary(&self, op: BinaryOp, left: &ast::Expr, right: &ast::Expr, found: &mut Found) -> (ExprKind, Type) {
        let (left, left_type) = self.typed(left, found);
        let (right, right_type) = self.typed(right, found);
        let kind = match op {
            BinaryOp::Plus | BinaryOp::Minus => left_type.resolved().clone(),
            BinaryOp::Or | BinaryOp::And | BinaryOp::Begins | BinaryOp::Contains => Scalar::Bool.into(),
            BinaryOp::Equal
            | BinaryOp::NotEqual
            | BinaryOp::Less
            | BinaryOp::LessEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterEqual => {
                value::check(&right, &left_type, found);
                value::check(&left, &right_type, found);
                Scalar::Bool.into()
            }
        };
        (ExprKind::Binary(op, Box::new(left), Box::new(right)), kind)
    }

    fn between(&self, of: &ast::Expr, low: &ast::Expr, high: &ast::Expr, found: &mut Found) -> (ExprKind, Type) {
        let (of, kind) = self.typed(of, found);
        let low = self.value(low, &kind, found);
        let high = self.value(high, &kind, found);
        (ExprKind::Between(Box::new(of), Box::new(low), Box::new(high)), Scalar::Bool.into())
    }

    fn one_of(&self, of: &ast::Expr, list: &[ast::Expr], found: &mut Found) -> (ExprKind, Type) {
        let (of, kind) = self.typed(of, found);
        let list = list.iter().map(|part| self.value(part, &kind, found)).collect();
        (ExprKind::In(Box::new(of), list), Scalar::Bool.into())
    }

    fn call(&self, name: &Name, arguments: &[Argument], span: Span, found: &mut Found) -> (ExprKind, Type) {
        if FUNCTIONS.contains(&name.text.as_str()) {
            return self.function(name, arguments, span, found);
        }
        if let Some(guard) = self.names.guard_named(&name.text) {
            let parameters = self.model.guards.get(guard.0).map_or(&[][..], |guard| &guard.parameters);
            let arguments = self.arguments(name, parameters, arguments, span, found);
            return match self.calls {
                true => (ExprKind::Guard { guard, arguments }, Scalar::Bool.into()),
                false => (self.misplaced(name, "guard", found), Scalar::Bool.into()),
            };
        }
        if self.names.read_named(&name.text).is_some() {
            return self.read(name, arguments, span, &[], found);
        }
        let near = self.unknown_call(name, found);
        if let Some(near) = near {
            return self.call(&Name { text: near, span: name.span }, arguments, span, found);
        }
        arguments.iter().for_each(|argument| drop(self.expr(&argument.value, found)));
        (ExprKind::Unknown, Type::Unknown)
    }

    /// Returns true if no function, guard or read has this name.
    pub(super) fn is_unknown_call(&self, name: &Name) -> bool {
        let function = FUNCTIONS.contains(&name.text.as_str());
        !function && self.names.guard_named(&name.text).is_none() && self.names.read_named(&name.text).is_none()
    }

    /// Reports an unknown function, guard or read, and returns the most similar name.
    pub(super) fn unknown_call(&self, name: &Name, found: &mut Found) -> Option<String> {
        let guards = self.names.guards.iter().filter(|_| self.calls).map(|guard| guard.value.name.text.as_str());
        let reads = self.names.reads.iter().filter(|_| self.calls).map(|read| read.value.name.text.as_str());
        let what = if self.calls { "function, guard or read" } else { "function" };
        let message = format!("unknown {what} `{}`", name.text);
        let known = FUNCTIONS.into_iter().chain(guards).chain(reads);
        found.unknown(code::CALL, name, message, known).map(str::to_owned)
    }

    /// Reports a guard or read that is called outside `allow`.
    pub(super) fn misplaced(&self, name: &Name, what: &str, found: &mut Found) -> ExprKind {
        let message = format!("`{}` is a {what}: it can be called only in `allow`", name.text);
        let finding = Diagnostic::error(code::PLACE, name.span, message);
        found.add(match what {
            "read" => finding.help(format!("in a write, read it first: `let x = {}(…)`", name.text)),
            _ => finding.help("to reject a call depending on an item, write `check Entity(…) if …`"),
        });
        ExprKind::Unknown
    }

    fn function(&self, name: &Name, arguments: &[Argument], span: Span, found: &mut Found) -> (ExprKind, Type) {
        let (least, most) = arity(&name.text);
        let number = arguments.len();
        if number < least || number > most {
            let wanted = match (least, most) {
                (0, 0) => "no argument",
                (0, _) => "at most one argument",
                _ => "one argument",
            };
            found.error(code::ARGUMENTS, span, format!("`{}` takes {wanted}, not {number}", name.text));
        }
        let arguments = arguments.iter().map(|argument| self.expr(&argument.value, found)).collect();
        let kind = match name.text.as_str() {
            "size" => Scalar::Int.into(),
            "ulid" => Scalar::Ulid.into(),
            "uuid" => Scalar::Uuid.into(),
            "today" => Scalar::Date.into(),
            "code" | "token" | "hash" | "lower" => Scalar::String.into(),
            _ => Type::Unknown,
        };
        (ExprKind::Call { function: name.text.clone(), arguments }, kind)
    }

    /// Resolves the arguments of a guard or read, positional or named; one per argument of its parameters.
    pub(super) fn arguments(
        &self,
        callee: &Name,
        parameters: &[Parameter],
        given: &[Argument],
        span: Span,
        found: &mut Found,
    ) -> Vec<Expr> {
        let wanted: Vec<(&str, &Type)> = parameters
            .iter()
            .flat_map(|parameter| parameter.arguments.iter().map(|name| (name.as_str(), &parameter.kind)))
            .collect();
        let mut slots: Vec<Option<Expr>> = vec![None; wanted.len()];
        let mut wrong = false;
        for (number, argument) in given.iter().enumerate() {
            let slot = match &argument.name {
                None => Some(number),
                Some(name) => wanted.iter().position(|(other, _)| *other == name.text),
            };
            match slot.filter(|slot| slots.get(*slot).is_some_and(Option::is_none)) {
                Some(slot) => slots[slot] = Some(self.value(&argument.value, wanted[slot].1, found)),
                None => {
                    wrong = true;
                    self.expr(&argument.value, found);
                }
            }
        }
        if wrong || slots.iter().any(Option::is_none) {
            wrong_arguments(callee, &wanted, given.len(), span, found);
        }
        let unknown = || Expr { kind: ExprKind::Unknown, span };
        slots.into_iter().map(|slot| slot.unwrap_or_else(unknown)).collect()
    }
}

fn wrong_arguments(callee: &Name, wanted: &[(&str, &Type)], given: usize, span: Span, found: &mut Found) {
    let names = wanted.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let message = match wanted.len() == given {
        true => format!("wrong arguments of `{}`", callee.text),
        false => format!("`{}` takes {}, not {given}", callee.text, counted(wanted.len())),
    };
    let finding = Diagnostic::error(code::ARGUMENTS, span, message);
    found.add(finding.help(format!("write `{}({names})`", callee.text)));
}

/// Formats a number of arguments: `one argument`, `3 arguments`.
fn counted(number: usize) -> String {
    match number {
        0 => "no argument".into(),
        1 => "one argument".into(),
        many => format!("{many} arguments"),
    }
}
