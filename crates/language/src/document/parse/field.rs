//! Parses fields, their types and flags.

use std::sync::LazyLock;

use crate::diagnostic::Diagnostic;
use crate::document::ast::{Bounds, Field, Flag, FlagKind, Name, Type, TypeKind, TypeRef};
use crate::document::token::Kind;
use crate::scalar::Scalar;

use super::entity::missing_type;
use super::report::{BAD_BOUNDS, UNEXPECTED};
use super::{Parsed, Parser};

/// Keywords that begin a type: the scalars and the others.
pub static TYPES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let scalars = Scalar::ALL.iter().map(|scalar| scalar.keyword());
    scalars.chain(["list", "map", "set", "json", "ref", "copy"]).collect()
});

/// Keywords of flags.
pub const FLAGS: [&str; 17] = [
    "unique",
    "version",
    "created",
    "updated",
    "immutable",
    "secret",
    "encrypted",
    "personal",
    "id",
    "cascade",
    "restrict",
    "keep",
    "snapshot",
    "refresh",
    "internal",
    "bearer",
    "grants",
];

impl Parser<'_> {
    /// Parses `name: type flags = default`. Once the name is known, the field becomes part of the tree, whatever errors
    /// follow.
    pub(super) fn field(&mut self, what: &str) -> Parsed<Field> {
        if !self.peek().is_name() {
            return Err(self.expected(what));
        }
        if !self.peek_at(1).is_mark(":") && !self.lacks_colon() {
            return Err(self.no_field(what));
        }
        let depth = (self.brace_depth, self.paren_depth);
        let name = self.take_name();
        if !self.eat_mark(":") {
            let help = format!("write `{}: {}`", name.text, self.peek().text);
            self.expected_with(&format!("`:` between `{}` and its type", name.text), &help);
        }
        let kind = self.type_ref();
        let mut field = Field { name, kind, flags: Vec::new(), default: None };
        if !is_missing(&field.kind) {
            self.flags(&mut field);
            if self.eat_mark("=") {
                field.default = self.expression().ok();
                self.flags(&mut field);
            }
        }
        self.end_of_field(&field.name, depth);
        Ok(field)
    }

    fn no_field(&mut self, what: &str) -> super::Reported {
        let word = self.peek().text.clone();
        let (first, next) = (self.peek_at(1).first, self.peek_at(1).is_name());
        if next && !first {
            let next = self.peek_at(1).text.clone();
            self.bump();
            return self
                .expected_with(&format!("`:` after `{word}`"), &format!("write `{word}: {next}` if it is a field"));
        }
        self.expected(what)
    }

    /// Skips the rest of a field with an error.
    fn end_of_field(&mut self, name: &Name, depth: (usize, usize)) {
        let next = self.peek();
        if next.first || matches!(next.kind, Kind::End | Kind::Bad | Kind::Mark("," | "}")) || self.field_follows() {
            return;
        }
        if !self.mistake_since(name.span.start) {
            self.expected(&format!("a flag, `=` and a default, or the end of the field `{}`", name.text));
        }
        while !self.at_end() && !self.peek().first {
            let same = (self.brace_depth, self.paren_depth) == depth;
            if (same && self.at_mark(",")) || (self.brace_depth <= depth.0 && self.at_mark("}")) {
                break;
            }
            self.bump();
        }
        self.paren_depth = depth.1;
    }

    /// Returns true if another field begins on the same line.
    fn field_follows(&self) -> bool {
        self.peek().is_name() && matches!(self.peek_at(1).kind, Kind::Mark(":" | "(") | Kind::Text | Kind::Number)
    }

    /// Parses a type; reports an error and returns `Unknown` otherwise.
    pub(super) fn type_ref(&mut self) -> TypeRef {
        let start = self.peek().span.start;
        let read = self.nested(|parser| parser.type_with_suffix(start));
        read.unwrap_or_else(|_| missing_type(start))
    }

    fn type_with_suffix(&mut self, start: usize) -> Parsed<TypeRef> {
        let kind = self.type_kind()?;
        let mut optional = false;
        let mut null = false;
        loop {
            if self.eat_mark("?") {
                optional = true;
            } else if self.at_mark("|") && self.peek_at(1).is_word("null") {
                self.bump();
                self.bump();
                null = true;
            } else {
                break;
            }
        }
        Ok(TypeRef { kind, optional, null, span: self.since(start) })
    }

    fn type_kind(&mut self) -> Parsed<TypeKind> {
        match self.peek().kind {
            Kind::Text => self.one_of(),
            Kind::Mark("{") => self.record(),
            Kind::Word if !self.peek().first => self.named_type(),
            Kind::Word if TYPES.contains(&self.peek().text.as_str()) => self.named_type(),
            _ => Err(self.expected_with(
                "a type",
                "write a type such as `string`, `int`, `ulid`, `timestamp` or `\"a\" | \"b\"`",
            )),
        }
    }

    fn one_of(&mut self) -> Parsed<TypeKind> {
        let mut values = vec![self.quoted("a value in quotes")?];
        while self.at_mark("|") && !self.peek_at(1).is_word("null") {
            self.bump();
            values.push(self.quoted("another value in quotes, or `null`")?);
        }
        Ok(Type::OneOf(values).into())
    }

    fn record(&mut self) -> Parsed<TypeKind> {
        let open = self.peek().span;
        self.bump();
        let mut fields = Vec::new();
        while !self.at_mark("}") {
            if self.at_end() || self.at_declaration() {
                return Err(self.unclosed(open));
            }
            fields.push(self.field("a field of the record, as in `{ city: string }`")?);
            self.eat_mark(",");
        }
        self.bump();
        Ok(Type::Record(fields).into())
    }

    fn named_type(&mut self) -> Parsed<TypeKind> {
        let name = self.take_name();
        if let Some(scalar) = Scalar::named(&name.text) {
            let bounds = if scalar.counted().is_some() { self.bounds()? } else { Bounds::NONE };
            return Ok(Type::Scalar(scalar, bounds).into());
        }
        Ok(TypeKind::Type(match name.text.as_str() {
            "json" => Type::Json,
            "list" => Type::List(self.element("list")?, self.bounds()?),
            "map" => Type::Map(self.element("map")?, self.bounds()?),
            "set" => Type::Set(self.element("set")?, self.bounds()?),
            "ref" => self.ref_type()?,
            "copy" => self.copy_type()?,
            _ => return Ok(self.no_type(name)),
        }))
    }

    fn no_type(&mut self, name: Name) -> TypeKind {
        self.unknown_type(&name.text, name.span, &TYPES);
        self.skip_bracketed("<", ">");
        self.skip_bracketed("(", ")");
        TypeKind::Unknown(name)
    }

    /// Skips a bracketed group on the same line.
    fn skip_bracketed(&mut self, open: &str, close: &str) {
        let mut depth = 0_usize;
        while !self.at_end() && !self.peek().first {
            if self.at_mark(open) {
                depth += 1;
            } else if depth == 0 {
                return;
            } else if self.at_mark(close) {
                depth -= 1;
            }
            self.bump();
        }
    }

    fn ref_type(&mut self) -> Parsed<Type> {
        let entity = self.name_here("the entity it refers to, as in `ref User`")?;
        let field = if self.eat_mark(".") { Some(self.name("the field of that entity")?) } else { None };
        Ok(Type::Ref { entity, field, plain: () })
    }

    fn copy_type(&mut self) -> Parsed<Type> {
        let entity = self.name_here("the entity it copies from, as in `copy User.name`")?;
        self.expect_mark(".", "and the field to copy, as in `copy User.name`")?;
        Ok(Type::Copy { entity, field: self.name("the field to copy")?, plain: () })
    }

    /// Parses `<T>`.
    fn element(&mut self, of: &str) -> Parsed<Box<TypeRef>> {
        if !self.eat_mark("<") {
            let help = format!("write `{of}<string>`, with the type of its elements");
            return Err(self.expected_with("`<` and the type of the elements", &help));
        }
        let element = self.type_ref();
        if is_missing(&element) {
            return Err(Self::reported());
        }
        self.split_angle();
        self.expect_mark(">", "after the type of the elements")?;
        Ok(Box::new(element))
    }

    /// Parses `(min..max)`, `(exactly)`, or nothing.
    fn bounds(&mut self) -> Parsed<Bounds> {
        if !self.at_mark("(") || self.peek().first {
            return Ok(Bounds::default());
        }
        let start = self.peek().span.start;
        self.bump();
        let min = self.bound()?;
        let max = if self.eat_mark("..") { self.bound()? } else { min };
        self.expect_mark(")", "after the bounds")?;
        let span = self.since(start);
        let problem = match (min, max) {
            (None, None) => Some("these bounds have neither a minimum nor a maximum"),
            (Some(min), Some(max)) if min > max => {
                Some("no value fits these bounds: the first is greater than the last")
            }
            _ => None,
        };
        if let Some(problem) = problem {
            let help = "write `(1..32)`, `(8)`, `(1..)` or `(..100)`";
            self.report(Diagnostic::error(BAD_BOUNDS, span, problem).help(help));
            return Ok(Bounds::default());
        }
        Ok(Bounds { min, max })
    }

    fn bound(&mut self) -> Parsed<Option<i64>> {
        if matches!(self.peek().kind, Kind::Number | Kind::Mark("-")) {
            return self.whole("a whole number").map(Some);
        }
        if self.at_mark("..") || self.at_mark(")") {
            return Ok(None);
        }
        Err(self.expected_with("bounds", "write `(1..32)`, `(8)`, `(1..)` or `(..100)`"))
    }

    /// Parses the flags that come next; reports unknown words.
    fn flags(&mut self, field: &mut Field) {
        while self.peek().is_name() && !self.field_follows() {
            let word = self.peek().text.clone();
            let span = self.peek().span;
            let known = self.peek().kind == Kind::Word && FLAGS.contains(&word.as_str());
            if !known && self.peek().first {
                return;
            }
            self.bump();
            if !known {
                self.no_flag(&word, span);
                continue;
            }
            let per = if word == "unique" { self.unique_per() } else { Vec::new() };
            let flag = Flag { kind: flag_kind(&word, per), span: self.since(span.start) };
            if let Some(first) = field.flags.iter().find(|first| same_flag(&first.kind, &flag.kind)) {
                let first = first.span;
                self.duplicate(&format!("the flag `{word}`"), first, flag.span);
            } else {
                field.flags.push(flag);
            }
        }
    }

    fn no_flag(&mut self, word: &str, span: crate::span::Span) {
        if matches!(word, "optional" | "nullable") {
            self.report(
                Diagnostic::error(UNEXPECTED, span, format!("`{word}` is written as `?` after the type"))
                    .help("write `?` directly after the type: `url?`"),
            );
        } else {
            self.unknown_flag(word, span, &FLAGS);
        }
    }

    fn unique_per(&mut self) -> Vec<Name> {
        if !self.eat_word("per") {
            return Vec::new();
        }
        let more = |parser: &Self| {
            let next = parser.peek_at(1);
            next.is_name() && !next.first && !parser.peek_at(2).is_mark(":")
        };
        self.chain(more, |parser| parser.name("the field within which it is unique, as in `unique per teamId`"))
            .unwrap_or_default()
    }
}

/// Returns true for the placeholder of a type that could not be parsed.
fn is_missing(kind: &TypeRef) -> bool {
    matches!(&kind.kind, TypeKind::Type(Type::Unknown))
}

/// Returns the flag with this name.
fn flag_kind(word: &str, per: Vec<Name>) -> FlagKind {
    match word {
        "version" => FlagKind::Version,
        "created" => FlagKind::Created,
        "updated" => FlagKind::Updated,
        "immutable" => FlagKind::Immutable,
        "secret" => FlagKind::Secret,
        "encrypted" => FlagKind::Encrypted,
        "personal" => FlagKind::Personal,
        "id" => FlagKind::Id,
        "cascade" => FlagKind::Cascade,
        "restrict" => FlagKind::Restrict,
        "keep" => FlagKind::Keep,
        "snapshot" => FlagKind::Snapshot,
        "refresh" => FlagKind::Refresh,
        "internal" => FlagKind::Internal,
        "bearer" => FlagKind::Bearer,
        "grants" => FlagKind::Grants,
        _ => FlagKind::Unique(per),
    }
}

/// Returns true if two flags are the same. A field may have several `unique` flags with different `per` fields.
fn same_flag(first: &FlagKind, second: &FlagKind) -> bool {
    match (first, second) {
        (FlagKind::Unique(first), FlagKind::Unique(second)) => {
            first.iter().map(|name| &name.text).eq(second.iter().map(|name| &name.text))
        }
        _ => std::mem::discriminant(first) == std::mem::discriminant(second),
    }
}
