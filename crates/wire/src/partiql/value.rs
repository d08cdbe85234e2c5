//! Converts literals and parameters to attribute values.

use std::collections::BTreeSet;
use std::fmt::{Display, Write};

use keyform_core::error::partiql;
use keyform_core::limits::NESTING_DEPTH_MAX;
use keyform_core::value::NumberError;
use keyform_core::{AttributeValue, Attributes, Error, Number};

use super::binder::{Binder, value_class};
use super::syntax::{Expr, ExprKind};

/// Steps from the root of a literal to the current position, for error messages.
#[derive(Default)]
pub(super) struct Trail<'a> {
    steps: Vec<TrailStep<'a>>,
}

enum TrailStep<'a> {
    Key(&'a str),
    TokenPosition(usize),
}

impl Trail<'_> {
    fn printed(&self) -> String {
        let mut text = String::new();
        for step in &self.steps {
            let written = match step {
                TrailStep::Key(key) => write!(text, ".{key}"),
                TrailStep::TokenPosition(place) => write!(text, "[{place}]"),
            };
            written.expect("writing into a string does not fail");
        }
        text
    }
}

impl Binder {
    /// Converts an expression to a value.
    pub(super) fn value(&self, expr: &Expr) -> Result<AttributeValue, Error> {
        self.value_at(expr, &mut Trail::default())
    }

    /// Converts the item of an INSERT.
    pub(super) fn item(&self, expr: &Expr) -> Result<Attributes, Error> {
        match &expr.kind {
            ExprKind::Struct(entries) => {
                let entries =
                    entries.iter().map(|(name, value)| Ok((entry_name(name, &Trail::default())?, self.value(value)?)));
                entries.map(|entry| entry.map(|(name, value)| (name.to_owned(), value))).collect()
            }
            ExprKind::Parameter(number) => match self.parameter(*number)? {
                AttributeValue::M(attributes) => Ok(attributes.clone()),
                _ => Err(partiql::unsupported_value("Parameter", "", expr.place)),
            },
            _ => Err(partiql::unsupported_value(value_class(expr), "", expr.place)),
        }
    }

    fn value_at<'a>(&self, expr: &'a Expr, trail: &mut Trail<'a>) -> Result<AttributeValue, Error> {
        match &expr.kind {
            ExprKind::Text(text) => Ok(AttributeValue::S(text.clone())),
            ExprKind::Number(text) => number(text, trail).map(AttributeValue::N),
            ExprKind::Bool(value) => Ok(AttributeValue::Bool(*value)),
            ExprKind::Null => Ok(AttributeValue::Null),
            ExprKind::Parameter(number) => self.parameter(*number).cloned(),
            ExprKind::List(elements) => self.list(elements, trail).map(AttributeValue::L),
            ExprKind::Struct(entries) => self.map(entries, trail).map(AttributeValue::M),
            ExprKind::Bag(elements) => bag(elements, trail),
            ExprKind::Ion(text) => Err(partiql::ion_literal(ion_type(text), &trail.printed(), expr.place)),
            _ => Err(partiql::unsupported_value(value_class(expr), &trail.printed(), expr.place)),
        }
    }

    fn list<'a>(&self, elements: &'a [Expr], trail: &mut Trail<'a>) -> Result<Vec<AttributeValue>, Error> {
        check_depth(trail)?;
        let mut values = Vec::with_capacity(elements.len());
        for (place, element) in elements.iter().enumerate() {
            trail.steps.push(TrailStep::TokenPosition(place));
            values.push(self.value_at(element, trail)?);
            trail.steps.pop();
        }
        Ok(values)
    }

    fn map<'a>(&self, entries: &'a [(Expr, Expr)], trail: &mut Trail<'a>) -> Result<Attributes, Error> {
        check_depth(trail)?;
        let mut map = Attributes::new();
        for (name, value) in entries {
            let name = entry_name(name, trail)?;
            trail.steps.push(TrailStep::Key(name));
            map.insert(name.to_owned(), self.value_at(value, trail)?);
            trail.steps.pop();
        }
        Ok(map)
    }
}

fn check_depth(trail: &Trail<'_>) -> Result<(), Error> {
    if trail.steps.len() + 1 < NESTING_DEPTH_MAX { Ok(()) } else { Err(partiql::nesting(&trail.printed())) }
}

fn entry_name<'a>(name: &'a Expr, trail: &Trail<'_>) -> Result<&'a str, Error> {
    match &name.kind {
        ExprKind::Text(text) if text.is_empty() => Err(partiql::empty_path_component()),
        ExprKind::Text(text) => Ok(text),
        _ => Err(partiql::unsupported_value(value_class(name), &trail.printed(), name.place)),
    }
}

fn number(text: &str, trail: &Trail<'_>) -> Result<Number, Error> {
    text.parse().map_err(|error| match error {
        NumberError::Overflow if wraps_around(text) => partiql::number_underflow(&trail.printed()),
        NumberError::Overflow => partiql::number_overflow(&trail.printed()),
        NumberError::Underflow => partiql::number_underflow(&trail.printed()),
        NumberError::Precision => partiql::number_precision(&trail.printed()),
        NumberError::NotANumber => partiql::malformed(""),
    })
}

/// Returns whether a number overflows DynamoDB's 32-bit sum of digits and exponent, which makes
/// it report an underflow.
fn wraps_around(text: &str) -> bool {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let whole = mantissa.split_once('.').map_or(mantissa, |(whole, _)| whole);
    let digits = whole.trim_start_matches(['-', '0']).len() as i64;
    exponent.parse::<i64>().is_ok_and(|exponent| digits + exponent > i64::from(i32::MAX))
}

/// Converts a set literal: all strings or all numbers.
fn bag<'a>(elements: &'a [Expr], trail: &mut Trail<'a>) -> Result<AttributeValue, Error> {
    match elements.first().map(|first| (&first.kind, first.place)) {
        None => Err(partiql::empty_bag()),
        Some((ExprKind::Text(_), _)) => string_set(elements, trail),
        Some((ExprKind::Number(_), _)) => number_set(elements, trail),
        Some((_, place)) => Err(partiql::bag_element(Some(&place))),
    }
}

fn string_set(elements: &[Expr], trail: &Trail<'_>) -> Result<AttributeValue, Error> {
    let mut set = BTreeSet::new();
    for element in elements {
        match &element.kind {
            ExprKind::Text(text) => set.insert(text.clone()),
            _ => return Err(wrong_element(element, trail, true)),
        };
    }
    if set.len() == elements.len() {
        return Ok(AttributeValue::Ss(set));
    }
    let texts = elements.iter().map(|element| match &element.kind {
        ExprKind::Text(text) => text.as_str(),
        _ => "",
    });
    Err(partiql::duplicate_strings(&texts.collect::<Vec<_>>().join(", ")))
}

fn number_set(elements: &[Expr], trail: &Trail<'_>) -> Result<AttributeValue, Error> {
    let mut numbers = Vec::with_capacity(elements.len());
    for element in elements {
        match &element.kind {
            ExprKind::Number(text) => numbers.push(number(text, trail)?),
            kind => return Err(wrong_element(element, trail, matches!(kind, ExprKind::Null))),
        }
    }
    let set: BTreeSet<Number> = numbers.iter().copied().collect();
    if set.len() == numbers.len() {
        return Ok(AttributeValue::Ns(set));
    }
    let printed: Vec<String> = numbers.iter().map(Number::to_string).collect();
    Err(partiql::duplicate_numbers(&printed.join(", "), &trail.printed()))
}

fn wrong_element(element: &Expr, trail: &Trail<'_>, with_place: bool) -> Error {
    match &element.kind {
        ExprKind::Parameter(_) => partiql::unsupported_value("Parameter", &trail.printed(), element.place),
        ExprKind::Ion(text) => partiql::ion_literal(ion_type(text), &trail.printed(), element.place),
        _ => partiql::bag_element(with_place.then_some(&element.place as &dyn Display)),
    }
}

/// Returns the Ion type of a literal in backticks, judged by its first characters.
fn ion_type(text: &str) -> &'static str {
    let text = text.trim();
    match text.as_bytes().first() {
        Some(b'{') if text.starts_with("{{") => {
            if text.contains('"') {
                "CLOB"
            } else {
                "BLOB"
            }
        }
        Some(b'{') => "STRUCT",
        Some(b'[') => "LIST",
        Some(b'(') => "SEXP",
        Some(b'"') => "STRING",
        Some(b'-' | b'0'..=b'9') => ion_number_type(text),
        _ if text == "true" || text == "false" => "BOOL",
        _ if text.starts_with("null") => "NULL",
        _ => "SYMBOL",
    }
}

fn ion_number_type(text: &str) -> &'static str {
    if text.contains('T') || text.matches('-').count() > 1 {
        "TIMESTAMP"
    } else if text.contains(['e', 'E']) {
        "FLOAT"
    } else if text.contains(['.', 'd', 'D']) {
        "DECIMAL"
    } else {
        "INT"
    }
}
