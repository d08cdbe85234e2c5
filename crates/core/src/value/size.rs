//! Sizes by DynamoDB's rules: UTF-8 bytes of names and strings, about half a byte per digit of a number, one byte for
//! a boolean or NULL, three bytes for each list or map plus one for each element in it. Also
//! the nesting depth of values.

use crate::limits::NESTING_DEPTH_MAX;

use super::{AttributeValue, Attributes, MapRef, Number, ValueRef};

const DOCUMENT_OVERHEAD: usize = 3;

/// Returns the size of an item in tree form.
pub fn of_attributes(attributes: &Attributes) -> usize {
    attributes.iter().map(|(name, value)| name.len() + of_tree(value)).sum()
}

/// Returns the size of a value in tree form.
pub fn of_tree(value: &AttributeValue) -> usize {
    match value {
        AttributeValue::S(text) => text.len(),
        AttributeValue::N(number) => of_number(number),
        AttributeValue::B(bytes) => bytes.len(),
        AttributeValue::Bool(_) | AttributeValue::Null => 1,
        AttributeValue::M(entries) => DOCUMENT_OVERHEAD + entries.len() + of_attributes(entries),
        AttributeValue::L(values) => DOCUMENT_OVERHEAD + values.iter().map(|value| 1 + of_tree(value)).sum::<usize>(),
        AttributeValue::Ss(set) => set.iter().map(String::len).sum(),
        AttributeValue::Ns(set) => set.iter().map(of_number).sum(),
        AttributeValue::Bs(set) => set.iter().map(Vec::len).sum(),
    }
}

/// Returns the nesting depth of a value: 1 for a scalar or set, plus 1 for each enclosing list or map.
pub fn levels(value: &AttributeValue) -> usize {
    match value {
        AttributeValue::M(map) => 1 + map.values().map(levels).max().unwrap_or(0),
        AttributeValue::L(list) => 1 + list.iter().map(levels).max().unwrap_or(0),
        _ => 1,
    }
}

/// Returns whether any attribute exceeds DynamoDB's nesting limit.
pub fn is_too_deep(attributes: &Attributes) -> bool {
    attributes.values().any(|value| levels(value) > NESTING_DEPTH_MAX)
}

/// Returns the size of all entries of a map, without the overhead of the map itself.
pub fn of_map_entries(map: MapRef<'_>) -> usize {
    map.iter().map(|(name, value)| name.len() + of_value(value)).sum()
}

/// Returns the size of an encoded value.
pub fn of_value(value: ValueRef<'_>) -> usize {
    match value {
        ValueRef::S(text) => text.len(),
        ValueRef::N(number) => of_number(&number),
        ValueRef::B(bytes) => bytes.len(),
        ValueRef::Bool(_) | ValueRef::Null => 1,
        ValueRef::M(map) => DOCUMENT_OVERHEAD + map.len() + of_map_entries(map),
        ValueRef::L(list) => DOCUMENT_OVERHEAD + list.iter().map(|value| 1 + of_value(value)).sum::<usize>(),
        ValueRef::Ss(set) | ValueRef::Ns(set) | ValueRef::Bs(set) => set.values().map(of_value).sum(),
    }
}

/// Returns the size of a number: one byte, plus one for each pair of significant digits (pairs counted from the
/// decimal point), plus one for the sign of a negative number.
pub fn of_number(number: &Number) -> usize {
    if number.is_zero() {
        return 1;
    }
    let last = number.leading_exponent() - number.significant_digits() as i32 + 1;
    let pairs = number.leading_exponent().div_euclid(2) - last.div_euclid(2) + 1;
    1 + pairs.unsigned_abs() as usize + usize::from(number.is_negative())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_cost_what_the_service_counts() {
        // Measured against DynamoDB at its 400 KB item limit, to the byte.
        for (text, bytes) in [
            ("0", 1),
            ("-0", 1),
            ("1", 2),
            ("12", 2),
            ("123", 3),
            ("1234", 3),
            ("12345678901234567890123456789012345678", 20),
            ("0042", 2),
            ("100", 2),
            ("1010", 3),
            ("0.0000001", 2),
            ("1E125", 2),
            ("1E-100", 2),
            ("1.5", 3),
            ("15", 2),
            ("1.200", 3),
            ("1.234", 4),
            ("3.14159", 5),
            ("123456", 4),
            ("100.5", 4),
            ("0.15", 2),
            ("-42", 3),
        ] {
            let number: Number = text.parse().unwrap();
            assert_eq!(of_number(&number), bytes, "{text}");
        }
    }

    #[test]
    fn documents_cost_three_bytes_and_one_for_each_element() {
        let list = AttributeValue::L(vec!["ab".into(), 1.into(), AttributeValue::Null]);
        assert_eq!(of_tree(&list), 3 + (1 + 2) + (1 + 2) + (1 + 1));
        let map = AttributeValue::M(Attributes::from([("key".to_owned(), list), ("é".to_owned(), true.into())]));
        assert_eq!(of_tree(&map), 3 + (1 + 3 + 11) + (1 + 2 + 1));
    }
}
