//! Values survive the conversion to the SDK and back, and numbers keep all digits.

use std::collections::BTreeSet;

use keyform_aws::value::{attributes_from_sdk, attributes_to_sdk, from_sdk, to_sdk};
use keyform_core::{AttributeValue, Attributes, Number};
use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;

fn number() -> impl Strategy<Value = Number> {
    ("-?[1-9][0-9]{0,37}", -120..80_i32)
        .prop_map(|(digits, exponent)| format!("{digits}E{exponent}").parse().expect("it is in the range of numbers"))
}

fn scalar() -> impl Strategy<Value = AttributeValue> {
    prop_oneof![
        any::<String>().prop_map(AttributeValue::S),
        number().prop_map(AttributeValue::N),
        vec(any::<u8>(), 0..20).prop_map(AttributeValue::B),
        any::<bool>().prop_map(AttributeValue::Bool),
        Just(AttributeValue::Null),
        btree_set(any::<String>(), 1..4).prop_map(AttributeValue::Ss),
        btree_set(number(), 1..4).prop_map(AttributeValue::Ns),
        btree_set(vec(any::<u8>(), 0..6), 1..4).prop_map(AttributeValue::Bs),
    ]
}

fn value() -> impl Strategy<Value = AttributeValue> {
    scalar().prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(AttributeValue::L),
            btree_map(any::<String>(), inner, 0..5).prop_map(AttributeValue::M),
        ]
    })
}

proptest! {
    #[test]
    fn a_value_comes_back_as_it_went(value in value()) {
        prop_assert_eq!(from_sdk(&to_sdk(&value)), Ok(value));
    }

    #[test]
    fn attributes_come_back_as_they_went(attributes in btree_map(any::<String>(), value(), 0..6)) {
        let attributes: Attributes = attributes;
        prop_assert_eq!(attributes_from_sdk(&attributes_to_sdk(&attributes)), Ok(attributes));
    }
}

#[test]
fn all_digits_of_a_number_travel() {
    for text in ["12345678901234567890123456789012345678", "-0.00000000000000000000000000000000000001", "0"] {
        let number: Number = text.parse().expect("a number");
        let sent = to_sdk(&AttributeValue::N(number));
        assert_eq!(sent.as_n().map(|sent| sent.parse::<Number>()), Ok(Ok(number)));
    }
}

#[test]
fn a_set_with_a_member_twice_is_read_as_a_set() {
    let twice = aws_sdk_dynamodb::types::AttributeValue::Ns(vec!["1".to_owned(), "1.0".to_owned()]);
    assert_eq!(from_sdk(&twice), Ok(AttributeValue::Ns(BTreeSet::from([Number::from(1)]))));
}

#[test]
fn what_is_no_number_is_an_answer_that_cannot_be_read() {
    let wrong = aws_sdk_dynamodb::types::AttributeValue::N("twelve".to_owned());
    let error = from_sdk(&wrong).expect_err("it is no number");
    assert_eq!(error.message(), "the store's answer cannot be read: `twelve` as a number");
}
