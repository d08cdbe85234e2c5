//! Three-valued conditions, for `allow` and guards.
//!
//! A comparison with an absent value is unknown, and so is its negation. A permission must be *true*, so an absent claim
//! never grants it, however the condition is written:
//!
//! ```text
//! allow orgId = caller.orgId         both absent: unknown, refused
//! allow not (level < caller.level)   one absent:  unknown, refused
//! ```
//!
//! DynamoDB's conditions are two-valued: they treat a comparison with a missing attribute as false (`<>` as true), and
//! its negation as true. [`Scope::certain`] therefore binds two conditions, one that holds if the expression is true and
//! one that holds if it is false. An item for which neither holds makes it unknown.

use keyform_core::AttributeValue;
use keyform_core::expression::{Condition, Operand};
use keyform_core::value::AttributeType;

use crate::document::ast::BinaryOp;
use crate::schema::{Expr, ExprKind, Origin, Type, ValuePath};

use super::BindError;
use super::condition::{Logic, and, decided, held, not, or, test_of};
use super::evaluate::Scope;
use super::value::Computed;

impl<'a> Scope<'a> {
    /// Binds the condition that an expression is certainly true, or certainly false if not `wanted`.
    pub(super) fn certain(&self, expr: &Expr, wanted: bool, key: &str) -> Result<Logic, BindError> {
        match &expr.kind {
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
                let (left, right) = (self.certain(left, wanted, key)?, self.certain(right, wanted, key)?);
                let needs_both = (*op == BinaryOp::And) == wanted;
                Ok(if needs_both { and([left, right]) } else { or(left, right) })
            }
            ExprKind::Not(of) => self.certain(of, !wanted, key),
            ExprKind::IsNone(of) => self.has_definite_value(of, !wanted),
            ExprKind::IsSome(of) => self.has_definite_value(of, wanted),
            ExprKind::Absent | ExprKind::Exists | ExprKind::Bool(_) => {
                let two_valued = self.condition(expr, key)?;
                Ok(if wanted { two_valued } else { not(two_valued) })
            }
            ExprKind::Binary(op, left, right) => self.certainly_compared(*op, left, right, wanted),
            ExprKind::Between(of, low, high) => self.certainly_between([of, low, high], wanted),
            ExprKind::In(of, list) => self.certainly_one_of(of, list, wanted),
            ExprKind::ValuePath(_) => {
                let is_true = Expr { kind: ExprKind::Bool(true), span: expr.span };
                self.certainly_compared(BinaryOp::Equal, expr, &is_true, wanted)
            }
            _ => Err(BindError::Inexpressible("a value as a condition".to_owned())),
        }
    }

    fn has_definite_value(&self, of: &Expr, wanted: bool) -> Result<Logic, BindError> {
        if let Some(path) = self.own_path(of)? {
            let present = and(self.presence(of, path, true));
            return Ok(if wanted { present } else { not(present) });
        }
        Ok(Logic::Known(self.lacks_value(of)? != wanted))
    }

    fn certainly_compared(&self, op: BinaryOp, left: &Expr, right: &Expr, wanted: bool) -> Result<Logic, BindError> {
        let kind = self.kind_of(left).or_else(|| self.kind_of(right)).unwrap_or(&Type::Unknown);
        let sought = if op == BinaryOp::Contains { held(kind) } else { kind };
        let (Some(one), Some(other)) = (self.definite(left, kind)?, self.definite(right, sought)?) else {
            return Ok(Logic::Known(false));
        };
        let implied = wanted && op != BinaryOp::NotEqual;
        self.tested(test_of(op, one, other)?, &[left, right], wanted, implied)
    }

    fn certainly_between(&self, parts: [&Expr; 3], wanted: bool) -> Result<Logic, BindError> {
        let [of, low, high] = parts;
        let kind = self.kind_of(of).unwrap_or(&Type::Unknown);
        let operands = (self.definite(of, kind)?, self.definite(low, kind)?, self.definite(high, kind)?);
        let (Some(operand), Some(low), Some(high)) = operands else { return Ok(Logic::Known(false)) };
        self.tested(Condition::Between { operand, low, high }, &parts, wanted, wanted)
    }

    fn certainly_one_of(&self, of: &Expr, list: &[Expr], wanted: bool) -> Result<Logic, BindError> {
        let kind = self.kind_of(of).unwrap_or(&Type::Unknown);
        let Some(operand) = self.definite(of, kind)? else { return Ok(Logic::Known(false)) };
        let mut candidates = Vec::new();
        for part in list {
            candidates.extend(self.definite(part, kind)?);
        }
        // An absent candidate might be equal, so the value is certainly none of them only if all are known.
        if candidates.is_empty() || !wanted && candidates.len() < list.len() {
            return Ok(Logic::Known(false));
        }
        let parts: Vec<&Expr> = [of].into_iter().chain(list).collect();
        self.tested(Condition::In { operand, candidates }, &parts, wanted, wanted)
    }

    /// Binds an operand; `None` if its value, or a value that it is computed from, is absent.
    fn definite(&self, expr: &Expr, kind: &Type) -> Result<Option<Operand>, BindError> {
        if !expr.has_own_fields() && self.lacks_value(expr)? {
            return Ok(None);
        }
        let is_null =
            |operand: &Operand| matches!(operand, Operand::Value(value) if value.to_tree() == AttributeValue::Null);
        Ok(self.operand(expr, kind)?.filter(|operand| !is_null(operand)))
    }

    /// Returns whether an expression is `none`, or refers to a value that is absent or NULL.
    fn lacks_value(&self, expr: &Expr) -> Result<bool, BindError> {
        let mut places = Vec::new();
        expr.walk(&mut |part| {
            if matches!(part.kind, ExprKind::ValuePath(_) | ExprKind::None) {
                places.push(part);
            }
        });
        for place in places {
            if matches!(self.evaluate(place)?, Computed::None | Computed::Value(AttributeValue::Null)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Requires that a test holds, or fails, and that the fields of its operands have values. `implied` is set if the
    /// test cannot hold for an absent attribute.
    fn tested(&self, test: Condition, operands: &[&Expr], wanted: bool, implied: bool) -> Result<Logic, BindError> {
        let test = decided(test);
        let mut parts = vec![if wanted { test } else { not(test) }];
        let mut fields = Vec::new();
        operands.iter().for_each(|operand| operand.walk(&mut |part| fields.push(part)));
        for field in fields {
            if let Some(path) = self.own_path(field)? {
                parts.extend(self.presence(field, path, !implied));
            }
        }
        Ok(and(parts))
    }

    /// Returns the conditions that a field has a value: that it exists, if `stated`, and that it is not NULL.
    fn presence(&self, field: &Expr, path: keyform_core::expression::Path, stated: bool) -> Vec<Logic> {
        let may_be_null = matches!(&field.kind, ExprKind::ValuePath(ValuePath { origin: Origin::Field(entity, id), path })
            if path.is_empty() && self.model.entity(*entity).field(*id).null);
        let exists = stated.then(|| Condition::AttributeExists(path.clone()));
        let null = Condition::AttributeType(path, AttributeType::Null);
        let has_value = may_be_null.then(|| Condition::Not(Box::new(null)));
        exists.into_iter().chain(has_value).map(Logic::Test).collect()
    }
}

#[cfg(test)]
mod tests {
    use keyform_core::{Attributes, Item};

    use super::*;
    use crate::Compiled;
    use crate::bind::sample::Sample;
    use crate::bind::{Inputs, guard, truth};
    use crate::schema::Permission;

    /// Checks each condition as `allow` (over `given`, `missing`, `flag` and `tags`) in a model of one read.
    fn allowed(condition: &str) -> Option<bool> {
        let text = format!(
            r#"model m
            caller given: slug, missing: slug?, gone: slug?, level: int, flag: bool, tags: set<slug>
            table T {{ key a }}
            entity E in T {{ a: slug(1..20) }}
            read one(a, left: slug(1..20)?) -> E? allow {condition}"#
        );
        let compiled = Compiled::read(&text);
        let read = compiled.model.reads.first().unwrap();
        let Some(Permission::When(condition)) = &read.allow else { panic!("{:?}", compiled.unresolved) };
        let sample = Sample::new(&compiled.model);
        let mut inputs = sample.of_read(read);
        inputs.arguments.to_mut().remove("left");
        let tags = AttributeValue::Ss(["x".to_owned(), "y".to_owned()].into());
        let claims: Attributes = [
            ("given".to_owned(), "x".into()),
            ("level".to_owned(), 3.into()),
            ("flag".to_owned(), false.into()),
            ("tags".to_owned(), tags),
        ]
        .into();
        inputs.caller = std::borrow::Cow::Owned(claims);
        truth(&compiled.model, condition, &read.parameters, &inputs).unwrap()
    }

    #[test]
    fn a_comparison_with_an_absent_value_is_unknown() {
        let unknown = [
            "caller.missing = caller.gone",
            "caller.missing != caller.gone",
            "caller.missing = left",
            "not (caller.missing = caller.given)",
            "not (caller.missing != caller.given)",
            "not (left < caller.given)",
            "caller.missing between \"a\" and \"b\"",
            "not (caller.given between caller.missing and \"z\")",
            "not (caller.missing in (\"a\", \"b\"))",
            "not (caller.given in (\"a\", caller.missing))",
            "not (caller.tags contains caller.missing)",
            "not (caller.given begins left)",
            "caller.missing = none",
            "caller.given != none",
            "size(caller.missing) < 5",
            "not (caller.missing = caller.given and caller.given = \"x\")",
            "caller.missing = caller.given or caller.given = \"y\"",
        ];
        for condition in unknown {
            assert_eq!(allowed(condition), None, "{condition}");
        }
    }

    #[test]
    fn other_conditions_are_true_or_false() {
        let decided = [
            ("caller.given = \"x\"", true),
            ("not (caller.given = \"x\")", false),
            ("caller.given != \"x\"", false),
            ("caller.missing is none", true),
            ("caller.missing is some", false),
            ("not (caller.given is none)", true),
            ("caller.given in (\"a\", \"x\", caller.missing)", true),
            ("not (caller.given in (\"a\", \"b\"))", true),
            ("caller.level between 1 and 3", true),
            ("not (caller.level between 1 and 3)", false),
            ("caller.tags contains \"x\"", true),
            ("caller.tags contains \"z\"", false),
            ("not (caller.tags contains \"z\")", true),
            ("not caller.flag", true),
            ("caller.missing = caller.given or caller.given = \"x\"", true),
            ("caller.missing = caller.given and caller.given = \"y\"", false),
            ("not (caller.missing = caller.given and caller.given = \"y\")", true),
        ];
        for (condition, expected) in decided {
            assert_eq!(allowed(condition), Some(expected), "{condition}");
        }
    }

    /// The verdict of a guard on an item without `role`, with a given claim `level`.
    fn guarded(condition: &str, item: Option<&[(&str, AttributeValue)]>) -> Option<bool> {
        let text = format!(
            r#"model m
            caller userId: slug, missing: slug?
            table T {{ key a }}
            entity E in T {{ a: slug(1..20)  role: slug?  level: int?  old: slug | null }}
            guard g(a) = exists E(a) where {condition}
            read one(a) -> E? allow g(a)"#
        );
        let compiled = Compiled::read(&text);
        let sample = Sample::new(&compiled.model);
        let inputs: Inputs<'_> = sample.of_read(compiled.model.reads.first().unwrap());
        let bound = guard(&compiled.model, compiled.model.guards.first().unwrap(), &inputs).unwrap().unwrap();
        let item = item.map(|parts| {
            let parts = parts.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
            Item::from(&parts.collect::<Attributes>())
        });
        bound.verdict(item.as_ref())
    }

    #[test]
    fn a_guard_is_unknown_where_its_item_lacks_the_field() {
        let stored = [("a", "a".into()), ("level", AttributeValue::from(2)), ("old", AttributeValue::Null)];
        let check = |condition: &str, expected: Option<bool>| {
            assert_eq!(guarded(condition, Some(&stored)), expected, "{condition}");
            assert_eq!(guarded(condition, None), Some(false), "{condition}: a missing item is no permission");
        };
        check("level >= 2", Some(true));
        check("not (level >= 2)", Some(false));
        check("role = \"owner\"", None);
        check("role != \"banned\"", None);
        check("not (role = \"banned\")", None);
        check("role is none", Some(true));
        check("old != \"banned\"", None);
        check("old is none", Some(true));
        check("role = caller.missing", None);
        check("not (role = \"banned\") or level = 2", Some(true));
        check("not (size(role) > 3)", None);
    }
}
