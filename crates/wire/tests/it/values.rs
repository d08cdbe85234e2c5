//! Properties: reading is the inverse of writing, and no input makes the reader panic.

use std::collections::BTreeSet;

use keyform_core::operation::GetItemOutput;
use keyform_core::{AttributeValue, Attributes, Item, Number, Operation, Output};
use keyform_wire::{Decoded, Echo, decode, encode};
use proptest::prelude::*;

const TARGETS: &[&str] = &[
    "DynamoDB_20120810.PutItem",
    "DynamoDB_20120810.GetItem",
    "DynamoDB_20120810.UpdateItem",
    "DynamoDB_20120810.DeleteItem",
    "DynamoDB_20120810.Query",
    "DynamoDB_20120810.Scan",
    "DynamoDB_20120810.BatchGetItem",
    "DynamoDB_20120810.BatchWriteItem",
    "DynamoDB_20120810.TransactGetItems",
    "DynamoDB_20120810.TransactWriteItems",
    "DynamoDB_20120810.ExecuteStatement",
    "DynamoDB_20120810.BatchExecuteStatement",
    "DynamoDB_20120810.ExecuteTransaction",
    "DynamoDB_20120810.CreateTable",
    "DynamoDB_20120810.UpdateTable",
    "DynamoDB_20120810.ListTables",
    "DynamoDB_20120810.UpdateTimeToLive",
    "DynamoDB_20120810.TagResource",
    "DynamoDBStreams_20120810.DescribeStream",
    "DynamoDBStreams_20120810.GetShardIterator",
    "DynamoDBStreams_20120810.GetRecords",
];

fn number() -> impl Strategy<Value = Number> {
    (any::<bool>(), "[0-9]{1,38}", -80i32..80).prop_map(|(negative, digits, exponent)| {
        let sign = if negative { "-" } else { "" };
        format!("{sign}{digits}E{exponent}").parse().expect("38 digits within range")
    })
}

fn scalar() -> impl Strategy<Value = AttributeValue> {
    prop_oneof![
        any::<String>().prop_map(AttributeValue::S),
        number().prop_map(AttributeValue::N),
        prop::collection::vec(any::<u8>(), 0..20).prop_map(AttributeValue::B),
        any::<bool>().prop_map(AttributeValue::Bool),
        Just(AttributeValue::Null),
        prop::collection::btree_set(any::<String>(), 1..4).prop_map(AttributeValue::Ss),
        prop::collection::vec(number(), 1..4).prop_map(|set| AttributeValue::Ns(set.into_iter().collect())),
        prop::collection::btree_set(prop::collection::vec(any::<u8>(), 0..9), 1..4).prop_map(AttributeValue::Bs),
    ]
}

fn value() -> impl Strategy<Value = AttributeValue> {
    scalar().prop_recursive(5, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(AttributeValue::L),
            prop::collection::btree_map("\\PC{1,8}", inner, 0..5).prop_map(AttributeValue::M),
        ]
    })
}

fn attributes() -> impl Strategy<Value = Attributes> {
    prop::collection::btree_map("\\PC{1,12}", value(), 0..6)
}

/// Returns the echo of a GetItem request, which encoding a response needs.
fn echo() -> Echo {
    match decode(TARGETS[1], br#"{"TableName":"abc","Key":{}}"#) {
        Ok(Decoded::Operation(request)) => request.echo,
        other => panic!("a plain GetItem is accepted, not {other:?}"),
    }
}

fn written(attributes: &Attributes) -> String {
    let output = Output::GetItem(GetItemOutput { item: Some(Item::from(attributes)), capacity: None });
    let mut out = Vec::new();
    encode(&echo(), &output, &mut out);
    String::from_utf8(out).expect("answers are UTF-8")
}

fn read(body: &str) -> Attributes {
    match decode(TARGETS[0], body.as_bytes()) {
        Ok(Decoded::Operation(request)) => match request.operation {
            Operation::PutItem(put) => put.item,
            other => panic!("a PutItem, not {other:?}"),
        },
        other => panic!("{body} is accepted, not {other:?}"),
    }
}

proptest! {
    #[test]
    fn values_survive_writing_and_reading(attributes in attributes()) {
        let answer = written(&attributes);
        let body = format!(r#"{{"TableName":"abc",{}"#, answer.strip_prefix('{').expect("an object"));
        prop_assert_eq!(read(&body), attributes);
    }

    #[test]
    fn random_bytes_never_panic(target in prop::sample::select(TARGETS), bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        drop(decode(target, &bytes));
    }

    #[test]
    fn random_json_like_text_never_panics(target in prop::sample::select(TARGETS), text in r#"([{}\[\]:,"\\ a-z0-9.eE+-]|"[A-Z][a-z]+"|\\u[0-9a-f]{4}){0,60}"#) {
        drop(decode(target, text.as_bytes()));
    }

    #[test]
    fn damaged_requests_never_panic(case in 0usize..1000, cut in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let cases = golden_cases();
        let (target, body) = &cases[case % cases.len()];
        drop(decode(target, &body.as_bytes()[..cut.index(body.len() + 1)]));
        let mut damaged = body.clone().into_bytes();
        if !damaged.is_empty() {
            let place = at.index(damaged.len());
            damaged[place] = byte;
        }
        drop(decode(target, &damaged));
    }
}

/// Returns every request of the golden files.
fn golden_cases() -> &'static [(String, String)] {
    static CASES: std::sync::OnceLock<Vec<(String, String)>> = std::sync::OnceLock::new();
    CASES.get_or_init(|| {
        let files = std::fs::read_dir("tests/golden").expect("the folder is there");
        files.flat_map(|file| cases_in(&file.expect("an entry").path())).collect()
    })
}

fn cases_in(path: &std::path::Path) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(path).expect("golden files are readable");
    let inputs: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix('>')).map(str::trim_start).collect();
    let target = |name: &str| if name.contains('_') { name.to_owned() } else { format!("DynamoDB_20120810.{name}") };
    inputs.chunks_exact(2).map(|pair| (target(pair[0]), pair[1].to_owned())).collect()
}

#[test]
fn deep_nesting_is_an_error_and_no_overflow() {
    for (open, close) in [(r#"{"L":["#, "]}"), (r#"{"M":{"a":"#, "}}")] {
        let nested = |depth: usize| format!("{}{{\"S\":\"x\"}}{}", open.repeat(depth), close.repeat(depth));
        let body = |depth| format!(r#"{{"TableName":"abc","Item":{{"v":{}}}}}"#, nested(depth));
        assert!(decode(TARGETS[0], body(31).as_bytes()).is_ok());
        let error = decode(TARGETS[0], body(32).as_bytes()).expect_err("32 levels are too many");
        assert!(error.message().contains("Nesting Levels have exceeded supported limits"), "{error}");
        assert!(decode(TARGETS[0], body(100_000).as_bytes()).is_err());
        assert!(decode(TARGETS[0], &body(100_000).as_bytes()[..500_000]).is_err());
    }
}

#[test]
fn sets_are_written_in_order() {
    let numbers: BTreeSet<Number> = [30, 4, -1].into_iter().map(Number::from).collect();
    let attributes = Attributes::from([("n".to_owned(), AttributeValue::Ns(numbers))]);
    assert_eq!(written(&attributes), r#"{"Item":{"n":{"NS":["-1","4","30"]}}}"#);
}

#[test]
fn what_is_too_long_is_shown_but_not_without_end() {
    let body = |action: &str| format!(r#"{{"TransactItems":[{}]}}"#, vec![action; 101].join(","));
    let message = |body: String| {
        let error =
            decode("DynamoDB_20120810.TransactWriteItems", body.as_bytes()).expect_err("101 actions are too many");
        error.message().to_owned()
    };
    let short = message(body(r#"{"Delete":{"TableName":"abc","Key":{"pk":{"N":"1"}}}}"#));
    assert!(short.starts_with("1 validation error detected: Value '[TransactWriteItem(conditionCheck=null, put=null, delete=Delete(key={pk=AttributeValue(s=null, n=1, b=null,"), "{short}");
    assert!(short.ends_with("workloadProfileName=null), update=null)]' at 'transactItems' failed to satisfy constraint: Member must have length less than or equal to 100"), "{short}");
    let values = vec![r#"{"S":""}"#; 20_000].join(",");
    let long = message(body(&format!(r#"{{"Put":{{"TableName":"abc","Item":{{"l":{{"L":[{values}]}}}}}}}}"#)));
    assert!(long.len() < 1024 * 1024, "{}", long.len());
}
