//! Conditions that keep a change within the bounds of its type, whatever the item holds.
//!
//! ```text
//! stock -= n         int(0..)           stock >= :n                                                  StockOutOfBounds
//! append tags t      list<string>(..5)  attribute_not_exists(tags) OR size(tags) <= 4                TagsOutOfBounds
//! add people p       set<ulid>(..9)     … OR contains(people, :p) OR size(people) <= 8               PeopleOutOfBounds
//! prices[k] = v      map<int>(..20)     attribute_exists(prices.k) OR size(prices) <= 19             PricesOutOfBounds
//! address.city = c   { city: string }?  attribute_exists(address)                                    AddressMissing
//! ```
//!
//! `schema::limit` decides from the model which changes have such an outcome.

use keyform_core::expression::{Comparator, Condition, Operand, Path, PathElement};
use keyform_core::value::AttributeType;
use keyform_core::{AttributeValue, Attributes, Number};

use crate::document::ast::BinaryOp;
use crate::scalar::Bounds;
use crate::schema::{Action, Change, ChangeKind, Entity, Expr, ExprKind, Field, PathStep, Type, limit};

use super::BindError;
use super::condition::{Logic, and, not, or};
use super::fields::Fields;
use super::update::Changing;

/// A condition that an item must meet, so that a change keeps the type of its field.
pub(super) struct Limit {
    pub(super) logic: Logic,
    /// Outcome if the item does not meet it; empty for an item that the model does not allow.
    pub(super) outcome: String,
    /// True if the condition is stricter than necessary, and exact once the item is known.
    pub(super) is_strict: bool,
}

/// A change with its resolved path.
struct Place<'c> {
    change: &'c Change,
    field: &'c Field,
    path: Path,
    /// Type at the end of the path; `Unknown` inside `json`.
    kind: &'c Type,
}

impl Place<'_> {
    /// Returns the path of the value that holds the changed one.
    fn parent(&self) -> Path {
        let (_, parent) = self.path.elements.split_last().expect("a path begins with an attribute");
        Path { elements: parent.to_vec() }
    }

    fn out_of_bounds(&self, logic: Logic) -> Limit {
        let outcome = limit::out_of_bounds_name(&self.field.name, self.change.path());
        Limit { logic, outcome, is_strict: false }
    }
}

impl Changing<'_> {
    /// Returns the conditions of all changes.
    pub(super) fn limits(&self) -> Result<Vec<Limit>, BindError> {
        let mut limits = Vec::new();
        for change in &self.action.changes {
            let (Some(id), Some(place)) = (change.field, &change.place) else { continue };
            let field = self.entity.field(id);
            let path = self.scope.path(field.name.clone(), &place.path)?;
            let kind = limit::at(&field.kind, &place.path).unwrap_or(&Type::Unknown);
            let place = Place { change, field, path, kind };
            let mut own: Vec<Limit> = self.parent(&place).into_iter().chain(self.entry(&place)?).collect();
            own.extend(self.sources(change));
            own.extend(self.bounds(&place)?.into_iter().filter(|limit| limit.logic != Logic::Known(true)));
            limits.extend(self.limits_of_older(field, change, own));
        }
        limits.extend(kept(self.entity, self.action, &self.immutable_values()?));
        Ok(limits)
    }

    /// Returns the new values of the `immutable` fields that an upsert sets.
    fn immutable_values(&self) -> Result<Fields, BindError> {
        let mut values = Fields::new();
        for field in limit::kept(self.entity, self.action) {
            let value = self.action.value_of(field).filter(|value| !value.has_own_fields());
            if let Some(value) =
                value.map(|value| self.scope.typed(value, &self.entity.field(field).kind)).transpose()?.flatten()
            {
                values.insert(field, value);
            }
        }
        Ok(values)
    }

    /// Returns the condition that the value a path leads into exists.
    fn parent(&self, place: &Place<'_>) -> Option<Limit> {
        let path = place.change.path();
        let (last, parent) = path.split_last()?;
        let is_sure = limit::has_parent(place.field, path, self.action.verb);
        let outcome = if is_sure { String::new() } else { limit::missing_name(&place.field.name, parent) };
        let is_typed = limit::at(&place.field.kind, parent).is_some_and(|kind| !matches!(kind.resolved(), Type::Json));
        let test = match (is_typed, last, place.path.elements.last()) {
            (true, _, _) => Condition::AttributeExists(place.parent()),
            (false, PathStep::Element(_), Some(PathElement::Index(_))) => {
                Condition::AttributeType(place.parent(), AttributeType::L)
            }
            (false, _, _) => Condition::AttributeType(place.parent(), AttributeType::M),
        };
        let lacks = |current: &Attributes| !current.contains_key(&place.field.name);
        let is_strict = self.default_inside(place.field, place.change).is_some() && self.current.is_none_or(lacks);
        Some(Limit { logic: Logic::Test(test), outcome, is_strict })
    }

    /// Returns the condition that the number of entries stays within the bounds of their map or list.
    fn entry(&self, place: &Place<'_>) -> Result<Option<Limit>, BindError> {
        let adds = limit::adds_entry(place.field, place.change);
        if !adds && !limit::takes_entry(place.field, place.change) {
            return Ok(None);
        }
        let bounds = limit::holder(place.field, place.change).and_then(limit::elements).unwrap_or_default();
        let beside = self.beside(place, adds)?;
        let (is_as_before, room) = if adds {
            (Condition::AttributeExists(place.path.clone()), at_most(place.parent(), bounds.max, beside))
        } else {
            (Condition::AttributeNotExists(place.path.clone()), at_least(place.parent(), bounds.min, beside))
        };
        Ok(Some(place.out_of_bounds(or(Logic::Test(is_as_before), room))))
    }

    /// Returns the number of changes of this step that add or remove entries of the same map or list, with this one.
    fn beside(&self, place: &Place<'_>, adds: bool) -> Result<i64, BindError> {
        let mut count = 0;
        for other in self.action.changes.iter().filter(|other| other.field == place.change.field) {
            let is_alike = if adds { limit::adds_entry } else { limit::takes_entry };
            if is_alike(place.field, other) {
                let path = self.scope.path(place.field.name.clone(), limit::parent(other.path()))?;
                count += i64::from(path == place.parent());
            }
        }
        Ok(count)
    }

    /// Returns the conditions that the fields from which a change computes its value exist.
    fn sources(&self, change: &Change) -> impl Iterator<Item = Limit> {
        let sources = limit::sources(self.entity, change, self.action.verb).into_iter();
        sources.filter(|source| self.entity.field(*source).constant_default().is_none()).map(|source| {
            let name = &self.entity.field(source).name;
            let test = Condition::AttributeExists(Path::attribute(name.clone()));
            Limit { logic: Logic::Test(test), outcome: limit::missing_name(name, &[]), is_strict: false }
        })
    }

    fn bounds(&self, place: &Place<'_>) -> Result<Option<Limit>, BindError> {
        let bounds = limit::elements(place.kind).unwrap_or_default();
        Ok(match &place.change.kind {
            ChangeKind::Increase(by) => self.counted(place, by, false)?,
            ChangeKind::Decrease(by) => self.counted(place, by, true)?,
            ChangeKind::Set(expr) if expr.has_own_fields() && limit::is_sum(expr) => self.summed(place, expr)?,
            ChangeKind::Append(expr) => {
                let count = count_of(self.appended(expr, place.kind, place.field)?.len());
                let stand_in = self.stand_in(place.field, place.change.path(), AttributeValue::L(Vec::new()));
                let before = stand_in.map(|list| count_of(members(list).len()));
                Some(place.out_of_bounds(grown(place, bounds, before, count, Logic::Known(false))))
            }
            ChangeKind::Add(expr) => self.added(place, bounds, &self.elements(expr, place.kind, place.field)?),
            ChangeKind::Take(expr) => self.taken(place, bounds, &self.elements(expr, place.kind, place.field)?),
            ChangeKind::Set(_) | ChangeKind::Remove => None,
        })
    }

    fn counted(&self, place: &Place<'_>, by: &Expr, minus: bool) -> Result<Option<Limit>, BindError> {
        let range = limit::Range::of(place.kind);
        if !limit::may_leave_bounds(place.field, place.change, self.scope.parameters) || range.is_open() {
            return Ok(None);
        }
        let by = self.known_number(by, place)?;
        let by = if minus { by } else { by.negated() };
        let (low, high) = (moved(range.min, by)?, moved(range.max, by)?);
        let stand_in = self.stand_in(place.field, place.change.path(), AttributeValue::from(0));
        Ok(Some(place.out_of_bounds(within(&place.path, low, high, stand_in.as_ref()))))
    }

    /// Returns the condition of `field = other + n`: the other field is within the bounds, moved by the operand.
    fn summed(&self, place: &Place<'_>, expr: &Expr) -> Result<Option<Limit>, BindError> {
        let range = limit::Range::of(place.kind);
        let ExprKind::Binary(op, left, right) = &expr.kind else { return Ok(None) };
        if range.is_open() {
            return Ok(None);
        }
        let minus = *op == BinaryOp::Minus;
        let (of, low, high) = match (self.scope.own_path(left)?, self.scope.own_path(right)?) {
            (Some(path), None) => {
                let by = self.known_number(right, place)?;
                let by = if minus { by } else { by.negated() };
                (path, moved(range.min, by)?, moved(range.max, by)?)
            }
            (None, Some(path)) if minus => {
                let from = self.known_number(left, place)?;
                (path, taken_from(range.max, from)?, taken_from(range.min, from)?)
            }
            (None, Some(path)) => {
                let by = self.known_number(left, place)?.negated();
                (path, moved(range.min, by)?, moved(range.max, by)?)
            }
            _ => return Err(BindError::Inexpressible("a sum of two fields, into a field with bounds".to_owned())),
        };
        Ok(Some(place.out_of_bounds(within(&of, low, high, None))))
    }

    fn known_number(&self, expr: &Expr, place: &Place<'_>) -> Result<Number, BindError> {
        if expr.has_own_fields() {
            return Err(BindError::Inexpressible("a field added to a field with bounds".to_owned()));
        }
        match self.scope.fit(expr, &limit::operand(place.kind), &place.field.name)? {
            Some(AttributeValue::N(number)) => Ok(number),
            _ => Err(BindError::Missing("an operand of a sum".to_owned())),
        }
    }

    /// Returns the condition of `add`. For one element it is exact. Several may be elements already: if the store has
    /// refused, the item is known, and the condition tests that it still has the same ones.
    fn added(&self, place: &Place<'_>, bounds: Bounds, parts: &[AttributeValue]) -> Option<Limit> {
        let count = count_of(parts.len());
        match parts {
            [] => None,
            [one] => Some(place.out_of_bounds(grown(place, bounds, Some(0), 1, contains(&place.path, one)))),
            parts => {
                let limit = place.out_of_bounds(grown(place, bounds, Some(0), count, Logic::Known(false)));
                let limit = Limit { is_strict: bounds.max.is_some_and(|max| count <= max), ..limit };
                match self.seen(place).filter(|_| limit.is_strict) {
                    Some(seen) => {
                        Some(with_seen(place, bounds, parts, &seen).unwrap_or(Limit { is_strict: false, ..limit }))
                    }
                    None => Some(limit),
                }
            }
        }
    }

    /// Returns the elements of the set in the item that the store has shown.
    fn seen(&self, place: &Place<'_>) -> Option<Vec<AttributeValue>> {
        let mut elements = place.path.elements.iter();
        let PathElement::Attribute(root) = elements.next()? else { return None };
        let value = elements.try_fold(self.current?.get(root)?, |value, step| match (value, step) {
            (AttributeValue::M(parts), PathElement::Attribute(name)) => parts.get(name),
            (AttributeValue::L(parts), PathElement::Index(number)) => parts.get(*number),
            _ => None,
        })?;
        Some(members(value.clone()))
    }

    fn taken(&self, place: &Place<'_>, bounds: Bounds, parts: &[AttributeValue]) -> Option<Limit> {
        let min = limit::least_left(place.field, place.change.path(), bounds)?;
        let path = &place.path;
        let absent = Logic::Test(Condition::AttributeNotExists(path.clone()));
        let enough = at_least(path.clone(), Some(min), count_of(parts.len()));
        let stays = match parts {
            [] => return None,
            [one] => not(contains(path, one)),
            _ => Logic::Known(false),
        };
        Some(place.out_of_bounds(or(or(absent, stays), enough)))
    }
}

/// Returns the conditions that an item keeps its `immutable` fields: each is absent, as in a new item, or has the value
/// that the write stores.
pub(super) fn kept(entity: &Entity, action: &Action, new: &Fields) -> Vec<Limit> {
    let fields = limit::kept(entity, action).into_iter();
    fields
        .map(|field| {
            let name = &entity.field(field).name;
            let path = Path::attribute(name.clone());
            let absent = Logic::Test(Condition::AttributeNotExists(path.clone()));
            let same = match new.get(field) {
                Some(value) => Logic::Test(compare(Operand::Path(path), Comparator::Equal, value.clone())),
                None => Logic::Known(false),
            };
            Limit { logic: or(absent, same), outcome: limit::changed_name(name), is_strict: false }
        })
        .collect()
}

/// Gives the item of a `put` the time of creation and the next version of the item that it replaces, and returns the
/// conditions that it replaces that one.
pub(super) fn continued(
    entity: &Entity,
    action: &Action,
    current: Option<&Attributes>,
    new: &mut Fields,
) -> Vec<Limit> {
    let mut limits = Vec::new();
    for field in limit::continued(entity, action) {
        let it = entity.field(field);
        let path = Path::attribute(it.name.clone());
        let seen = current.and_then(|item| item.get(&it.name));
        let test = match seen {
            Some(seen) => compare(Operand::Path(path), Comparator::Equal, seen.clone()),
            None => Condition::AttributeNotExists(path),
        };
        limits.push(Limit { logic: Logic::Test(test), outcome: String::new(), is_strict: true });
        match seen {
            Some(AttributeValue::N(version)) if it.flags.version.is_some() => {
                new.insert(field, version.checked_add(Number::from(1)).unwrap_or(*version).into());
            }
            Some(seen) => new.insert(field, seen.clone()),
            None => {}
        }
    }
    limits
}

/// Returns the condition that a list or set has room for `count` new elements. `before` is the number of elements that
/// an absent one stands for; `unchanged` holds if it has the new elements already.
fn grown(place: &Place<'_>, bounds: Bounds, before: Option<i64>, count: i64, unchanged: Logic) -> Logic {
    if bounds.max.is_none() && bounds.min.is_none_or(|min| min <= 1) {
        return Logic::Known(true);
    }
    let fits = |before: i64| bounds.allow(usize::try_from(before + count).unwrap_or(usize::MAX));
    let absent = match before.is_some_and(fits) {
        true => Logic::Test(Condition::AttributeNotExists(place.path.clone())),
        false => Logic::Known(false),
    };
    let room = match bounds.max {
        Some(_) => at_most(place.path.clone(), bounds.max, count),
        None => Logic::Test(Condition::AttributeExists(place.path.clone())),
    };
    or(or(absent, unchanged), room)
}

/// Returns the condition that a set still has the elements that were seen, if it has room for the others.
fn with_seen(place: &Place<'_>, bounds: Bounds, parts: &[AttributeValue], seen: &[AttributeValue]) -> Option<Limit> {
    let (old, new): (Vec<&AttributeValue>, Vec<_>) = parts.iter().partition(|part| seen.contains(part));
    if !bounds.allow(seen.len() + new.len()) {
        return None;
    }
    let same_size = compare(Operand::Size(place.path.clone()), Comparator::Equal, count_of(seen.len()).into());
    let tests = old.into_iter().map(|part| contains(&place.path, part));
    let logic = and([Logic::Test(same_size)].into_iter().chain(tests));
    Some(Limit { is_strict: true, ..place.out_of_bounds(logic) })
}

/// Returns the elements of a set or list.
pub(super) fn members(value: AttributeValue) -> Vec<AttributeValue> {
    match value {
        AttributeValue::Ss(parts) => parts.into_iter().map(AttributeValue::S).collect(),
        AttributeValue::Ns(parts) => parts.into_iter().map(AttributeValue::N).collect(),
        AttributeValue::Bs(parts) => parts.into_iter().map(AttributeValue::B).collect(),
        AttributeValue::L(parts) => parts,
        one => vec![one],
    }
}

/// Returns the condition that a number is within limits, where an absent one counts as `stand_in`.
fn within(path: &Path, low: Option<Number>, high: Option<Number>, stand_in: Option<&AttributeValue>) -> Logic {
    let operand = || Operand::Path(path.clone());
    let value = |number: Number| AttributeValue::N(number);
    let test = match (low, high) {
        (Some(low), Some(high)) => {
            let [low, high] = [low, high].map(|end| Operand::Value(value(end).into()));
            Condition::Between { operand: operand(), low, high }
        }
        (Some(low), None) => compare(operand(), Comparator::GreaterOrEqual, value(low)),
        (None, Some(high)) => compare(operand(), Comparator::LessOrEqual, value(high)),
        (None, None) => return Logic::Known(true),
    };
    let fits = |number: &Number| low.is_none_or(|low| low <= *number) && high.is_none_or(|high| *number <= high);
    let absent = match stand_in {
        Some(AttributeValue::N(number)) if fits(number) => Logic::Test(Condition::AttributeNotExists(path.clone())),
        _ => Logic::Known(false),
    };
    or(absent, Logic::Test(test))
}

fn at_most(path: Path, max: Option<i64>, more: i64) -> Logic {
    sized(path, Comparator::LessOrEqual, max.map(|max| max - more))
}

fn at_least(path: Path, min: Option<i64>, fewer: i64) -> Logic {
    sized(path, Comparator::GreaterOrEqual, min.map(|min| min + fewer))
}

fn sized(path: Path, comparator: Comparator, end: Option<i64>) -> Logic {
    match end {
        None => Logic::Known(true),
        Some(end) => Logic::Test(compare(Operand::Size(path), comparator, end.into())),
    }
}

fn contains(path: &Path, part: &AttributeValue) -> Logic {
    Logic::Test(Condition::Contains(Operand::Path(path.clone()), Operand::Value(part.clone().into())))
}

fn compare(left: Operand, comparator: Comparator, right: AttributeValue) -> Condition {
    Condition::Compare { left, comparator, right: Operand::Value(right.into()) }
}

/// Returns an end of a range, moved by a number.
fn moved(end: Option<i128>, by: Number) -> Result<Option<Number>, BindError> {
    let sum = |end: i128| whole(end).and_then(|end| end.checked_add(by).map_err(|_| too_large()));
    end.map(sum).transpose()
}

fn taken_from(end: Option<i128>, from: Number) -> Result<Option<Number>, BindError> {
    let difference = |end: i128| whole(end).and_then(|end| from.checked_sub(end).map_err(|_| too_large()));
    end.map(difference).transpose()
}

fn whole(number: i128) -> Result<Number, BindError> {
    number.to_string().parse().map_err(|_| too_large())
}

fn too_large() -> BindError {
    BindError::WrongValue("a sum".to_owned())
}

fn count_of(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}
