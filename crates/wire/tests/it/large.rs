//! Bodies of the maximum size that are built to be expensive: work and response size stay proportional to the body.

use keyform_wire::decode;

const ELEMENTS: usize = 60_000;
/// Limit of an error message, regardless of the number of invalid elements.
const MESSAGE_BYTES_MAX: usize = 3 * 1024 * 1024;

fn refusal(operation: &str, body: &str) -> String {
    let error = decode(&format!("DynamoDB_20120810.{operation}"), body.as_bytes()).expect_err("the body is refused");
    error.message().to_owned()
}

fn many(element: impl Fn(usize) -> String) -> String {
    (0..ELEMENTS).map(element).collect::<Vec<_>>().join(",")
}

#[test]
fn a_list_of_many_wrong_elements_is_refused_briefly() {
    let empty = many(|_| "{}".to_owned());
    let bodies = [
        ("BatchExecuteStatement", format!(r#"{{"Statements":[{empty}]}}"#)),
        ("ExecuteTransaction", format!(r#"{{"TransactStatements":[{empty}]}}"#)),
        ("TransactWriteItems", format!(r#"{{"TransactItems":[{empty}]}}"#)),
        ("BatchWriteItem", format!(r#"{{"RequestItems":{{"table":[{empty}]}}}}"#)),
        ("CreateTable", format!(r#"{{"TableName":"table","GlobalSecondaryIndexes":[{empty}]}}"#)),
    ];
    for (operation, body) in bodies {
        let message = refusal(operation, &body);
        assert!(message.contains("validation error"), "{operation}");
        assert!(message.len() < MESSAGE_BYTES_MAX, "{operation}: {} bytes", message.len());
    }
}

#[test]
fn many_tables_in_a_batch_are_refused() {
    let writes = format!(r#"{{"RequestItems":{{{}}}}}"#, many(|place| format!(r#""table{place}":[]"#)));
    assert!(refusal("BatchWriteItem", &writes).contains("Member must have length greater than or equal to 1"));
    let keys = many(|place| format!(r#""table{place}":{{"Keys":[{{"pk":{{"S":"a"}}}}]}}"#));
    let keys = format!(r#"{{"RequestItems":{{{keys}}}}}"#);
    assert_eq!(refusal("BatchGetItem", &keys), "Too many items requested for the BatchGetItem call");
}

#[test]
fn many_attributes_to_get_are_looked_through_for_duplicates() {
    let names = many(|place| format!(r#""a{place}""#));
    let body = format!(r#"{{"TableName":"table","Key":{{"pk":{{"S":"a"}}}},"AttributesToGet":[{names},"a59999"]}}"#);
    let message = refusal("GetItem", &body);
    assert!(message.ends_with("a59999"), "{}", &message[message.len() - 200..]);
}

#[test]
fn a_name_that_stands_twice_has_its_last_value() {
    let updates = many(|place| format!(r#""a{place}":{{"Action":"DELETE"}}"#));
    let body = format!(
        r#"{{"TableName":"table","Key":{{"pk":{{"S":"a"}}}},"AttributeUpdates":{{{updates},"a0":{{"Action":"BOGUS"}}}}}}"#
    );
    assert!(refusal("UpdateItem", &body).contains("[ADD, DELETE, PUT]"));
}
