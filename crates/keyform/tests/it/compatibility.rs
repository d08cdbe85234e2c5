//! Verifies `docs/compatibility.md`: the tests that it names exist, every difference names one, and every difference in
//! a script is on the page. Differences that a script cannot show are tested here.

use std::fs;
use std::path::{Path, PathBuf};

use keyform::{Database, Error};
use keyform::{Operation, Output};
use keyform_wire::Decoded;

/// Returns the root of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn page() -> String {
    text("docs/compatibility.md")
}

/// Returns the test names in backquotes.
fn references(text: &str) -> Vec<&str> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter(|quoted| quoted.contains(".rs::") || quoted.contains(".script#")).collect()
}

/// Returns the lines of a section.
fn section<'a>(page: &'a str, heading: &str) -> impl Iterator<Item = &'a str> {
    let lines = page.lines().skip_while(move |line| *line != heading).skip(1);
    lines.take_while(|line| !line.starts_with("## "))
}

fn exists(reference: &str) -> bool {
    if let Some((script, heading)) = reference.split_once(".script#") {
        return text(&format!("crates/keyform/tests/golden/{script}.script")).contains(&format!("\n# [{heading}] "));
    }
    let (file, test) = reference.split_once("::").expect("a reference names a file and a test");
    text(file).contains(&format!("\n#[test]\nfn {test}() {{"))
}

#[test]
fn the_page_names_tests_that_exist() {
    let page = page();
    let references = references(&page);
    assert!(references.len() > 40, "the references were found: {}", references.len());
    for reference in references {
        assert!(exists(reference), "{reference} is on the page and nowhere else");
    }
}

#[test]
fn every_difference_names_a_test() {
    let page = page();
    for heading in ["## Deliberate differences", "## Stricter than other implementations"] {
        let rows: Vec<&str> = section(&page, heading).filter(|line| line.starts_with("| ")).skip(1).collect();
        assert!(rows.len() > 5, "{heading} has rows");
        for row in rows {
            assert!(!references(row).is_empty(), "no test: {row}");
        }
    }
}

#[test]
fn every_heading_of_the_scripts_is_on_the_page() {
    let page = page();
    for script in ["differences", "limits"] {
        let text = text(&format!("crates/keyform/tests/golden/{script}.script"));
        for line in text.lines().filter_map(|line| line.strip_prefix("# [")) {
            let (heading, _) = line.split_once(']').expect("a heading ends");
            assert!(page.contains(&format!("`{script}.script#{heading}`")), "{heading} is not on the page");
        }
    }
}

/// Creates a database with a table `Things` whose partition key is `pk`.
fn database() -> Database {
    let database = Database::in_memory();
    let table = r#"{"TableName": "Things", "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}], "BillingMode": "PAY_PER_REQUEST"}"#;
    database.execute_blocking(operation("CreateTable", table)).expect("the table is new");
    database
}

fn operation(name: &str, body: &str) -> Operation {
    match keyform_wire::decode(&format!("DynamoDB_20120810.{name}"), body.as_bytes()) {
        Ok(Decoded::Operation(request)) => request.operation,
        other => panic!("{name} is a valid operation: {other:?}"),
    }
}

fn run(database: &Database, name: &str, body: &str) -> Result<Output, Error> {
    database.execute_blocking(operation(name, body))
}

#[test]
fn placeholders_may_have_more_than_two_megabytes_together() {
    let database = database();
    let long = "x".repeat(300_000);
    let values: Vec<String> = (0..8).map(|number| format!(r#"":v{number}": {{"S": "{long}"}}"#)).collect();
    let tests: Vec<String> = (0..8).map(|number| format!("a{number} <> :v{number}")).collect();
    let body = format!(
        r#"{{"TableName": "Things", "Item": {{"pk": {{"S": "a"}}}}, "ConditionExpression": "{}",
            "ExpressionAttributeValues": {{{}}}}}"#,
        tests.join(" AND "),
        values.join(", ")
    );
    run(&database, "PutItem", &body).expect("their sum is not looked at");
}

#[test]
fn a_batch_gives_back_what_a_transaction_holds() {
    let database = database();
    let transaction = r#"{"TransactItems": [{"Put": {"TableName": "Things", "Item": {"pk": {"S": "a"}, "by": {"S": "transaction"}}}}]}"#;
    let under_way = database.execute(operation("TransactWriteItems", transaction));
    let batch = r#"{"RequestItems": {"Things": [{"DeleteRequest": {"Key": {"pk": {"S": "a"}}}},
        {"PutRequest": {"Item": {"pk": {"S": "b"}}}}]}}"#;
    let Ok(Output::BatchWriteItem(output)) = run(&database, "BatchWriteItem", batch) else {
        panic!("a batch is taken")
    };
    assert_eq!(output.unprocessed["Things"].len(), 1);
    drop(under_way);
}
