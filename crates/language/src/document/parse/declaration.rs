//! Parses the declarations of a file.

use crate::diagnostic::Diagnostic;
use crate::document::ast::{Allow, CallerField, ClaimFrom, Declaration, DeclarationKind, Document, Name, Unscoped};
use crate::document::token::Kind;
use crate::span::Span;

use super::expression::RESERVED;
use super::report::NO_MODEL;
use super::{Parsed, Parser};

/// Keywords that begin a declaration.
pub const DECLARATIONS: [&str; 11] =
    ["model", "caller", "table", "shape", "entity", "guard", "read", "write", "on", "evolve", "allow"];

impl Parser<'_> {
    /// Parses the whole file.
    pub(super) fn document(&mut self) -> Document {
        let mut declarations: Vec<Declaration> = Vec::new();
        loop {
            while self.peek().kind == Kind::Bad {
                self.bump();
            }
            if self.at_end() {
                break;
            }
            let before = self.at;
            match self.line(Self::declaration) {
                Some(line) => declarations.push(line),
                None => self.next_declaration(before),
            }
        }
        if let Some(first) = declarations.first_mut() {
            first.notes.gap = false;
        }
        self.check_singles(&declarations);
        Document { declarations, tail: self.tail() }
    }

    fn declaration(&mut self) -> Parsed<DeclarationKind> {
        let word = self.peek().text.clone();
        let known = self.peek().kind == Kind::Word && DECLARATIONS.contains(&word.as_str());
        let word = if known {
            word
        } else {
            let what =
                if declarations_closed(&word) { "a declaration (no brace is open here)" } else { "a declaration" };
            self.unknown_word(what, &DECLARATIONS).ok_or(Self::reported())?.to_owned()
        };
        self.bump();
        match word.as_str() {
            "model" => Ok(DeclarationKind::Model(self.name_here("the name of the model")?)),
            "caller" => self.caller().map(DeclarationKind::Caller),
            "table" => self.table().map(DeclarationKind::Table),
            "shape" => self.shape().map(DeclarationKind::Shape),
            "entity" => self.entity().map(DeclarationKind::Entity),
            "guard" => self.guard().map(DeclarationKind::Guard),
            "read" => self.read().map(DeclarationKind::Read),
            "write" => self.write().map(DeclarationKind::Write),
            "on" => self.on().map(DeclarationKind::On),
            "evolve" => self.evolve().map(DeclarationKind::Evolve),
            _ => self.allow().map(DeclarationKind::Allow),
        }
    }

    /// Skips to the next declaration after an error in the one that began at `before`.
    fn next_declaration(&mut self, before: usize) {
        while !self.at_end() {
            let next = self.peek();
            let allows = next.first && next.indent == 0 && next.is_word("allow");
            if self.at > before && (self.at_declaration() || allows) {
                break;
            }
            self.bump();
        }
        self.brace_depth = 0;
        self.paren_depth = 0;
    }

    /// Parses the claims after `caller`.
    fn caller(&mut self) -> Parsed<Vec<CallerField>> {
        self.chain(
            |_| true,
            |parser| {
                let name = parser.name("the name of a claim, as in `caller userId: ulid`")?;
                parser.expect_mark(":", "and the type of the claim")?;
                let kind = parser.type_ref();
                let from = if parser.eat_word("from") { Some(parser.claim_from()?) } else { None };
                let global = if parser.eat_word("global") {
                    Some(parser.quoted("the reason in quotes, as in `admin: bool global \"our support\"`")?)
                } else {
                    None
                };
                Ok(CallerField { name, kind, from, global })
            },
        )
    }

    /// Parses the place of a claim after `from`.
    fn claim_from(&mut self) -> Parsed<ClaimFrom> {
        let claim = self.quoted("the claim of the token in quotes, as in `userId: uuid from \"sub\"`")?;
        Ok(ClaimFrom { claim, split: self.eat_word("split") })
    }

    /// Parses the code and the reason after `allow`.
    pub(super) fn allow(&mut self) -> Parsed<Allow> {
        let code = self.name("the code of a warning, as in `allow K16 \"the reason\"`")?;
        let reason = self.quoted("the reason in quotes")?;
        Ok(Allow { code, reason })
    }

    /// Parses the entity and the reason after `unscoped`.
    pub(super) fn unscoped(&mut self) -> Parsed<Unscoped> {
        let entity = self.name_here("an entity, as in `unscoped User \"profiles are public\"`")?;
        let reason = self.quoted("the reason in quotes")?;
        Ok(Unscoped { entity, reason })
    }

    /// Returns true if a code and a reason come next.
    pub(super) fn at_code(&self) -> bool {
        self.code_at(0)
    }

    /// Same as [`Self::at_code`], `distance` tokens ahead. `not "text"` is a condition, not a code.
    pub(super) fn code_at(&self, distance: usize) -> bool {
        let code = self.peek_at(distance);
        let operator = code.kind == Kind::Word && (RESERVED.contains(&code.text.as_str()) || code.text == "held");
        code.is_name() && !operator && self.peek_at(distance + 1).kind == Kind::Text
    }

    /// Checks that `model` is declared exactly once and `caller` at most once.
    fn check_singles(&mut self, declarations: &[Declaration]) {
        let places = |wanted: fn(&DeclarationKind) -> bool| -> Vec<Span> {
            declarations.iter().filter(|line| wanted(&line.value)).map(|line| line.span).collect()
        };
        let models = places(|kind| matches!(kind, DeclarationKind::Model(_)));
        let callers = places(|kind| matches!(kind, DeclarationKind::Caller(_)));
        for (what, spans) in [("`model`", &models), ("`caller`", &callers)] {
            for second in spans.iter().skip(1) {
                self.duplicate(what, spans[0], *second);
            }
        }
        if models.is_empty() && !self.mentions_model() {
            let span = self.tokens.first().map(|token| token.span).unwrap_or_default();
            self.report(
                Diagnostic::error(NO_MODEL, span, "the file has no `model` line")
                    .help("write `model NAME` before the first declaration"),
            );
        }
    }

    /// Returns true if a line begins with `model`, even with an error in it that was already reported.
    fn mentions_model(&self) -> bool {
        self.tokens.iter().any(|token| token.first && token.is_word("model"))
    }
}

/// Returns true for a closing token, which has no opening one at the level of declarations.
fn declarations_closed(text: &str) -> bool {
    matches!(text, "}" | ")" | "]")
}

/// Returns an empty name as placeholder for a missing one.
pub(super) fn missing_name(at: usize) -> Name {
    Name { text: String::new(), span: Span::new(at, at) }
}
