//! Changes whose result may not fit the type of its field, because it depends on the stored value.
//!
//! Such a change is bound with a condition, and the condition has an outcome of its own: `StockOutOfBounds` if a value
//! or a number of elements would leave its bounds, `AddressMissing` if the path leads into a value that is absent. This
//! module decides which changes need one, from the model alone; [`bind`](crate::bind) builds the conditions.

use crate::document::ast::{BinaryOp, Verb};
use crate::scalar::{Bounds, Scalar};

use super::expression::{Expr, ExprKind, Origin, PathStep, ValuePath};
use super::field::{Field, Type};
use super::pattern::{Action, Change, ChangeKind, Parameter};
use super::{Entity, FieldId};

/// Largest whole number that DynamoDB stores; a range that ends there is open.
const WHOLE_MAX: i128 = 10_i128.pow(38) - 1;

/// Smallest and largest value of a numeric type; `None` for an open end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// Smallest value.
    pub min: Option<i128>,
    /// Largest value.
    pub max: Option<i128>,
}

impl Range {
    /// Returns the range of a numeric type; open for other types.
    #[must_use]
    pub fn of(kind: &Type) -> Self {
        let whole = kind.scalar().and_then(|(scalar, bounds)| scalar.whole(bounds));
        let end = |end: i128| (end.abs() != WHOLE_MAX).then_some(end);
        whole.map_or_else(Self::default, |range| Self { min: end(*range.start()), max: end(*range.end()) })
    }

    /// Returns true if neither end is limited.
    #[must_use]
    pub fn is_open(self) -> bool {
        self.min.is_none() && self.max.is_none()
    }
}

/// Returns the bounds of the number of elements of a list, map or set; `None` for other types.
#[must_use]
pub fn elements(kind: &Type) -> Option<Bounds> {
    match kind.resolved() {
        Type::List(_, bounds) | Type::Map(_, bounds) | Type::Set(_, bounds) => Some(*bounds),
        Type::Scalar(..) | Type::OneOf(_) | Type::Json | Type::Record(_) | Type::Unknown => None,
        Type::Ref { .. } | Type::Copy { .. } => None,
    }
}

/// Returns the type that a path step leads to; `None` if it is unknown, as inside `json`.
#[must_use]
pub fn inner<'a>(kind: &'a Type, step: &PathStep) -> Option<&'a Type> {
    match (kind.resolved(), step) {
        (Type::Record(fields), PathStep::Member(name)) => member(fields, name).map(|field| &field.kind),
        (Type::Map(of, _) | Type::List(of, _), _) => Some(of),
        _ => None,
    }
}

fn member<'a>(fields: &'a [Field], name: &str) -> Option<&'a Field> {
    fields.iter().find(|field| field.name == *name)
}

/// Returns the type at the end of a path into a value of this type; `None` if it is unknown.
#[must_use]
pub fn at<'a>(kind: &'a Type, path: &[PathStep]) -> Option<&'a Type> {
    path.iter().try_fold(kind, inner)
}

/// Returns the outcome name of a change that would leave the bounds of its field: `StockOutOfBounds`.
#[must_use]
pub fn out_of_bounds_name(field: &str, path: &[PathStep]) -> String {
    format!("{}OutOfBounds", title(field, path))
}

/// Returns the outcome name of a change inside a value that is absent: `AddressMissing`.
#[must_use]
pub fn missing_name(field: &str, path: &[PathStep]) -> String {
    format!("{}Missing", title(field, path))
}

/// Returns the name of a field that a write may not replace with another value: `OwnerIdChanged`.
#[must_use]
pub fn changed_name(field: &str) -> String {
    format!("{}Changed", title(field, &[]))
}

/// Joins the names of a path: `TokenUsagePrompt` for `tokenUsage.prompt`, `Reactions` for `reactions[emoji]`.
fn title(field: &str, path: &[PathStep]) -> String {
    let members = path.iter().filter_map(|step| match step {
        PathStep::Member(name) => Some(name.as_str()),
        PathStep::Element(_) => None,
    });
    [field].into_iter().chain(members).map(capitalized).collect()
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars().filter(|letter| letter.is_alphanumeric() || *letter == '_');
    let first = letters.next();
    first.into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

/// Returns the outcomes that the changes of an action may have besides those that its author names.
#[must_use]
pub fn outcomes(entity: &Entity, action: &Action, parameters: &[Parameter]) -> Vec<String> {
    let mut names: Vec<String> =
        kept(entity, action).into_iter().map(|field| changed_name(&entity.field(field).name)).collect();
    if matches!(action.verb, Verb::Update | Verb::Upsert) {
        for change in &action.changes {
            let Some(field) = change.field.map(|id| entity.field(id)) else { continue };
            if !has_parent(field, change.path(), action.verb) {
                names.push(missing_name(&field.name, parent(change.path())));
            }
            let sources = sources(entity, change, action.verb).into_iter();
            names.extend(sources.map(|source| missing_name(&entity.field(source).name, &[])));
            if may_leave_bounds(field, change, parameters) {
                names.push(out_of_bounds_name(&field.name, change.path()));
            }
        }
    }
    names
}

/// Returns the `immutable` fields that an action must not replace with another value, because its item may exist. An
/// `update` of such a field is W18; the value of an encrypted one cannot be compared.
#[must_use]
pub fn kept(entity: &Entity, action: &Action) -> Vec<FieldId> {
    let keys = entity.key_fields();
    let is_set = |field: FieldId| action.changes.iter().any(|change| change.field == Some(field));
    let may_replace = |field: FieldId| match action.verb {
        Verb::Put => true,
        Verb::Upsert => is_set(field),
        Verb::Create | Verb::Update | Verb::Delete | Verb::Check => false,
    };
    let is_kept = |(number, field): &(usize, &Field)| {
        let flags = &field.flags;
        let id = FieldId(*number);
        flags.immutable.is_some() && flags.encrypted.is_none() && !keys.contains(&id) && may_replace(id)
    };
    entity.fields.iter().enumerate().filter(is_kept).map(|(number, _)| FieldId(number)).collect()
}

/// Returns the fields that a `put` takes from the item it replaces: the time of creation, unless it says `replace`, and
/// the version, which it raises.
#[must_use]
pub fn continued(entity: &Entity, action: &Action) -> Vec<FieldId> {
    let keys = entity.key_fields();
    let is_continued = |(number, field): &(usize, &Field)| {
        let flags = &field.flags;
        (flags.created.is_some() && !action.replace || flags.version.is_some())
            && flags.encrypted.is_none()
            && !keys.contains(&FieldId(*number))
    };
    entity.fields.iter().enumerate().filter(is_continued).map(|(number, _)| FieldId(number)).collect()
}

/// Returns the path without its last step.
#[must_use]
pub fn parent(path: &[PathStep]) -> &[PathStep] {
    path.split_last().map_or(&[], |(_, parent)| parent)
}

/// Returns true if the value that a path leads into exists in every item of the entity, so that a change there needs no
/// outcome: the field is required, and so is each member on the way.
#[must_use]
pub fn has_parent(field: &Field, path: &[PathStep], verb: Verb) -> bool {
    if path.is_empty() {
        return true;
    }
    let mut kind = &field.kind;
    let mut is_sure = verb == Verb::Update && field.must_have_value();
    for step in parent(path) {
        let Type::Record(fields) = kind.resolved() else { return false };
        let PathStep::Member(name) = step else { return false };
        let Some(field) = member(fields, name) else { return false };
        is_sure &= field.must_have_value();
        kind = &field.kind;
    }
    is_sure && !matches!(kind.resolved(), Type::Json)
}

/// Returns the fields of the same item that a change reads and that may be absent there.
#[must_use]
pub fn sources(entity: &Entity, change: &Change, verb: Verb) -> Vec<FieldId> {
    let mut own = match &change.kind {
        ChangeKind::Set(expr) | ChangeKind::Increase(expr) | ChangeKind::Decrease(expr) => expr.own_fields(),
        ChangeKind::Append(_) | ChangeKind::Add(_) | ChangeKind::Take(_) | ChangeKind::Remove => Vec::new(),
    };
    let keys = entity.key_fields();
    own.retain(|field| !keys.contains(field) && (verb == Verb::Upsert || !entity.field(*field).must_have_value()));
    own
}

/// Returns true if the result of a change may be outside the bounds of its type although its operand is within them.
#[must_use]
pub fn may_leave_bounds(field: &Field, change: &Change, parameters: &[Parameter]) -> bool {
    let path = change.path();
    adds_entry(field, change) || takes_entry(field, change) || {
        let Some(kind) = at(&field.kind, path) else { return false };
        let bounds = elements(kind).unwrap_or_default();
        match &change.kind {
            ChangeKind::Increase(by) => counts_past(kind, by, false, parameters),
            ChangeKind::Decrease(by) => counts_past(kind, by, true, parameters),
            ChangeKind::Set(expr) => is_sum(expr) && expr.has_own_fields() && !Range::of(kind).is_open(),
            ChangeKind::Append(_) | ChangeKind::Add(_) => bounds.max.is_some() || bounds.min.is_some_and(|min| min > 1),
            ChangeKind::Take(_) => least_left(field, path, bounds).is_some(),
            ChangeKind::Remove => false,
        }
    }
}

/// Returns the least number of elements that a set keeps if elements are removed; `None` if it may become empty, which
/// an optional set of at least one element is without its attribute.
#[must_use]
pub fn least_left(field: &Field, path: &[PathStep], bounds: Bounds) -> Option<i64> {
    let is_optional = field_at(field, path).is_none_or(|field| field.optional);
    bounds.min.filter(|min| *min > i64::from(is_optional))
}

/// Returns the field or the member of a record that a path leads to; `None` for an entry of a map or list.
#[must_use]
pub fn field_at<'a>(field: &'a Field, path: &[PathStep]) -> Option<&'a Field> {
    path.iter().try_fold(field, |field, step| match (field.kind.resolved(), step) {
        (Type::Record(fields), PathStep::Member(name)) => member(fields, name),
        _ => None,
    })
}

/// Returns the field or the member of a record that a path leads to, also of a record in a map or list; `None` for an
/// entry of a map or list.
#[must_use]
pub fn member_at<'a>(field: &'a Field, path: &[PathStep]) -> Option<&'a Field> {
    let Some((last, parent)) = path.split_last() else { return Some(field) };
    match (at(&field.kind, parent)?.resolved(), last) {
        (Type::Record(fields), PathStep::Member(name)) => member(fields, name),
        _ => None,
    }
}

/// Returns true for a sum or a difference.
#[must_use]
pub fn is_sum(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Binary(BinaryOp::Plus | BinaryOp::Minus, ..))
}

/// Returns true if a stored value within the range may leave it by this operand.
fn counts_past(kind: &Type, by: &Expr, minus: bool, parameters: &[Parameter]) -> bool {
    let range = Range::of(kind);
    let of = sign(by, parameters);
    let (rises, falls) = if minus { (of.may_fall, of.may_rise) } else { (of.may_rise, of.may_fall) };
    range.max.is_some() && rises || range.min.is_some() && falls
}

/// Possible signs of an operand.
struct Sign {
    may_rise: bool,
    may_fall: bool,
}

fn sign(by: &Expr, parameters: &[Parameter]) -> Sign {
    let range = match &by.kind {
        ExprKind::Number(text) if text.starts_with('-') => Range { min: None, max: Some(-1) },
        ExprKind::Number(_) | ExprKind::Duration(_) => Range { min: Some(0), max: None },
        ExprKind::Call { function, .. } if function == "size" => Range { min: Some(0), max: None },
        ExprKind::ValuePath(ValuePath { origin: Origin::Parameter(number), path }) => {
            parameters.get(*number).and_then(|it| at(&it.kind, path)).map(Range::of).unwrap_or_default()
        }
        _ => Range::default(),
    };
    Sign { may_rise: range.max.is_none_or(|max| max > 0), may_fall: range.min.is_none_or(|min| min < 0) }
}

/// Returns the type of the value that holds the changed entry, if the path ends in `[key]`.
#[must_use]
pub fn holder<'a>(field: &'a Field, change: &Change) -> Option<&'a Type> {
    let (PathStep::Element(_), parent) = change.path().split_last()? else { return None };
    at(&field.kind, parent)
}

/// Returns true if a change may add an entry to a map or list that has a maximum.
#[must_use]
pub fn adds_entry(field: &Field, change: &Change) -> bool {
    let adds = !matches!(change.kind, ChangeKind::Take(_) | ChangeKind::Remove);
    adds && holder(field, change).and_then(elements).is_some_and(|bounds| bounds.max.is_some())
}

/// Returns true if a change may remove an entry of a map or list that has a minimum.
#[must_use]
pub fn takes_entry(field: &Field, change: &Change) -> bool {
    let takes = matches!(change.kind, ChangeKind::Remove);
    takes && holder(field, change).and_then(elements).is_some_and(|bounds| bounds.min.is_some_and(|min| min > 0))
}

/// Returns the type of the operand of `+=` and `-=` on a field of this type: any number of its kind.
#[must_use]
pub fn operand(kind: &Type) -> Type {
    match kind.scalar() {
        Some((scalar, bounds)) if scalar.whole(bounds).is_some() => Scalar::Int.into(),
        Some((scalar, _)) => scalar.into(),
        None => Type::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use crate::Compiled;

    use super::*;

    #[test]
    fn changes_have_outcomes_for_what_the_store_must_test() {
        let check = |field: &str, change: &str, expected: &[&str]| {
            let text = format!(
                "model m\ntable T {{ key pk }}\nentity E in T {{\n  key \"E#{{id}}\"\n  id: ulid\n  {field}\n  plain: int\n}}\n\
                 write w(id, n: int, k: int(0..9), key: string(1..9), texts: set<string>) {{ update E(id) {{ {change} }} }}"
            );
            let compiled = Compiled::read(&text);
            let model = &compiled.model;
            let action = model.writes[0].actions()[0];
            assert_eq!(outcomes(&model.entities[0], action, &model.writes[0].parameters), expected, "{change}");
        };
        check("f: int", "f += n", &[]);
        check("f: int(0..)", "f += n", &["FOutOfBounds"]);
        check("f: int(0..)", "f += k", &[]);
        check("f: int(0..)", "f -= k", &["FOutOfBounds"]);
        check("f: int(..9)", "f -= 1", &[]);
        check("f: int(..9)", "f = f + 1", &["FOutOfBounds"]);
        check("f: list<int>(..9)", "append f n", &["FOutOfBounds"]);
        check("f: list<int>", "append f n", &[]);
        check("f: set<string>(..9)", "add f key", &["FOutOfBounds"]);
        check("f: set<string>(1..9)", "remove f key", &["FOutOfBounds"]);
        check("f: map<int>(..9)", "f[key] = n", &["FOutOfBounds"]);
        check("f: map<int>(..9)?", "f[key] = n", &["FMissing", "FOutOfBounds"]);
        check("f: { a: int(0..)?, b: int }", "f.a -= 1", &["FAOutOfBounds"]);
        check("f: { a: { b: int }? }", "f.a.b = n", &["FAMissing"]);
        check("f: json", "f.a = n", &["FMissing"]);
        check("f: int?", "plain = f", &["FMissing"]);
    }
}
