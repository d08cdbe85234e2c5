//! Substitutes placeholders and validates conditions.

use super::super::resolve::{ConditionRank, Rank, Resolver, all};
use super::super::written::{WrittenCall, WrittenOperand};
use super::grammar::{Written, WrittenCondition};
use crate::error::expression::{Flaw, bound};
use crate::expression::ast::{Comparator, Condition, Operand, Path};
use crate::expression::evaluate::size_of;
use crate::limits::IN_OPERANDS_MAX;
use crate::value::{AttributeType, Value, ValueRef};

/// Substitutes placeholders and records all flaws; returns `None` if there is one.
pub(crate) fn resolve(written: &Written<'_>, resolver: &mut Resolver<'_>) -> Option<Condition> {
    if written.redundant_parentheses {
        resolver.flaws.note(Rank::Parentheses, Flaw::RedundantParentheses);
    }
    Conditions { resolver, number: 0 }.resolve(&written.condition)
}

/// Resolves the tests of a condition and numbers them from the left.
struct Conditions<'r, 's> {
    resolver: &'r mut Resolver<'s>,
    number: usize,
}

impl Conditions<'_, '_> {
    fn resolve(&mut self, written: &WrittenCondition<'_>) -> Option<Condition> {
        match written {
            WrittenCondition::And(parts) => self.resolve_all(parts).map(Condition::And),
            WrittenCondition::Or(parts) => self.resolve_all(parts).map(Condition::Or),
            WrittenCondition::Not(part) => self.resolve(part).map(|part| Condition::Not(Box::new(part))),
            test => {
                self.number += 1;
                self.resolver.condition = Some(self.number);
                self.test(test)
            }
        }
    }

    fn resolve_all(&mut self, parts: &[WrittenCondition<'_>]) -> Option<Vec<Condition>> {
        all(parts.iter(), |part| self.resolve(part))
    }

    fn test(&mut self, written: &WrittenCondition<'_>) -> Option<Condition> {
        match written {
            WrittenCondition::Compare(comparator, [left, right]) => self.compare(*comparator, left, right),
            WrittenCondition::Between(operands) => self.between(operands),
            WrittenCondition::In(operand, candidates) => self.is_in(operand, candidates),
            WrittenCondition::Call(call) => self.predicate(call),
            WrittenCondition::And(_) | WrittenCondition::Or(_) | WrittenCondition::Not(_) => None,
        }
    }

    fn compare(
        &mut self,
        comparator: Comparator,
        left: &WrittenOperand<'_>,
        right: &WrittenOperand<'_>,
    ) -> Option<Condition> {
        let (left, right) = (self.operand(left), self.operand(right));
        let (left, right) = (left?, right?);
        self.check_distinct(comparator.symbol(), &left, &right);
        if !matches!(comparator, Comparator::Equal | Comparator::NotEqual) {
            self.check_ordered(comparator.symbol(), &[&left, &right]);
        }
        Some(Condition::Compare { left, comparator, right })
    }

    fn between(&mut self, operands: &[WrittenOperand<'_>; 3]) -> Option<Condition> {
        let [operand, low, high] = operands.each_ref().map(|operand| self.operand(operand));
        let (operand, low, high) = (operand?, low?, high?);
        self.check_ordered("BETWEEN", &[&operand, &low, &high]);
        if let (Operand::Value(low), Operand::Value(high)) = (&low, &high) {
            self.check_bounds(low.view(), high.view());
        }
        Some(Condition::Between { operand, low, high })
    }

    fn is_in(&mut self, operand: &WrittenOperand<'_>, candidates: &[WrittenOperand<'_>]) -> Option<Condition> {
        if candidates.len() > IN_OPERANDS_MAX {
            self.note(ConditionRank::OperandCount, Flaw::TooManyInOperands(candidates.len()));
        }
        let operand = self.operand(operand);
        let candidates = all(candidates.iter(), |candidate| self.operand(candidate));
        Some(Condition::In { operand: operand?, candidates: candidates? })
    }

    /// Resolves a function that is used as a condition.
    fn predicate(&mut self, call: &WrittenCall<'_>) -> Option<Condition> {
        if call.name == "size" {
            self.resolver.flaws.note(Rank::MisusedFunction, Flaw::MisusedFunction(call.name.to_owned()));
        }
        let operands = self.call_operands(call)?;
        match (call.name, operands.as_slice()) {
            ("attribute_exists", [operand]) => self.path_of(call, operand).map(Condition::AttributeExists),
            ("attribute_not_exists", [operand]) => self.path_of(call, operand).map(Condition::AttributeNotExists),
            ("attribute_type", [operand, kind]) => self.attribute_type(operand, kind),
            ("begins_with", [whole, start]) => {
                self.check_types(call.name, &[whole, start], &[AttributeType::S, AttributeType::B]);
                Some(Condition::BeginsWith(whole.clone(), start.clone()))
            }
            ("contains", [whole, part]) => Some(Condition::Contains(whole.clone(), part.clone())),
            _ => None,
        }
    }

    /// Resolves the operands of a function and checks their number.
    fn call_operands(&mut self, call: &WrittenCall<'_>) -> Option<Vec<Operand>> {
        let expected = match call.name {
            "attribute_exists" | "attribute_not_exists" | "size" => 1,
            "attribute_type" | "begins_with" | "contains" => 2,
            _ => {
                self.resolver.flaws.note(Rank::UnknownFunction, unknown_function(call.name));
                usize::MAX
            }
        };
        let operands = all(call.operands.iter(), |operand| self.operand(operand))?;
        if expected == usize::MAX {
            return None;
        }
        if operands.len() != expected {
            let flaw = Flaw::OperandCount { function: call.name.to_owned(), count: operands.len() };
            self.note(ConditionRank::OperandCount, flaw);
            return None;
        }
        if let [first, second] = operands.as_slice() {
            self.check_distinct(call.name, first, second);
        }
        Some(operands)
    }

    fn operand(&mut self, written: &WrittenOperand<'_>) -> Option<Operand> {
        match written {
            WrittenOperand::Path(path) => self.resolver.path(path).map(Operand::Path),
            WrittenOperand::Value(placeholder) => self.resolver.value(placeholder).map(Operand::Value),
            WrittenOperand::Call(call) => self.computed(call),
        }
    }

    /// Resolves a function that is used as an operand; only `size` is allowed.
    fn computed(&mut self, call: &WrittenCall<'_>) -> Option<Operand> {
        if is_predicate(call.name) {
            self.resolver.flaws.note(Rank::MisusedFunction, Flaw::MisusedFunction(call.name.to_owned()));
        }
        let operands = self.call_operands(call)?;
        match operands.as_slice() {
            [Operand::Path(path)] if call.name == "size" => Some(Operand::Size(path.clone())),
            [Operand::Value(value)] if call.name == "size" => self.size_of_constant(value),
            [Operand::Size(_)] if call.name == "size" => {
                self.note_type("size", AttributeType::N);
                None
            }
            _ => None,
        }
    }

    fn size_of_constant(&mut self, value: &Value) -> Option<Operand> {
        let Some(size) = size_of(value.view()) else {
            self.note_type("size", value.kind());
            return None;
        };
        Some(Operand::Value(Value::from(&size.into())))
    }

    fn path_of(&mut self, call: &WrittenCall<'_>, operand: &Operand) -> Option<Path> {
        if let Operand::Path(path) = operand {
            return Some(path.clone());
        }
        self.note(ConditionRank::OperandType, Flaw::PathRequired(call.name.to_owned()));
        None
    }

    /// Resolves `attribute_type`. The type of a constant is already known, so its test becomes a comparison of two
    /// type names.
    fn attribute_type(&mut self, operand: &Operand, kind: &Operand) -> Option<Condition> {
        let kind = self.type_named(kind)?;
        Some(match operand {
            Operand::Path(path) => Condition::AttributeType(path.clone(), kind),
            Operand::Value(value) => same_type(value.kind(), kind),
            Operand::Size(_) => same_type(AttributeType::N, kind),
        })
    }

    fn type_named(&mut self, operand: &Operand) -> Option<AttributeType> {
        let kind = match operand {
            Operand::Value(value) => match value.view() {
                ValueRef::S(name) => {
                    let kind = AttributeType::from_name(name);
                    if kind.is_none() {
                        self.note(ConditionRank::OperandType, Flaw::UnknownType(name.to_owned()));
                    }
                    return kind;
                }
                other => Some(other.kind()),
            },
            Operand::Size(_) => Some(AttributeType::N),
            Operand::Path(_) => None,
        };
        self.note(ConditionRank::OperandType, Flaw::OperandType { operator: "attribute_type".to_owned(), kind });
        None
    }

    fn check_distinct(&mut self, operator: &str, first: &Operand, second: &Operand) {
        if let (Operand::Path(first), Operand::Path(second)) = (first, second)
            && first == second
        {
            let flaw = Flaw::SameOperands { operator: operator.to_owned(), path: first.clone() };
            self.note(ConditionRank::SameOperands, flaw);
        }
    }

    fn check_ordered(&mut self, operator: &str, operands: &[&Operand]) {
        self.check_types(operator, operands, &[AttributeType::S, AttributeType::N, AttributeType::B]);
    }

    fn check_types(&mut self, operator: &str, operands: &[&Operand], allowed: &[AttributeType]) {
        for operand in operands {
            let kind = match operand {
                Operand::Path(_) => continue,
                Operand::Value(value) => value.kind(),
                Operand::Size(_) => AttributeType::N,
            };
            if !allowed.contains(&kind) {
                self.note_type(operator, kind);
            }
        }
    }

    fn check_bounds(&mut self, low: ValueRef<'_>, high: ValueRef<'_>) {
        if low.kind() != high.kind() {
            self.note(ConditionRank::OperandType, Flaw::BoundTypes(bound(low), bound(high)));
        } else if low.compare(&high).is_some_and(std::cmp::Ordering::is_gt) {
            self.note(ConditionRank::OperandType, Flaw::BoundOrder(bound(low), bound(high)));
        }
    }

    fn note_type(&mut self, operator: &str, kind: AttributeType) {
        let flaw = Flaw::OperandType { operator: operator.to_owned(), kind: Some(kind) };
        self.note(ConditionRank::OperandType, flaw);
    }

    fn note(&mut self, rank: ConditionRank, flaw: Flaw) {
        self.resolver.flaws.note(Rank::Condition(self.number, rank), flaw);
    }
}

fn is_predicate(name: &str) -> bool {
    matches!(name, "attribute_exists" | "attribute_not_exists" | "attribute_type" | "begins_with" | "contains")
}

fn unknown_function(name: &str) -> Flaw {
    match name {
        "if_not_exists" | "list_append" => Flaw::NotForConditions(name.to_owned()),
        _ => Flaw::UnknownFunction(name.to_owned()),
    }
}

fn same_type(found: AttributeType, asked: AttributeType) -> Condition {
    let name = |kind: AttributeType| Operand::Value(Value::from(&kind.name().into()));
    Condition::Compare { left: name(found), comparator: Comparator::Equal, right: name(asked) }
}
