//! Models served and called by the real binary: on a data directory, on a remote store, and through a server.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

const NOTES: &str = r#"model notes

table Notes "notes-{stage}" {
  key pk, sk
}

entity Note in Notes {
  key "SHELF#{shelf}", "NOTE#{noteId}"
  shelf:  slug(1..20)
  noteId: ulid = ulid()
  text:   string(1..100)
  count:  int = 0
}

read notes(shelf) -> [Note] page 2, 5/s

read noteById(shelf, noteId) -> Note

write add(shelf, text) -> Note { create Note {} else NoteExists }

write raise(shelf, noteId) -> Note { update Note(shelf, noteId) { count += 1 } else UnknownNote }

write addTwo(shelf, text) -> Note {
  create Note {} else NoteExists
  create Note { text = "second" } else NoteExists
}
"#;

/// Home and current directory of a test's commands.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(TempDir::new().unwrap());
        std::fs::write(home.path().join("notes.kf"), NOTES).unwrap();
        home
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_keyform"));
        command.args(arguments).env_clear().env("HOME", self.path()).current_dir(self.path());
        command.env("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE").env("AWS_SECRET_ACCESS_KEY", "secret");
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs a command that must succeed; returns its output.
    fn answer(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.answer(&[arguments, &["--format", "json"]].concat())).unwrap()
    }

    fn refusal(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    fn serve(&self, arguments: &[&str]) -> Served {
        Served::start(self.command(&[&["serve", "--port", "0"], arguments].concat()))
    }
}

/// Running server.
struct Served {
    child: Child,
    url: String,
    ready: String,
}

impl Served {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut ready = String::new();
        out.read_line(&mut ready).unwrap();
        let Some(url) = ready.split(' ').find(|word| word.starts_with("http://")).map(str::to_owned) else {
            let mut message = String::new();
            child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
            panic!("no ready line: {ready:?} {message}");
        };
        Self { child, url, ready }
    }

    /// Sends a request; returns status and body.
    fn send(&self, method: &str, path: &str, headers: &str, body: &str) -> Option<(u16, String)> {
        let mut stream = TcpStream::connect(self.url.strip_prefix("http://").unwrap()).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        Some((head.split(' ').nth(1)?.parse().ok()?, body.to_owned()))
    }

    fn get(&self, path: &str) -> Value {
        let (status, body) = self.send("GET", path, "", "").unwrap();
        assert_eq!(status, 200, "{body}");
        serde_json::from_str(&body).unwrap()
    }

    fn kill(&mut self) {
        // The server may have been killed before.
        drop(self.child.kill());
        self.child.wait().unwrap();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // An error means that the server has already ended.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn systems_run_by_name_and_cursors_hold_between_runs() {
    let home = Home::new();
    let user = home.json(&["run", "discord", "signUp", "email=ada@example.com", "username=ada", "passwordHash=hash"]);
    assert_eq!(user["email"], "ada@example.com");
    let again = home.run(&["run", "discord", "signUp", "email=ada@example.com", "username=ada", "passwordHash=hash"]);
    assert_eq!((again.status.code(), again.stdout.as_slice()), (Some(1), b"EmailTaken\n".as_slice()));
    assert!(home.refusal(&["run", "dicsord", "signUp"]).contains("agencies, discord, helpmaton, t3nets, workspaces"));

    for text in ["one", "two", "three"] {
        home.answer(&["run", "notes.kf", "add", "shelf=a", &format!("text={text}")]);
    }
    let page = home.json(&["run", "notes.kf", "notes", "shelf=a"]);
    assert_eq!(page["items"].as_array().unwrap().len(), 2);
    let cursor = page["cursor"].as_str().unwrap();
    let next = home.json(&["run", "notes.kf", "notes", "shelf=a", "--cursor", cursor]);
    assert_eq!(next["items"][0]["text"], "three");
    assert!(home.refusal(&["run", "notes.kf", "notes", "shelf=b", "--cursor", cursor]).contains("cursor"));
    let lines = home.answer(&["run", "notes.kf", "notes", "shelf=a", "--all", "--format", "jsonl"]);
    assert_eq!(lines.lines().count(), 3);
    let table = home.answer(&["run", "notes.kf", "notes", "shelf=a", "--all"]);
    assert!(table.starts_with("count  noteId"), "{table}");
    assert_eq!(table.lines().count(), 4);
}

#[test]
fn a_model_whose_handler_nothing_implements_is_served_only_on_request() {
    let home = Home::new();
    let handled = NOTES.replace("  key pk, sk\n}", "  key pk, sk\n  stream new_and_old\n}");
    std::fs::write(home.path().join("handled.kf"), format!("{handled}\non Note insert -> handler notify needs new\n"))
        .unwrap();
    let message = home.refusal(&["serve", "--port", "0", "--in-memory", "handled.kf"]);
    assert!(message.contains("`notify`") && message.contains("--external-handlers"), "{message}");
    let served = home.serve(&["--in-memory", "--external-handlers", "handled.kf"]);
    assert!(served.url.starts_with("http://"));
}

#[test]
fn a_served_directory_is_reached_through_the_server() {
    let home = Home::new();
    let served = home.serve(&["notes.kf"]);
    let message = home.refusal(&["run", "notes.kf", "notes", "shelf=a"]);
    assert!(message.contains("--server"), "{message}");

    let server = ["--server", served.url.as_str()];
    let call = |arguments: &[&str]| home.json(&[&["run", "notes"], arguments, &server].concat());
    for text in ["one", "two & a half", "three"] {
        call(&["add", "shelf=a", &format!("text={text}")]);
    }
    let note = call(&["notes", "shelf=a"])["items"][1].clone();
    assert_eq!(note["text"], "two & a half");
    let raised = call(&["raise", "shelf=a", &format!("noteId={}", note["noteId"].as_str().unwrap())]);
    assert_eq!(raised["count"], 1);
    assert_eq!(call(&["notes", "shelf=a", "--all"])["items"].as_array().unwrap().len(), 3);
    let unknown = home
        .run(&[&["run", "notes.kf", "raise", "shelf=a", "noteId=01KKP2T8SN0000000000000000"][..], &server].concat());
    assert_eq!(
        (unknown.status.code(), unknown.stdout.as_slice()),
        (Some(1), b"UnknownNote\n".as_slice()),
        "{unknown:?}"
    );
    assert!(home.refusal(&[&["run", "notes", "nots"][..], &server].concat()).contains("Did you mean `notes`?"));
    assert!(
        home.refusal(&[&["run", "notes", "notes", "shell=a"][..], &server].concat()).contains("`notes` takes shelf")
    );
    assert!(home.refusal(&["run", "notes", "notes", "--server", "http://127.0.0.1:1"]).contains("cannot reach"));
}

#[test]
fn systems_are_served_by_default_and_make_tables_when_they_are_called() {
    let home = Home::new();
    let served = home.serve(&["--in-memory"]);
    let models = served.get("/v1");
    assert_eq!(models["models"].as_array().unwrap().len(), 5, "{models}");
    let list = |served: &Served| {
        let target = "x-amz-target: DynamoDB_20120810.ListTables\r\n";
        served.send("POST", "/", target, "{}").unwrap().1
    };
    assert_eq!(list(&served), r#"{"TableNames":[]}"#);
    assert!(served.get("/v1/discord")["patterns"].as_array().unwrap().len() > 10);
    let (status, body) = served.send("GET", "/v1/discord/inviteByCode?code=abcdefgh", "", "").unwrap();
    assert!(status < 500, "{status} {body}");
    let bare = home.serve(&["--in-memory", "--no-systems"]);
    assert_eq!(bare.get("/v1")["models"].as_array().unwrap().len(), 0);
}

#[test]
fn sample_data_and_files_are_there_after_a_kill_and_a_second_start() {
    let home = Home::new();
    let ada = "X-Keyform-Caller: userId=ada00000-0000-4000-8000-000000000001; email=ada@example.com\r\n";
    let call = |served: &Served, flow: &str, body: &str| {
        let (status, answer) = served.send("POST", &format!("/v1/helpmaton/{flow}"), ada, body).unwrap();
        assert_eq!(status, 200, "{flow}: {answer}");
        serde_json::from_str::<Value>(&answer).unwrap()
    };
    let workspace = "ada00000-0000-4000-8000-000000000002";
    let mut first = home.serve(&["--demo", "--data", "data"]);
    let file = r#"{"name": "notes.md", "text": "A loop is a thing that repeats."}"#;
    let uploaded = call(&first, "uploadDocuments", &format!(r#"{{"workspaceId": "{workspace}", "files": [{file}]}}"#));
    let id = uploaded[0]["documentId"].as_str().unwrap_or_else(|| panic!("{uploaded}")).to_owned();
    first.kill();
    let second = home.serve(&["--demo", "--data", "data"]);
    let asked = format!(r#"{{"workspaceId": "{workspace}", "documentId": "{id}"}}"#);
    assert!(call(&second, "documentText", &asked).to_string().contains("thing that repeats"));
    let members = call(&second, "members", &format!(r#"{{"workspaceId": "{workspace}"}}"#));
    assert_eq!(members.to_string().matches("@example.com").count(), 2, "{members}");
}

#[test]
fn copies_on_a_store_elsewhere_take_each_others_cursors() {
    let home = Home::new();
    let store = home.serve(&["--in-memory", "--no-systems"]);
    let elsewhere = ["notes.kf", "--store", "dynamodb", "--endpoint-url", &store.url, "--set", "stage=test"];
    let refused = home.refusal(&[&["serve", "--port", "0"], &elsewhere[..]].concat());
    assert!(refused.contains("notes-test") && refused.contains("--create-tables"), "{refused}");
    let first = home.serve(&[&elsewhere[..], &["--create-tables"]].concat());
    assert!(first.ready.contains("no DynamoDB endpoint here"), "{}", first.ready);
    let second = home.serve(&elsewhere);
    for text in ["one", "two", "three"] {
        let body = format!(r#"{{"shelf":"a","text":"{text}"}}"#);
        assert_eq!(first.send("POST", "/v1/notes/add", "", &body).unwrap().0, 200);
    }
    let page = first.get("/v1/notes/notes?shelf=a");
    let cursor = page["cursor"].as_str().unwrap();
    let next = second.get(&format!("/v1/notes/notes?shelf=a&cursor={cursor}"));
    assert_eq!(next["items"][0]["text"], "three");
    assert_eq!(first.send("POST", "/", "x-amz-target: DynamoDB_20120810.ListTables\r\n", "{}").unwrap().0, 404);
    let named = home.refusal(&["serve", "--store", "dynamodb", "--endpoint-url", &store.url]);
    assert!(named.contains("no models to serve"), "{named}");
    let file = home.refusal(&[&["serve"], &elsewhere[..], &["--cursor-key-file", "none.key"]].concat());
    assert!(file.contains("none.key"), "{file}");
}

#[test]
fn documents_on_a_store_elsewhere_need_a_directory() {
    let home = Home::new();
    let store = home.serve(&["--in-memory", "--no-systems"]);
    let elsewhere = ["helpmaton", "--store", "dynamodb", "--endpoint-url", &store.url, "--create-tables"];
    let refused = home.refusal(&[&["serve", "--port", "0"], &elsewhere[..]].concat());
    assert!(refused.contains("--files DIRECTORY") && refused.contains("KEYFORM_FILES"), "{refused}");
    home.answer(&["field-keys", "new", "field.keys"]);
    let with_files = ["--field-keys-file", "field.keys", "--files", "documents"];
    let served = home.serve(&[&elsewhere[..], &with_files].concat());
    assert_eq!(served.send("GET", "/v1/helpmaton/openapi.json", "", "").unwrap().0, 200);
    let taken = ["--field-keys-file", "field.keys", "--files", "field.keys"];
    let refused = home.refusal(&[&["serve", "--port", "0"], &elsewhere[..], &taken].concat());
    assert!(refused.contains("cannot create the directory field.keys of --files"), "{refused}");
}

#[test]
fn what_a_store_without_transactions_lacks_is_refused_before_it_is_sent() {
    let home = Home::new();
    let store = home.serve(&["--in-memory", "--no-systems"]);
    let elsewhere = ["--store", "alternator", "--endpoint-url", &store.url, "--set", "stage=test"];
    home.answer(&[&["run", "notes.kf", "add", "shelf=a", "text=one", "--create-tables"], &elsewhere[..]].concat());
    let refused = home.refusal(&[&["run", "notes.kf", "addTwo", "shelf=a", "text=one"], &elsewhere[..]].concat());
    assert!(refused.contains("`addTwo` is a transaction, which this store does not support"), "{refused}");
    let mut served = home.serve(&[&["notes.kf"], &elsewhere[..]].concat());
    let (status, body) = served.send("POST", "/v1/notes/addTwo", "", r#"{"shelf":"a","text":"two"}"#).unwrap();
    assert_eq!(status, 501, "{body}");
    assert_eq!(served.get("/v1/notes/notes?shelf=a")["items"].as_array().unwrap().len(), 1);
    served.kill();
    let mut log = String::new();
    served.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert!(log.contains("addTwo") && log.contains("is a transaction"), "{log}");
}

#[test]
fn a_server_that_is_killed_leaves_every_keyed_write_applied_once() {
    const BEFORE: usize = 15;
    let home = Home::new();
    let mut served = home.serve(&["notes.kf"]);
    let post = |served: &Served, number: usize| {
        let (key, body) = (format!("idempotency-key: k{number}\r\n"), format!(r#"{{"shelf":"a","text":"{number}"}}"#));
        served.send("POST", "/v1/notes/add", &key, &body).filter(|(status, _)| *status == 200).map(|(_, body)| body)
    };
    let answered = AtomicUsize::new(0);
    let before: Vec<(usize, Option<String>)> = std::thread::scope(|scope| {
        let (served_now, answered) = (&served, &answered);
        let calls: Vec<_> = (0..4)
            .map(|lane| {
                scope.spawn(move || {
                    let mut answers = Vec::new();
                    // Call until the server is gone: the last call of each lane gets no answer.
                    for number in (lane..).step_by(4) {
                        let answer = post(served_now, number);
                        answered.fetch_add(1, Ordering::SeqCst);
                        let gone = answer.is_none();
                        answers.push((number, answer));
                        if gone {
                            return answers;
                        }
                    }
                    answers
                })
            })
            .collect();
        while answered.load(Ordering::SeqCst) < BEFORE {
            std::thread::yield_now();
        }
        let killed = Command::new("kill").args(["-KILL", &served_now.child.id().to_string()]).status().unwrap();
        assert!(killed.success());
        calls.into_iter().flat_map(|call| call.join().unwrap()).collect()
    });
    served.kill();

    let restarted = home.serve(&["notes.kf"]);
    for (number, before) in &before {
        let after = post(&restarted, *number).unwrap();
        assert_eq!(before.as_ref().unwrap_or(&after), &after, "the same answer again");
    }
    let mut url = "/v1/notes/notes?shelf=a".to_owned();
    let mut texts = Vec::new();
    loop {
        let page = restarted.get(&url);
        texts.extend(page["items"].as_array().unwrap().iter().map(|item| item["text"].as_str().unwrap().to_owned()));
        let Some(cursor) = page["cursor"].as_str() else { break };
        url = format!("/v1/notes/notes?shelf=a&cursor={cursor}");
    }
    texts.sort();
    let mut expected: Vec<String> = before.iter().map(|(number, _)| number.to_string()).collect();
    expected.sort();
    assert_eq!(texts, expected);
}
