//! Converts WHERE clauses to conditions.

use keyform_core::error::partiql;
use keyform_core::expression::{Comparator, Condition, Operand, Path};
use keyform_core::limits::IN_OPERANDS_MAX;
use keyform_core::value::{AttributeType, Value};
use keyform_core::{AttributeValue, Error};

use super::binder::Binder;
use super::path;
use super::syntax::{Expr, ExprKind, Infix, TestedType};

/// One side of a comparison. Most sides are operands, but `attribute_exists(a) = true` has a test on one side.
enum Side {
    Operand(Operand),
    Test(Condition),
}

impl Binder {
    /// Converts an expression to a condition.
    pub(super) fn condition(&mut self, expr: &Expr) -> Result<Condition, Error> {
        match &expr.kind {
            ExprKind::And(sides) => self.conditions(sides).map(Condition::And),
            ExprKind::Or(sides) => self.conditions(sides).map(Condition::Or),
            ExprKind::Not(inner) => Ok(Condition::Not(Box::new(self.condition(inner)?))),
            ExprKind::Infix(Infix::Compare(comparator), left, right) => self.compare(*comparator, left, right),
            ExprKind::Between(operand, low, high) => self.between(operand, low, high),
            ExprKind::In(operand, list) => self.in_list(operand, list),
            ExprKind::Is(operand, tested) => self.is(operand, *tested),
            ExprKind::Call(name, operands) => self.call(expr, &name.to_ascii_lowercase(), operands),
            _ => {
                self.side(expr)?;
                self.refuse(partiql::where_is_not_boolean());
                Ok(placeholder())
            }
        }
    }

    fn conditions(&mut self, sides: &[Expr]) -> Result<Vec<Condition>, Error> {
        sides.iter().map(|side| self.condition(side)).collect()
    }

    fn side(&mut self, expr: &Expr) -> Result<Side, Error> {
        match &expr.kind {
            ExprKind::Path(written) => Ok(Side::Operand(Operand::Path(path::resolve(written)?))),
            ExprKind::Call(name, operands) if name.eq_ignore_ascii_case("size") => {
                self.size(operands).map(Side::Operand)
            }
            ExprKind::Missing => {
                self.refuse_missing();
                Ok(Side::Operand(Operand::Value(Value::from(AttributeValue::Null))))
            }
            ExprKind::Select(select) => Err(partiql::unsupported_token("SELECT", select.place)),
            ExprKind::Sign(sign) => Ok(self.unsupported(sign)),
            ExprKind::Infix(Infix::Plus, left, right) => self.arithmetic("+", left, right),
            ExprKind::Infix(Infix::Minus, left, right) => self.arithmetic("-", left, right),
            ExprKind::Infix(Infix::Other(operator), left, right) => self.arithmetic(operator, left, right),
            ExprKind::And(_)
            | ExprKind::Or(_)
            | ExprKind::Not(_)
            | ExprKind::Infix(Infix::Compare(_), ..)
            | ExprKind::Between(..)
            | ExprKind::In(..)
            | ExprKind::Is(..)
            | ExprKind::Call(..) => self.condition(expr).map(Side::Test),
            _ => Ok(Side::Operand(Operand::Value(Value::from(self.value(expr)?)))),
        }
    }

    /// Rejects arithmetic, which conditions do not support. The operands are bound first, because an invalid literal
    /// in them takes precedence.
    fn arithmetic(&mut self, operator: &str, left: &Expr, right: &Expr) -> Result<Side, Error> {
        self.side(left)?;
        self.side(right)?;
        Ok(self.unsupported(operator))
    }

    fn unsupported(&mut self, operator: &str) -> Side {
        self.refuse(partiql::unsupported_condition_operator(operator));
        Side::Operand(Operand::Value(Value::from(AttributeValue::Null)))
    }

    fn operand(&mut self, expr: &Expr, operator: &str) -> Result<Operand, Error> {
        match self.side(expr)? {
            Side::Operand(operand) => Ok(operand),
            Side::Test(_) => {
                self.refuse(partiql::operand_type(operator, Some(AttributeType::Bool)));
                Ok(Operand::Value(Value::from(AttributeValue::Null)))
            }
        }
    }

    fn compare(&mut self, comparator: Comparator, left: &Expr, right: &Expr) -> Result<Condition, Error> {
        match (self.side(left)?, self.side(right)?) {
            (Side::Operand(left), Side::Operand(right)) => Ok(self.compare_operands(comparator, left, right)),
            (Side::Test(test), Side::Operand(other)) | (Side::Operand(other), Side::Test(test)) => {
                Ok(self.compare_test(comparator, test, &other))
            }
            (Side::Test(_), Side::Test(_)) => {
                self.refuse(partiql::operand_type(comparator.symbol(), Some(AttributeType::Bool)));
                Ok(placeholder())
            }
        }
    }

    /// Builds a comparison. A constant on the left is swapped with the operand on the right.
    fn compare_operands(&mut self, comparator: Comparator, left: Operand, right: Operand) -> Condition {
        let (left, comparator, right) = match (left, right) {
            (left @ Operand::Value(_), right @ (Operand::Path(_) | Operand::Size(_))) => {
                (right, comparator.swapped(), left)
            }
            (left, right) => (left, comparator, right),
        };
        if !matches!(comparator, Comparator::Equal | Comparator::NotEqual) {
            self.check_ordered(comparator.symbol(), [&left, &right]);
        }
        if let (Operand::Path(one), Operand::Path(two)) = (&left, &right) {
            self.check_distinct(comparator.symbol(), one, two);
        }
        Condition::Compare { left, comparator, right }
    }

    fn compare_test(&mut self, comparator: Comparator, test: Condition, other: &Operand) -> Condition {
        let constant = match other {
            Operand::Value(value) => Some(value.to_tree()),
            Operand::Path(_) | Operand::Size(_) => None,
        };
        match (comparator, constant) {
            (Comparator::Equal, Some(AttributeValue::Bool(true))) => test,
            (Comparator::NotEqual, Some(AttributeValue::Bool(false))) => test,
            (Comparator::Equal | Comparator::NotEqual, Some(AttributeValue::Bool(_))) => Condition::Not(Box::new(test)),
            _ => {
                self.refuse(partiql::operand_type(comparator.symbol(), Some(AttributeType::Bool)));
                test
            }
        }
    }

    fn check_ordered(&mut self, operator: &str, operands: [&Operand; 2]) {
        for operand in operands {
            if let Operand::Value(value) = operand
                && !matches!(value.kind(), AttributeType::S | AttributeType::N | AttributeType::B)
            {
                self.refuse(partiql::operand_type(operator, Some(value.kind())));
            }
        }
    }

    fn check_distinct(&mut self, operator: &str, one: &Path, two: &Path) {
        if one == two {
            self.refuse(partiql::operands_not_distinct(operator, one));
        }
    }

    fn between(&mut self, operand: &Expr, low: &Expr, high: &Expr) -> Result<Condition, Error> {
        let operand = self.operand(operand, "BETWEEN")?;
        let low = self.operand(low, "BETWEEN")?;
        let high = self.operand(high, "BETWEEN")?;
        self.check_ordered("BETWEEN", [&low, &high]);
        self.check_bounds(&low, &high);
        for end in [&low, &high] {
            if let (Operand::Path(one), Operand::Path(two)) = (&operand, end) {
                self.check_distinct("BETWEEN", one, two);
            }
        }
        Ok(Condition::Between { operand, low, high })
    }

    fn check_bounds(&mut self, low: &Operand, high: &Operand) {
        let (Operand::Value(low), Operand::Value(high)) = (low, high) else { return };
        if low.kind() != high.kind() {
            self.refuse(partiql::between_types(low, high));
        } else if rises(&high.to_tree(), &low.to_tree()) {
            self.refuse(partiql::between_order(low, high));
        }
    }

    fn in_list(&mut self, operand: &Expr, list: &Expr) -> Result<Condition, Error> {
        let operand = self.operand(operand, "IN")?;
        let ExprKind::List(elements) = &list.kind else { return self.in_something_else(operand, list) };
        let candidates = elements.iter().map(|element| self.operand(element, "IN")).collect::<Result<Vec<_>, _>>()?;
        for candidate in &candidates {
            if let (Operand::Path(one), Operand::Path(two)) = (&operand, candidate) {
                self.check_distinct("IN", one, two);
            }
        }
        if candidates.len() > IN_OPERANDS_MAX {
            self.refuse(partiql::too_many_in_operands(candidates.len()));
        }
        Ok(Condition::In { operand, candidates })
    }

    fn in_something_else(&mut self, operand: Operand, list: &Expr) -> Result<Condition, Error> {
        let refusal = match self.operand(list, "IN")? {
            Operand::Value(value) => partiql::operand_type("IN", Some(value.kind())),
            Operand::Path(_) | Operand::Size(_) => partiql::unsupported_condition_operator("IN"),
        };
        self.refuse(refusal);
        Ok(Condition::In { operand, candidates: Vec::new() })
    }

    fn is(&mut self, operand: &Expr, tested: TestedType) -> Result<Condition, Error> {
        let path = self.path_operand("IS", operand)?;
        Ok(match tested {
            TestedType::Missing => Condition::AttributeNotExists(path),
            TestedType::Of(kind) => Condition::AttributeType(path, kind),
            TestedType::Other(name) => {
                self.refuse(partiql::unsupported_is_type(name, operand.place));
                Condition::AttributeExists(path)
            }
        })
    }

    fn path_operand(&mut self, function: &str, expr: &Expr) -> Result<Path, Error> {
        match self.side(expr)? {
            Side::Operand(Operand::Path(path)) => Ok(path),
            _ => {
                self.refuse(partiql::path_required(function));
                Ok(Path::attribute(""))
            }
        }
    }

    fn size(&mut self, operands: &[Expr]) -> Result<Operand, Error> {
        match operands {
            [operand] => self.path_operand("size", operand).map(Operand::Size),
            _ => {
                self.refuse(partiql::operand_count("size", operands.len()));
                Ok(Operand::Size(Path::attribute("")))
            }
        }
    }

    fn call(&mut self, expr: &Expr, name: &str, operands: &[Expr]) -> Result<Condition, Error> {
        match (name, operands) {
            ("attribute_exists", [one]) => Ok(Condition::AttributeExists(self.path_operand(name, one)?)),
            ("attribute_not_exists", [one]) => Ok(Condition::AttributeNotExists(self.path_operand(name, one)?)),
            ("attribute_type", [one, two]) => self.attribute_type(one, two),
            ("begins_with", [one, two]) => self.begins_with(one, two),
            ("contains", [one, two]) => {
                Ok(Condition::Contains(self.operand(one, "contains")?, self.operand(two, "contains")?))
            }
            ("size", _) => {
                self.size(operands)?;
                self.refuse(partiql::where_is_not_boolean());
                Ok(placeholder())
            }
            ("attribute_exists" | "attribute_not_exists" | "attribute_type" | "begins_with" | "contains", _) => {
                self.refuse(partiql::operand_count(name, operands.len()));
                Ok(placeholder())
            }
            ("exists", [Expr { kind: ExprKind::Select(select), .. }]) => {
                Err(partiql::unsupported_token("SELECT", select.place))
            }
            _ => Err(partiql::unrecognized_function(name, expr.place)),
        }
    }

    fn attribute_type(&mut self, path: &Expr, kind: &Expr) -> Result<Condition, Error> {
        let path = self.path_operand("attribute_type", path)?;
        let refusal = match self.operand(kind, "attribute_type")? {
            Operand::Value(value) => match value.to_tree() {
                AttributeValue::S(name) => match AttributeType::from_name(&name) {
                    Some(kind) => return Ok(Condition::AttributeType(path, kind)),
                    None => partiql::unknown_attribute_type(&name),
                },
                other => partiql::operand_type("attribute_type", Some(other.kind())),
            },
            Operand::Path(_) | Operand::Size(_) => partiql::operand_type("attribute_type", None),
        };
        self.refuse(refusal);
        Ok(placeholder())
    }

    fn begins_with(&mut self, one: &Expr, two: &Expr) -> Result<Condition, Error> {
        let one = self.operand(one, "begins_with")?;
        let two = self.operand(two, "begins_with")?;
        for operand in [&one, &two] {
            if let Operand::Value(value) = operand
                && !matches!(value.kind(), AttributeType::S | AttributeType::B)
            {
                self.refuse(partiql::operand_type("begins_with", Some(value.kind())));
            }
        }
        Ok(Condition::BeginsWith(one, two))
    }
}

/// Returns a dummy in place of a rejected condition; it is never evaluated.
fn placeholder() -> Condition {
    Condition::And(Vec::new())
}

fn rises(low: &AttributeValue, high: &AttributeValue) -> bool {
    match (low, high) {
        (AttributeValue::S(low), AttributeValue::S(high)) => low < high,
        (AttributeValue::N(low), AttributeValue::N(high)) => low < high,
        (AttributeValue::B(low), AttributeValue::B(high)) => low < high,
        _ => false,
    }
}
