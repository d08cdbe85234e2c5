//! Parses reads.

use crate::document::ast::{KeyCondition, KeyTest, Line, Number, Read, ReadClause, ReadResult, ResultPart};
use crate::document::token::Kind;
use crate::span::Span;

use super::{Parsed, Parser};

/// Keywords that begin a clause of a read.
const CLAUSES: [&str; 14] = [
    "via", "newest", "oldest", "ordered", "page", "all", "strong", "where", "select", "scan", "with", "key", "allow",
    "unscoped",
];

impl Parser<'_> {
    /// Parses the rest of a `read` declaration. Once the name and the parameters are known, the read becomes part of
    /// the tree, whatever errors follow.
    pub(super) fn read(&mut self) -> Parsed<Read> {
        let name = self.name_here("the name of the read")?;
        let parameters = self.parameters()?;
        let result = self.read_result().unwrap_or_else(|_| {
            self.next_clause();
            ReadResult::Parts(Vec::new())
        });
        let clauses = self.read_clauses();
        Ok(Read { name, parameters, result, clauses })
    }

    fn read_result(&mut self) -> Parsed<ReadResult> {
        if !self.eat_mark("->") {
            return Err(self.expected_with("`->` and the result", "write `-> User?`, `-> [User]` or `-> count User`"));
        }
        if self.at_word("count") && self.peek_at(1).is_name() && !self.peek_at(1).first {
            self.bump();
            return Ok(ReadResult::Count(self.name("the entity to count")?));
        }
        let mut parts = vec![self.result_part()?];
        while self.eat_mark("+") {
            parts.push(self.result_part()?);
        }
        Ok(ReadResult::Parts(parts))
    }

    fn result_part(&mut self) -> Parsed<ResultPart> {
        if self.eat_mark("[") {
            let entity = self.name("the entity of the list")?;
            self.expect_mark("]", "after the entity of the list")?;
            return Ok(ResultPart { entity, number: Number::Many });
        }
        if self.at_word("allow") {
            return Err(self.expected("an entity, as in `User`, `User?` or `[User]`"));
        }
        let entity = self.name("an entity, as in `User`, `User?` or `[User]`")?;
        let number = if self.eat_mark("?") { Number::Maybe } else { Number::One };
        Ok(ResultPart { entity, number })
    }

    fn read_clauses(&mut self) -> Vec<Line<ReadClause>> {
        self.eat_mark(",");
        let mut clauses: Vec<Line<ReadClause>> = Vec::new();
        while self.clause_follows() {
            let before = self.at;
            match self.line(Self::read_clause) {
                Some(line) => clauses.push(line),
                None => self.next_clause(),
            }
            if self.at == before {
                self.bump();
            }
        }
        self.check_clauses(&clauses);
        for clause in &mut clauses {
            clause.notes.gap = false;
        }
        if let Some(last) = clauses.last_mut() {
            self.header_comment = last.notes.trailing.take();
        }
        clauses
    }

    /// Returns true if the declaration continues. At the first column, `allow CODE` is a declaration of its own, and
    /// any word other than a clause keyword ends the read.
    pub(super) fn clause_follows(&self) -> bool {
        let next = self.peek();
        if matches!(next.kind, Kind::End | Kind::Mark("{" | "}")) || self.at_declaration() {
            return false;
        }
        if !(next.first && next.indent == 0) {
            return true;
        }
        match next.kind {
            Kind::Word if next.text == "allow" => !self.code_at(1),
            Kind::Word => CLAUSES.contains(&next.text.as_str()),
            Kind::Number => true,
            _ => false,
        }
    }

    /// Skips to the next clause after an error.
    pub(super) fn next_clause(&mut self) {
        let start = self.at;
        let parens = self.paren_depth;
        let depth = self.brace_depth;
        while !self.at_end() && !self.at_declaration() {
            let next = self.peek();
            if (next.first || next.is_word("allow")) && self.at > start {
                break;
            }
            if self.brace_depth == depth && (self.at_mark("{") || self.at_mark("}")) {
                break;
            }
            let separates = self.at_mark(",") && self.paren_depth == parens;
            self.bump();
            if separates {
                break;
            }
        }
        self.paren_depth = 0;
    }

    fn read_clause(&mut self) -> Parsed<ReadClause> {
        if self.peek().kind == Kind::Number {
            return self.rate().map(ReadClause::Rate);
        }
        Ok(match self.keyword("a clause of a read", &CLAUSES)? {
            "via" => ReadClause::Via(self.name_here("the index that serves the read")?),
            "newest" => self.first(ReadClause::NewestFirst, "newest")?,
            "oldest" => self.first(ReadClause::OldestFirst, "oldest")?,
            "ordered" => self.ordered()?,
            "page" => ReadClause::Page(self.count("the size of the page, as in `page 50`")?),
            "all" => ReadClause::All,
            "strong" => ReadClause::Strong,
            "where" => ReadClause::Where(self.expression()?),
            "select" => self.select()?,
            "scan" => ReadClause::Scan,
            "with" => {
                self.expect_word("expired", "after `with`")?;
                ReadClause::WithExpired
            }
            "key" => ReadClause::Key(self.key_condition()?),
            "unscoped" => ReadClause::Unscoped(self.unscoped()?),
            _ if self.at_code() => ReadClause::Allow(self.allow()?),
            _ => ReadClause::Permit(self.permission()?),
        })
    }

    fn first(&mut self, clause: ReadClause, word: &str) -> Parsed<ReadClause> {
        self.expect_word("first", &format!("after `{word}`"))?;
        Ok(clause)
    }

    fn ordered(&mut self) -> Parsed<ReadClause> {
        self.expect_word("by", "and a field, as in `ordered by createdAt`")?;
        let field = self.name_here("the field to order by")?;
        let descending = self.eat_word("descending");
        Ok(ReadClause::Ordered { field, descending })
    }

    fn select(&mut self) -> Parsed<ReadClause> {
        self.expect_mark("(", "and the fields, as in `select (name, email)`")?;
        self.list(")", "after a field", |parser| parser.name("a field")).map(ReadClause::Select)
    }

    /// Parses `"PK", begins "SK"`.
    fn key_condition(&mut self) -> Parsed<KeyCondition> {
        let partition = self.key_test()?;
        let sort = if self.at_mark(",") && self.key_test_follows() {
            self.bump();
            Some(self.key_test()?)
        } else {
            None
        };
        Ok(KeyCondition { partition, sort })
    }

    fn key_test_follows(&self) -> bool {
        let next = self.peek_at(1);
        let test = matches!(next.kind, Kind::Text | Kind::Mark(">" | ">=" | "<" | "<="));
        test || next.is_word("begins") || next.is_word("between")
    }

    fn key_test(&mut self) -> Parsed<KeyTest> {
        let template = |parser: &mut Self| parser.quoted("a key template in quotes, as in `\"USER#{userId}\"`");
        if let Kind::Mark(mark @ (">" | ">=" | "<" | "<=")) = self.peek().kind {
            self.bump();
            let bound = template(self)?;
            return Ok(match mark {
                ">" => KeyTest::After(bound),
                ">=" => KeyTest::From(bound),
                "<" => KeyTest::Before(bound),
                _ => KeyTest::Until(bound),
            });
        }
        if self.eat_word("begins") {
            return template(self).map(KeyTest::Begins);
        }
        if self.eat_word("between") {
            let low = template(self)?;
            self.expect_word("and", "between the two ends of `between`")?;
            return Ok(KeyTest::Between(low, template(self)?));
        }
        template(self).map(KeyTest::Equal)
    }

    /// Reports clauses that a read may have only once.
    fn check_clauses(&mut self, clauses: &[Line<ReadClause>]) {
        let said: Vec<(String, Span)> =
            clauses.iter().filter_map(|line| Some((clause_word(&line.value)?.to_owned(), line.span))).collect();
        self.check_twice(said);
    }
}

/// Returns the description of a clause that may occur only once. Mutually exclusive clauses share one description.
fn clause_word(clause: &ReadClause) -> Option<&'static str> {
    Some(match clause {
        ReadClause::Via(_) => "`via`",
        ReadClause::NewestFirst | ReadClause::OldestFirst => "the order (`newest first`, `oldest first`)",
        ReadClause::Ordered { .. } => "`ordered by`",
        ReadClause::Page(_) | ReadClause::All => "the page size (`page`, `all`)",
        ReadClause::Strong => "`strong`",
        ReadClause::Where(_) => "`where`",
        ReadClause::Select(_) => "`select`",
        ReadClause::Scan => "`scan`",
        ReadClause::WithExpired => "`with expired`",
        ReadClause::Key(_) => "`key`",
        ReadClause::Rate(_) => "the rate",
        ReadClause::Permit(_) => "the permission (`allow`)",
        ReadClause::Unscoped(_) | ReadClause::Allow(_) => return None,
    })
}
