//! Decides whether conditions can hold together.
//!
//! Conditions are brought into disjunctive normal form. In each alternative every tested value, such as a field of the
//! item with a certain key, collects the literals it may have, its range, and its order relative to other values:
//!
//! ```text
//! state = "free" and state = "sold"            state ∈ {free} ∩ {sold}             never
//! quantity > amount and quantity < amount      quantity : amount ∈ {>} ∩ {<}       never
//! left < 0, and left: int(0..)                 left ∈ (-∞, 0) ∩ [0, ∞)             never
//! ```
//!
//! Anything else is taken to be possible, so a verdict "never" is certain.

use std::collections::{BTreeMap, BTreeSet};

use keyform_core::Number;

use keyform_language::document::ast::BinaryOp;
use keyform_language::schema::{Expr, ExprKind, Model, Type};

use super::subject::{Place, Subject};

/// Limit of alternatives; conditions with more of them are taken to be possible.
const ALTERNATIVES_MAX: usize = 256;

/// A test of a value, or of an item as a whole.
#[derive(Clone, Debug)]
enum Atom {
    /// A comparison. A negated one also holds if the value is absent.
    Compare { op: BinaryOp, left: Subject, right: Operand, is_sure: bool },
    /// One of several literals.
    OneOf(Subject, Vec<Literal>),
    /// `is some`
    Present(Subject),
    /// `is none`
    Absent(Subject),
    /// The item with this key exists, or does not.
    Item(String, bool),
    /// A condition that never holds.
    Never,
}

/// Right-hand side of a comparison.
#[derive(Clone, Debug)]
enum Operand {
    Literal(Literal),
    Subject(Subject),
}

/// A literal of a condition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Literal {
    Word(String),
    Number(Number),
}

/// A condition with the place that gives its names a meaning.
pub(super) type Placed<'a> = (&'a Expr, &'a Place<'a>);

/// Returns whether the conditions can hold together, as far as their literals and types say.
pub(super) fn can_hold(model: &Model, conditions: &[Placed<'_>]) -> bool {
    let mut all = vec![Vec::new()];
    for (condition, place) in conditions {
        let Some(next) = product(all, &normal(model, condition, place, true)) else { return true };
        all = next;
    }
    all.iter().any(|atoms| is_possible(atoms))
}

fn product(left: Vec<Vec<Atom>>, right: &[Vec<Atom>]) -> Option<Vec<Vec<Atom>>> {
    if left.len() * right.len() > ALTERNATIVES_MAX {
        return None;
    }
    Some(left.iter().flat_map(|one| right.iter().map(move |other| [one.as_slice(), other].concat())).collect())
}

/// Returns the alternatives of a condition, or of its negation.
fn normal(model: &Model, condition: &Expr, place: &Place<'_>, holds: bool) -> Vec<Vec<Atom>> {
    let of = |expr: &Expr, holds| normal(model, expr, place, holds);
    match &condition.kind {
        ExprKind::Not(inner) => of(inner, !holds),
        ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
            if (*op == BinaryOp::And) == holds {
                product(of(left, holds), &of(right, holds)).unwrap_or_else(|| vec![Vec::new()])
            } else {
                [of(left, holds), of(right, holds)].concat()
            }
        }
        ExprKind::Guard { guard, arguments } => {
            let guard = &model.guards[guard.0];
            let inner = place.of_guard(guard, arguments);
            match &guard.condition {
                Some(condition) if holds => {
                    let exists = inner.item().map(|item| Atom::Item(item, true));
                    let exists: Vec<Atom> = exists.into_iter().collect();
                    product(vec![exists], &normal(model, condition, &inner, true)).unwrap_or_else(|| vec![Vec::new()])
                }
                _ => vec![Vec::new()],
            }
        }
        _ => vec![atoms(condition, place, holds)],
    }
}

/// Returns the tests of a condition without `and`, `or` and `not`; empty if it is not understood.
fn atoms(condition: &Expr, place: &Place<'_>, holds: bool) -> Vec<Atom> {
    let subject = |expr: &Expr| place.subject(expr);
    let found = match &condition.kind {
        ExprKind::Binary(op, left, right) => return compare(*op, left, right, place, holds).into_iter().collect(),
        ExprKind::Between(of, low, high) if holds => {
            let ends = [(BinaryOp::GreaterEqual, low), (BinaryOp::LessEqual, high)];
            let mut tests: Vec<Atom> = ends.iter().filter_map(|(op, end)| compare(*op, of, end, place, true)).collect();
            if let (Some(Literal::Number(low)), Some(Literal::Number(high))) = (literal(low), literal(high))
                && low > high
            {
                tests.push(Atom::Never);
            }
            return tests;
        }
        ExprKind::In(of, list) if holds => {
            let literals: Option<Vec<Literal>> = list.iter().map(literal).collect();
            subject(of).zip(literals).map(|(of, literals)| Atom::OneOf(of, literals))
        }
        ExprKind::IsSome(of) if holds => subject(of).map(Atom::Present),
        ExprKind::IsNone(of) if !holds => subject(of).map(Atom::Present),
        ExprKind::IsNone(of) if holds => subject(of).map(Atom::Absent),
        ExprKind::IsSome(of) if !holds => subject(of).map(Atom::Absent),
        ExprKind::Exists => place.item().map(|item| Atom::Item(item, holds)),
        ExprKind::Absent => place.item().map(|item| Atom::Item(item, !holds)),
        ExprKind::Bool(value) if *value != holds => Some(Atom::Never),
        ExprKind::ValuePath(_) if holds => {
            subject(condition).map(|of| Atom::OneOf(of, vec![Literal::Word("true".to_owned())]))
        }
        _ => None,
    };
    found.into_iter().collect()
}

fn compare(op: BinaryOp, left: &Expr, right: &Expr, place: &Place<'_>, holds: bool) -> Option<Atom> {
    let op = if holds { op } else { negated(op)? };
    let is_sure = holds && op != BinaryOp::NotEqual;
    match (literal(left), literal(right)) {
        (None, Some(value)) => {
            Some(Atom::Compare { op, left: place.subject(left)?, right: Operand::Literal(value), is_sure })
        }
        (Some(value), None) => {
            let (op, left) = (mirrored(op)?, place.subject(right)?);
            Some(Atom::Compare { op, left, right: Operand::Literal(value), is_sure })
        }
        (None, None) => {
            let (left, right) = (place.subject(left)?, place.subject(right)?);
            let is_in_order = left.name <= right.name;
            let (op, left, right) = if is_in_order { (op, left, right) } else { (mirrored(op)?, right, left) };
            Some(Atom::Compare { op, left, right: Operand::Subject(right), is_sure })
        }
        (Some(_), Some(_)) => None,
    }
}

fn negated(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Equal => BinaryOp::NotEqual,
        BinaryOp::NotEqual => BinaryOp::Equal,
        BinaryOp::Less => BinaryOp::GreaterEqual,
        BinaryOp::LessEqual => BinaryOp::Greater,
        BinaryOp::Greater => BinaryOp::LessEqual,
        BinaryOp::GreaterEqual => BinaryOp::Less,
        _ => return None,
    })
}

fn mirrored(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Equal | BinaryOp::NotEqual => op,
        BinaryOp::Less => BinaryOp::Greater,
        BinaryOp::LessEqual => BinaryOp::GreaterEqual,
        BinaryOp::Greater => BinaryOp::Less,
        BinaryOp::GreaterEqual => BinaryOp::LessEqual,
        _ => return None,
    })
}

fn literal(expr: &Expr) -> Option<Literal> {
    match &expr.kind {
        ExprKind::Text(text) => Some(Literal::Word(text.clone())),
        ExprKind::Bool(value) => Some(Literal::Word(value.to_string())),
        ExprKind::Number(text) => text.parse().ok().map(Literal::Number),
        _ => None,
    }
}

/// Facts about one value in one alternative.
#[derive(Debug, Default)]
struct Facts {
    /// Literals that the value may have; `None` for any.
    among: Option<BTreeSet<Literal>>,
    excluded: BTreeSet<Literal>,
    /// Lower end of the range, and whether the end is part of it.
    low: Option<(Number, bool)>,
    high: Option<(Number, bool)>,
    is_present: bool,
    is_absent: bool,
    item: Option<String>,
}

impl Facts {
    fn of(subject: &Subject) -> Self {
        let mut facts = Self { item: subject.item.clone(), ..Self::default() };
        match subject.kind.as_ref().map(Type::resolved) {
            Some(Type::OneOf(texts)) => facts.among = Some(texts.iter().cloned().map(Literal::Word).collect()),
            Some(kind) if kind.is_bool() => {
                facts.among = Some(["true", "false"].map(|word| Literal::Word(word.to_owned())).into());
            }
            Some(kind) => {
                let bounds = kind.value_bounds().unwrap_or_default();
                facts.low = bounds.min.map(|min| (Number::from(min), true));
                facts.high = bounds.max.map(|max| (Number::from(max), true));
            }
            None => {}
        }
        facts
    }

    fn keep(&mut self, literals: BTreeSet<Literal>) {
        self.among = Some(match self.among.take() {
            Some(among) => among.intersection(&literals).cloned().collect(),
            None => literals,
        });
    }

    fn compare(&mut self, op: BinaryOp, with: &Literal, is_sure: bool) {
        self.is_present |= is_sure;
        match (op, with) {
            (BinaryOp::Equal, _) if is_sure => self.keep(BTreeSet::from([with.clone()])),
            (BinaryOp::NotEqual, _) => drop(self.excluded.insert(with.clone())),
            (BinaryOp::Less | BinaryOp::LessEqual, Literal::Number(end)) => {
                self.below(*end, op == BinaryOp::LessEqual);
            }
            (BinaryOp::Greater | BinaryOp::GreaterEqual, Literal::Number(end)) => {
                self.above(*end, op == BinaryOp::GreaterEqual);
            }
            _ => {}
        }
    }

    fn below(&mut self, end: Number, is_part: bool) {
        let is_tighter = |(high, part): &(Number, bool)| end < *high || end == *high && *part && !is_part;
        if self.high.as_ref().is_none_or(is_tighter) {
            self.high = Some((end, is_part));
        }
    }

    fn above(&mut self, end: Number, is_part: bool) {
        let is_tighter = |(low, part): &(Number, bool)| end > *low || end == *low && *part && !is_part;
        if self.low.as_ref().is_none_or(is_tighter) {
            self.low = Some((end, is_part));
        }
    }

    fn is_in_range(&self, value: &Number) -> bool {
        let after = self.low.as_ref().is_none_or(|(low, part)| value > low || *part && value == low);
        let before = self.high.as_ref().is_none_or(|(high, part)| value < high || *part && value == high);
        after && before
    }

    fn is_possible(&self) -> bool {
        if !self.is_present {
            return true;
        }
        let is_range = match (&self.low, &self.high) {
            (Some((low, low_part)), Some((high, high_part))) => low < high || low == high && *low_part && *high_part,
            _ => true,
        };
        let fits = |literal: &Literal| match literal {
            Literal::Word(_) => true,
            Literal::Number(value) => self.is_in_range(value),
        };
        let has_one = |among: &BTreeSet<Literal>| among.difference(&self.excluded).any(fits);
        !self.is_absent && is_range && self.among.as_ref().is_none_or(has_one)
    }
}

/// Orders that two values may have.
#[derive(Clone, Copy, Debug)]
struct Orders {
    less: bool,
    equal: bool,
    greater: bool,
    is_sure: bool,
}

impl Orders {
    const ANY: Self = Self { less: true, equal: true, greater: true, is_sure: false };

    fn keep(&mut self, op: BinaryOp, is_sure: bool) {
        let (less, equal, greater) = match op {
            BinaryOp::Equal => (false, true, false),
            BinaryOp::NotEqual => (true, false, true),
            BinaryOp::Less => (true, false, false),
            BinaryOp::LessEqual => (true, true, false),
            BinaryOp::Greater => (false, false, true),
            BinaryOp::GreaterEqual => (false, true, true),
            _ => return,
        };
        self.less &= less;
        self.equal &= equal;
        self.greater &= greater;
        self.is_sure |= is_sure;
    }

    fn is_possible(self) -> bool {
        !self.is_sure || self.less || self.equal || self.greater
    }
}

fn is_possible(atoms: &[Atom]) -> bool {
    let mut values: BTreeMap<&str, Facts> = BTreeMap::new();
    let mut orders: BTreeMap<(&str, &str), Orders> = BTreeMap::new();
    let mut items: BTreeMap<&str, (bool, bool)> = BTreeMap::new();
    for atom in atoms {
        match atom {
            Atom::Never => return false,
            Atom::Item(item, exists) => {
                let (is, is_not) = items.entry(item).or_default();
                *is |= *exists;
                *is_not |= !*exists;
            }
            Atom::Compare { op, left, right: Operand::Literal(with), is_sure } => {
                facts(&mut values, left).compare(*op, with, *is_sure);
            }
            Atom::Compare { op, left, right: Operand::Subject(right), is_sure } => {
                let one = orders.entry((&left.name, &right.name)).or_insert(Orders::ANY);
                one.keep(*op, *is_sure);
                facts(&mut values, left).is_present |= *is_sure;
                facts(&mut values, right).is_present |= *is_sure;
            }
            Atom::OneOf(of, literals) => {
                let facts = facts(&mut values, of);
                facts.is_present = true;
                facts.keep(literals.iter().cloned().collect());
            }
            Atom::Present(of) => facts(&mut values, of).is_present = true,
            Atom::Absent(of) => facts(&mut values, of).is_absent = true,
        }
    }
    join(&orders, &mut values);
    let is_missing = |facts: &Facts| facts.item.as_deref().is_some_and(|item| items.get(item).is_some_and(|is| is.1));
    orders.values().all(|order| order.is_possible())
        && items.values().all(|(is, is_not)| !(*is && *is_not))
        && values.values().all(|facts| facts.is_possible() && !(facts.is_present && is_missing(facts)))
}

fn facts<'m, 'a>(values: &'m mut BTreeMap<&'a str, Facts>, of: &'a Subject) -> &'m mut Facts {
    values.entry(&of.name).or_insert_with(|| Facts::of(of))
}

/// Carries the literals of a value over to the values that equal it.
fn join<'a>(orders: &BTreeMap<(&'a str, &'a str), Orders>, values: &mut BTreeMap<&'a str, Facts>) {
    let equal: Vec<(&'a str, &'a str)> = orders
        .iter()
        .filter(|(_, order)| order.is_sure && order.equal && !order.less && !order.greater)
        .map(|(pair, _)| *pair)
        .collect();
    for _ in 0..2 {
        for (left, right) in &equal {
            for (from, to) in [(left, right), (right, left)] {
                let among = values.get(from).and_then(|facts| facts.among.clone());
                if let (Some(among), Some(facts)) = (among, values.get_mut(to)) {
                    facts.keep(among);
                }
            }
        }
    }
}
