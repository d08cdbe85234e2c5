//! Printed Rust: laid out as rustfmt does, for the five systems and for models nobody has seen.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use keyform_model::Checked;
use keyform_model::generate::{self, Settings};

fn printed(source: &str) -> String {
    let checked = Checked::read(source);
    assert!(!checked.has_errors(), "{:?}", checked.diagnostics);
    (generate::target("rust").unwrap().print)(&checked, &Settings::default()).unwrap()
}

/// The code as rustfmt with its default settings lays it out.
fn formatted(code: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024", "--config", "max_width=100,use_small_heuristics=Default"])
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = rustfmt.stdin.take().unwrap();
    let code = code.to_owned();
    let writer = std::thread::spawn(move || input.write_all(code.as_bytes()));
    let output = rustfmt.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "rustfmt refuses the code");
    String::from_utf8(output.stdout).unwrap()
}

fn check_layout(source: &str, name: &str) {
    let code = printed(source);
    let expected = formatted(&code);
    let difference = code.lines().zip(expected.lines()).position(|(one, other)| one != other);
    if let Some(at) = difference {
        let part = |text: &str| text.lines().skip(at.saturating_sub(2)).take(8).collect::<Vec<_>>().join("\n");
        panic!("{name} is not laid out as by rustfmt\n--- printed\n{}\n--- rustfmt\n{}", part(&code), part(&expected));
    }
    assert_eq!(code.lines().count(), expected.lines().count(), "{name}");
}

fn models(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut found = Vec::new();
    let mut folders = vec![root];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("literal") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "kf") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn printed_code_is_laid_out_as_by_rustfmt() {
    let all = [models("../../systems"), models("tests/unseen")].concat();
    assert!(all.len() >= 10, "{all:?}");
    for path in all {
        check_layout(&fs::read_to_string(&path).unwrap(), &path.display().to_string());
    }
}
