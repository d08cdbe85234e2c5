//! `keyform watch` with the real binary: current items, changes, and resumption after a restart of the server.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

const NOTES: &str = r#"model notes

table Notes "notes" {
  key    pk, sk
  stream new_and_old
}

entity Note in Notes {
  key "SHELF#{shelf}", "NOTE#{noteId}"
  shelf:  slug(1..20)
  noteId: slug(1..20)
}

read notes(shelf) -> [Note] page 10

write add(shelf, noteId) -> Note { create Note {} else NoteExists }
"#;

/// Running command with its output. Dropping it kills the process.
struct Running {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Running {
    fn start(home: &TempDir, arguments: &[&str]) -> Self {
        let mut command = command(home, arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    fn line(&mut self) -> String {
        self.lines.next().unwrap().unwrap()
    }

    /// Returns the kind of the next change and the note's id.
    fn change(&mut self) -> (String, String) {
        let line: Value = serde_json::from_str(&self.line()).unwrap();
        (line["kind"].as_str().unwrap().to_owned(), line["item"]["noteId"].as_str().unwrap().to_owned())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Usually the process has already ended.
        self.child.kill().unwrap_or_default();
        self.child.wait().map(drop).unwrap_or_default();
    }
}

fn command(home: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_keyform"));
    command.args(arguments).env_clear().env("HOME", home.path()).current_dir(home.path());
    command
}

/// Starts the server on its data and a port; returns it with its URL.
fn serve(home: &TempDir, port: &str) -> (Running, String) {
    let mut server = Running::start(home, &["serve", "notes.kf", "--data", "data", "--port", port]);
    let ready = server.line();
    let url = ready.split(' ').find(|word| word.starts_with("http://")).unwrap().to_owned();
    (server, url)
}

fn add(home: &TempDir, url: &str, note: &str) {
    let note = format!("noteId={note}");
    let added = command(home, &["run", "notes", "add", "shelf=a", &note, "--server", url]).output().unwrap();
    assert!(added.status.success(), "{added:?}");
}

fn word(kind: &str, note: &str) -> (String, String) {
    (kind.to_owned(), note.to_owned())
}

#[test]
fn it_goes_on_where_it_was_when_the_server_was_away() {
    let home = TempDir::new().unwrap();
    std::fs::write(home.path().join("notes.kf"), NOTES).unwrap();
    let (server, url) = serve(&home, "0");
    add(&home, &url, "one");
    let mut watch = Running::start(&home, &["watch", "notes", "notes", "shelf=a", "--lines", "3", "--server", &url]);
    assert_eq!(watch.change(), word("item", "one"));
    add(&home, &url, "two");
    assert_eq!(watch.change(), word("insert", "two"));
    drop(server);
    let (_server, url) = serve(&home, url.rsplit(':').next().unwrap());
    add(&home, &url, "three");
    assert_eq!(watch.change(), word("insert", "three"), "nothing is repeated");
    assert!(watch.child.wait().unwrap().success(), "three lines are enough");
}

#[test]
fn what_cannot_be_followed_is_said() {
    let home = TempDir::new().unwrap();
    std::fs::write(home.path().join("notes.kf"), NOTES).unwrap();
    let (_server, url) = serve(&home, "0");
    let said = |arguments: &[&str]| {
        let output = command(&home, &[&["watch", "notes"], arguments].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(said(&["add", "shelf=a", "--server", &url]).contains("`add` is not a read"));
    assert!(said(&["notes", "shelf=a", "--server", "http://127.0.0.1:1"]).contains("cannot reach"));
    assert!(said(&["notes", "--server", &url]).contains("shelf"));
}
