//! `keyform copy`, `export`, `import --to` and `deploy` as processes that are killed and resumed.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

fn keyform(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_keyform"));
    command.args(arguments).current_dir(folder).env("KEYFORM_MASTER_KEY_FILE", folder.join("master.key"));
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    keyform(folder, arguments).output().unwrap()
}

fn succeeds(folder: &Path, arguments: &[&str]) -> String {
    let done = run(folder, arguments);
    let told = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{arguments:?}: {told}");
    told
}

/// Returns the exported items, sorted.
fn items(folder: &Path, store: &str) -> Vec<String> {
    succeeds(folder, &["export", "things", "--from", store, "-o", "out.jsonl"]);
    let text = fs::read_to_string(folder.join("out.jsonl")).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn a_copy_that_is_killed_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let lines: String =
        (0..300).map(|number| format!("{{\"pk\":{{\"S\":\"p{number}\"}},\"n\":{{\"N\":\"{number}\"}}}}\n")).collect();
    fs::write(folder.join("in.jsonl"), lines).unwrap();
    succeeds(folder, &["import", "in.jsonl", "--to", "data:one", "--table", "things", "--key", "pk:S"]);
    let copy = ["copy", "--from", "data:one", "--to", "data:two", "--segments", "2", "--page-items", "10"];
    let slowly = [copy.as_slice(), &["--write-units", "100"]].concat();
    let mut child = keyform(folder, &slowly).spawn().unwrap();
    let checkpoint = folder.join("keyform-copy.json");
    let begun = Instant::now();
    // Wait until some pages are in the checkpoint and others are not.
    while !fs::read_to_string(&checkpoint).is_ok_and(|text| text.contains("\"items\":20")) {
        assert!(begun.elapsed() < Duration::from_secs(60), "it never began");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let told = succeeds(folder, &copy);
    assert!(told.contains("300 items") && told.contains("both sides have 300 items"), "{told}");
    assert!(!checkpoint.exists());
    assert_eq!(items(folder, "data:one"), items(folder, "data:two"));
    let again = run(folder, &copy);
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&again.stderr).contains("is not empty"), "{again:?}");
}

#[test]
fn a_store_that_is_none_is_told_how_to_be_named() {
    let folder = tempfile::tempdir().unwrap();
    let done = run(folder.path(), &["copy", "--from", "one", "--to", "two"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&done.stderr).contains("`one` is not a store. A store is data:DIR"));
}

#[test]
fn a_deploy_tells_by_its_exit_code_what_there_is_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let model =
        |body: &str| fs::write(folder.join("m.kf"), format!("model m\n\ntable T \"t-{{stage}}\" {{ {body} }}\n"));
    model("key pk").unwrap();
    let code = |arguments: &[&str]| run(folder, arguments).status.code();
    let plan = ["deploy", "plan", "m.kf", "--set", "stage=dev", "--exit-code"];
    let apply = ["deploy", "apply", "m.kf", "--set", "stage=dev", "--yes"];
    assert_eq!(code(&["deploy", "plan", "m.kf", "--exit-code"]), Some(1), "a variable has no value");
    assert_eq!(code(&plan), Some(2));
    assert_eq!(code(&plan[..5]), Some(0));
    assert_eq!(code(&apply[..5]), Some(2), "cannot ask for confirmation");
    assert_eq!(code(&apply), Some(0));
    assert_eq!(code(&plan), Some(0));
    model("key pk, sk").unwrap();
    assert_eq!((code(&plan), code(&apply)), (Some(1), Some(1)), "the key never changes");
    assert_eq!(code(&[apply.as_slice(), &["--destroy", "t-dev", "--accept-breaking-model"]].concat()), Some(0));
    let told = run(folder, &["deploy", "plan", "m.kf", "--set", "stage=dev", "--format", "json"]);
    assert!(String::from_utf8_lossy(&told.stdout).contains("\"changes\": false"), "{told:?}");
}
