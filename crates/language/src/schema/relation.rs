//! Relation between the values of two types: whether a value of one can be stored in a field of the other.

use crate::scalar::{Bounds, Counted, Resolution, Scalar, Stored};

use super::limit::Range;
use super::{Field, Type};
use crate::template::Language;

/// Relation of the values of one type to another type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Relation {
    /// Every value has the other type.
    Within,
    /// Some values have the other type.
    Wider,
    /// No value has the other type.
    Disjoint,
}

/// Returns the relation of the values of `from` to the type `to`. Unknown types are within any type, because something
/// else was reported.
#[must_use]
pub fn relation(from: &Type, to: &Type) -> Relation {
    match (from.resolved(), to.resolved()) {
        (Type::Unknown, _) | (_, Type::Unknown | Type::Json) => Relation::Within,
        (Type::Json, _) => Relation::Wider,
        (Type::Scalar(one, bounds), Type::Scalar(other, limits)) => scalars((*one, *bounds), (*other, *limits)),
        (Type::OneOf(texts), to @ (Type::OneOf(_) | Type::Scalar(..))) => listed(texts, to),
        (Type::Scalar(scalar, _), Type::OneOf(_)) => match scalar.counted() {
            Some(Counted::Characters) => Relation::Wider,
            Some(Counted::Bytes | Counted::Value) | None => Relation::Disjoint,
        },
        (Type::List(one, bounds), Type::List(other, limits) | Type::Set(other, limits))
        | (Type::Set(one, bounds), Type::Set(other, limits))
        | (Type::Map(one, bounds), Type::Map(other, limits)) => elements((one, *bounds), (other, *limits)),
        // A single value becomes a set.
        (one @ (Type::Scalar(..) | Type::OneOf(_)), Type::Set(of, limits)) if limits.allow(1) => relation(one, of),
        (Type::Record(one), Type::Record(other)) => records(one, other),
        (Type::Map(..), Type::Record(_)) => Relation::Wider,
        (Type::Record(fields), Type::Map(of, limits)) => {
            let parts = fields.iter().map(|field| relation(&field.kind, of));
            let count = if limits.allow(fields.len()) { Relation::Within } else { Relation::Wider };
            parts.chain([count]).max().unwrap_or(Relation::Within)
        }
        _ => Relation::Disjoint,
    }
}

fn elements((one, bounds): (&Type, Bounds), (other, limits): (&Type, Bounds)) -> Relation {
    relation(one, other).max(within(bounds, limits))
}

fn records(one: &[Field], other: &[Field]) -> Relation {
    let named = |fields: &[Field], name: &str| fields.iter().any(|field| field.name == name);
    // A record with a field that the other does not know is refused; one that may lack the field may be accepted.
    let extra = match one.iter().filter(|field| !named(other, &field.name)).map(|field| field.optional).min() {
        Some(false) => Relation::Disjoint,
        Some(true) => Relation::Wider,
        None => Relation::Within,
    };
    let parts = other.iter().map(|wanted| match one.iter().find(|field| field.name == wanted.name) {
        Some(field) if field.optional && wanted.must_have_value() => {
            relation(&field.kind, &wanted.kind).max(Relation::Wider)
        }
        Some(field) => relation(&field.kind, &wanted.kind),
        None if wanted.must_have_value() && !wanted.has_source() => Relation::Disjoint,
        None => Relation::Within,
    });
    parts.chain([extra]).max().unwrap_or(Relation::Within)
}

fn listed(texts: &[String], to: &Type) -> Relation {
    let fits = |text: &&String| match to {
        Type::OneOf(others) => others.contains(text),
        Type::Scalar(scalar, bounds) => scalar.stored() == Stored::Text && scalar.accepts(*bounds, text),
        _ => false,
    };
    match texts.iter().filter(fits).count() {
        0 => Relation::Disjoint,
        count if count == texts.len() => Relation::Within,
        _ => Relation::Wider,
    }
}

fn scalars((one, bounds): (Scalar, Bounds), (other, limits): (Scalar, Bounds)) -> Relation {
    if one.stored() != other.stored() {
        return Relation::Disjoint;
    }
    match one.stored() {
        Stored::Bool => Relation::Within,
        Stored::Number => numbers(one, bounds, other, limits),
        Stored::Bytes => within(bounds, limits),
        Stored::Text if one == other && one.counted().is_none() => Relation::Within,
        Stored::Text if one.widened() == Some(other) && other.counted().is_none() => Relation::Within,
        Stored::Text => texts(one, bounds, other, limits),
    }
}

fn numbers(one: Scalar, bounds: Bounds, other: Scalar, limits: Bounds) -> Relation {
    match (one.whole(bounds), other.whole(limits)) {
        (_, None) => Relation::Within,
        (None, Some(_)) => Relation::Wider,
        (Some(_), Some(_)) => {
            let range = |scalar: Scalar, bounds: Bounds| Range::of(&Type::Scalar(scalar, bounds));
            ranges(range(one, bounds), range(other, limits))
        }
    }
}

fn texts(one: Scalar, bounds: Bounds, other: Scalar, limits: Bounds) -> Relation {
    let is_any = |scalar: Scalar| scalar.counted() == Some(Counted::Characters);
    let language = one.language(bounds);
    match (is_any(other), is_any(one)) {
        (true, _) if has_foreign_characters(&language, &other.language(Bounds::NONE)) => {
            length(&language, limits).max(Relation::Wider)
        }
        (true, _) => length(&language, limits),
        (false, true) => Relation::Wider,
        (false, false) => times(one, other),
    }
}

/// Returns the relation of two times in text form. A type of any precision has all values of those with milliseconds.
fn times(one: Scalar, other: Scalar) -> Relation {
    let resolution = |scalar: Scalar| scalar.time().map(|time| time.resolution);
    match (resolution(one), resolution(other)) {
        (Some(Resolution::Milliseconds), Some(Resolution::Mixed)) => Relation::Within,
        (Some(Resolution::Mixed), Some(_)) => Relation::Wider,
        _ => Relation::Disjoint,
    }
}

/// Returns true if a text of one language can contain a character that texts of the other cannot.
fn has_foreign_characters(one: &Language, other: &Language) -> bool {
    (' '..='~').chain(['é']).any(|character| one.may_hold(character) && !other.may_hold(character))
}

fn length(language: &Language, limits: Bounds) -> Relation {
    let min = i128::try_from(language.chars_min()).ok();
    let max = language.chars_max().into_iter().chain(language.bytes_max()).min();
    let limits = Range { min: limits.min.map(i128::from), max: limits.max.map(i128::from) };
    ranges(Range { min, max: max.and_then(|max| i128::try_from(max).ok()) }, limits)
}

fn within(bounds: Bounds, limits: Bounds) -> Relation {
    let range = |bounds: Bounds| Range { min: bounds.min.map(i128::from), max: bounds.max.map(i128::from) };
    let least = |range: Range| Range { min: range.min.or(Some(0)), ..range };
    ranges(least(range(bounds)), range(limits))
}

/// Returns the relation of two ranges.
#[must_use]
pub fn ranges(one: Range, other: Range) -> Relation {
    let starts_within = other.min.is_none_or(|min| one.min.is_some_and(|start| start >= min));
    let ends_within = other.max.is_none_or(|max| one.max.is_some_and(|end| end <= max));
    let apart = one.min.zip(other.max).is_some_and(|(start, end)| start > end)
        || one.max.zip(other.min).is_some_and(|(end, start)| end < start);
    match (starts_within && ends_within, apart) {
        (_, true) => Relation::Disjoint,
        (true, false) => Relation::Within,
        (false, false) => Relation::Wider,
    }
}

#[cfg(test)]
mod tests {
    use crate::Compiled;

    use super::*;

    #[test]
    fn types_are_within_wider_or_disjoint() {
        let check = |from: &str, to: &str, expected: Relation| {
            let text =
                format!("model m\ntable T {{ key id }}\nentity E in T {{\n  id: ulid\n  a: {from}\n  b: {to}\n}}\n");
            let compiled = Compiled::read(&text);
            let fields = &compiled.model.entities[0].fields;
            assert_eq!(relation(&fields[1].kind, &fields[2].kind), expected, "{from} into {to}");
        };
        use Relation::{Disjoint, Wider, Within};
        check("string(1..10)", "string(1..100)", Within);
        check("string(1..100)", "string(1..10)", Wider);
        check("string(20..30)", "string(1..10)", Disjoint);
        check("string", "string", Within);
        check("string", "\"a\" | \"b\"", Wider);
        check("string", "timestamp", Wider);
        check("string", "int", Disjoint);
        check("ulid", "string", Within);
        check("ulid", "string(1..10)", Disjoint);
        check("ulid", "slug(1..40)", Within);
        check("timestamp", "slug", Wider);
        check("timestamp", "datetime", Within);
        check("ulid", "uuid", Disjoint);
        check("email", "string(1..400)", Within);
        check("int", "number", Within);
        check("number", "int", Wider);
        check("int(1..5)", "int(0..9)", Within);
        check("int(0..)", "int(0..9)", Wider);
        check("int", "money", Within);
        check("\"a\"", "\"a\" | \"b\"", Within);
        check("\"a\" | \"c\"", "\"a\" | \"b\"", Wider);
        check("\"c\"", "\"a\" | \"b\"", Disjoint);
        check("list<int>(..5)", "list<int>(..9)", Within);
        check("list<int>", "list<int>(..9)", Wider);
        check("list<string>", "list<int>", Disjoint);
        check("{ a: int }", "{ a: int, b: int? }", Within);
        check("{ a: int? }", "{ a: int }", Wider);
        check("json", "int", Wider);
        check("int", "json", Within);
    }
}
