//! Evaluates expressions whose operands are all known when the request is built.

use keyform_core::{AttributeValue, Attributes, Number};

use crate::document::ast::BinaryOp;
use crate::scalar::{Scalar, civil, uuid_of};
use crate::schema::{
    Change, Entity, EntityId, Expr, ExprKind, Field, FieldId, Format, Let, LetSource, Model, Origin, Parameter,
    PathStep, Type, ValuePath, fits, limit, misfit_at,
};
use crate::template::render;

use super::fields::Fields;
use super::value::{self, Computed};
use super::{BindError, Inputs};

/// Values that an expression can refer to.
pub(super) struct Scope<'a> {
    pub(super) model: &'a Model,
    pub(super) inputs: &'a Inputs<'a>,
    pub(super) parameters: &'a [Parameter],
    /// Value of each `let`, by index.
    pub(super) lets: Vec<Option<AttributeValue>>,
    /// Current element of each enclosing `for`, outermost first.
    pub(super) elements: Vec<AttributeValue>,
    /// Fields of the item under construction set so far; defaults read them.
    pub(super) item: Fields,
    /// Fields of the current item by name, used by migrations, where old and new fields of an entity occur together.
    pub(super) names: Option<&'a Attributes>,
}

impl<'a> Scope<'a> {
    /// Creates the scope of a pattern and evaluates its value `let`s in order.
    pub(super) fn new(
        model: &'a Model,
        inputs: &'a Inputs<'a>,
        parameters: &'a [Parameter],
        lets: &[Let],
    ) -> Result<Self, BindError> {
        let mut scope = Self::with_lets(model, inputs, parameters, Vec::with_capacity(lets.len()));
        for (number, binding) in lets.iter().enumerate() {
            let value = match &binding.source {
                LetSource::Value(expr) => value::stored(scope.evaluate(expr)?, &Type::Unknown)?,
                LetSource::Read { .. } | LetSource::Unknown => inputs.lets.get(number).cloned().flatten(),
            };
            scope.lets.push(value);
        }
        Ok(scope)
    }

    /// Creates a scope with already evaluated `let`s.
    pub(super) fn with_lets(
        model: &'a Model,
        inputs: &'a Inputs<'a>,
        parameters: &'a [Parameter],
        lets: Vec<Option<AttributeValue>>,
    ) -> Self {
        Self { model, inputs, parameters, lets, elements: Vec::new(), item: Fields::new(), names: None }
    }

    /// Evaluates an expression without converting it to a type.
    pub(super) fn evaluate(&self, expr: &Expr) -> Result<Computed, BindError> {
        Ok(match &expr.kind {
            ExprKind::Text(text) => Computed::Value(text.as_str().into()),
            ExprKind::Number(text) => Computed::Value(self.number(text)?),
            ExprKind::Duration(seconds) => Computed::Duration(i64::try_from(*seconds).unwrap_or(i64::MAX)),
            ExprKind::Bool(value) => Computed::Value((*value).into()),
            ExprKind::None => Computed::None,
            ExprKind::List(parts) => Computed::Value(AttributeValue::L(self.values(parts, &Type::Unknown)?)),
            ExprKind::Record(parts) => Computed::Value(AttributeValue::M(self.record(parts, &Type::Unknown)?)),
            ExprKind::ValuePath(place) => self.place(place)?.map_or(Computed::None, Computed::Value),
            ExprKind::Call { function, arguments } => self.call(function, arguments)?,
            ExprKind::Binary(op @ (BinaryOp::Plus | BinaryOp::Minus), left, right) => {
                self.sum(*op == BinaryOp::Minus, left, right)?
            }
            _ => return Err(BindError::Inexpressible("a condition as a value".to_owned())),
        })
    }

    /// Evaluates an expression and converts the value to a type; `None` if it is absent.
    pub(super) fn typed(&self, expr: &Expr, kind: &Type) -> Result<Option<AttributeValue>, BindError> {
        let value = match (&expr.kind, kind.resolved()) {
            // Fast path: most values are arguments passed through.
            (ExprKind::ValuePath(ValuePath { origin: Origin::Parameter(number), path }), _) if path.is_empty() => {
                return Ok(self.argument(*number, 0).and_then(|given| value::fitted(given, kind)));
            }
            (ExprKind::List(parts), Type::List(of, _) | Type::Set(of, _)) => AttributeValue::L(self.values(parts, of)?),
            (ExprKind::Record(parts), kind @ (Type::Record(_) | Type::Map(..))) => {
                AttributeValue::M(self.record(parts, kind)?)
            }
            _ => return value::stored(self.evaluate(expr)?, kind),
        };
        Ok(value::fitted(value, kind))
    }

    /// Evaluates an expression as a new value of a type and checks that it fits. An argument may be declared with a wider
    /// type than the field that takes it.
    pub(super) fn fit(&self, expr: &Expr, kind: &Type, name: &str) -> Result<Option<AttributeValue>, BindError> {
        match self.typed(expr, kind)? {
            Some(value) if !fits(&value, kind) => Err(self.misfit(expr, kind, name, &value)),
            value => Ok(value),
        }
    }

    /// Converts elements to their type and checks that each fits. The expression and the name of the field are for the
    /// message.
    pub(super) fn fit_all(
        &self,
        parts: Vec<AttributeValue>,
        kind: &Type,
        (expr, name): (&Expr, &str),
    ) -> Result<Vec<AttributeValue>, BindError> {
        let parts: Vec<AttributeValue> = parts.into_iter().filter_map(|part| value::fitted(part, kind)).collect();
        match parts.iter().find(|part| !fits(part, kind)) {
            None => Ok(parts),
            Some(wrong) => Err(self.misfit(expr, kind, name, wrong)),
        }
    }

    /// Evaluates the new value of a field, and checks that it fits unless that is known.
    pub(super) fn new_value(
        &self,
        expr: &Expr,
        kind: &Type,
        (entity, field): (&Entity, FieldId),
        change: &Change,
    ) -> Result<Option<AttributeValue>, BindError> {
        let may_be_null = limit::field_at(entity.field(field), change.path()).is_some_and(|field| field.null);
        match self.typed(expr, kind)? {
            Some(AttributeValue::Null) if may_be_null => Ok(Some(AttributeValue::Null)),
            Some(value) if !self.is_checked(expr, entity, field, change) && !fits(&value, kind) => {
                Err(self.misfit(expr, kind, &entity.field(field).name, &value))
            }
            value => Ok(value),
        }
    }

    /// Returns true if a value is known to fit: an argument that has the type of the field, or a constant default, which
    /// the rules check.
    fn is_checked(&self, expr: &Expr, entity: &Entity, field: FieldId, change: &Change) -> bool {
        let ExprKind::ValuePath(ValuePath { origin: Origin::Parameter(number), path }) = &expr.kind else {
            return !change.written && expr.constant().is_some();
        };
        let parameter = self.parameters.get(*number).filter(|parameter| !parameter.declared && path.is_empty());
        let is_field = |(of, id): (EntityId, FieldId)| id == field && std::ptr::eq(self.model.entity(of), entity);
        change.path().is_empty() && parameter.and_then(|parameter| parameter.field).is_some_and(is_field)
    }

    fn misfit(&self, expr: &Expr, kind: &Type, name: &str, value: &AttributeValue) -> BindError {
        let ExprKind::ValuePath(ValuePath { origin: Origin::Parameter(number), path }) = &expr.kind else {
            return BindError::WrongValue(format!("`{name}`"));
        };
        let argument = self.parameters.get(*number).filter(|_| path.is_empty()).and_then(|it| it.arguments.first());
        let argument = argument.map_or_else(|| name.to_owned(), Clone::clone);
        let (argument, kind) = misfit_at(&argument, value, kind);
        BindError::Misfit { argument, kind }
    }

    fn number(&self, text: &str) -> Result<AttributeValue, BindError> {
        text.parse::<Number>().map(AttributeValue::N).map_err(|_| BindError::WrongValue(format!("`{text}`")))
    }

    fn values(&self, parts: &[Expr], of: &Type) -> Result<Vec<AttributeValue>, BindError> {
        let values = parts.iter().map(|part| self.typed(part, of));
        values.filter_map(Result::transpose).collect()
    }

    /// Evaluates the parts of a record or map, each converted to its type.
    fn record(&self, parts: &[(String, Expr)], kind: &Type) -> Result<Attributes, BindError> {
        let mut record = Attributes::new();
        for (name, part) in parts {
            let field = match kind {
                Type::Record(fields) => fields.iter().find(|field| field.name == *name),
                _ => None,
            };
            let of = match (kind, field) {
                (Type::Map(of, _), _) => of,
                (_, Some(field)) => &field.kind,
                _ => &Type::Unknown,
            };
            match self.typed(part, of)? {
                Some(value) => drop(record.insert(name.clone(), value)),
                None if field.is_some_and(Field::must_have_value) => {
                    return Err(BindError::Missing(format!("`{name}`")));
                }
                None => {}
            }
        }
        Ok(record)
    }

    /// Evaluates a reference; `None` if the value or a step of its path is absent.
    fn place(&self, place: &ValuePath) -> Result<Option<AttributeValue>, BindError> {
        let origin = self.origin(&place.origin)?;
        if place.path.is_empty() {
            return Ok(origin);
        }
        let Some(mut value) = origin else { return Ok(None) };
        for step in &place.path {
            let next = match (step, value) {
                (PathStep::Member(name), AttributeValue::M(mut parts)) => parts.remove(name),
                (PathStep::Element(key), AttributeValue::M(mut parts)) => {
                    self.name(key)?.and_then(|name| parts.remove(&name))
                }
                (PathStep::Element(key), AttributeValue::L(mut parts)) => {
                    let place = self.index(key)?;
                    (place < parts.len()).then(|| parts.swap_remove(place))
                }
                _ => None,
            };
            match next {
                Some(next) => value = next,
                None => return Ok(None),
            }
        }
        Ok(Some(value))
    }

    fn origin(&self, origin: &Origin) -> Result<Option<AttributeValue>, BindError> {
        match origin {
            Origin::Field(entity, field) => Ok(match self.names {
                Some(names) => names.get(self.field_name(*entity, *field)),
                None => self.item.get(*field),
            }
            .cloned()),
            Origin::Parameter(number) => Ok(self.argument(*number, 0)),
            Origin::Let { number, entity, field } => {
                let value = self.lets.get(*number).and_then(Option::as_ref);
                Ok(match (value, entity, field) {
                    (Some(AttributeValue::M(item)), Some(entity), Some(field)) => {
                        item.get(self.field_name(*entity, *field)).cloned()
                    }
                    (value, _, _) => value.cloned(),
                })
            }
            Origin::Caller(number) => {
                let claim = self.model.caller.as_ref().and_then(|caller| caller.fields.get(*number));
                Ok(claim.and_then(|claim| self.inputs.caller.get(&claim.name)).cloned())
            }
            Origin::Element(depth) => Ok(self.elements.get(*depth).cloned()),
            Origin::Read { .. } => Err(BindError::Inexpressible("a read inside a request".to_owned())),
        }
    }

    fn field_name(&self, entity: EntityId, field: FieldId) -> &str {
        &self.model.entity(entity).field(field).name
    }

    /// Returns an argument converted to its parameter's type; `None` if it was omitted.
    pub(super) fn argument(&self, parameter: usize, number: usize) -> Option<AttributeValue> {
        let parameter = self.parameters.get(parameter)?;
        let given = self.raw_argument(parameter, number)?;
        value::fitted(given.clone(), &parameter.kind)
    }

    /// Returns an argument as the caller passed it.
    pub(super) fn raw_argument(&self, parameter: &Parameter, number: usize) -> Option<&AttributeValue> {
        self.inputs.arguments.get(parameter.arguments.get(number).unwrap_or(&parameter.field_name))
    }

    /// Evaluates the key of a path step as a map key.
    pub(super) fn name(&self, key: &Expr) -> Result<Option<String>, BindError> {
        Ok(match self.typed(key, &Type::Unknown)? {
            Some(AttributeValue::S(name)) => Some(name),
            Some(AttributeValue::N(number)) => Some(number.to_string()),
            _ => None,
        })
    }

    fn index(&self, key: &Expr) -> Result<usize, BindError> {
        let place = match self.typed(key, &Type::Unknown)? {
            Some(AttributeValue::N(number)) => number.to_i64().and_then(|number| usize::try_from(number).ok()),
            _ => None,
        };
        place.ok_or_else(|| BindError::WrongValue("the index of a list element".to_owned()))
    }

    fn call(&self, function: &str, arguments: &[Expr]) -> Result<Computed, BindError> {
        let fresh = self.inputs.fresh;
        Ok(match function {
            "now" => Computed::Moment(self.inputs.now_millis),
            "today" => Computed::Value(value::moment(self.inputs.now_millis, &Scalar::Date.into())),
            "ulid" => Computed::Value(fresh.ulid().into()),
            "uuid" if arguments.is_empty() => Computed::Value(fresh.uuid().into()),
            "uuid" => Computed::Value(uuid_of(&self.text(arguments)?).into()),
            "code" => Computed::Value(fresh.code(self.count(arguments)?.unwrap_or(10)).into()),
            "token" => Computed::Value(fresh.token(self.count(arguments)?.unwrap_or(32)).into()),
            "lower" => Computed::Value(self.text(arguments)?.to_lowercase().into()),
            "hash" => {
                let hash = render::written(&Type::Json, Format::Hash, &self.text(arguments)?);
                Computed::Value(hash.unwrap_or_default().into())
            }
            "size" => Computed::Value(self.size(arguments)?.into()),
            other => return Err(BindError::Inexpressible(format!("`{other}()`"))),
        })
    }

    fn text(&self, arguments: &[Expr]) -> Result<String, BindError> {
        let value = arguments.first().map(|argument| self.name(argument)).transpose()?.flatten();
        value.ok_or_else(|| BindError::Missing("a text".to_owned()))
    }

    fn count(&self, arguments: &[Expr]) -> Result<Option<usize>, BindError> {
        arguments.first().map(|argument| self.index(argument)).transpose()
    }

    fn size(&self, arguments: &[Expr]) -> Result<i64, BindError> {
        let value = arguments.first().map(|argument| self.typed(argument, &Type::Unknown)).transpose()?.flatten();
        let size = match value {
            Some(AttributeValue::S(text)) => text.len(),
            Some(AttributeValue::B(bytes)) => bytes.len(),
            Some(AttributeValue::L(parts)) => parts.len(),
            Some(AttributeValue::M(parts)) => parts.len(),
            Some(AttributeValue::Ss(parts)) => parts.len(),
            Some(AttributeValue::Ns(parts)) => parts.len(),
            Some(AttributeValue::Bs(parts)) => parts.len(),
            _ => 0,
        };
        Ok(i64::try_from(size).unwrap_or(i64::MAX))
    }

    fn sum(&self, minus: bool, left: &Expr, right: &Expr) -> Result<Computed, BindError> {
        let sign = if minus { -1 } else { 1 };
        let (one, other) = (self.evaluate(left)?, self.evaluate(right)?);
        Ok(match (one, other) {
            (Computed::Moment(millis), Computed::Duration(seconds)) => Computed::Moment(millis + sign * seconds * 1000),
            (Computed::Duration(one), Computed::Duration(other)) => Computed::Duration(one + sign * other),
            (Computed::Value(AttributeValue::S(text)), Computed::Duration(seconds)) => {
                let millis = civil::millis(&text);
                let millis = millis.ok_or_else(|| BindError::WrongValue(format!("`{text}`")))?;
                Computed::Moment(millis + sign * seconds * 1000)
            }
            (Computed::Value(AttributeValue::N(number)), Computed::Duration(seconds)) => {
                Computed::Value(added(number, Number::from(seconds), minus)?)
            }
            (Computed::Value(AttributeValue::N(one)), Computed::Value(AttributeValue::N(other))) => {
                Computed::Value(added(one, other, minus)?)
            }
            (Computed::Value(AttributeValue::S(one)), Computed::Value(AttributeValue::S(other))) if !minus => {
                Computed::Value((one + &other).into())
            }
            _ => return Err(BindError::WrongValue("an operand of a sum".to_owned())),
        })
    }
}

fn added(one: Number, other: Number, minus: bool) -> Result<AttributeValue, BindError> {
    let sum = if minus { one.checked_sub(other) } else { one.checked_add(other) };
    sum.map(AttributeValue::N).map_err(|_| BindError::WrongValue("a sum".to_owned()))
}
