//! `keyform explain`: text and JSON, one pattern or several, and the error for an unknown pattern.

use std::io::Write as _;
use std::process::{Command, Stdio};

const MODEL: &str = "\
model shop

table Orders { key pk, sk }

entity Order in Orders {
  key \"CUSTOMER#{customer}\", \"ORDER#{order}\"

  customer: ulid
  order:    ulid
}

read order(customer, order) -> Order?
read orders(customer) -> [Order] page 20
";

/// Runs the command on the model from standard input; returns exit code, standard output and standard error.
fn explain(arguments: &[&str]) -> (i32, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_keyform"))
        .args(["explain", "-"])
        .args(arguments)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(MODEL.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn every_pattern_is_explained() {
    let (code, printed, _) = explain(&[]);
    assert_eq!(code, 0);
    assert!(printed.contains("GetItem of table Orders"), "{printed}");
    assert!(printed.contains("sk begins with \"ORDER#\""), "{printed}");
    assert!(printed.contains("aws dynamodb query \\\n    --table-name Orders"), "{printed}");
}

#[test]
fn one_pattern_is_explained_as_json() {
    let (code, printed, _) = explain(&["ord*s", "--json"]);
    let explained: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(code, 0);
    assert_eq!(explained.as_array().unwrap().len(), 1);
    assert_eq!(explained[0]["operation"], "Query");
    assert_eq!(explained[0]["request"]["Limit"], 20);
}

#[test]
fn a_pattern_that_is_not_there_is_an_error() {
    let (code, _, said) = explain(&["nothing"]);
    assert_eq!(code, 2);
    assert!(said.contains("has no read or write `nothing`"), "{said}");
}
