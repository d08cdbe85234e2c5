//! Golden tests of request decoding. Each file of `golden/` has cases of a target, a body, and the debug form of the
//! operation or the error. `KEYFORM_BLESS=1 cargo test -p keyform-wire --test it golden` writes the current
//! results to the files; review the diff like code.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use keyform_wire::{Decoded, decode};

#[test]
fn requests_become_what_the_golden_files_say() {
    let update = std::env::var_os("KEYFORM_BLESS").is_some();
    let mut failures = Vec::new();
    for path in golden_files() {
        let text = fs::read_to_string(&path).expect("golden files are readable");
        let actual = run(&text);
        if update {
            fs::write(&path, &actual).expect("golden files are writable");
        } else if actual != text {
            failures.push(first_difference(&path, &text, &actual));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn golden_files() -> Vec<PathBuf> {
    let folder = Path::new("tests/golden");
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).expect("the folder is there").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

/// Runs each case: `> target`, `> body`, then the lines of the result up to a blank line. Lines that start with `#`
/// are kept.
fn run(text: &str) -> String {
    let mut out = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with('#') {
            writeln!(out, "{line}\n").expect("a string takes all");
        }
        let Some(target) = line.strip_prefix("> ") else { continue };
        let body = lines.next().and_then(|line| line.strip_prefix('>')).expect("a body after the target").trim_start();
        writeln!(out, "> {target}\n> {body}\n{}\n", outcome(target, body)).expect("a string takes all");
    }
    out
}

fn outcome(target: &str, body: &str) -> String {
    let target = if target.contains('_') { target.to_owned() } else { format!("DynamoDB_20120810.{target}") };
    match decode(&target, body.as_bytes()) {
        Ok(Decoded::Operation(request)) => format!("{:?}", request.operation),
        Ok(Decoded::DescribeEndpoints) => "DescribeEndpoints".to_owned(),
        Err(error) => error.to_string(),
    }
}

fn first_difference(path: &Path, expected: &str, actual: &str) -> String {
    let pair = expected.lines().zip(actual.lines()).find(|(expected, actual)| expected != actual);
    let (expected, actual) = pair.unwrap_or(("(shorter or longer)", ""));
    format!("{}:\n  expected {expected}\n  actual   {actual}", path.display())
}
