//! `keyform fmt` and `keyform model`: exit codes, files and standard input.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

const UGLY: &str = "model chat\nshape Stamped { createdAt: timestamp created, by: ulid } // who and when\n";
const TIDY: &str = "\
model chat

shape Stamped {  // who and when
  createdAt: timestamp created
  by:        ulid
}
";

fn run(folder: &Path, arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_keyform"))
        .args(arguments)
        .env_clear()
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

/// Runs a command; returns its exit code and its output.
fn answer(folder: &Path, arguments: &[&str], input: &str) -> (i32, String) {
    let output = run(folder, arguments, input);
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn files_and_folders_are_formatted_in_their_place() {
    let folder = TempDir::new().unwrap();
    std::fs::create_dir(folder.path().join("models")).unwrap();
    let path = folder.path().join("models/chat.kf");
    std::fs::write(&path, UGLY).unwrap();
    assert_eq!(answer(folder.path(), &["fmt", "--check", "models"], ""), (1, "models/chat.kf\n".to_owned()));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), UGLY);
    assert_eq!(answer(folder.path(), &["fmt", "models"], ""), (0, "models/chat.kf\n".to_owned()));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), TIDY);
    assert_eq!(answer(folder.path(), &["fmt", "--check", "models/chat.kf"], ""), (0, String::new()));
}

#[test]
fn standard_input_is_formatted_to_standard_output() {
    let folder = TempDir::new().unwrap();
    assert_eq!(answer(folder.path(), &["fmt", "-"], UGLY), (0, TIDY.to_owned()));
    assert_eq!(answer(folder.path(), &["fmt", "--check", "-"], UGLY).0, 1);
    assert_eq!(answer(folder.path(), &["fmt", "--check", "-"], TIDY).0, 0);
}

#[test]
fn a_model_with_mistakes_is_shown_and_left_alone() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("bad.kf");
    std::fs::write(&path, "model x\nshpae S { a: ulid }\n").unwrap();
    let output = run(folder.path(), &["fmt", "bad.kf"], "");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("did you mean `shape`?"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "model x\nshpae S { a: ulid }\n");
    assert_eq!(run(folder.path(), &["fmt", "missing.kf"], "").status.code(), Some(2));
}

#[test]
fn a_model_goes_to_json_and_back() {
    let folder = TempDir::new().unwrap();
    let (code, json) = answer(folder.path(), &["model", "json", "-"], UGLY);
    assert_eq!(code, 0);
    assert_eq!(answer(folder.path(), &["model", "text", "-"], &json), (0, TIDY.to_owned()));
    let output = run(folder.path(), &["model", "text", "-"], "{\"declarations\": 1}");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "error: -: the model: a model has a list of `declarations`\n"
    );
    assert_eq!(answer(folder.path(), &["model", "json", "-"], "modle x").0, 1);
    assert!(answer(folder.path(), &["model", "schema"], "").1.contains("\"$schema\""));
}
