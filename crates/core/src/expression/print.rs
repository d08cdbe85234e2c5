//! Formats expression trees as text, with placeholders for all names and values. Parsing the
//! text yields the same tree.

use std::collections::BTreeMap;

use super::ast::{
    Condition, KeyCondition, KeyTest, Operand, Path, PathElement, Projection, SetValue, Update, UpdateOperand,
};
use crate::value::{AttributeValue, Value};

/// Formats the expressions of one request and collects their placeholders. All expressions of a request must use the
/// same printer, so that their placeholders do not clash.
///
/// ```
/// use keyform_core::expression::{Condition, Path, Printer};
///
/// let mut printer = Printer::default();
/// let text = printer.condition(&Condition::AttributeExists(Path::attribute("status")));
/// assert_eq!(text, "attribute_exists(#n0)");
/// assert_eq!(printer.names()["#n0"], "status");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Printer {
    names: BTreeMap<String, String>,
    placeholders: BTreeMap<String, String>,
    values: BTreeMap<String, AttributeValue>,
}

impl Printer {
    /// Returns the attribute names of the `#` placeholders.
    pub fn names(&self) -> &BTreeMap<String, String> {
        &self.names
    }

    /// Returns the values of the `:` placeholders.
    pub fn values(&self) -> &BTreeMap<String, AttributeValue> {
        &self.values
    }

    /// Formats a condition or filter.
    pub fn condition(&mut self, condition: &Condition) -> String {
        match condition {
            Condition::And(parts) => {
                self.joined(" AND ", parts, |part| matches!(part, Condition::And(_) | Condition::Or(_)))
            }
            Condition::Or(parts) => self.joined(" OR ", parts, |part| matches!(part, Condition::Or(_))),
            Condition::Not(part) if matches!(**part, Condition::And(_) | Condition::Or(_)) => {
                format!("NOT ({})", self.condition(part))
            }
            Condition::Not(part) => format!("NOT {}", self.condition(part)),
            test => self.test(test),
        }
    }

    fn joined(
        &mut self,
        operator: &str,
        parts: &[Condition],
        needs_parentheses: impl Fn(&Condition) -> bool,
    ) -> String {
        let parts: Vec<String> = parts
            .iter()
            .map(|part| match self.condition(part) {
                text if needs_parentheses(part) => format!("({text})"),
                text => text,
            })
            .collect();
        parts.join(operator)
    }

    fn test(&mut self, test: &Condition) -> String {
        match test {
            Condition::Compare { left, comparator, right } => {
                format!("{} {} {}", self.operand(left), comparator.symbol(), self.operand(right))
            }
            Condition::Between { operand, low, high } => {
                format!("{} BETWEEN {} AND {}", self.operand(operand), self.operand(low), self.operand(high))
            }
            Condition::In { operand, candidates } => {
                let operand = self.operand(operand);
                let candidates: Vec<String> = candidates.iter().map(|candidate| self.operand(candidate)).collect();
                format!("{operand} IN ({})", candidates.join(", "))
            }
            Condition::AttributeExists(path) => format!("attribute_exists({})", self.path(path)),
            Condition::AttributeNotExists(path) => format!("attribute_not_exists({})", self.path(path)),
            Condition::AttributeType(path, kind) => {
                format!("attribute_type({}, {})", self.path(path), self.constant(kind.name().into()))
            }
            Condition::BeginsWith(whole, start) => {
                format!("begins_with({}, {})", self.operand(whole), self.operand(start))
            }
            Condition::Contains(whole, part) => format!("contains({}, {})", self.operand(whole), self.operand(part)),
            Condition::And(_) | Condition::Or(_) | Condition::Not(_) => self.condition(test),
        }
    }

    /// Formats a key condition.
    pub fn key_condition(&mut self, condition: &KeyCondition) -> String {
        let predicates: Vec<String> = condition
            .predicates
            .iter()
            .map(|predicate| {
                let name = self.name(&predicate.attribute);
                match &predicate.test {
                    KeyTest::Compare(comparator, value) => {
                        format!("{name} {} {}", comparator.symbol(), self.value(value))
                    }
                    KeyTest::Between(low, high) => {
                        format!("{name} BETWEEN {} AND {}", self.value(low), self.value(high))
                    }
                    KeyTest::BeginsWith(start) => format!("begins_with({name}, {})", self.value(start)),
                }
            })
            .collect();
        predicates.join(" AND ")
    }

    /// Formats a projection.
    pub fn projection(&mut self, projection: &Projection) -> String {
        let paths: Vec<String> = projection.paths.iter().map(|path| self.path(path)).collect();
        paths.join(", ")
    }

    /// Formats an update.
    pub fn update(&mut self, update: &Update) -> String {
        let set: Vec<String> = update
            .set
            .iter()
            .map(|action| format!("{} = {}", self.path(&action.path), self.sum(&action.value)))
            .collect();
        let remove: Vec<String> = update.remove.iter().map(|path| self.path(path)).collect();
        let add = self.changes(&update.add);
        let delete = self.changes(&update.delete);
        let sections = [("SET", set), ("REMOVE", remove), ("ADD", add), ("DELETE", delete)];
        let sections: Vec<String> = sections
            .into_iter()
            .filter(|(_, actions)| !actions.is_empty())
            .map(|(keyword, actions)| format!("{keyword} {}", actions.join(", ")))
            .collect();
        sections.join(" ")
    }

    fn changes(&mut self, changes: &[(Path, Value)]) -> Vec<String> {
        changes.iter().map(|(path, value)| format!("{} {}", self.path(path), self.value(value))).collect()
    }

    fn sum(&mut self, value: &SetValue) -> String {
        match value {
            SetValue::Operand(operand) => self.update_operand(operand),
            SetValue::Plus(left, right) => format!("{} + {}", self.update_operand(left), self.update_operand(right)),
            SetValue::Minus(left, right) => format!("{} - {}", self.update_operand(left), self.update_operand(right)),
        }
    }

    fn update_operand(&mut self, operand: &UpdateOperand) -> String {
        match operand {
            UpdateOperand::Path(path) => self.path(path),
            UpdateOperand::Value(value) => self.value(value),
            UpdateOperand::IfNotExists(path, otherwise) => {
                format!("if_not_exists({}, {})", self.path(path), self.update_operand(otherwise))
            }
            UpdateOperand::ListAppend(first, second) => {
                format!("list_append({}, {})", self.update_operand(first), self.update_operand(second))
            }
        }
    }

    fn operand(&mut self, operand: &Operand) -> String {
        match operand {
            Operand::Path(path) => self.path(path),
            Operand::Value(value) => self.value(value),
            Operand::Size(path) => format!("size({})", self.path(path)),
        }
    }

    fn path(&mut self, path: &Path) -> String {
        let mut text = String::new();
        for element in &path.elements {
            match element {
                PathElement::Attribute(name) => {
                    text.push_str(if text.is_empty() { "" } else { "." });
                    text.push_str(&self.name(name));
                }
                PathElement::Index(index) => text.push_str(&format!("[{index}]")),
            }
        }
        text
    }

    fn name(&mut self, name: &str) -> String {
        if let Some(placeholder) = self.placeholders.get(name) {
            return placeholder.clone();
        }
        let placeholder = format!("#n{}", self.names.len());
        self.names.insert(placeholder.clone(), name.to_owned());
        self.placeholders.insert(name.to_owned(), placeholder.clone());
        placeholder
    }

    fn value(&mut self, value: &Value) -> String {
        self.constant(value.to_tree())
    }

    fn constant(&mut self, value: AttributeValue) -> String {
        let placeholder = format!(":v{}", self.values.len());
        self.values.insert(placeholder.clone(), value);
        placeholder
    }
}
