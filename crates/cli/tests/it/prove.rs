//! `keyform prove`: output and exit codes.
#![cfg(unix)]

use std::fs;
use std::process::Command;

use tempfile::TempDir;

const NOTES: &str = r#"model notes

caller tenantId: slug(1..20)

table Notes { key pk, sk }

entity Note in Notes {
  key "TENANT#{tenantId}", "NOTE#{noteId}"

  tenantId: slug(1..20)
  noteId:   ulid = ulid()
  text:     string(1..100)
}

read note(tenantId, noteId) -> Note?  allow tenantId = caller.tenantId
"#;

fn prove(model: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("notes.kf"), model).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_keyform"));
    let output = command.arg("prove").args(arguments).env_clear().current_dir(folder.path()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn model_without_a_leak_ends_with_zero() {
    let (code, out, error) = prove(NOTES, &["notes.kf"]);
    assert_eq!(code, Some(0), "{out}{error}");
    assert!(out.starts_with("notes.kf: no leaks in ") && out.trim_end().ends_with("seeds 0 to 7)"), "{out}");
    assert_eq!(error, "", "no progress without a terminal");
}

#[test]
fn leak_is_a_transcript_and_ends_with_one() {
    let leaky = NOTES.replace("allow tenantId = caller.tenantId", "allow caller.tenantId is some");
    let (code, out, _) = prove(&leaky, &["notes.kf", "--seeds", "1"]);
    assert_eq!(code, Some(1), "{out}");
    assert!(out.starts_with("leak: `note` shows items of the other tenant\n  tenants  tenantId is "), "{out}");
    assert!(out.contains("\n  item     Note { ") && out.contains("\n  call     note("), "{out}");
    assert!(out.contains("\nnotes.kf: 1 leak in ") && out.trim_end().ends_with("seed 0)"), "{out}");
    assert!(!out.contains('\u{1b}'), "no colours without a terminal");
    let (code, out, _) = prove(&leaky, &["notes.kf", "--format", "json"]);
    assert_eq!(code, Some(1), "{out}");
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(document["leaks"][0]["pattern"], "note");
    assert_eq!(document["leaks"][0]["kind"], "read");
    assert_eq!(document["seeds"], 8);
}

#[test]
fn model_with_errors_ends_with_one_and_a_missing_file_with_two() {
    let (code, out, error) = prove(&NOTES.replace("-> Note?", "-> Nte?"), &["notes.kf"]);
    assert_eq!((code, out.as_str()), (Some(1), ""), "{error}");
    assert!(error.contains("error[N06]") && error.contains("repair them first"), "{error}");
    assert_eq!(prove(NOTES, &["missing.kf"]).0, Some(2));
}

#[test]
fn model_without_callers_has_nothing_to_prove() {
    let open = NOTES.replace("caller tenantId: slug(1..20)\n", "").replace("allow tenantId = caller.tenantId", "");
    let (code, out, error) = prove(&open, &["notes.kf"]);
    assert_eq!(code, Some(0), "{out}{error}");
    assert!(out.contains("nothing to prove"), "{out}");
}
