//! Golden scripts: requests as an SDK sends them, and the responses as they are on the wire.
//!
//! Every script in `tests/golden` runs on an in-memory database and on one with a simulated disk, with a clock that
//! only the script advances. A script runs from top to bottom:
//!
//! ```text
//! # a comment
//! PutItem {"TableName": "t", "Item": {"pk": {"S": "a"}}}
//! => 200 {}
//! !advance 61        the clock, by seconds
//! !sweep             background work, now
//! !reopen            the database is closed and opened again (on disk only)
//! ```
//!
//! `KEYFORM_BLESS=1 cargo test -p keyform --test it golden` regenerates the answers; review the diff like code.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use keyform::{Database, Error, Options};
use keyform_engine::store::{SimDisk, Store, StoreOptions};
use keyform_wire::Decoded;
use keyform_world::testing::ManualWorld;

const START_MS: u64 = 1_790_000_000_000;

/// Database that a script runs on.
struct Bench {
    database: Database,
    env: ManualWorld,
    disk: Option<Arc<SimDisk>>,
}

impl Bench {
    fn in_memory() -> Self {
        let env = ManualWorld::at_ms(START_MS);
        Self { database: open(Store::in_memory(), &env), env, disk: None }
    }

    fn on_disk() -> Self {
        let env = ManualWorld::at_ms(START_MS);
        let disk = Arc::new(SimDisk::new());
        Self { database: open(store_on(&disk), &env), env, disk: Some(disk) }
    }

    fn reopen(&mut self) {
        if let Some(disk) = &self.disk {
            self.database.close().expect("a healthy database closes");
            self.database = open(store_on(disk), &self.env);
        }
    }

    /// Executes a request and returns the line that answers it.
    fn answer(&self, operation: &str, body: &str) -> String {
        let service = if is_stream_operation(operation) { "DynamoDBStreams" } else { "DynamoDB" };
        let target = format!("{service}_20120810.{operation}");
        let mut out = Vec::new();
        let result = keyform_wire::decode(&target, body.as_bytes());
        let status = match result.and_then(|request| run(&self.database, request, &mut out)) {
            Ok(()) => 200,
            Err(error) => {
                out.clear();
                keyform_wire::encode_error(&error, &mut out);
                error.code().status()
            }
        };
        let answer: serde_json::Value = serde_json::from_slice(&out).expect("an answer is JSON");
        format!("=> {status} {answer}")
    }
}

fn run(database: &Database, request: Decoded, out: &mut Vec<u8>) -> Result<(), Error> {
    let Decoded::Operation(request) = request else { panic!("the server answers this by itself") };
    let output = database.execute_blocking(request.operation)?;
    keyform_wire::encode(&request.echo, &output, out);
    Ok(())
}

fn is_stream_operation(operation: &str) -> bool {
    matches!(operation, "ListStreams" | "DescribeStream" | "GetShardIterator" | "GetRecords")
}

fn open(store: Store, env: &ManualWorld) -> Database {
    let options = Options { world: Arc::new(env.clone()), sweep_interval: None, ..Options::default() };
    Database::on(store, options).expect("a fresh or cleanly closed store opens")
}

fn store_on(disk: &Arc<SimDisk>) -> Store {
    Store::open(disk.clone(), None, StoreOptions::default()).expect("a simulated disk opens")
}

fn scripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let entries = fs::read_dir(folder).expect("the folder of scripts is there");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a folder can be listed").path()).collect();
    files.sort();
    files
}

/// Runs a script and returns it with the actual answers.
fn run_script(text: &str, bench: &mut Bench) -> String {
    let mut out = String::new();
    for line in text.lines().filter(|line| !line.starts_with("=>")) {
        out.push_str(line);
        out.push('\n');
        match line.split_once(' ').unwrap_or((line, "")) {
            ("!advance", seconds) => {
                let seconds: u64 = seconds.trim().parse().expect("seconds are a number");
                bench.env.advance_ms(seconds * 1000);
            }
            ("!sweep", _) => bench.database.sweep().expect("background work succeeds"),
            ("!reopen", _) => bench.reopen(),
            (operation, body) if operation.starts_with(|first: char| first.is_ascii_uppercase()) => {
                out.push_str(&bench.answer(operation, body));
                out.push('\n');
            }
            _ => {}
        }
    }
    out
}

fn first_difference<'a>(expected: &'a str, actual: &'a str) -> Option<(usize, &'a str, &'a str)> {
    let mut expected = expected.lines();
    for (number, actual) in actual.lines().enumerate() {
        let expected = expected.next().unwrap_or("");
        if expected != actual {
            return Some((number + 1, expected, actual));
        }
    }
    expected.next().map(|line| (actual.lines().count() + 1, line, ""))
}

#[test]
fn scripts_get_the_answers_they_expect_in_memory_and_on_disk() {
    let bless = std::env::var_os("KEYFORM_BLESS").is_some();
    for file in scripts() {
        let text = fs::read_to_string(&file).expect("a script can be read");
        let in_memory = run_script(&text, &mut Bench::in_memory());
        let on_disk = run_script(&text, &mut Bench::on_disk());
        if bless {
            fs::write(&file, &in_memory).expect("a script can be written");
        }
        let expected = if bless { &in_memory } else { &text };
        for (place, actual) in [("in memory", &in_memory), ("on disk", &on_disk)] {
            if let Some((line, expected, actual)) = first_difference(expected, actual) {
                panic!("{}:{line} {place}\nexpected {expected}\n     got {actual}", file.display());
            }
        }
    }
}
