//! Parses the lines between braces and recovers after a syntax error.
//!
//! A missing closing brace is detected when a declaration begins before it. If the file has too few closing braces, the
//! indentation of a brace at the beginning of a line also shows that it belongs to an outer block.

use crate::diagnostic::Diagnostic;
use crate::document::ast::{Block, Line};
use crate::document::token::Kind;
use crate::span::Span;

use super::declaration::DECLARATIONS;
use super::report::UNCLOSED_BRACE;
use super::{Parsed, Parser, Reported};

/// Words that continue a line instead of beginning one.
const CONTINUING: [&str; 10] = ["if", "else", "and", "or", "not", "in", "is", "between", "begins", "contains"];

/// An opening brace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Brace {
    span: Span,
    /// Indentation of its line.
    indent: usize,
    /// Brace depth inside it.
    depth: usize,
    /// Parenthesis depth at the brace.
    parens: usize,
}

impl Parser<'_> {
    /// Parses `{ lines }`; `owner` names the declaration in messages.
    pub(super) fn block<T>(&mut self, owner: &str, entry: fn(&mut Self) -> Parsed<T>) -> Parsed<Block<T>> {
        let brace = self.open(owner)?;
        self.braces.push(brace);
        let mut lines: Vec<Line<T>> = Vec::new();
        let closed = loop {
            if let Some(closed) = self.block_end(&brace) {
                break closed;
            }
            let before = self.at;
            match self.line(entry) {
                Some(line) => {
                    lines.push(line);
                    if self.brace_depth > brace.depth {
                        self.recover(&brace, before);
                    }
                }
                None => self.recover(&brace, before),
            }
            if self.at == before {
                self.bump();
            }
        };
        self.braces.pop();
        if let Some(first) = lines.first_mut() {
            first.notes.gap = false;
        }
        let tail = self.tail();
        self.close(&brace, closed);
        Ok(Block { lines, tail })
    }

    /// Consumes the opening brace. If it is missing but its lines follow, reports that and continues.
    fn open(&mut self, owner: &str) -> Parsed<Brace> {
        let token = self.peek();
        let (depth, parens) = (self.brace_depth + 1, self.paren_depth);
        let brace = Brace { span: token.span, indent: token.indent, depth, parens };
        let lines_follow = token.first && token.is_name() && !self.at_declaration();
        if self.eat_mark("{") {
            self.header_comment();
            return Ok(brace);
        }
        let reported = self.expected(&format!("`{{` and the lines of {owner}"));
        if !lines_follow {
            return Err(reported);
        }
        self.brace_depth += 1;
        Ok(brace)
    }

    /// Returns `Some` at the end of the block, with true if it has a closing brace. Reports a missing one.
    fn block_end(&mut self, brace: &Brace) -> Option<bool> {
        while self.peek().kind == Kind::Bad || self.at_mark(",") {
            self.bump();
        }
        if self.at_mark("}") && !self.closes_outer(brace) {
            return Some(true);
        }
        let missing = self.at_end() || self.at_mark("}") || self.at_declaration();
        if missing {
            self.unclosed(brace.span);
        }
        missing.then_some(false)
    }

    /// Returns true if the next closing brace belongs to an outer block, judged by its indentation.
    fn closes_outer(&self, brace: &Brace) -> bool {
        let next = self.peek();
        let outer = self.braces.iter().rev().skip(1);
        self.unbalanced
            && next.first
            && next.indent < brace.indent
            && outer.clone().any(|outer| outer.indent == next.indent && outer.span != brace.span)
    }

    /// Reports a missing closing brace, at most once per position.
    pub(super) fn unclosed(&mut self, span: Span) -> Reported {
        if self.unclosed_at.replace(self.at) == Some(self.at) {
            return Reported;
        }
        let diagnostic =
            Diagnostic::error(UNCLOSED_BRACE, span, "this brace is not closed").help("write `}` after its last line");
        self.report(diagnostic)
    }

    fn close(&mut self, brace: &Brace, closed: bool) {
        if closed {
            self.bump();
        }
        self.brace_depth = brace.depth - 1;
        self.paren_depth = brace.parens;
    }

    /// Skips to the next line of the block after an error in the line that began at `before`.
    fn recover(&mut self, brace: &Brace, before: usize) {
        while !self.at_end() {
            let inside = self.brace_depth <= brace.depth;
            if self.at_declaration()
                || (inside && self.at_mark("}"))
                || (inside && self.at > before && self.begins_line())
            {
                break;
            }
            let separates = inside && self.at_mark(",") && self.paren_depth == brace.parens;
            self.bump();
            if separates && self.separated_line() {
                break;
            }
        }
        self.brace_depth = self.brace_depth.min(brace.depth);
        self.paren_depth = brace.parens;
    }

    /// Returns true if a line of the block begins after a comma.
    fn separated_line(&self) -> bool {
        let verb = ["append", "add", "remove", "rename", "set", "from"].iter().any(|verb| self.at_word(verb));
        let marked = matches!(self.peek_at(1).kind, Kind::Mark(":" | "=" | "+=" | "-=" | "." | "["));
        self.peek().is_name() && (verb || marked)
    }

    /// Returns true if the next token can begin a line of a block.
    pub(super) fn begins_line(&self) -> bool {
        let next = self.peek();
        next.first && next.is_name() && !(next.kind == Kind::Word && CONTINUING.contains(&next.text.as_str()))
    }

    /// Returns true if a declaration begins here.
    pub(super) fn at_declaration(&self) -> bool {
        let next = self.peek();
        if !next.first || next.kind != Kind::Word || !DECLARATIONS.contains(&next.text.as_str()) {
            return false;
        }
        let name = self.peek_at(1);
        let then = self.peek_at(2);
        if !name.is_name() || name.first {
            return false;
        }
        match next.text.as_str() {
            "allow" => false,
            "entity" if then.is_word("in") => true,
            "table" if then.kind == Kind::Text || then.is_mark("{") => true,
            "shape" | "evolve" if then.is_mark("{") => true,
            "guard" | "read" | "write" if then.is_mark("(") => true,
            "on" if then.kind == Kind::Word && !then.first => true,
            "caller" if then.is_mark(":") => true,
            _ => next.indent == 0,
        }
    }
}
