//! Breaks rules: turns a valid request into one that a server should usually reject.

use serde_json::{Map, Value, json};

use crate::generate::value::number;
use crate::random::Random;
use crate::request::{Request, Touched};
use crate::world::Table;

/// Returns the request with one additional error.
pub fn request(random: &mut Random, mut request: Request, tables: &[Table]) -> Request {
    break_one(random, &mut request.body);
    if !request.touched.is_empty() {
        add_written_keys(&mut request, tables);
    }
    request
}

/// A changed key names another item, which the request then writes too.
fn add_written_keys(request: &mut Request, tables: &[Table]) {
    let places: Vec<Value> = key_places(&mut request.body).into_iter().map(|place| place.clone()).collect();
    for (table, place) in tables.iter().flat_map(|table| (0..places.len()).map(move |place| (table, place))) {
        let names = table.key_attributes().map(|key| key.name.as_str());
        let key: Option<Map<String, Value>> =
            names.map(|name| Some((name.to_owned(), places[place].get(name)?.clone()))).collect();
        let Some(key) = key.map(Value::Object) else { continue };
        let touched = Touched { table: table.name.clone(), key };
        if request.touched.iter().any(|known| known.table == touched.table) && !request.touched.contains(&touched) {
            request.touched.push(touched);
        }
    }
}

fn break_one(random: &mut Random, body: &mut Value) {
    match random.weighted(&[3, 3, 6, 4, 10, 5, 5, 3, 3]) {
        0 => drop_member(random, body),
        1 => wrong_json_type(random, body),
        2 => bad_member(random, body),
        3 => bad_key(random, body),
        4 => bad_expression(random, body),
        5 => bad_placeholder(random, body),
        6 => bad_value(random, body),
        7 => bad_table(random, body),
        _ => contradiction(random, body),
    }
}

fn members(body: &Value) -> Vec<String> {
    body.as_object().map(|map| map.keys().cloned().collect()).unwrap_or_default()
}

fn drop_member(random: &mut Random, body: &mut Value) {
    let names = members(body);
    if let (Some(map), false) = (body.as_object_mut(), names.is_empty()) {
        map.remove(random.pick(&names));
    }
}

fn wrong_json_type(random: &mut Random, body: &mut Value) {
    let names = members(body);
    if !names.is_empty() {
        let name = random.pick(&names);
        body[name.as_str()] = match random.below(5) {
            0 => json!(7),
            1 => json!("text"),
            2 => json!([]),
            3 => json!({}),
            _ => json!(true),
        };
    }
}

fn bad_member(random: &mut Random, body: &mut Value) {
    match random.below(14) {
        0 => body["ReturnValues"] = random.word(&["ALL_NEW", "UPDATED_OLD", "EVERYTHING", ""]).into(),
        1 => body["ReturnConsumedCapacity"] = "SOME".into(),
        2 => body["ReturnItemCollectionMetrics"] = "BIG".into(),
        3 => body["Limit"] = json!(*random.pick(&[0, -1])),
        4 => body["Select"] = random.word(&["SPECIFIC_ATTRIBUTES", "NONE", "COUNT"]).into(),
        5 => body["IndexName"] = random.word(&["absent", "", "ab", "a b c"]).into(),
        6 => body["ConsistentRead"] = true.into(),
        7 => body["Segment"] = json!(random.below(4)),
        8 => {
            body["Segment"] = json!(random.below(6));
            body["TotalSegments"] = json!(random.below(4));
        }
        9 => body["ReturnValuesOnConditionCheckFailure"] = "SOME".into(),
        10 => body["ClientRequestToken"] = json!(random.word(&["", "a-token-that-is-longer-than-the-36-allowed"])),
        11 => {
            body["ExclusiveStartKey"] =
                random.pick(&[json!({}), json!({"pk": {"S": "a"}}), json!({"zz": {"N": "1"}})]).clone()
        }
        12 => body["AttributesToGet"] = random.pick(&[json!([]), json!(["a", "a"]), json!(["a"])]).clone(),
        _ => body["ConditionalOperator"] = random.word(&["AND", "XOR"]).into(),
    }
}

/// Returns the positions of keys and items in a request.
fn key_places(body: &mut Value) -> Vec<&mut Value> {
    let mut found = Vec::new();
    collect(body, &mut found, &["Key", "Item", "ExclusiveStartKey"]);
    found
}

fn collect<'a>(value: &'a mut Value, found: &mut Vec<&'a mut Value>, names: &[&str]) {
    match value {
        Value::Object(map) => {
            for (name, inner) in map.iter_mut() {
                if names.contains(&name.as_str()) && inner.is_object() {
                    found.push(inner);
                } else {
                    collect(inner, found, names);
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|inner| collect(inner, found, names)),
        _ => {}
    }
}

fn bad_key(random: &mut Random, body: &mut Value) {
    let mut places = key_places(body);
    if places.is_empty() {
        return;
    }
    let place = random.below(places.len());
    let key = &mut *places[place];
    let name = random.word(&["pk", "sk"]);
    match random.below(8) {
        0 => drop(key.as_object_mut().and_then(|map| map.remove(name))),
        1 => key["extra"] = json!({"S": "x"}),
        2 => key[name] = json!({"S": ""}),
        3 => key[name] = json!({"BOOL": true}),
        4 => key[name] = json!({"SS": ["a"]}),
        5 => key[name] = json!({"N": "1"}),
        6 => key[name] = json!({"S": "x".repeat(2_049)}),
        _ => key[name] = json!({"B": ""}),
    }
}

const EXPRESSIONS: [&str; 6] = [
    "ConditionExpression",
    "FilterExpression",
    "UpdateExpression",
    "ProjectionExpression",
    "KeyConditionExpression",
    "Statement",
];

fn strings_named<'a>(value: &'a mut Value, found: &mut Vec<&'a mut String>, names: &[&str]) {
    match value {
        Value::Object(map) => {
            for (name, inner) in map.iter_mut() {
                match (names.contains(&name.as_str()), inner) {
                    (true, Value::String(text)) => found.push(text),
                    (_, other) => strings_named(other, found, names),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|inner| strings_named(inner, found, names)),
        _ => {}
    }
}

fn bad_expression(random: &mut Random, body: &mut Value) {
    let mut places = Vec::new();
    strings_named(body, &mut places, &EXPRESSIONS);
    if places.is_empty() {
        return;
    }
    let place = random.below(places.len());
    let text = spoil_text(random, places[place]);
    *places[place] = text;
}

fn spoil_text(random: &mut Random, text: &str) -> String {
    let mut tokens: Vec<String> = text.split(' ').map(str::to_owned).collect();
    let at = random.below(tokens.len());
    const INTRUDERS: [&str; 22] = [
        "AND", "OR", "NOT", "(", ")", ",", "=", "<>", "status", "name", "a", "pk", "sk", "SET", "REMOVE", "size(a)",
        "5", "\"x\"", "BETWEEN", "IN", "[0]", "$",
    ];
    match random.below(7) {
        0 => drop(tokens.remove(at)),
        1 | 2 => tokens.insert(at, random.word(&INTRUDERS).to_owned()),
        3 => tokens[at] = random.word(&INTRUDERS).to_owned(),
        4 => tokens.clear(),
        5 => tokens = vec![format!("({})", text)],
        _ => {
            let again = tokens.clone();
            tokens.extend(again);
        }
    }
    tokens.join(" ")
}

fn bad_placeholder(random: &mut Random, body: &mut Value) {
    match random.below(7) {
        0 => put_in(body, "ExpressionAttributeValues", ":unused", json!({"S": "x"})),
        1 => put_in(body, "ExpressionAttributeNames", "#unused", json!("x")),
        2 => put_in(body, "ExpressionAttributeValues", "nocolon", json!({"S": "x"})),
        3 => put_in(body, "ExpressionAttributeNames", "nohash", json!("x")),
        4 => drop(body["ExpressionAttributeValues"].as_object_mut().and_then(|map| map.remove(":v0"))),
        5 => body["ExpressionAttributeValues"] = json!({}),
        _ => {
            let value = spoiled_value(random);
            put_in(body, "ExpressionAttributeValues", ":v0", value);
        }
    }
    // Indexing a missing member creates it; a member that stays null did not exist.
    if let Some(map) = body.as_object_mut() {
        map.retain(|_, value| !value.is_null());
    }
}

/// Adds to a map of the request, unless the map was replaced by another value.
fn put_in(body: &mut Value, member: &str, name: &str, value: Value) {
    if body.get(member).is_none_or(Value::is_object) {
        body[member][name] = value;
    }
}

fn spoiled_value(random: &mut Random) -> Value {
    match random.below(16) {
        0 => json!({}),
        1 => json!({"S": "a", "N": "1"}),
        2 => json!({"SS": []}),
        3 => json!({"NS": []}),
        4 => json!({"SS": ["a", "a"]}),
        5 => json!({"NS": ["1", "1.0"]}),
        6 => json!({"N": ""}),
        7 => json!({"N": "abc"}),
        8 => json!({"N": "1e126"}),
        9 => json!({"N": "1e-131"}),
        10 => json!({"N": "123456789012345678901234567890123456789"}),
        11 => json!({"NULL": false}),
        12 => json!({"X": "a"}),
        13 => json!({"BS": []}),
        14 => json!({"L": [{"N": "x"}]}),
        _ => json!({"M": {"q": {"SS": []}}}),
    }
}

fn bad_value(random: &mut Random, body: &mut Value) {
    let mut places = key_places(body);
    if places.is_empty() {
        return;
    }
    let place = random.below(places.len());
    let name = random.word(&["a", "b", "pk", "g0", "r0", "loc"]);
    places[place][name] = match random.below(4) {
        0 => json!({"S": ""}),
        1 => json!({"N": number(random)}),
        _ => spoiled_value(random),
    };
}

fn bad_table(random: &mut Random, body: &mut Value) {
    let mut places = Vec::new();
    strings_named(body, &mut places, &["TableName"]);
    if places.is_empty() {
        return;
    }
    let place = random.below(places.len());
    *places[place] = match random.below(6) {
        0 => String::new(),
        1 => "ab".to_owned(),
        2 => "no such table".to_owned(),
        3 => "x".repeat(256),
        4 => "arn:aws:dynamodb:us-east-1:000000000000:table/absent".to_owned(),
        _ => "parity-absent".to_owned(),
    };
}

/// Combines legacy and new parameters, or other mutually exclusive members.
fn contradiction(random: &mut Random, body: &mut Value) {
    match random.below(7) {
        0 => body["Expected"] = json!({"a": {"Exists": false}}),
        1 => body["ConditionExpression"] = "attribute_exists(a)".into(),
        2 => body["AttributeUpdates"] = json!({"a": {"Action": "PUT", "Value": {"S": "x"}}}),
        3 => body["FilterExpression"] = "attribute_exists(a)".into(),
        4 => body["ScanFilter"] = json!({"a": {"ComparisonOperator": "NULL"}}),
        5 => body["QueryFilter"] = json!({"a": {"ComparisonOperator": "NULL"}}),
        _ => body["KeyConditions"] = json!({"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "a"}]}}),
    }
}
