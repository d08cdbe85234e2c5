//! Parses writes: clauses, steps and changes.

use crate::diagnostic::Diagnostic;
use crate::document::ast::{
    Action, Block, Change, Condition, Expr, For, Let, Line, Notes, Presence, Require, Step, Verb, Write, WriteClause,
};
use crate::document::token::Kind;
use crate::span::Span;

use super::expression::RESERVED;
use super::report::UNEXPECTED;
use super::{Parsed, Parser};

/// Keywords that begin a clause of a write.
const CLAUSES: [&str; 4] = ["idempotent", "batch", "allow", "unscoped"];
/// Keywords that begin a step.
pub const STEPS: [&str; 12] =
    ["let", "allow", "unscoped", "require", "create", "put", "replace", "update", "upsert", "delete", "check", "for"];

/// A clause before the brace. The parser also accepts `allow` and `unscoped` there, and moves them into the body.
enum Clause {
    Own(WriteClause),
    Moved(Step),
}

impl Parser<'_> {
    /// Parses the rest of a `write` declaration.
    pub(super) fn write(&mut self) -> Parsed<Write> {
        let name = self.name_here("the name of the write")?;
        let parameters = self.parameters()?;
        let result = if self.eat_mark("->") { self.write_result() } else { None };
        let (clauses, permits) = self.write_clauses();
        let mut body = self.block(&format!("the write `{}`", name.text), Self::step)?;
        body.lines.splice(0..0, permits);
        self.check_write(&clauses, &body);
        Ok(Write { name, parameters, result, clauses, body })
    }

    fn write_result(&mut self) -> Option<crate::document::ast::Name> {
        let name = self.name_here("the entity the write returns").ok()?;
        let span = self.peek().span;
        if self.eat_mark("?") {
            let message = "a write that succeeds always returns its item";
            self.report(
                Diagnostic::error(UNEXPECTED, span, message).help(format!("write `-> {}`", name.text)).edit(span, ""),
            );
        }
        Some(name)
    }

    fn write_clauses(&mut self) -> (Vec<Line<WriteClause>>, Vec<Line<Step>>) {
        let mut clauses = Vec::new();
        let mut permits = Vec::new();
        while !self.at_mark("{") && self.clause_follows() && !self.steps_follow() {
            let before = self.at;
            match self.line(Self::write_clause) {
                Some(Line { notes, value: Clause::Own(value), span }) => {
                    clauses.push(Line { notes: Notes { gap: false, ..notes }, value, span });
                }
                Some(Line { notes, value: Clause::Moved(value), span }) => {
                    permits.push(Line { notes: Notes { gap: false, ..notes }, value, span });
                }
                None => self.next_clause(),
            }
            if self.at == before {
                self.bump();
            }
        }
        (clauses, permits)
    }

    /// Returns true if the steps begin without a brace.
    fn steps_follow(&self) -> bool {
        let next = self.peek();
        next.first && next.kind == Kind::Word && next.text != "allow" && STEPS.contains(&next.text.as_str())
    }

    /// Returns true if a step begins where a value was expected.
    pub(super) fn at_step(&self) -> bool {
        let (word, next) = (self.peek(), self.peek_at(1));
        let begins = self.brace_depth > 0 && word.first && STEPS.contains(&word.text.as_str());
        begins && next.is_name() && !next.first && !RESERVED.contains(&next.text.as_str())
    }

    fn write_clause(&mut self) -> Parsed<Clause> {
        if self.peek().kind == Kind::Number {
            return self.rate().map(|rate| Clause::Own(WriteClause::Rate(rate)));
        }
        Ok(match self.keyword("a clause of a write or `{`", &CLAUSES)? {
            "idempotent" => Clause::Own(WriteClause::Idempotent),
            "batch" => Clause::Own(WriteClause::Batch),
            "unscoped" => Clause::Moved(Step::Unscoped(self.unscoped()?)),
            _ if self.at_code() => Clause::Own(WriteClause::Allow(self.allow()?)),
            _ => Clause::Moved(Step::Permit(self.permission()?)),
        })
    }

    fn step(&mut self) -> Parsed<Step> {
        let word = self.keyword("a step of a write", &STEPS)?;
        Ok(match word {
            "let" => Step::Let(self.let_step()?),
            "allow" if self.at_code() => Step::Allow(self.allow()?),
            "allow" => Step::Permit(self.permission()?),
            "unscoped" => Step::Unscoped(self.unscoped()?),
            "require" => Step::Require(Require { condition: self.expression()?, outcome: self.outcome()? }),
            "create" => Step::Action(self.action(Verb::Create)?),
            "put" => Step::Action(self.action(Verb::Put)?),
            "replace" => Step::Action(Action { replace: true, ..self.action(Verb::Put)? }),
            "update" => Step::Action(self.action(Verb::Update)?),
            "upsert" => Step::Action(self.action(Verb::Upsert)?),
            "delete" => Step::Action(self.action(Verb::Delete)?),
            "check" => Step::Action(self.action(Verb::Check)?),
            _ => Step::For(self.nested(Self::for_step)?),
        })
    }

    fn let_step(&mut self) -> Parsed<Let> {
        let name = self.name_here("a name for the result, as in `let user = userById(userId)`")?;
        self.expect_mark("=", "and a read or a value, as in `let user = userById(userId)`")?;
        let value = self.expression()?;
        Ok(Let { name, value, outcome: self.outcome()? })
    }

    fn for_step(&mut self) -> Parsed<For> {
        let name = self.name_here("the name of an element, as in `for id in ids max 20 { … }`")?;
        self.expect_word("in", "and the list")?;
        let list = self.expression()?;
        let max = if self.eat_word("max") { Some(self.count("the maximum number of elements")?) } else { None };
        let body = self.block("the loop", Self::step)?;
        Ok(For { name, list, max, body })
    }

    fn action(&mut self, verb: Verb) -> Parsed<Action> {
        let keyed = !matches!(verb, Verb::Create | Verb::Put);
        let item = self.item_ref(keyed)?;
        let changes = if self.at_mark("{") { self.changes()? } else { Vec::new() };
        let presence = if verb == Verb::Check { self.presence() } else { None };
        let outcome = self.outcome()?;
        self.header_comment();
        let conditions = self.conditions()?;
        Ok(Action { verb, replace: false, item, changes, presence, conditions, outcome })
    }

    /// Parses the changes in braces. Comments before the closing brace go to the last change, or to the step if there
    /// is no change.
    fn changes(&mut self) -> Parsed<Vec<Line<Change>>> {
        let Block { mut lines, tail } = self.block("the step", Self::change)?;
        match lines.last_mut() {
            Some(last) => last.notes.comments.extend(tail),
            None => self.leave_comments(&tail),
        }
        Ok(lines)
    }

    fn presence(&mut self) -> Option<Presence> {
        if self.eat_word("exists") {
            Some(Presence::Exists)
        } else if self.eat_word("absent") {
            Some(Presence::Absent)
        } else {
            None
        }
    }

    /// Parses `if CONDITION else Outcome`, repeated.
    fn conditions(&mut self) -> Parsed<Vec<Condition>> {
        let mut conditions: Vec<Condition> = Vec::new();
        while self.at_word("if") {
            let mut notes = self.notes_before();
            notes.gap = false;
            let own_line = self.peek().first;
            self.bump();
            let condition = self.expression()?;
            let outcome = self.outcome()?;
            if own_line || self.at_word("if") {
                self.close_notes(&mut notes, None);
            }
            conditions.push(Condition { notes, condition, outcome });
        }
        Ok(conditions)
    }

    fn change(&mut self) -> Parsed<Change> {
        let verb = self.change_verb();
        if let Some(verb) = verb {
            self.bump();
            return self.verb_change(verb);
        }
        let path = self.path("a change, as in `field = value`, `count += 1` or `remove field`")?;
        let change: fn(Expr, Expr) -> Change = if self.eat_mark("=") {
            Change::Set
        } else if self.eat_mark("+=") {
            Change::Increase
        } else if self.eat_mark("-=") {
            Change::Decrease
        } else {
            return Err(self.expected("`=`, `+=` or `-=` and a value"));
        };
        Ok(change(path, self.expression()?))
    }

    /// Returns `append`, `add` or `remove` if a path follows; otherwise the word is a field name.
    fn change_verb(&self) -> Option<&'static str> {
        let verb = ["append", "add", "remove"].into_iter().find(|verb| self.at_word(verb))?;
        (self.peek_at(1).is_name() && !self.peek_at(1).first).then_some(verb)
    }

    fn verb_change(&mut self, verb: &str) -> Parsed<Change> {
        let path = self.path("the field")?;
        let ends = self.peek().first || matches!(self.peek().kind, Kind::Mark("," | "}") | Kind::End);
        match verb {
            "remove" if ends => Ok(Change::Remove(path)),
            "remove" => Ok(Change::Take(path, self.expression()?)),
            "append" => Ok(Change::Append(path, self.expression()?)),
            _ => Ok(Change::Add(path, self.expression()?)),
        }
    }

    /// Reports clauses that a write may have only once.
    fn check_write(&mut self, clauses: &[Line<WriteClause>], body: &Block<Step>) {
        let clauses = clauses.iter().filter_map(|line| match &line.value {
            WriteClause::Idempotent => Some(("`idempotent`".to_owned(), line.span)),
            WriteClause::Batch => Some(("`batch`".to_owned(), line.span)),
            WriteClause::Rate(_) => Some(("the rate".to_owned(), line.span)),
            WriteClause::Allow(_) => None,
        });
        let permits = body.lines.iter().filter_map(|line| match &line.value {
            Step::Permit(_) => Some(("the permission (`allow`)".to_owned(), line.span)),
            _ => None,
        });
        let said: Vec<(String, Span)> = clauses.chain(permits).collect();
        self.check_twice(said);
    }
}
