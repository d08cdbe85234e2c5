//! Optimistic locking: the expected version of an item becomes a condition of the request.
//!
//! The expected version is known if a parameter has the name of the version field, or if a `let` has read the same
//! item. A change that only counts, or has conditions of its own, gets no version condition unless the caller passes
//! the expected version.

use crate::document::ast::{BinaryOp, Verb};
use crate::schema::expression::{Expr, ExprKind, Origin, ValuePath};
use crate::schema::pattern::{Action, Condition, Let, LetSource, Write, WriteStep};
use crate::schema::{EntityId, FieldId, Model};
use crate::span::Span;

/// Adds the version conditions to a write.
pub(super) fn expect(model: &Model, write: &mut Write) {
    let expectations = Expectations {
        model,
        parameters: write.parameters.iter().map(|parameter| parameter.field_name.clone()).collect(),
        lets: write.lets.clone(),
    };
    if write.batch.is_none() {
        expectations.add(&mut write.steps);
    }
}

struct Expectations<'a> {
    model: &'a Model,
    parameters: Vec<String>,
    lets: Vec<Let>,
}

impl Expectations<'_> {
    fn add(&self, steps: &mut [WriteStep]) {
        for step in steps {
            match step {
                WriteStep::For(each) => self.add(&mut each.steps),
                WriteStep::Action(action) => {
                    if let Some(condition) = self.condition(action) {
                        action.conditions.push(condition);
                    }
                }
            }
        }
    }

    fn condition(&self, action: &Action) -> Option<Condition> {
        let id = action.entity.filter(|_| matches!(action.verb, Verb::Update | Verb::Delete | Verb::Check))?;
        let entity = self.model.entity(id);
        let version = entity.fields.iter().position(|field| field.flags.version.is_some()).map(FieldId)?;
        if action.tests(version) {
            return None;
        }
        let given = self.parameters.iter().position(|name| *name == entity.field(version).name);
        let expected = match given {
            Some(number) => Origin::Parameter(number),
            None if action.verb == Verb::Check || !action.conditions.is_empty() || action.only_counts() => return None,
            None => {
                let number = self.lets.iter().position(|read| self.has_read(read, id, action))?;
                Origin::Let { number, entity: Some(id), field: Some(version) }
            }
        };
        Some(Condition { condition: equal(id, version, expected, action.entity_span), outcome: None })
    }

    /// Returns true if a `let` has read the item of an action: with the same key, or because the action's key comes
    /// from its result.
    fn has_read(&self, read: &Let, id: EntityId, action: &Action) -> bool {
        let LetSource::Read { read: pattern, arguments } = &read.source else { return false };
        let pattern = self.model.read(*pattern);
        let number = self.lets.iter().position(|other| other.name_span == read.name_span);
        let keys = self.model.entity(id).key_fields();
        pattern.result.entities() == [id]
            && keys.iter().all(|&key| {
                let value = action.keys.iter().find(|(field, _)| *field == key).map(|(_, value)| value);
                value.is_some_and(|value| {
                    is_field_of(value, number, key) || is_argument(self.model, pattern, arguments, id, key, value)
                })
            })
    }
}

fn is_field_of(value: &Expr, number: Option<usize>, key: FieldId) -> bool {
    matches!(&value.kind, ExprKind::ValuePath(ValuePath { origin: Origin::Let { number: of, field: Some(field), .. }, path })
        if Some(*of) == number && *field == key && path.is_empty())
}

fn is_argument(
    model: &Model,
    pattern: &crate::schema::Read,
    arguments: &[Expr],
    id: EntityId,
    key: FieldId,
    value: &Expr,
) -> bool {
    let name = &model.entity(id).field(key).name;
    let names = pattern.parameters.iter().flat_map(|parameter| &parameter.arguments);
    names.zip(arguments).any(|(argument, given)| argument == name && given.same(value))
}

fn equal(entity: EntityId, version: FieldId, expected: Origin, span: Span) -> Expr {
    let place = |origin| Box::new(Expr { kind: ExprKind::ValuePath(ValuePath { origin, path: Vec::new() }), span });
    Expr { kind: ExprKind::Binary(BinaryOp::Equal, place(Origin::Field(entity, version)), place(expected)), span }
}
