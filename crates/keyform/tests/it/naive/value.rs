//! Naive evaluation of expressions and conditions.

use std::cell::RefCell;

use keyform::{AttributeValue, Attributes};
use keyform_language::document::ast::BinaryOp;
use keyform_language::scalar::Scalar;
use keyform_language::schema::{Expr, ExprKind, Origin, Parameter, PathStep, Type, ValuePath};
use keyform_language::template::render;

use super::compare::{compare, text};
use super::read::{self, Answer};
use super::{Call, State};

/// Scope of an expression.
pub struct Scope<'a> {
    pub call: &'a Call<'a>,
    pub state: &'a State,
    pub parameters: &'a [Parameter],
    pub lets: Vec<Option<AttributeValue>>,
    pub elements: Vec<AttributeValue>,
    /// Current item, if any.
    pub item: RefCell<Option<Attributes>>,
}

/// Value whose stored form depends on the type.
enum Plain {
    Value(AttributeValue),
    Moment(i64),
    Duration(i64),
}

impl<'a> Scope<'a> {
    pub fn new(call: &'a Call<'a>, state: &'a State, parameters: &'a [Parameter]) -> Self {
        Self { call, state, parameters, lets: Vec::new(), elements: Vec::new(), item: RefCell::new(None) }
    }

    /// Returns whether a condition holds for the item.
    pub fn holds_of(&self, condition: &Expr, item: Option<&Attributes>) -> bool {
        *self.item.borrow_mut() = item.cloned();
        let holds = self.holds(condition);
        *self.item.borrow_mut() = None;
        holds
    }

    fn holds(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Binary(BinaryOp::And, left, right) => self.holds(left) && self.holds(right),
            ExprKind::Binary(BinaryOp::Or, left, right) => self.holds(left) || self.holds(right),
            ExprKind::Not(of) => !self.holds(of),
            ExprKind::Absent => self.item.borrow().is_none(),
            ExprKind::Exists => self.item.borrow().is_some(),
            ExprKind::Bool(value) => *value,
            ExprKind::IsNone(of) => self.value(of, &Type::Unknown).is_none(),
            ExprKind::IsSome(of) => self.value(of, &Type::Unknown).is_some(),
            ExprKind::Between(of, low, high) => {
                self.compares(BinaryOp::GreaterEqual, of, low) && self.compares(BinaryOp::LessEqual, of, high)
            }
            ExprKind::In(of, list) => list.iter().any(|other| self.compares(BinaryOp::Equal, of, other)),
            ExprKind::ValuePath(_) => self.value(expr, &Scalar::Bool.into()) == Some(AttributeValue::Bool(true)),
            ExprKind::Guard { guard, arguments } => self.guard(guard.0, arguments),
            ExprKind::Binary(op, left, right) => self.compares(*op, left, right),
            other => panic!("{other:?} is no condition"),
        }
    }

    fn compares(&self, op: BinaryOp, left: &Expr, right: &Expr) -> bool {
        let kind = self.kind(left).or_else(|| self.kind(right)).unwrap_or(Type::Unknown);
        let (one, other) = (self.value(left, &kind), self.value(right, &kind));
        let order = one.as_ref().zip(other.as_ref()).map(|(one, other)| compare(one, other));
        match op {
            BinaryOp::Equal => one.is_some() && one == other,
            BinaryOp::NotEqual => one != other,
            BinaryOp::Less => order.is_some_and(std::cmp::Ordering::is_lt),
            BinaryOp::LessEqual => order.is_some_and(std::cmp::Ordering::is_le),
            BinaryOp::Greater => order.is_some_and(std::cmp::Ordering::is_gt),
            BinaryOp::GreaterEqual => order.is_some_and(std::cmp::Ordering::is_ge),
            BinaryOp::Begins => one.zip(other).is_some_and(|(one, other)| text(&one).starts_with(&text(&other))),
            BinaryOp::Contains => one.zip(other).is_some_and(|(one, other)| contains(&one, &other)),
            BinaryOp::Or | BinaryOp::And | BinaryOp::Plus | BinaryOp::Minus => panic!("{op:?} compares nothing"),
        }
    }

    /// Returns whether the entity that a guard requires exists.
    fn guard(&self, number: usize, arguments: &[Expr]) -> bool {
        let guard = &self.call.model.guards[number];
        let names = guard.parameters.iter().map(|parameter| parameter.field_name.clone());
        let values = arguments.iter().map(|argument| self.value(argument, &Type::Unknown));
        let Some(arguments) = names.zip(values).map(|(name, value)| Some((name, value?))).collect() else {
            return false;
        };
        let call = Call { arguments: &arguments, ..*self.call };
        let inner = Scope::new(&call, self.state, &guard.parameters);
        let id = guard.entity.expect("the guard's entity is known");
        let key = inner.fields(id, &guard.keys);
        let found = self.state.living(&call, id, &key);
        found.is_some_and(|stored| {
            guard.condition.as_ref().is_none_or(|condition| inner.holds_of(condition, Some(&stored.fields)))
        })
    }

    /// Returns the values of these fields.
    pub fn fields(
        &self,
        id: keyform_language::schema::EntityId,
        keys: &[(keyform_language::schema::FieldId, Expr)],
    ) -> Attributes {
        let entity = self.call.model.entity(id);
        let value = |(field, expr): &(_, Expr)| {
            let field = entity.field(*field);
            Some((field.name.clone(), self.value(expr, &field.kind)?))
        };
        keys.iter().filter_map(value).collect()
    }

    /// Evaluates an expression to the stored form of a type.
    pub fn value(&self, expr: &Expr, kind: &Type) -> Option<AttributeValue> {
        match self.plain(expr)? {
            Plain::Value(value) => stored(value, kind),
            Plain::Duration(seconds) => Some(seconds.into()),
            Plain::Moment(millis) => Some(moment(millis, kind)),
        }
    }

    fn plain(&self, expr: &Expr) -> Option<Plain> {
        let any = |part: &Expr| self.value(part, &Type::Unknown);
        Some(Plain::Value(match &expr.kind {
            ExprKind::Text(text) => text.as_str().into(),
            ExprKind::Number(digits) => AttributeValue::N(digits.parse().expect("digits")),
            ExprKind::Bool(value) => (*value).into(),
            ExprKind::Duration(seconds) => return Some(Plain::Duration(*seconds as i64)),
            ExprKind::None => return None,
            ExprKind::List(parts) => AttributeValue::L(parts.iter().filter_map(any).collect()),
            ExprKind::Record(parts) => {
                AttributeValue::M(parts.iter().filter_map(|(name, part)| Some((name.clone(), any(part)?))).collect())
            }
            ExprKind::ValuePath(place) => self.place(place)?,
            ExprKind::Call { function, arguments } => return self.function(function, arguments),
            ExprKind::Binary(op, left, right) => return self.sum(*op == BinaryOp::Minus, left, right),
            other => panic!("{other:?} is no value"),
        }))
    }

    fn function(&self, function: &str, arguments: &[Expr]) -> Option<Plain> {
        let fresh = self.call.fresh;
        let argument = || arguments.first().and_then(|argument| self.value(argument, &Type::Unknown));
        let length = |otherwise| match argument() {
            Some(AttributeValue::N(number)) => number.to_i64().map_or(otherwise, |number| number as usize),
            _ => otherwise,
        };
        Some(Plain::Value(match function {
            "now" => return Some(Plain::Moment(self.call.now_millis)),
            "today" => moment(self.call.now_millis, &Scalar::Date.into()),
            "ulid" => fresh.ulid().into(),
            "uuid" if arguments.is_empty() => fresh.uuid().into(),
            "code" => fresh.code(length(10)).into(),
            "token" => fresh.token(length(32)).into(),
            "size" => size(&argument()?).into(),
            "lower" => text(&argument()?).to_lowercase().into(),
            other => panic!("{other} is not interpreted"),
        }))
    }

    fn sum(&self, minus: bool, left: &Expr, right: &Expr) -> Option<Plain> {
        let sign = if minus { -1 } else { 1 };
        Some(match (self.plain(left)?, self.plain(right)?) {
            (Plain::Moment(millis), Plain::Duration(seconds)) => Plain::Moment(millis + sign * seconds * 1000),
            (Plain::Value(AttributeValue::S(text)), Plain::Duration(seconds)) => {
                Plain::Moment(render::millis(&Scalar::Timestamp.into(), &text)? + sign * seconds * 1000)
            }
            (Plain::Value(one), Plain::Duration(seconds)) => Plain::Value(added(&one, &seconds.into(), minus)),
            (Plain::Value(one), Plain::Value(other)) => Plain::Value(added(&one, &other, minus)),
            _ => panic!("no sum"),
        })
    }

    fn place(&self, place: &ValuePath) -> Option<AttributeValue> {
        let model = self.call.model;
        let value = match &place.origin {
            Origin::Field(entity, field) => {
                self.item.borrow().as_ref()?.get(&model.entity(*entity).field(*field).name)?.clone()
            }
            Origin::Parameter(number) => {
                let parameter = &self.parameters[*number];
                let given = self.call.arguments.get(parameter.arguments.first().unwrap_or(&parameter.field_name))?;
                stored(given.clone(), &parameter.kind)?
            }
            Origin::Let { number, entity, field } => match (self.lets[*number].as_ref()?, entity, field) {
                (AttributeValue::M(fields), Some(entity), Some(field)) => {
                    fields.get(&model.entity(*entity).field(*field).name)?.clone()
                }
                (value, _, _) => value.clone(),
            },
            Origin::Caller(number) => {
                let claim = &model.caller.as_ref()?.fields[*number].name;
                self.call.caller?.get(claim)?.clone()
            }
            Origin::Element(depth) => self.elements[*depth].clone(),
            Origin::Read { read, arguments, field } => {
                let Ok(Answer::Items(items)) = self.read(model.read(*read), arguments) else { return None };
                let found = items.into_iter().next()?;
                found.fields.get(&model.entity(found.entity).field((*field)?).name)?.clone()
            }
        };
        place.path.iter().try_fold(value, |value, step| self.within(value, step))
    }

    /// Returns the answer of a read with these arguments.
    pub fn read(&self, read: &keyform_language::schema::Read, arguments: &[Expr]) -> Result<Answer, super::Refusal> {
        let names = read.parameters.iter().flat_map(|parameter| parameter.arguments.iter().cloned());
        let values = arguments.iter().map(|argument| self.value(argument, &Type::Unknown));
        let arguments = names.zip(values).filter_map(|(name, value)| Some((name, value?))).collect();
        read::answer(self.state, &Call { arguments: &arguments, ..*self.call }, read)
    }

    fn within(&self, value: AttributeValue, step: &PathStep) -> Option<AttributeValue> {
        let AttributeValue::M(mut parts) = value else { return None };
        parts.remove(&self.step(step)?)
    }

    /// Returns the member name of a path step.
    pub fn step(&self, step: &PathStep) -> Option<String> {
        match step {
            PathStep::Member(name) => Some(name.clone()),
            PathStep::Element(key) => self.value(key, &Type::Unknown).map(|key| text(&key)),
        }
    }

    /// Returns the type of a place expression.
    fn kind(&self, expr: &Expr) -> Option<Type> {
        let ExprKind::ValuePath(place) = &expr.kind else { return None };
        let kind = match &place.origin {
            Origin::Field(entity, field) | Origin::Let { entity: Some(entity), field: Some(field), .. } => {
                self.call.model.entity(*entity).field(*field).kind.clone()
            }
            Origin::Parameter(number) => self.parameters[*number].kind.clone(),
            _ => return None,
        };
        place.path.is_empty().then_some(kind)
    }
}

/// Adds or subtracts two numbers.
pub fn added(one: &AttributeValue, other: &AttributeValue, minus: bool) -> AttributeValue {
    let (AttributeValue::N(one), AttributeValue::N(other)) = (one, other) else { panic!("{one:?} is no number") };
    let sum = if minus { one.checked_sub(*other) } else { one.checked_add(*other) };
    AttributeValue::N(sum.expect("small numbers"))
}

fn size(value: &AttributeValue) -> i64 {
    (match value {
        AttributeValue::S(text) => text.len(),
        AttributeValue::L(parts) => parts.len(),
        AttributeValue::M(parts) => parts.len(),
        AttributeValue::Ss(parts) => parts.len(),
        _ => 0,
    }) as i64
}

fn contains(one: &AttributeValue, other: &AttributeValue) -> bool {
    match one {
        AttributeValue::L(parts) => parts.contains(other),
        AttributeValue::Ss(parts) => parts.iter().any(|part| *part == text(other)),
        one => text(one).contains(&text(other)),
    }
}

/// Formats a time as a field of the type stores it.
fn moment(millis: i64, kind: &Type) -> AttributeValue {
    let kind = match kind.resolved() {
        Type::Scalar(scalar @ (Scalar::Epoch | Scalar::EpochMs | Scalar::Date), _) => Type::from(*scalar),
        _ => Scalar::Timestamp.into(),
    };
    let text = render::stored(&kind, millis).expect("a type of time");
    if kind.is_numeric() { AttributeValue::N(text.parse().expect("digits")) } else { text.into() }
}

/// Converts a value to the stored form of a type.
pub fn stored(value: AttributeValue, kind: &Type) -> Option<AttributeValue> {
    match (kind.resolved(), value) {
        (Type::Scalar(Scalar::Email, _), AttributeValue::S(text)) => Some(text.trim().to_lowercase().into()),
        (Type::Set(..), AttributeValue::L(parts)) => super::change::set(parts),
        (Type::Set(..), value @ (AttributeValue::S(_) | AttributeValue::N(_))) => super::change::set(vec![value]),
        (_, value) => Some(value),
    }
}
