//! `keyform handlers dead-letters` beside a program whose handler fails; a missing model is reported before a missing
//! data directory.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::Duration;

use keyform::SystemWorld;
use keyform::runtime::run::{Call, RunSettings, Runner};
use keyform::{Database, Execute, server};
use keyform_check::Checked;
use keyform_live::handle::{HandlerSettings, Handlers};
use tempfile::TempDir;
use tokio::sync::Notify;

const MODEL: &str = r#"
model post

table Post "post" {
  key    pk
  stream new_and_old
}

entity Letter in Post {
  key "LETTER#{letterId}"

  letterId: slug(1..20)

  volume 1K items, 100 bytes
}

on Letter insert -> handler deliver needs new

write send(letterId) {
  create Letter {} else Sent
}
"#;

fn keyform(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_keyform"))
        .args(arguments)
        .env_clear()
        .env("HOME", folder)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn letters(folder: &Path, url: &str, step: &str, more: &[&str]) -> (i32, String) {
    let store = ["--store", "dynamodb", "--endpoint-url", url];
    let output = keyform(folder, &[&["handlers", "dead-letters", step, "post.kf"], more, &store].concat());
    let said = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(said).unwrap())
}

/// Program with handlers; `deliver` fails as long as the test wants.
struct Program {
    runner: Runner,
    handlers: Handlers,
    called: Arc<Notify>,
}

impl Program {
    fn new(store: Arc<dyn Execute>) -> Self {
        let runner =
            Runner::new(Arc::new(Checked::read(MODEL)), store, Arc::new(SystemWorld), RunSettings::default()).unwrap();
        let settings = HandlerSettings {
            attempts: 2,
            backoff: Duration::from_millis(1),
            lease: Duration::from_millis(100),
            ..HandlerSettings::default()
        };
        let called = Arc::new(Notify::new());
        let told = called.clone();
        let handlers = Handlers::new(runner.clone()).with(settings).on("deliver", move |change| {
            told.notify_one();
            async move {
                let found = change.new.ok_or("there is no letter")?;
                let is_lost = found.fields["letterId"] == "lost".into();
                if is_lost { Err("unknown address".to_owned()) } else { Ok(()) }
            }
        });
        Self { runner, handlers, called }
    }

    async fn send(&self, letter: &str) {
        let call = Call { arguments: [("letterId".to_owned(), letter.into())].into(), ..Call::default() };
        self.runner.write("send", &call).await.unwrap();
    }

    /// Waits until the dead letters satisfy the predicate.
    async fn until(&self, is_so: impl Fn(&[keyform_live::handle::DeadLetter]) -> bool) {
        let waited = async {
            while !is_so(&self.handlers.dead_letters("deliver").await.unwrap()) {
                // Dead letters are written after the last call of the handler.
                drop(tokio::time::timeout(Duration::from_millis(10), self.called.notified()).await);
            }
        };
        tokio::time::timeout(Duration::from_secs(30), waited).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dead_letters_are_listed_tried_again_and_dropped() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("post.kf"), MODEL).unwrap();
    let database = Database::in_memory();
    let settings = server::ServerSettings { port: 0, ..server::ServerSettings::default() };
    let running = keyform::serve(server::Server::bind(settings).unwrap(), &database).unwrap();
    let (url, here) = (running.url(), folder.path());
    assert_eq!(letters(here, &url, "list", &[]), (0, "0 dead letters\n".to_owned()), "no handler has run yet");
    let program = Program::new(Arc::new(database.clone()));
    program.runner.create_tables().await.unwrap();
    let work = program.handlers.clone().start().await.unwrap();
    program.send("lost").await;
    program.send("found").await;
    program.until(|letters| !letters.is_empty()).await;
    let (code, said) = letters(here, &url, "list", &["deliver"]);
    assert_eq!(code, 0);
    assert!(said.contains("INSERT of {\"pk\":\"LETTER#lost\"} in post"), "{said}");
    assert!(said.contains("tried 2 times: unknown address") && said.ends_with("1 dead letters\n"), "{said}");
    let (_, line) = letters(here, &url, "list", &["--format", "jsonl"]);
    let value: serde_json::Value = serde_json::from_str(&line).unwrap();
    let change = value["change"].as_str().unwrap();
    let (code, said) = letters(here, &url, "redrive", &["--change", change]);
    assert_eq!((code, said.starts_with("1 scheduled")), (0, true), "{said}");
    program.until(|letters| letters.iter().any(|letter| letter.attempts == 3 && !letter.is_wanted)).await;
    assert_eq!(letters(here, &url, "drop", &[]).0, 2, "what to drop is said");
    assert_eq!(letters(here, &url, "drop", &["deliver", "--all"]), (0, "1 dropped\n".to_owned()));
    assert_eq!(letters(here, &url, "list", &[]).1, "0 dead letters\n");
    let (code, said) = letters(here, &url, "list", &["dance"]);
    assert_eq!(code, 2);
    assert!(said.contains("no handler `dance`"), "{said}");
    work.stop().await;
    running.stop();
}

#[test]
fn a_model_that_is_not_there_is_said_before_a_directory_that_is_in_use() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("keyform-data");
    let options = keyform::Options { encryption: keyform::Encryption::Off, ..keyform::Options::default() };
    let database = Database::open_with(&data, options).unwrap();
    for command in [&["deploy", "plan", "missing.kf"][..], &["deploy", "apply", "missing.kf", "--yes"]] {
        let output = keyform(folder.path(), command);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("missing.kf"), "{said}");
    }
    database.close().unwrap();
}
