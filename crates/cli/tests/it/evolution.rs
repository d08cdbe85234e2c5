//! Runs the documentation pages on evolution and workspaces: writes their models, runs their commands, and compares the
//! output.
//!
//! A block of `kf NAME` is a file. In a block of `console` each line with `$` is a command, and the lines after it are
//! its standard output; `…` matches any text, and a line of only `…` matches any lines. Without output lines the
//! command only has to succeed.

#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

fn keyform(home: &Path, arguments: &[String]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_keyform"));
    command.args(arguments).env_clear().env("HOME", home).current_dir(home);
    command
}

/// Splits a command line into words; quoted words may contain spaces.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            letter => words.last_mut().unwrap().push(letter),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns whether the text matches a pattern in which `…` matches anything.
fn is_like(pattern: &str, text: &str) -> bool {
    let mut rest = text;
    let parts: Vec<&str> = pattern.split('…').collect();
    for (number, part) in parts.iter().enumerate() {
        let at = match number {
            0 if !rest.starts_with(part) => return false,
            _ if number + 1 == parts.len() && number > 0 => rest.ends_with(part).then(|| rest.len() - part.len()),
            _ => rest.find(part),
        };
        let Some(at) = at else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.is_empty() || pattern.ends_with('…')
}

fn run(home: &Path, line: &str, expected: &str) {
    let words = words(line);
    assert_eq!(words[0], "keyform", "{line}");
    let output = keyform(home, &words[1..]).output().unwrap();
    let mut printed = String::from_utf8(output.stdout).unwrap();
    match output.status.code() {
        Some(0) => {}
        code => printed.push_str(&format!("(exit code {})\n", code.unwrap_or(-1))),
    }
    if expected.is_empty() {
        assert!(output.status.success(), "$ {line}\n{printed}{}", String::from_utf8_lossy(&output.stderr));
    } else {
        let notes = String::from_utf8_lossy(&output.stderr);
        assert!(is_like(expected.trim_end(), printed.trim_end()), "$ {line}\n{printed}\nand not\n{expected}\n{notes}");
    }
}

/// Runs the commands of a page; returns the number of its command blocks.
fn run_page(page: &str) -> usize {
    let home = TempDir::new().unwrap();
    let mut blocks = 0;
    for block in page.split("```").skip(1).step_by(2) {
        let (head, body) = block.split_once('\n').unwrap();
        if let Some(name) = head.strip_prefix("kf ") {
            std::fs::write(home.path().join(name), body).unwrap();
        }
        if head == "console" {
            blocks += 1;
            for command in body.split("$ ").skip(1) {
                let (line, expected) = command.split_once('\n').unwrap();
                run(home.path(), line, expected);
            }
        }
    }
    blocks
}

#[test]
fn the_page_on_evolution_is_true() {
    assert!(run_page(include_str!("../../../../docs/evolution.md")) >= 8, "the page has its examples");
}

#[test]
fn the_page_on_workspaces_is_true() {
    assert!(run_page(include_str!("../../../../docs/systems/workspaces.md")) >= 5, "the page has its examples");
}

/// A run that is killed repeatedly completes and loses nothing.
#[test]
fn a_killed_run_goes_on() {
    let home = TempDir::new().unwrap();
    let model = |name: &str, text: &str| std::fs::write(home.path().join(name), text).unwrap();
    model("v1.kf", &include_str!("../../../../systems/workspaces/legacy/workspaces-v1.kf").replace("{stage}", "test"));
    model("v2.kf", &include_str!("../../../../systems/workspaces/workspaces.kf").replace("{stage}", "test"));
    let items = 12;
    for number in 0..items {
        let hash = format!("hash={number:064}");
        run(home.path(), &format!("keyform run v1.kf saveItem {hash} title=t{number} content=c"), "");
    }
    for kill_after in [1, 2, 3] {
        let arguments = "migrate run v2.kf --format json --take-over --write-units-per-second 100".split(' ');
        let arguments: Vec<String> = arguments.map(str::to_owned).collect();
        let mut child = keyform(home.path(), &arguments).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        // Each line is a page with its checkpoint.
        for line in lines.take(kill_after) {
            assert!(line.unwrap().contains("migrating"));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    // A kill can come after items are migrated and before a checkpoint counts them. So the counts of the run are not
    // compared: `verify` reads the items themselves.
    run(home.path(), "keyform migrate run v2.kf --take-over", "filled: … migrated\n");
    run(home.path(), "keyform migrate verify v2.kf", "… items: 12 unchanged since the migration…");
    run(home.path(), "keyform migrate cutover v2.kf", "closed: … migrated, 12 old items deleted\n…");
    run(home.path(), "keyform migrate status v2.kf", "closed: …");
}
