//! Converts SET and REMOVE clauses to updates.

use keyform_core::error::partiql;
use keyform_core::expression::{Path, SetAction, SetValue, Update, UpdateOperand};
use keyform_core::value::{AttributeType, Value};
use keyform_core::{AttributeValue, Error};

use super::binder::Binder;
use super::path;
use super::syntax::{Change, Expr, ExprKind, Infix};

/// Nesting limit of function calls.
const CALL_DEPTH_MAX: usize = 8;

impl Binder {
    /// Converts SET and REMOVE clauses to an update.
    pub(super) fn update(&mut self, changes: &[Change]) -> Result<Update, Error> {
        let mut update = Update::default();
        for change in changes {
            match change {
                Change::Remove(written) => update.remove.push(path::resolve(written)?),
                Change::Set(written, value) => self.assign(&mut update, path::resolve(written)?, value)?,
            }
        }
        self.check_overlap(&update);
        Ok(update)
    }

    fn assign(&mut self, update: &mut Update, path: Path, value: &Expr) -> Result<(), Error> {
        if let ExprKind::Call(name, operands) = &value.kind {
            match name.to_ascii_uppercase().as_str() {
                "SET_ADD" => {
                    let elements = self.set_function("SET_ADD", &path, value, operands)?;
                    update.add.push((path, elements));
                    return Ok(());
                }
                "SET_DELETE" => {
                    let elements = self.set_function("SET_DELETE", &path, value, operands)?;
                    update.delete.push((path, elements));
                    return Ok(());
                }
                _ => {}
            }
        }
        let value = self.assigned(value)?;
        update.set.push(SetAction { path, value });
        Ok(())
    }

    /// Converts `set_add(path, set)`; the path must be the target of the assignment.
    fn set_function(&mut self, name: &str, target: &Path, call: &Expr, operands: &[Expr]) -> Result<Value, Error> {
        let [first, second] = operands else { return Err(partiql::set_function_count(name, call.place)) };
        let starts_from_target = match &first.kind {
            ExprKind::Path(written) => path::resolve(written)? == *target,
            _ => false,
        };
        if !starts_from_target {
            return Err(partiql::set_function_target(name, call.place));
        }
        let value = match &second.kind {
            ExprKind::Path(_) | ExprKind::Call(..) => None,
            _ => Some(self.value(second)?),
        };
        match value {
            Some(set) if set.kind().is_set() => Ok(Value::from(set)),
            _ => Err(partiql::set_function_operand(name, first.place)),
        }
    }

    fn assigned(&mut self, value: &Expr) -> Result<SetValue, Error> {
        match &value.kind {
            ExprKind::Infix(Infix::Plus, left, right) => {
                let (left, right) = self.addends("+", left, right)?;
                Ok(SetValue::Plus(left, right))
            }
            ExprKind::Infix(Infix::Minus, left, right) => {
                let (left, right) = self.addends("-", left, right)?;
                Ok(SetValue::Minus(left, right))
            }
            _ => self.update_operand(value, 0).map(SetValue::Operand),
        }
    }

    fn addends(&mut self, operator: &str, left: &Expr, right: &Expr) -> Result<(UpdateOperand, UpdateOperand), Error> {
        let left = self.update_operand(left, 0)?;
        let right = self.update_operand(right, 0)?;
        self.check_constant(operator, &left, AttributeType::N);
        self.check_constant(operator, &right, AttributeType::N);
        Ok((left, right))
    }

    fn check_constant(&mut self, operator: &str, operand: &UpdateOperand, wanted: AttributeType) {
        if let UpdateOperand::Value(value) = operand
            && value.kind() != wanted
        {
            self.refuse(partiql::operand_type(operator, Some(value.kind())));
        }
    }

    fn update_operand(&mut self, expr: &Expr, depth: usize) -> Result<UpdateOperand, Error> {
        match &expr.kind {
            ExprKind::Path(written) => path::resolve(written).map(UpdateOperand::Path),
            ExprKind::Call(name, operands) => self.update_call(expr, &name.to_ascii_lowercase(), operands, depth),
            _ => match unsupported_operator(&expr.kind) {
                Some(operator) => {
                    self.refuse(partiql::unsupported_update_operator(operator));
                    Ok(UpdateOperand::Value(Value::from(AttributeValue::Null)))
                }
                None => Ok(UpdateOperand::Value(Value::from(self.value(expr)?))),
            },
        }
    }

    fn update_call(
        &mut self,
        expr: &Expr,
        name: &str,
        operands: &[Expr],
        depth: usize,
    ) -> Result<UpdateOperand, Error> {
        if depth == CALL_DEPTH_MAX {
            return Err(partiql::malformed("Statement is nested too deeply to parse"));
        }
        match (name, operands) {
            ("list_append", [one, two]) => {
                let one = self.update_operand(one, depth + 1)?;
                let two = self.update_operand(two, depth + 1)?;
                self.check_constant(name, &one, AttributeType::L);
                self.check_constant(name, &two, AttributeType::L);
                Ok(UpdateOperand::ListAppend(Box::new(one), Box::new(two)))
            }
            ("if_not_exists", [one, two]) => {
                let ExprKind::Path(written) = &one.kind else { return Err(partiql::path_required(name)) };
                let otherwise = self.update_operand(two, depth + 1)?;
                Ok(UpdateOperand::IfNotExists(path::resolve(written)?, Box::new(otherwise)))
            }
            ("list_append" | "if_not_exists", _) => Err(partiql::operand_count(name, operands.len())),
            _ => Err(partiql::unrecognized_function(name, expr.place)),
        }
    }

    /// Checks that no two paths overlap. If one path is a prefix of others, it directly precedes one of them in
    /// sorted order, so that comparing neighbours suffices.
    fn check_overlap(&mut self, update: &Update) {
        let set = update.set.iter().map(|action| &action.path);
        let others = update.add.iter().chain(&update.delete).map(|(path, _)| path);
        let mut paths: Vec<&Path> = set.chain(&update.remove).chain(others).collect();
        paths.sort();
        let overlap = paths.windows(2).find(|pair| pair[1].elements.starts_with(&pair[0].elements));
        if let Some([one, two]) = overlap {
            self.refuse(partiql::paths_overlap(one, two));
        }
    }
}

fn unsupported_operator(kind: &ExprKind) -> Option<&'static str> {
    Some(match kind {
        ExprKind::Infix(Infix::Plus, ..) => "+",
        ExprKind::Infix(Infix::Minus, ..) => "-",
        ExprKind::Infix(Infix::Other(operator), ..) | ExprKind::Sign(operator) => operator,
        ExprKind::Infix(Infix::Compare(_), ..) => "=",
        ExprKind::And(_) => "AND",
        ExprKind::Or(_) => "OR",
        ExprKind::Not(_) => "NOT",
        ExprKind::Between(..) => "BETWEEN",
        ExprKind::In(..) => "IN",
        ExprKind::Is(..) => "IS",
        _ => return None,
    })
}
