//! Binds conditions on an item: fields become attribute paths, everything else becomes a value.

use keyform_core::AttributeValue;
use keyform_core::expression::{Comparator, Condition, Operand, Path, PathElement};
use keyform_core::value::name;

use crate::document::ast::BinaryOp;
use crate::scalar::Scalar;
use crate::schema::{Expr, ExprKind, Origin, PathStep, Type, ValuePath, limit};

use super::BindError;
use super::absence::{self, Subject};
use super::constant::when_absent;
use super::evaluate::Scope;
use super::value::{self, Computed};

/// A condition, constant-folded as far as its operands are known.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Logic {
    /// Constant: the same for every item.
    Known(bool),
    /// Depends on the item.
    Test(Condition),
}

impl<'a> Scope<'a> {
    /// Binds an expression as a condition on an item that exists. `key` is an attribute that every item of the table
    /// has; `exists` and `absent` test it.
    pub(super) fn condition(&self, expr: &Expr, key: &str) -> Result<Logic, BindError> {
        self.condition_on(expr, Subject { key, may_be_absent: false })
    }

    /// Binds an expression as a condition on an item.
    pub(super) fn condition_on(&self, expr: &Expr, subject: Subject<'_>) -> Result<Logic, BindError> {
        Ok(match &expr.kind {
            ExprKind::Binary(BinaryOp::And, left, right) => {
                and([self.condition_on(left, subject)?, self.condition_on(right, subject)?])
            }
            ExprKind::Binary(BinaryOp::Or, left, right) => {
                or(self.condition_on(left, subject)?, self.condition_on(right, subject)?)
            }
            ExprKind::Not(of) => not(self.condition_on(of, subject)?),
            ExprKind::Absent => subject.absent(),
            ExprKind::Exists => not(subject.absent()),
            ExprKind::Bool(value) => Logic::Known(*value),
            ExprKind::IsNone(of) => self.has_value(of, subject, absence::is_none, not)?,
            ExprKind::IsSome(of) => self.has_value(of, subject, absence::is_some, |holds| holds)?,
            ExprKind::Binary(op, left, right) => self.total(self.compared(*op, left, right)?, &[left, right], subject),
            ExprKind::Between(of, low, high) => self.total(self.between(of, low, high)?, &[of, low, high], subject),
            ExprKind::In(of, list) => {
                let operands: Vec<&Expr> = [&**of].into_iter().chain(list).collect();
                self.total(self.one_of(of, list)?, &operands, subject)
            }
            ExprKind::ValuePath(_) => self.total(self.is_true(expr)?, &[expr], subject),
            _ => return Err(BindError::Inexpressible("a value as a condition".to_owned())),
        })
    }

    /// Extends a test to items that lack fields with a constant default.
    fn total(&self, logic: Logic, operands: &[&Expr], subject: Subject<'_>) -> Logic {
        let Logic::Test(test) = logic else { return logic };
        let defaults: Vec<(&str, AttributeValue)> = operands.iter().filter_map(|expr| self.default_of(expr)).collect();
        absence::total(test, &defaults, subject)
    }

    /// Returns the attribute of a field with a constant default, and the default.
    fn default_of(&self, expr: &Expr) -> Option<(&'a str, AttributeValue)> {
        let place = match &expr.kind {
            ExprKind::ValuePath(place) => place,
            ExprKind::Call { arguments, .. } => return self.default_of(arguments.first()?),
            _ => return None,
        };
        let Origin::Field(entity, field) = &place.origin else { return None };
        let field = self.model.entity(*entity).field(*field);
        Some((field.name.as_str(), when_absent(field)?))
    }

    fn is_true(&self, expr: &Expr) -> Result<Logic, BindError> {
        let right = Operand::Value(AttributeValue::Bool(true).into());
        Ok(match self.operand(expr, &Scalar::Bool.into())? {
            Some(Operand::Value(value)) => Logic::Known(value.to_tree() == AttributeValue::Bool(true)),
            Some(left) => Logic::Test(Condition::Compare { left, comparator: Comparator::Equal, right }),
            None => Logic::Known(false),
        })
    }

    /// Binds `is some` or `is none`: `test` for a path, `of_known` for a value that is known to be there or not.
    fn has_value(
        &self,
        of: &Expr,
        subject: Subject<'_>,
        test: fn(Path) -> Logic,
        of_known: fn(Logic) -> Logic,
    ) -> Result<Logic, BindError> {
        let Some(path) = self.own_path(of)? else {
            return Ok(of_known(Logic::Known(self.evaluate(of)? != Computed::None)));
        };
        Ok(match self.default_of(of) {
            // A field with a default always has a value, unless it is NULL.
            Some(_) if path.elements.len() == 1 && !self.is_nullable(of) => of_known(subject.exists()),
            Some(_) | None => test(path),
        })
    }

    fn is_nullable(&self, of: &Expr) -> bool {
        matches!(&of.kind, ExprKind::ValuePath(ValuePath { origin: Origin::Field(entity, field), .. })
            if self.model.entity(*entity).field(*field).null)
    }

    fn compared(&self, op: BinaryOp, left: &Expr, right: &Expr) -> Result<Logic, BindError> {
        let kind = self.kind_of(left).or_else(|| self.kind_of(right)).unwrap_or(&Type::Unknown);
        let sought = if op == BinaryOp::Contains { held(kind) } else { kind };
        let operands = (self.operand(left, kind)?, self.operand(right, sought)?);
        let (Some(one), Some(other)) = operands else {
            return Ok(Logic::Known(self.with_nothing(op, &operands)));
        };
        Ok(decided(test_of(op, one, other)?))
    }

    /// Compares with an absent value: only another absent value equals it.
    fn with_nothing(&self, op: BinaryOp, (one, other): &(Option<Operand>, Option<Operand>)) -> bool {
        match op {
            BinaryOp::Equal => one.is_none() && other.is_none(),
            BinaryOp::NotEqual => one.is_none() != other.is_none(),
            _ => false,
        }
    }

    fn between(&self, of: &Expr, low: &Expr, high: &Expr) -> Result<Logic, BindError> {
        let kind = self.kind_of(of).unwrap_or(&Type::Unknown);
        let operands = (self.operand(of, kind)?, self.operand(low, kind)?, self.operand(high, kind)?);
        Ok(match operands {
            (Some(operand), Some(low), Some(high)) => decided(Condition::Between { operand, low, high }),
            _ => Logic::Known(false),
        })
    }

    fn one_of(&self, of: &Expr, list: &[Expr]) -> Result<Logic, BindError> {
        let kind = self.kind_of(of).unwrap_or(&Type::Unknown);
        let mut candidates = Vec::new();
        for part in list {
            candidates.extend(self.operand(part, kind)?);
        }
        Ok(match self.operand(of, kind)? {
            Some(operand) if !candidates.is_empty() => decided(Condition::In { operand, candidates }),
            _ => Logic::Known(false),
        })
    }

    /// Binds an operand of a comparison; `None` if its value is absent.
    pub(super) fn operand(&self, expr: &Expr, kind: &Type) -> Result<Option<Operand>, BindError> {
        if let Some(path) = self.own_path(expr)? {
            return Ok(Some(Operand::Path(path)));
        }
        if let ExprKind::Call { function, arguments } = &expr.kind
            && function == "size"
            && let Some(of) = arguments.first()
            && let Some(path) = self.own_path(of)?
        {
            return Ok(Some(Operand::Size(path)));
        }
        if expr.has_own_fields() {
            return Err(BindError::Inexpressible("arithmetic with a field in a condition".to_owned()));
        }
        let value = value::stored(self.evaluate(expr)?, kind)?;
        Ok(value.map(|value| Operand::Value(value.into())))
    }

    /// Returns the attribute path if the expression is a field of the current item.
    pub(super) fn own_path(&self, expr: &Expr) -> Result<Option<Path>, BindError> {
        match &expr.kind {
            ExprKind::ValuePath(ValuePath { origin: Origin::Field(entity, field), path }) => {
                let name = self.model.entity(*entity).field(*field).name.clone();
                self.path(name, path).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Builds the path of an attribute, evaluating the keys of its steps.
    pub(super) fn path(&self, attribute: String, steps: &[PathStep]) -> Result<Path, BindError> {
        let mut elements = vec![PathElement::Attribute(attribute)];
        for step in steps {
            elements.push(match step {
                PathStep::Member(name) => PathElement::Attribute(name.clone()),
                PathStep::Element(key) => match self.typed(key, &Type::Unknown)? {
                    Some(AttributeValue::S(name)) if name::check(&name).is_err() => {
                        return Err(BindError::WrongValue("the key of a map".to_owned()));
                    }
                    Some(AttributeValue::S(name)) => PathElement::Attribute(name),
                    Some(AttributeValue::N(number)) => {
                        let place = number.to_i64().and_then(|place| usize::try_from(place).ok());
                        PathElement::Index(place.ok_or_else(|| BindError::WrongValue(format!("`[{number}]`")))?)
                    }
                    _ => return Err(BindError::Missing("the key of an element".to_owned())),
                },
            });
        }
        Ok(Path { elements })
    }

    /// Returns the type of a reference; `None` for other expressions.
    pub(super) fn kind_of(&self, expr: &Expr) -> Option<&'a Type> {
        let ExprKind::ValuePath(place) = &expr.kind else { return None };
        self.kind_at(place)
    }

    /// Returns the type of the value a reference points to, if it is known.
    pub(super) fn kind_at(&self, place: &ValuePath) -> Option<&'a Type> {
        let kind = match &place.origin {
            Origin::Field(entity, field) | Origin::Let { entity: Some(entity), field: Some(field), .. } => {
                &self.model.entity(*entity).field(*field).kind
            }
            Origin::Parameter(number) => &self.parameters.get(*number)?.kind,
            Origin::Caller(number) => &self.model.caller.as_ref()?.fields.get(*number)?.kind,
            _ => return None,
        };
        limit::at(kind, &place.path)
    }
}

/// Returns the test of two operands.
pub(super) fn test_of(op: BinaryOp, left: Operand, right: Operand) -> Result<Condition, BindError> {
    Ok(match (op, op.comparator()) {
        (BinaryOp::Begins, _) => Condition::BeginsWith(left, right),
        (BinaryOp::Contains, _) => Condition::Contains(left, right),
        (_, Some(comparator)) => Condition::Compare { left, comparator, right },
        (_, None) => return Err(BindError::Inexpressible("a sum as a condition".to_owned())),
    })
}

/// Returns the type that `contains` compares with: the element type of a list or set, else the type itself.
pub(super) fn held(kind: &Type) -> &Type {
    match kind.resolved() {
        Type::List(of, _) | Type::Set(of, _) => of,
        other => other,
    }
}

/// Folds a test that uses no attribute to a constant, because DynamoDB rejects conditions without an attribute.
pub(super) fn decided(test: Condition) -> Logic {
    if test.paths().is_empty() { Logic::Known(test.holds(None)) } else { Logic::Test(test) }
}

/// Combines conditions with AND, dropping constants.
pub(super) fn and(parts: impl IntoIterator<Item = Logic>) -> Logic {
    let mut tests = Vec::new();
    for part in parts {
        match part {
            Logic::Known(true) => {}
            Logic::Known(false) => return Logic::Known(false),
            Logic::Test(Condition::And(inner)) => tests.extend(inner),
            Logic::Test(test) => tests.push(test),
        }
    }
    match tests.len() {
        0 => Logic::Known(true),
        1 => Logic::Test(tests.remove(0)),
        _ => Logic::Test(Condition::And(tests)),
    }
}

/// Combines two conditions with OR, dropping constants.
pub(super) fn or(one: Logic, other: Logic) -> Logic {
    match (one, other) {
        (Logic::Known(true), _) | (_, Logic::Known(true)) => Logic::Known(true),
        (Logic::Known(false), rest) | (rest, Logic::Known(false)) => rest,
        (Logic::Test(one), Logic::Test(other)) => {
            let mut tests = match one {
                Condition::Or(tests) => tests,
                test => vec![test],
            };
            match other {
                Condition::Or(more) => tests.extend(more),
                test => tests.push(test),
            }
            Logic::Test(Condition::Or(tests))
        }
    }
}

/// Negates a condition.
pub(super) fn not(of: Logic) -> Logic {
    match of {
        Logic::Known(value) => Logic::Known(!value),
        Logic::Test(Condition::AttributeExists(path)) => Logic::Test(Condition::AttributeNotExists(path)),
        Logic::Test(Condition::AttributeNotExists(path)) => Logic::Test(Condition::AttributeExists(path)),
        Logic::Test(test) => Logic::Test(Condition::Not(Box::new(test))),
    }
}
