//! Runs the tour of the README: starts its server, runs every command, and compares the output.
//!
//! In the section "A tour", the first `sh` block starts the server (after the build, which the test skips). All others
//! run in one shell in order; a `text` block after one of them is its output, where `…` matches anything.

#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// Line that the shell prints after each block.
const BORDER: &str = "=====";

/// Server of the tour.
struct Served(Child);

impl Served {
    /// Starts the server with the README's command line on another port, and waits for the ready line.
    fn start(home: &Path, line: &str, port: u16) -> Self {
        let words: Vec<&str> = line.split('#').next().unwrap().split_whitespace().collect();
        assert_eq!(words[0], "keyform", "{line}");
        let mut command = Command::new(env!("CARGO_BIN_EXE_keyform"));
        command.args(&words[1..]).args(["--port", &port.to_string()]).env("HOME", home).current_dir(home);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let served = Self(child);
        assert!(lines.any(|line| line.unwrap().starts_with("keyform is ready")), "the server did not start");
        // Drain the output, so that the server never blocks on a full pipe.
        std::thread::spawn(move || lines.for_each(drop));
        served
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Block of commands, and their expected output if the page shows it.
struct Step<'a> {
    commands: &'a str,
    printed: Option<&'a str>,
}

fn steps(page: &str) -> Vec<Step<'_>> {
    let tour = page.split("\n## ").find(|section| section.starts_with("A tour\n")).expect("the README has a tour");
    let mut steps: Vec<Step<'_>> = Vec::new();
    for block in tour.split("```").skip(1).step_by(2) {
        let (language, text) = block.split_once('\n').unwrap();
        match language {
            "sh" => steps.push(Step { commands: text, printed: None }),
            "text" => steps.last_mut().unwrap().printed = Some(text),
            other => panic!("the tour has a block of `{other}`"),
        }
    }
    steps
}

/// Returns whether the text matches a pattern in which `…` matches anything.
fn is_like(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.trim_end().split('…');
    let Some(mut rest) = text.trim_end().strip_prefix(parts.next().unwrap()) else { return false };
    let mut last = None;
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
        last = Some(part);
    }
    rest.is_empty() || last == Some("")
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn every_command_of_the_tour_runs_and_prints_what_it_says() {
    let page = include_str!("../../../../README.md");
    let steps = steps(page);
    let (start, rest) = steps.split_first().unwrap();
    let (home, port) = (TempDir::new().unwrap(), free_port());
    let mut lines = start.commands.lines();
    assert!(lines.next().unwrap().starts_with("cargo build --release"), "the tour begins with a build");
    let _served = Served::start(home.path(), lines.next().unwrap(), port);
    let script: String = rest.iter().map(|step| format!("{}\necho {BORDER}\n", step.commands)).collect();
    let script = script.replace("127.0.0.1:8000", &format!("127.0.0.1:{port}"));
    // A reader may repeat the tour with the same data.
    for _ in 0..2 {
        check(rest, &run(home.path(), &script));
    }
}

/// Compares the output of the steps with the page.
fn check(steps: &[Step<'_>], printed: &str) {
    let printed: Vec<&str> = printed.split(BORDER).collect();
    for (step, printed) in steps.iter().zip(printed) {
        let expected = step.printed.unwrap_or_default();
        let printed = printed.trim_start_matches('\n');
        assert!(is_like(expected, printed), "{}\nprints\n{printed}\nand not\n{expected}", step.commands);
    }
}

/// Runs a script with our command in its path; returns its output.
fn run(home: &Path, script: &str) -> String {
    let binary = PathBuf::from(env!("CARGO_BIN_EXE_keyform"));
    let path = format!("{}:{}", binary.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("bash");
    command.args(["-euo", "pipefail", "-c", script]).env("PATH", path).env("HOME", home).current_dir(home);
    let mut shell = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut errors = shell.stderr.take().unwrap();
    let complaints = std::thread::spawn(move || {
        let mut text = String::new();
        errors.read_to_string(&mut text).unwrap();
        text
    });
    let mut printed = String::new();
    shell.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    let ended = shell.wait().unwrap();
    let complaints = complaints.join().unwrap();
    assert!(ended.success(), "the tour stopped:\n{printed}\n{complaints}");
    printed
}
