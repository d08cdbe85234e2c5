//! Properties that hold for any bytes from clients: nothing panics, and a formatted value parses to the same value again.
//! The fuzz targets and the tests that replay the saved corpus share these functions.

use std::collections::BTreeMap;

use keyform_core::expression::{
    ConditionKind, Printer, Substitutions, parse_condition, parse_key_condition, parse_projection, parse_update,
};
use keyform_core::operation::OperationKind;
use keyform_core::{AttributeValue, Error};

/// A body for one of the operations: the first line is the operation's name, or its first byte chooses one.
pub fn json_body(bytes: &[u8]) {
    let line_end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let (line, body) = bytes.split_at(line_end);
    let body = body.get(1..).unwrap_or_default();
    let named = std::str::from_utf8(line).ok().and_then(OperationKind::from_name);
    let chosen = line.first().map_or(0, |byte| usize::from(*byte) % OperationKind::ALL.len());
    let kind = named.unwrap_or(OperationKind::ALL[chosen]);
    drop(keyform_wire::decode(&keyform_wire::target(kind), body));
}

/// A PartiQL statement with a few parameters of different types.
pub fn partiql(bytes: &[u8]) {
    let Ok(statement) = std::str::from_utf8(bytes) else { return };
    let parameters: Vec<AttributeValue> = vec!["a".into(), 1.into(), true.into(), AttributeValue::L(Vec::new())];
    drop(keyform_wire::partiql::parse(statement, Some(parameters)));
    drop(keyform_wire::partiql::parse(statement, None));
}

/// A condition.
pub fn condition(bytes: &[u8]) {
    law(bytes, |text, names| parse_condition(text, ConditionKind::Condition, names), Printer::condition);
}

/// A key condition.
pub fn key_condition(bytes: &[u8]) {
    law(bytes, parse_key_condition, Printer::key_condition);
}

/// An update.
pub fn update(bytes: &[u8]) {
    law(bytes, parse_update, Printer::update);
}

/// A projection.
pub fn projection(bytes: &[u8]) {
    law(bytes, parse_projection, Printer::projection);
}

/// Parsed input can be printed, and parses to the same value again.
fn law<T: PartialEq + std::fmt::Debug>(
    bytes: &[u8],
    parse: impl Fn(&str, &mut Substitutions) -> Result<T, Error>,
    print: impl Fn(&mut Printer, &T) -> String,
) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(tree) = parse(text, &mut substitutions()) else { return };
    let mut printer = Printer::default();
    let printed = print(&mut printer, &tree);
    let given = |map: &BTreeMap<String, String>| Some(map.clone()).filter(|map| !map.is_empty());
    let values = Some(printer.values().clone()).filter(|map| !map.is_empty());
    let mut again = Substitutions::new(given(printer.names()), values).expect("printed placeholders are valid");
    match parse(&printed, &mut again) {
        Ok(read) => assert_eq!(read, tree, "{printed}"),
        // Placeholders are longer than the names they replace: a long text can exceed the limit.
        Err(error) => assert!(error.message().contains("maximum allowed size"), "{printed}: {error}"),
    }
}

fn substitutions() -> Substitutions {
    let names = [("#a", "alpha"), ("#b", "a.b"), ("#s", "size")];
    let names = names.map(|(key, name)| (key.to_owned(), name.to_owned()));
    let set = AttributeValue::Ss(["x".to_owned(), "y".to_owned()].into());
    let values: [(&str, AttributeValue); 6] = [
        (":s", "text".into()),
        (":n", 5.into()),
        (":m", 9.into()),
        (":t", "SS".into()),
        (":l", AttributeValue::L(vec![1.into()])),
        (":ss", set),
    ];
    let values = values.map(|(key, value)| (key.to_owned(), value));
    Substitutions::new(Some(names.into()), Some(values.into())).expect("the placeholders are valid")
}
