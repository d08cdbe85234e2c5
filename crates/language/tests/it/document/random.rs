//! Random trees survive formatting and parsing unchanged.
//!
//! A tree is generated from bytes: each choice consumes one, and zero is always the simplest, so that a failing case
//! shrinks to a small model.

use keyform_language::document::ast::*;
use keyform_language::document::{json, parse, print};
use keyform_language::scalar::Scalar;
use keyform_language::span::Span;
use proptest::prelude::*;

use super::checks::without_gaps;

/// Source of choices for generating a tree.
struct Choices<'a> {
    bytes: std::slice::Iter<'a, u8>,
}

const NAMES: [&str; 14] =
    ["a", "userId", "key", "tag", "volume", "by-day", "and", "count", "public", "in", "größe", "read", "bytes", "add"];
const TEXTS: [&str; 8] =
    ["a", "USER#{userId}", "", "\"quoted\"", "back\\slash", "two\nlines", "{{x}}", "ein Text, länger als andere"];
const COMMENTS: [&str; 4] = ["why", "", "/ odd", "  indented"];

impl Choices<'_> {
    fn below(&mut self, limit: usize) -> usize {
        usize::from(self.bytes.next().copied().unwrap_or(0)) % limit
    }

    fn coin(&mut self) -> bool {
        self.below(2) == 1
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.coin().then(|| make(self))
    }

    fn some<T>(&mut self, least: usize, most: usize, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let count = least + self.below(most - least + 1);
        (0..count).map(|_| make(self)).collect()
    }

    fn name(&mut self) -> Name {
        let number = self.below(NAMES.len());
        Name::from(NAMES[number].to_owned())
    }

    fn text(&mut self) -> Text {
        let number = self.below(TEXTS.len());
        Text::from(TEXTS[number].to_owned())
    }

    fn comment(&mut self) -> String {
        let number = self.below(COMMENTS.len());
        COMMENTS[number].to_owned()
    }

    fn notes(&mut self) -> Notes {
        if self.below(4) != 1 {
            return Notes::default();
        }
        let gap = self.coin();
        Notes {
            gap,
            comments: self.some(0, 2, Self::comment),
            docs: self.some(0, 2, Self::comment),
            trailing: self.maybe(Self::comment),
        }
    }

    fn line<T>(&mut self, value: T) -> Line<T> {
        Line { notes: self.notes(), value, span: Span::default() }
    }

    fn block<T>(&mut self, most: usize, mut make: impl FnMut(&mut Self) -> T) -> Block<T> {
        let lines = self.some(0, most, |choices| {
            let value = make(choices);
            choices.line(value)
        });
        let tail = if self.below(4) == 1 { self.some(0, 2, Self::comment) } else { Vec::new() };
        Block { lines, tail }
    }

    fn number(&mut self) -> u64 {
        [0, 1, 7, 1_000, 1_024, 60, 86_400, 1_500_000, 20_480, 3_600_001][self.below(10)]
    }

    fn rate(&mut self) -> Rate {
        let per = [RateUnit::Second, RateUnit::Minute, RateUnit::Hour, RateUnit::Day][self.below(4)];
        Rate { count: [1.0, 0.5, 400.0, 20_000.0][self.below(4)], per }
    }

    fn bounds(&mut self) -> Bounds {
        [(None, None), (Some(1), Some(32)), (Some(8), Some(8)), (None, Some(100)), (Some(-5), None)]
            .map(|(min, max)| Bounds { min, max })[self.below(5)]
    }

    fn type_ref(&mut self, depth: usize) -> TypeRef {
        let kind = self.type_kind(depth).into();
        TypeRef { kind, optional: self.coin(), null: self.below(4) == 1, span: Span::default() }
    }

    fn scalar(&mut self) -> Type {
        let scalar = Scalar::ALL[self.below(Scalar::ALL.len())];
        Type::Scalar(scalar, if scalar.counted().is_some() { self.bounds() } else { Bounds::NONE })
    }

    fn type_kind(&mut self, depth: usize) -> Type {
        match self.below(if depth == 0 { 8 } else { 12 }) {
            0..=3 => self.scalar(),
            4 => Type::Json,
            5 => Type::OneOf(self.some(1, 12, Self::text)),
            6 => Type::Ref { entity: self.name(), field: self.maybe(Self::name), plain: () },
            7 => Type::Copy { entity: self.name(), field: self.name(), plain: () },
            8 => Type::List(Box::new(self.type_ref(depth - 1)), self.bounds()),
            9 => Type::Map(Box::new(self.type_ref(depth - 1)), self.bounds()),
            10 => Type::Set(Box::new(self.type_ref(depth - 1)), self.bounds()),
            _ => Type::Record(self.some(0, 4, |choices| choices.field(depth - 1))),
        }
    }

    fn flags(&mut self) -> Vec<Flag> {
        let mut flags = Vec::new();
        if self.below(4) == 1 {
            flags.push(FlagKind::Unique(self.some(0, 2, Self::name)));
        }
        for kind in [
            FlagKind::Version,
            FlagKind::Created,
            FlagKind::Secret,
            FlagKind::Id,
            FlagKind::Keep,
            FlagKind::Refresh,
            FlagKind::Internal,
            FlagKind::Bearer,
            FlagKind::Grants,
        ] {
            if self.below(6) == 1 {
                flags.push(kind);
            }
        }
        flags.into_iter().map(Flag::from).collect()
    }

    fn field(&mut self, depth: usize) -> Field {
        Field {
            name: self.name(),
            kind: self.type_ref(depth),
            flags: self.flags(),
            default: self.maybe(|choices| choices.expr(2)),
        }
    }

    fn expr(&mut self, depth: usize) -> Expr {
        let less = depth.saturating_sub(1);
        let kind = match self.below(if depth == 0 { 8 } else { 18 }) {
            0 => ExprKind::Name(self.name()),
            1 => ExprKind::Number(["12", "1.5", "-3"][self.below(3)].to_owned()),
            2 => ExprKind::Text(self.text().text),
            3 => ExprKind::Duration(self.number()),
            4 => ExprKind::Bool(self.coin()),
            5 => ExprKind::None,
            6 => ExprKind::Absent,
            7 => ExprKind::Exists,
            8 => ExprKind::List(self.some(0, 2, |choices| choices.expr(less))),
            9 => ExprKind::Record(self.some(0, 2, |choices| (choices.name(), choices.expr(less)))),
            10 => ExprKind::Member(self.expr(less), self.name()),
            11 => ExprKind::Element(self.expr(less), self.expr(less)),
            12 => ExprKind::Call(self.name(), self.arguments(less)),
            13 => ExprKind::Not(self.expr(less)),
            14 => ExprKind::Between(self.expr(less), self.expr(less), self.expr(less)),
            15 => ExprKind::In(self.expr(less), self.some(0, 2, |choices| choices.expr(less))),
            16 => [ExprKind::IsNone(self.expr(less)), ExprKind::IsSome(self.expr(less))][self.below(2)].clone(),
            _ => ExprKind::Binary(self.operator(), self.expr(less), self.expr(less)),
        };
        Expr::from(kind)
    }

    fn operator(&mut self) -> BinaryOp {
        use BinaryOp::*;
        [And, Or, Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, Begins, Contains, Plus, Minus]
            [self.below(12)]
    }

    fn arguments(&mut self, depth: usize) -> Vec<Argument> {
        self.some(0, 2, |choices| Argument { name: choices.maybe(Self::name), value: choices.expr(depth) })
    }

    fn path(&mut self) -> Expr {
        let name = Expr::from(ExprKind::Name(self.name()));
        match self.below(3) {
            0 => name,
            1 => Expr::from(ExprKind::Member(name, self.name())),
            _ => Expr::from(ExprKind::Element(name, self.expr(1))),
        }
    }

    fn allow(&mut self) -> Allow {
        Allow { code: self.name(), reason: self.text() }
    }

    fn key_attribute(&mut self) -> KeyAttribute {
        let kind = [None, Some(KeyType::String), Some(KeyType::Number), Some(KeyType::Binary)][self.below(4)];
        KeyAttribute { name: self.name(), kind }
    }

    fn table(&mut self) -> Table {
        let mut once = [
            TableEntry::Key(self.some(1, 2, Self::key_attribute)),
            TableEntry::Tag(self.name()),
            TableEntry::Ttl(self.name()),
            TableEntry::Stream(
                [StreamView::NewAndOld, StreamView::New, StreamView::Old, StreamView::Keys][self.below(4)],
            ),
            TableEntry::Encryption(
                [Encryption::Owned, Encryption::Managed, Encryption::Kms(self.text())][self.below(3)].clone(),
            ),
            TableEntry::Billing(
                [Billing::OnDemand, Billing::Provisioned { reads: self.number(), writes: 5 }][self.below(2)].clone(),
            ),
            TableEntry::Class([TableClass::Standard, TableClass::Infrequent][self.below(2)]),
            TableEntry::Recovery,
            TableEntry::Protected,
        ]
        .into_iter();
        let body = self.block(9, |choices| match choices.below(3) {
            0 => once.next().unwrap_or_else(|| TableEntry::Allow(choices.allow())),
            1 => TableEntry::Index(choices.index()),
            _ => TableEntry::Allow(choices.allow()),
        });
        Table { name: self.name(), physical: self.maybe(Self::text), body }
    }

    fn index(&mut self) -> Index {
        let local = self.coin();
        let attributes = |choices: &mut Self| choices.some(1, 2, Self::key_attribute);
        Index {
            name: self.name(),
            physical: self.maybe(Self::text),
            local,
            partition: if local { Vec::new() } else { attributes(self) },
            sort: if local { attributes(self) } else { self.maybe(attributes).unwrap_or_default() },
            projection: self.maybe(|choices| {
                [Projection::All, Projection::Keys, Projection::Include(choices.some(0, 3, Self::name))]
                    [choices.below(3)]
                .clone()
            }),
            sparse: self.coin(),
        }
    }

    fn key_source(&mut self) -> KeySource {
        if self.coin() { KeySource::Fields(self.some(0, 2, Self::name)) } else { KeySource::Template(self.text()) }
    }

    fn entity_key(&mut self, index: Option<Name>) -> EntityKey {
        EntityKey { index, partition: self.key_source(), sort: self.maybe(Self::key_source) }
    }

    fn entity(&mut self) -> Entity {
        let volume = Volume {
            items: Some(self.number()),
            bytes: self.maybe(Self::number),
            bytes_max: self.maybe(Self::number),
            per_partition: self.maybe(Self::number),
            per_partition_max: self.maybe(Self::number),
            top_percent: self.maybe(|choices| [4.0, 0.25][choices.below(2)]),
            lives_secs: self.maybe(Self::number),
        };
        let mut once =
            vec![EntityEntry::Tag(self.text()), EntityEntry::Key(self.entity_key(None)), EntityEntry::Volume(volume)];
        for name in NAMES {
            let key = self.entity_key(Some(Name::from(name.to_owned())));
            once.push(EntityEntry::Key(key));
        }
        let mut once = once.into_iter();
        let body = self.block(9, |choices| match choices.below(4) {
            0 | 1 => EntityEntry::Field(choices.field(2)),
            2 => once.next().unwrap_or_else(|| EntityEntry::Allow(choices.allow())),
            _ => EntityEntry::Allow(choices.allow()),
        });
        Entity { name: self.name(), table: self.name(), shapes: self.some(0, 2, Self::name), body }
    }

    fn parameter(&mut self) -> Parameter {
        let test = match self.below(8) {
            0 => Test::Equal,
            1 => Test::After(self.name()),
            2 => Test::From(self.name()),
            3 => Test::Before(self.name()),
            4 => Test::Until(self.name()),
            5 => Test::Between(self.name(), self.name()),
            6 => Test::Begins(self.name()),
            _ => Test::In(self.name()),
        };
        Parameter { field: self.name(), test, kind: self.maybe(|choices| choices.type_ref(1)), span: Span::default() }
    }

    fn key_test(&mut self) -> KeyTest {
        match self.below(7) {
            0 => KeyTest::Equal(self.text()),
            1 => KeyTest::Begins(self.text()),
            2 => KeyTest::After(self.text()),
            3 => KeyTest::From(self.text()),
            4 => KeyTest::Before(self.text()),
            5 => KeyTest::Until(self.text()),
            _ => KeyTest::Between(self.text(), self.text()),
        }
    }

    fn unscoped(&mut self) -> Unscoped {
        Unscoped { entity: self.name(), reason: self.text() }
    }

    fn permission(&mut self) -> Permission {
        match self.below(5) {
            0 => Permission::Public,
            1 => Permission::System,
            2 => Permission::Held(self.expr(3)),
            3 => Permission::Before(self.expr(3), self.text()),
            _ => Permission::When(self.expr(3)),
        }
    }

    fn read(&mut self) -> Read {
        let result = if self.below(4) == 1 {
            ReadResult::Count(self.name())
        } else {
            let number = |choices: &mut Self| [Number::One, Number::Maybe, Number::Many][choices.below(3)];
            ReadResult::Parts(self.some(1, 3, |choices| ResultPart { entity: choices.name(), number: number(choices) }))
        };
        let all = [
            ReadClause::Via(self.name()),
            [ReadClause::NewestFirst, ReadClause::OldestFirst][self.below(2)].clone(),
            ReadClause::Ordered { field: self.name(), descending: self.coin() },
            [ReadClause::Page(self.number()), ReadClause::All][self.below(2)].clone(),
            ReadClause::Strong,
            ReadClause::Where(self.expr(3)),
            ReadClause::Select(self.some(0, 3, Self::name)),
            ReadClause::Scan,
            ReadClause::WithExpired,
            ReadClause::Key(KeyCondition { partition: self.key_test(), sort: self.maybe(Self::key_test) }),
            ReadClause::Rate(self.rate()),
            ReadClause::Permit(self.permission()),
            ReadClause::Unscoped(self.unscoped()),
            ReadClause::Allow(self.allow()),
        ];
        let mut clauses: Vec<Line<ReadClause>> = Vec::new();
        for clause in all {
            if self.below(3) == 1 {
                let line = self.line(clause);
                clauses.push(line);
            }
        }
        if self.coin() {
            clauses.reverse();
        }
        for clause in &mut clauses {
            clause.notes.gap = false;
        }
        // The parser attaches a comment after the last clause to the read.
        if let Some(last) = clauses.last_mut() {
            last.notes.trailing = None;
        }
        Read { name: self.name(), parameters: self.some(0, 6, Self::parameter), result, clauses }
    }

    fn write(&mut self) -> Write {
        let mut clauses = Vec::new();
        for clause in [
            WriteClause::Idempotent,
            WriteClause::Batch,
            WriteClause::Rate(self.rate()),
            WriteClause::Allow(self.allow()),
        ] {
            if self.below(3) == 1 {
                let mut line = self.line(clause);
                line.notes.gap = false;
                clauses.push(line);
            }
        }
        let mut permits = 0;
        let mut body = self.block(4, |choices| choices.step(2));
        body.lines.retain(|line| {
            permits += usize::from(matches!(line.value, Step::Permit(_)));
            permits <= 1 || !matches!(line.value, Step::Permit(_))
        });
        Write {
            name: self.name(),
            parameters: self.some(0, 6, Self::parameter),
            result: self.maybe(Self::name),
            clauses,
            body,
        }
    }

    fn step(&mut self, depth: usize) -> Step {
        match self.below(if depth == 0 { 6 } else { 7 }) {
            0 => Step::Action(self.action()),
            1 => Step::Let(Let { name: self.name(), value: self.expr(2), outcome: self.maybe(Self::name) }),
            2 => Step::Permit(self.permission()),
            3 => Step::Allow(self.allow()),
            4 => Step::Unscoped(self.unscoped()),
            5 => Step::Require(Require { condition: self.expr(4), outcome: self.maybe(Self::name) }),
            _ => Step::For(For {
                name: self.name(),
                list: self.expr(1),
                max: self.maybe(Self::number),
                body: self.block(2, |choices| choices.step(depth - 1)),
            }),
        }
    }

    fn action(&mut self) -> Action {
        let verb = [Verb::Create, Verb::Put, Verb::Update, Verb::Upsert, Verb::Delete, Verb::Check][self.below(6)];
        let changes = if matches!(verb, Verb::Delete | Verb::Check) {
            Vec::new()
        } else {
            self.some(0, 3, |choices| {
                let change = choices.change();
                choices.line(change)
            })
        };
        let presence = if verb == Verb::Check {
            [None, Some(Presence::Exists), Some(Presence::Absent)][self.below(3)]
        } else {
            None
        };
        let condition = |choices: &mut Self| Condition {
            notes: Notes { gap: false, ..choices.notes() },
            condition: choices.expr(4),
            outcome: choices.maybe(Self::name),
        };
        Action {
            verb,
            replace: verb == Verb::Put && self.below(2) == 0,
            item: ItemRef { entity: self.name(), keys: self.arguments(1), span: Span::default() },
            changes,
            presence,
            conditions: self.some(0, 2, condition),
            outcome: self.maybe(Self::name),
        }
    }

    fn change(&mut self) -> Change {
        match self.below(7) {
            0 => Change::Set(self.path(), self.expr(2)),
            1 => Change::Increase(self.path(), self.expr(2)),
            2 => Change::Decrease(self.path(), self.expr(2)),
            3 => Change::Append(self.path(), self.expr(2)),
            4 => Change::Add(self.path(), self.expr(2)),
            5 => Change::Take(self.path(), self.expr(2)),
            _ => Change::Remove(self.path()),
        }
    }

    fn on(&mut self) -> On {
        let events =
            self.some(1, 3, |choices| [Event::Insert, Event::Modify, Event::Remove, Event::Expire][choices.below(4)]);
        let target = if self.coin() {
            Target::Live(self.name(), self.some(0, 2, Self::name))
        } else {
            Target::Handler(self.name())
        };
        On {
            entity: self.name(),
            events,
            target,
            needs: self.some(0, 2, |choices| [Image::Old, Image::New][choices.below(2)]),
        }
    }

    fn evolve(&mut self) -> Evolve {
        let body = self.block(5, |choices| match choices.below(5) {
            0 => EvolveEntry::Table(choices.name()),
            1 => {
                let index = choices.maybe(Self::name);
                EvolveEntry::Key(choices.entity_key(index))
            }
            2 => EvolveEntry::Rename(choices.name(), choices.name()),
            3 => EvolveEntry::Set(choices.name(), choices.expr(2)),
            _ => EvolveEntry::Allow(choices.allow()),
        });
        Evolve { entity: self.name(), body }
    }

    fn declaration(&mut self) -> DeclarationKind {
        match self.below(9) {
            0 => DeclarationKind::Read(self.read()),
            1 => DeclarationKind::Write(self.write()),
            2 => DeclarationKind::Entity(self.entity()),
            3 => DeclarationKind::Table(self.table()),
            4 => DeclarationKind::Shape(Shape { name: self.name(), body: self.block(5, |choices| choices.field(2)) }),
            5 => DeclarationKind::Guard(Guard {
                name: self.name(),
                parameters: self.some(0, 3, Self::parameter),
                item: ItemRef { entity: self.name(), keys: self.arguments(2), span: Span::default() },
                condition: self.maybe(|choices| choices.expr(4)),
            }),
            6 => DeclarationKind::On(self.on()),
            7 => DeclarationKind::Evolve(self.evolve()),
            _ => DeclarationKind::Allow(self.allow()),
        }
    }

    fn document(&mut self) -> Document {
        let mut declarations = vec![DeclarationKind::Model(self.name())];
        if self.coin() {
            declarations.push(DeclarationKind::Caller(self.some(1, 2, |choices| CallerField {
                name: choices.name(),
                kind: choices.type_ref(1),
                from: choices.maybe(|choices| ClaimFrom { claim: choices.text(), split: choices.coin() }),
                global: choices.maybe(Self::text),
            })));
        }
        declarations.extend(self.some(0, 4, Self::declaration));
        let declarations = declarations.into_iter().map(|value| self.line(value)).collect();
        let tail = if self.below(4) == 1 { self.some(0, 2, Self::comment) } else { Vec::new() };
        Document { declarations, tail }
    }
}

/// Returns the JSON form without comments, which may move when the formatter breaks a line differently.
fn without_notes(mut value: serde_json::Value) -> serde_json::Value {
    fn strip(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::Object(fields) => {
                fields.retain(|key, value| !(key == "notes" && value.is_object()) && key != "tail");
                fields.values_mut().for_each(strip);
            }
            serde_json::Value::Array(elements) => elements.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut value);
    value
}

/// Counts the comments in a text.
fn comments(text: &str) -> usize {
    text.matches("//").count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_random_tree_is_printed_so_that_it_reads_the_same(bytes in prop::collection::vec(any::<u8>(), 0..700)) {
        let document = Choices { bytes: bytes.iter() }.document();
        let text = print(&document);
        let (again, mistakes) = parse(&text);
        prop_assert!(mistakes.is_empty(), "{text}\n{mistakes:#?}");
        prop_assert_eq!(without_notes(json::to_json(&document)), without_notes(json::to_json(&again)), "{}", text);
        let reprinted = print(&again);
        prop_assert_eq!(&text, &reprinted);
        prop_assert_eq!(without_gaps(json::to_json(&document)), without_gaps(json::to_json(&again)), "{}", text);
        prop_assert_eq!(comments(&text), comments(&reprinted));
    }
}
