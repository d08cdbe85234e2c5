//! `keyform check`: output and exit codes.
#![cfg(unix)]

use std::fs;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

const GOOD: &str = "model shop\n\ntable Shop {\n  key pk\n}\n\nentity Order in Shop {\n  key \"ORDER#{orderId}\"\n\n  \
                    orderId: ulid = ulid()\n}\n\nread orderById(orderId) -> Order?\n\nwrite place() -> Order {\n  create Order {}\n}\n";

fn folder() -> TempDir {
    TempDir::new().unwrap()
}

fn check(folder: &TempDir, arguments: &[&str]) -> (Option<i32>, String, String) {
    told(command(folder, arguments).output().unwrap())
}

fn command(folder: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_keyform"));
    command.arg("check").args(arguments).env_clear().current_dir(folder.path());
    command
}

fn told(output: Output) -> (Option<i32>, String, String) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_good_model_ends_with_zero_and_a_bad_one_with_one() {
    let folder = folder();
    fs::write(folder.path().join("good.kf"), GOOD).unwrap();
    let (code, out, _) = check(&folder, &["good.kf"]);
    assert_eq!(code, Some(0), "{out}");
    assert!(out.ends_with("1 model: nothing found\n") || !out.contains("error"), "{out}");
    fs::write(folder.path().join("bad.kf"), GOOD.replace("-> Order?", "-> Ordr?")).unwrap();
    let (code, out, _) = check(&folder, &["bad.kf"]);
    assert_eq!(code, Some(1));
    assert!(out.starts_with("error[N06]: unknown entity `Ordr`\n  --> bad.kf:13:28\n"), "{out}");
    assert!(out.contains("\n1 model: 1 error"), "{out}");
    assert!(!out.contains('\u{1b}'), "no colours without a terminal");
}

#[test]
fn a_missing_file_and_an_empty_folder_end_with_two() {
    let folder = folder();
    assert_eq!(check(&folder, &["missing.kf"]).0, Some(2));
    let (code, out, error) = check(&folder, &[]);
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(error.contains("no .kf file in this directory"), "{error}");
}

#[test]
fn without_files_the_models_of_the_folder_are_checked() {
    let folder = folder();
    fs::create_dir_all(folder.path().join("target")).unwrap();
    fs::create_dir_all(folder.path().join("deep/er")).unwrap();
    fs::write(folder.path().join("target/no.kf"), "nonsense").unwrap();
    fs::write(folder.path().join("deep/er/a.kf"), GOOD).unwrap();
    fs::write(folder.path().join("b.kf"), GOOD).unwrap();
    let (code, out, _) = check(&folder, &[]);
    assert_eq!(code, Some(0), "{out}");
    assert!(out.contains("2 models: "), "{out}");
}

#[test]
fn json_and_sarif_are_machine_readable() {
    let folder = folder();
    fs::write(folder.path().join("bad.kf"), GOOD.replace("-> Order?", "-> Ordr?")).unwrap();
    let (code, out, _) = check(&folder, &["bad.kf", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &report["errors"]), (Some(1), &serde_json::json!(1)));
    assert_eq!(report["findings"][0]["edits"][0]["text"], "Order");
    let (_, out, _) = check(&folder, &["bad.kf", "--format", "sarif"]);
    let log: serde_json::Value = serde_json::from_str(&out).unwrap();
    let run = &log["runs"][0];
    let number = usize::try_from(run["results"][0]["ruleIndex"].as_u64().unwrap()).unwrap();
    assert_eq!(run["tool"]["driver"]["rules"][number]["id"], "N06");
}

#[test]
fn standard_input_is_checked_too() {
    let folder = folder();
    let mut child = command(&folder, &["-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"model x\ntabel T {}\n").unwrap();
    let (code, out, _) = told(child.wait_with_output().unwrap());
    assert_eq!(code, Some(1));
    assert!(out.contains("standard input:2:1"), "{out}");
}

#[test]
fn a_code_is_explained() {
    let folder = folder();
    let (code, out, _) = check(&folder, &["--explain", "n04"]);
    assert_eq!(code, Some(0));
    assert!(out.starts_with("## N04: unknown table\n"), "{out}");
    let (code, _, error) = check(&folder, &["--explain", "Q99"]);
    assert_eq!(code, Some(2));
    assert!(error.contains("unknown rule Q99"), "{error}");
}

#[test]
fn warnings_fail_only_where_they_are_denied() {
    let folder = folder();
    fs::write(folder.path().join("list.kf"), format!("{GOOD}\nread all() -> [Order] scan\n")).unwrap();
    let (code, out, _) = check(&folder, &["list.kf"]);
    assert!(code == Some(0) && out.contains("warning["), "{out}");
    assert_eq!(check(&folder, &["list.kf", "--deny", "warnings"]).0, Some(1));
}
