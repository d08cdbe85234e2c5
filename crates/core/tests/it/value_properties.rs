//! Properties of values: decoding is the inverse of encoding, encoded numbers sort in numeric order, sums are exact.

use std::str::FromStr;

use crate::support::generate::{attributes, number, number_text, value};
use bigdecimal::BigDecimal;
use bytes::Bytes;
use keyform_core::value::{NumberError, size};
use keyform_core::{Item, Number, Value};
use proptest::prelude::*;

fn big(number: Number) -> BigDecimal {
    BigDecimal::from_str(&number.to_string()).expect("a number prints as a decimal")
}

/// Converts an exact result to a [`Number`], or returns why it is not representable.
fn representable(exact: &BigDecimal) -> Result<Number, NumberError> {
    exact.normalized().to_string().parse()
}

proptest! {
    #[test]
    fn items_are_what_was_encoded(attributes in attributes()) {
        let item = Item::from(&attributes);
        prop_assert_eq!(item.to_attributes(), attributes.clone());
        let decoded = Item::decode(item.as_bytes().clone());
        prop_assert_eq!(decoded, Ok(item.clone()));
        prop_assert_eq!(item.size(), size::of_attributes(&attributes));
        for (name, value) in &attributes {
            prop_assert_eq!(item.get(name).map(|value| value.to_tree()), Some(value.clone()));
        }
        prop_assert_eq!(item.iter().count(), attributes.len());
        prop_assert!(item.get("no such name").is_none());
    }

    #[test]
    fn values_are_what_was_encoded(one in value(), two in value()) {
        let (first, second) = (Value::from(&one), Value::from(&two));
        prop_assert_eq!(first.to_tree(), one.clone());
        prop_assert_eq!(first.kind(), one.kind());
        prop_assert_eq!(first == second, one == two);
        prop_assert_eq!(first.view() == second.view(), one == two);
        prop_assert_eq!(size::of_value(first.view()), size::of_tree(&one));
    }

    #[test]
    fn bytes_from_outside_are_an_item_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        let mut bytes = bytes;
        if let Some(first) = bytes.first_mut() {
            *first = 1;
        }
        check_decoded(bytes)?;
    }

    #[test]
    fn damaged_items_are_an_item_or_refused(
        attributes in attributes(),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = Item::from(&attributes).as_bytes().to_vec();
        for (place, byte) in damage {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        check_decoded(bytes)?;
    }

    #[test]
    fn numbers_read_as_decimals_do(text in number_text()) {
        let exact = BigDecimal::from_str(&text).expect("a decimal");
        match text.parse::<Number>() {
            Ok(number) => {
                prop_assert_eq!(big(number), exact);
                prop_assert_eq!(number.to_string().parse::<Number>(), Ok(number));
            }
            Err(error) => prop_assert_ne!(error, NumberError::NotANumber),
        }
    }

    #[test]
    fn any_text_is_a_number_or_refused(text in "[-+.eE0-9]{0,50}|.{0,10}") {
        if let Ok(number) = text.parse::<Number>() {
            prop_assert_eq!(number.to_string().parse::<Number>(), Ok(number));
        }
    }

    #[test]
    fn encoded_numbers_sort_as_numbers_do(one in number(), two in number()) {
        let expected = big(one).cmp(&big(two));
        prop_assert_eq!(one.to_ordered().as_bytes().cmp(two.to_ordered().as_bytes()), expected);
        prop_assert_eq!(one.cmp(&two), expected);
        prop_assert_eq!(Number::from_ordered(one.to_ordered().as_bytes()), Some(one));
        // No encoding is a prefix of another, so that encoded keys can be concatenated.
        if one != two {
            prop_assert!(!two.to_ordered().as_bytes().starts_with(one.to_ordered().as_bytes()));
        }
    }

    #[test]
    fn sums_are_exact_or_refused(one in number(), two in number()) {
        prop_assert_eq!(one.checked_add(two), representable(&(big(one) + big(two))));
        prop_assert_eq!(one.checked_sub(two), representable(&(big(one) - big(two))));
        prop_assert_eq!(one.checked_sub(one), Ok(Number::ZERO));
    }

    #[test]
    fn sums_of_numbers_of_like_size_are_exact(coefficients in proptest::array::uniform2(any::<i64>()), exponent in -140i32..120) {
        let numbers = coefficients.map(|coefficient| format!("{coefficient}e{exponent}").parse::<Number>());
        if let [Ok(one), Ok(two)] = numbers {
            prop_assert_eq!(one.checked_add(two), representable(&(big(one) + big(two))));
        }
    }
}

/// Checks that bytes which decode are the canonical encoding of their item.
fn check_decoded(bytes: Vec<u8>) -> Result<(), TestCaseError> {
    if let Ok(item) = Item::decode(Bytes::from(bytes)) {
        prop_assert_eq!(Item::from(&item.to_attributes()), item.clone());
        prop_assert_eq!(item.size(), size::of_attributes(&item.to_attributes()));
    }
    Ok(())
}
