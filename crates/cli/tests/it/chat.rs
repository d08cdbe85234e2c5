//! Two chat clients in two terminals, against one server.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use tempfile::TempDir;

fn keyform(home: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_keyform"));
    command.args(arguments).env_clear().env("HOME", home.path()).current_dir(home.path());
    command
}

/// Child process with its input and output.
struct Running {
    child: Child,
    lines: Receiver<String>,
    input: Option<ChildStdin>,
    seen: Vec<String>,
}

impl Running {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || out.lines().map_while(Result::ok).all(|line| sender.send(line).is_ok()));
        let input = child.stdin.take();
        Self { child, lines, input, seen: Vec::new() }
    }

    fn types(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Waits for a line that contains the text.
    fn sees(&mut self, text: &str) -> String {
        loop {
            match self.lines.recv_timeout(Duration::from_secs(60)) {
                Ok(line) => {
                    self.seen.push(line.clone());
                    if line.contains(text) {
                        return line;
                    }
                }
                Err(_) => panic!("missing: `{text}`: {:#?}", self.seen),
            }
        }
    }

    /// Waits for a message and returns the number before it.
    fn sees_message(&mut self, text: &str) -> String {
        let line = self.sees(text);
        line.strip_prefix('#').unwrap().split(' ').next().unwrap().to_owned()
    }

    fn ends(&mut self) {
        self.input = None;
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Usually the process has already ended.
        self.child.kill().unwrap_or_default();
        self.child.wait().map(drop).unwrap_or_default();
    }
}

fn serve(home: &TempDir) -> (Running, String) {
    let mut server = Running::start(keyform(home, &["serve", "--port", "0", "--in-memory"]));
    let ready = server.sees("keyform is ready");
    let url = ready.split(' ').find(|word| word.starts_with("http://")).unwrap().to_owned();
    (server, url)
}

fn chat(home: &TempDir, url: &str, name: &str) -> Running {
    let mut chat = Running::start(keyform(home, &["demo", "chat", "--url", url, "--name", name]));
    chat.sees(&format!("you are {name}"));
    chat
}

#[test]
fn two_people_see_what_the_other_types() {
    let home = TempDir::new().unwrap();
    let (_server, url) = serve(&home);
    let mut ada = chat(&home, &url, "ada");
    ada.sees("you are not in a server yet");
    ada.types("hello?");
    ada.sees("! you are not in a channel");
    ada.types("/new-server Engines");
    ada.sees("Engines #general");
    ada.types("/invite 1");
    let invite = ada.sees("/join ");
    let code = invite.split("/join ").nth(1).unwrap();

    let mut grace = chat(&home, &url, "grace");
    grace.types("/join wrongcode1");
    grace.sees("! ");
    grace.types(&format!("/join {code}"));
    grace.sees("Engines #general");
    ada.sees("* grace ");
    ada.types("hello, grace");
    ada.sees("ada: hello, grace");
    let number = grace.sees_message("ada: hello, grace");
    grace.types("hello, ada");
    let answer = ada.sees_message("grace: hello, ada");

    grace.types(&format!("/react {number} 👍"));
    ada.sees("hello, grace  [👍 1]");
    grace.types(&format!("/edit {number} mine now"));
    grace.sees("! refused: not the author");
    ada.types("/edit 1 hello, Grace");
    grace.sees("hello, Grace (edited)");
    ada.types(&format!("/delete {answer}"));
    ada.sees("! refused: not the author");
    let own = grace.seen.iter().find(|line| line.contains("grace: hello, ada")).cloned();
    let own = own.unwrap_or_else(|| grace.sees("grace: hello, ada"));
    let own = own.trim_start_matches('#').split(' ').next().unwrap().to_owned();
    grace.types(&format!("/delete {own}"));
    ada.sees("was deleted");

    ada.types("/who");
    ada.sees("● ada (owner)");
    grace.types("/search HELLO");
    grace.sees("? ");
    grace.types("/new-channel looms");
    grace.sees("Engines #looms");
    ada.sees("/channel looms");
    grace.types("only here");
    grace.sees("grace: only here");
    ada.types("/channels");
    ada.sees("#looms (1 unread)");
    ada.types("/channel looms");
    ada.sees("grace: only here");
    ada.types("/read");
    ada.sees("everything here is marked as read");
    ada.types("/unread");
    ada.sees("* no unread messages");
    ada.types("/servers");
    ada.sees("→ Engines (owner, 2 channels)");
    ada.types("/dance");
    ada.sees("/help");
    grace.types("/quit");
    grace.ends();
    ada.sees("* grace has gone");
    ada.ends();

    // A returning user has the same account and server.
    let mut ada = chat(&home, &url, "ada");
    ada.sees("Engines #");
    let wrong = keyform(&home, &["demo", "chat", "--url", &url, "--name", "ada", "--password", "another password"]);
    let refused = { wrong }.output().unwrap();
    assert!(!refused.status.success());
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("has an account with another password"), "{said}");
    ada.types("/quit");
    ada.ends();
}

#[test]
fn without_a_server_it_says_what_to_do() {
    let home = TempDir::new().unwrap();
    // A port that was free a moment ago, so no server is listening.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{port}");
    let output = keyform(&home, &["demo", "chat", "--url", &url, "--name", "ada"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("no server answers at") && said.contains("keyform serve --in-memory --demo"), "{said}");
}
