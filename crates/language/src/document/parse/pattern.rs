//! Parses the common parts of guards, reads and writes: parameters, items, permissions, outcomes.

use crate::document::ast::{Guard, ItemRef, Name, Parameter, Permission, Test};
use crate::document::token::Kind;

use super::expression::RESERVED;
use super::{Parsed, Parser};

impl Parser<'_> {
    /// Parses the rest of a `guard` declaration.
    pub(super) fn guard(&mut self) -> Parsed<Guard> {
        let name = self.name_here("the name of the guard")?;
        let parameters = self.parameters()?;
        self.expect_mark("=", "and `exists ENTITY(keys)`")?;
        self.expect_word(
            "exists",
            "and the item that must exist, as in `= exists Membership(caller.userId, serverId)`",
        )?;
        let item = self.item_ref(true)?;
        let condition = if self.eat_word("where") { Some(self.expression()?) } else { None };
        Ok(Guard { name, parameters, item, condition })
    }

    /// Parses `Entity(keys)`.
    pub(super) fn item_ref(&mut self, keyed: bool) -> Parsed<ItemRef> {
        let entity = self.name_here("the name of an entity")?;
        let start = entity.span.start;
        if keyed || self.at_mark("(") {
            let what = format!("and the key of `{}`, as in `{}(id)`", entity.text, entity.text);
            self.expect_mark("(", &what)?;
            let keys = self.arguments()?;
            return Ok(ItemRef { entity, keys, span: self.since(start) });
        }
        Ok(ItemRef { entity, keys: Vec::new(), span: self.since(start) })
    }

    /// Parses `(parameters)`. Omits a parameter with an error.
    pub(super) fn parameters(&mut self) -> Parsed<Vec<Parameter>> {
        self.expect_mark("(", "and the parameters; write `()` for no parameters")?;
        let outside = self.paren_depth - 1;
        let mut parameters = Vec::new();
        while !self.eat_mark(")") {
            match self.parameter_then_separator() {
                Ok(parameter) => parameters.push(parameter),
                Err(reported) => {
                    self.skip_parameter(outside);
                    if self.paren_depth == outside {
                        break;
                    }
                    if !self.at_mark(",") {
                        self.paren_depth = outside;
                        return Err(reported);
                    }
                    self.bump();
                }
            }
        }
        Ok(parameters)
    }

    fn parameter_then_separator(&mut self) -> Parsed<Parameter> {
        let parameter = self.parameter()?;
        if self.eat_mark(",") || self.at_mark(")") {
            Ok(parameter)
        } else {
            Err(self.expected("`,` or `)` after a parameter"))
        }
    }

    /// Skips a parameter with an error, up to the next comma or past the closing parenthesis.
    fn skip_parameter(&mut self, outside: usize) {
        while !self.at_end() && !self.at_declaration() && !self.at_mark("{") && !self.at_mark("->") {
            if self.at_mark(",") && self.paren_depth == outside + 1 {
                return;
            }
            self.bump();
            if self.paren_depth == outside {
                return;
            }
        }
    }

    fn parameter(&mut self) -> Parsed<Parameter> {
        let field = self.name("a parameter, as in `userId` or `createdAt > after`")?;
        let start = field.span.start;
        let kind = if self.eat_mark(":") { Some(self.type_ref()) } else { None };
        let test = self.test()?;
        Ok(Parameter { field, test, kind, span: self.since(start) })
    }

    fn test(&mut self) -> Parsed<Test> {
        let what = "the name of the argument";
        let token = self.peek();
        let word = match token.kind {
            Kind::Mark(mark @ (">" | ">=" | "<" | "<=" | "=")) => mark.to_owned(),
            Kind::Word => token.text.clone(),
            _ => return Ok(Test::Equal),
        };
        Ok(match word.as_str() {
            "=" => return Err(self.expected_with("`,` or `)`", "equality needs no sign: write the field alone")),
            ">" => Test::After(self.tested(what)?),
            ">=" => Test::From(self.tested(what)?),
            "<" => Test::Before(self.tested(what)?),
            "<=" => Test::Until(self.tested(what)?),
            "begins" => Test::Begins(self.tested(what)?),
            "in" => Test::In(self.tested(what)?),
            "between" => {
                let from = self.tested("the name of the first argument, as in `createdAt between from and to`")?;
                self.expect_word("and", "and the name of the second argument")?;
                Test::Between(from, self.name("the name of the second argument")?)
            }
            _ => {
                let words = ["begins", "in", "between"];
                self.unknown_word("`,`, `)` or a test of the parameter", &words);
                return Err(Self::reported());
            }
        })
    }

    fn tested(&mut self, what: &str) -> Parsed<Name> {
        self.bump();
        self.name(what)
    }

    /// Parses the permission after `allow`, if no rule code follows.
    pub(super) fn permission(&mut self) -> Parsed<Permission> {
        let alone = !matches!(self.peek_at(1).kind, Kind::Mark("(" | "." | "=" | "!=" | "<" | ">" | "<=" | ">="));
        if alone && self.eat_word("public") {
            return Ok(Permission::Public);
        }
        if alone && self.eat_word("system") {
            return Ok(Permission::System);
        }
        let held = self.at_held();
        if held {
            self.bump();
        }
        let condition = self.expression()?;
        if held {
            return Ok(Permission::Held(condition));
        }
        if self.at_word("before") && self.peek_at(1).kind == Kind::Text {
            self.bump();
            return Ok(Permission::Before(condition, self.quoted("the reason in quotes")?));
        }
        Ok(Permission::When(condition))
    }

    /// Returns true if `held` comes next as a keyword: a condition follows on the same line.
    fn at_held(&self) -> bool {
        let next = self.peek_at(1);
        let begins_value = ["not", "true", "false", "none", "absent", "exists"].contains(&next.text.as_str());
        let operator = next.kind == Kind::Word && !begins_value && RESERVED.contains(&next.text.as_str());
        let begins = match next.kind {
            Kind::Text | Kind::Number => true,
            // `held(x)` calls a guard, `held (x)` does not.
            Kind::Mark("(" | "[") => next.span.start > self.peek().span.end,
            _ => next.is_name() && !operator,
        };
        self.at_word("held") && begins && !next.first
    }

    /// Parses `else Outcome`, if it comes next.
    pub(super) fn outcome(&mut self) -> Parsed<Option<Name>> {
        if !self.eat_word("else") {
            return Ok(None);
        }
        self.name_here("the name of the outcome, as in `else NotFound`").map(Some)
    }
}
