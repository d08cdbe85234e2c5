//! `keyform check`: output and exit codes.
#![cfg(unix)]

use std::fs;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

const GOOD: &str = "model shop\n\ntable Shop {\n  key pk\n}\n\nentity Order in Shop {\n  key \"ORDER#{orderId}\"\n\n  \
                    orderId: ulid = ulid()\n}\n\nread orderById(orderId) -> Order?\n\nwrite place() -> Order {\n  create Order {}\n}\n";

fn folder() -> TempDir {
    TempDir::new().unwrap()
}

fn check(folder: &TempDir, arguments: &[&str]) -> (Option<i32>, String, String) {
    told(command(folder, arguments).output().unwrap())
}

fn command(folder: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_keyform"));
    command.arg("check").args(arguments).env_clear().current_dir(folder.path());
    command
}

fn told(output: Output) -> (Option<i32>, String, String) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_good_model_ends_with_zero_and_a_bad_one_with_one() {
    let folder = folder();
    fs::write(folder.path().join("good.kf"), GOOD).unwrap();
    let (code, out, _) = check(&folder, &["good.kf"]);
    assert_eq!(code, Some(0), "{out}");
    assert!(out.ends_with("1 model: nothing found\n") || !out.contains("error"), "{out}");
    fs::write(folder.path().join("bad.kf"), GOOD.replace("-> Order?", "-> Ordr?")).unwrap();
    let (code, out, _) = check(&folder, &["bad.kf"]);
    assert_eq!(code, Some(1));
    assert!(out.starts_with("error[N06]: unknown entity `Ordr`\n  --> bad.kf:13:28\n"), "{out}");
    assert!(out.contains("\n1 model: 1 error"), "{out}");
    assert!(!out.contains('\u{1b}'), "no colours without a terminal");
}

#[test]
fn a_missing_file_and_an_empty_folder_end_with_two() {
    let folder = folder();
    assert_eq!(check(&folder, &["missing.kf"]).0, Some(2));
    let (code, out, error) = check(&folder, &[]);
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(error.contains("no .kf file in this directory"), "{error}");
}

#[test]
fn without_files_the_models_of_the_folder_are_checked() {
    let folder = folder();
    fs::create_dir_all(folder.path().join("target")).unwrap();
    fs::create_dir_all(folder.path().join("deep/er")).unwrap();
    fs::write(folder.path().join("target/no.kf"), "nonsense").unwrap();
    fs::write(folder.path().join("deep/er/a.kf"), GOOD).unwrap();
    fs::write(folder.path().join("b.kf"), GOOD).unwrap();
    let (code, out, _) = check(&folder, &[]);
    assert_eq!(code, Some(0), "{out}");
    assert!(out.contains("2 models: "), "{out}");
}

#[test]
fn json_and_sarif_are_machine_readable() {
    let folder = folder();
    fs::write(folder.path().join("bad.kf"), GOOD.replace("-> Order?", "-> Ordr?")).unwrap();
    let (code, out, _) = check(&folder, &["bad.kf", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &report["errors"]), (Some(1), &serde_json::json!(1)));
    assert_eq!(report["findings"][0]["edits"][0]["text"], "Order");
    let (_, out, _) = check(&folder, &["bad.kf", "--format", "sarif"]);
    let log: serde_json::Value = serde_json::from_str(&out).unwrap();
    let run = &log["runs"][0];
    let number = usize::try_from(run["results"][0]["ruleIndex"].as_u64().unwrap()).unwrap();
    assert_eq!(run["tool"]["driver"]["rules"][number]["id"], "N06");
}

#[test]
fn standard_input_is_checked_too() {
    let folder = folder();
    let mut child = command(&folder, &["-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"model x\ntabel T {}\n").unwrap();
    let (code, out, _) = told(child.wait_with_output().unwrap());
    assert_eq!(code, Some(1));
    assert!(out.contains("standard input:2:1"), "{out}");
}

#[test]
fn a_code_is_explained() {
    let folder = folder();
    let (code, out, _) = check(&folder, &["--explain", "n04"]);
    assert_eq!(code, Some(0));
    assert!(out.starts_with("## N04: unknown table\n"), "{out}");
    let (code, _, error) = check(&folder, &["--explain", "Q99"]);
    assert_eq!(code, Some(2));
    assert!(error.contains("unknown rule Q99"), "{error}");
}

#[test]
fn warnings_fail_only_where_they_are_denied() {
    let folder = folder();
    fs::write(folder.path().join("list.kf"), format!("{GOOD}\nread all() -> [Order] scan\n")).unwrap();
    let (code, out, _) = check(&folder, &["list.kf"]);
    assert!(code == Some(0) && out.contains("warning["), "{out}");
    assert_eq!(check(&folder, &["list.kf", "--deny", "warnings"]).0, Some(1));
}

const LIBRARY: &str = r#"model library

table Library {
  key pk, sk
  tag kind
}

entity Book in Library {
  key "BOOK#{isbn}", "META"

  isbn:  slug(1..20)
  email: email unique
  pages: int(1..9000)
}

read book(isbn) -> Book?
write add(isbn, email, pages) -> Book { create Book {} else Exists }
"#;

const ITEMS: &str = r#"{"pk": "BOOK#1", "sk": "META", "kind": "Book", "email": "A@b.de", "pages": "7"}
{"Item": {"pk": {"S": "BOOK#2"}, "sk": {"S": "META"}, "email": {"S": "a@b.de"}, "pages": {"N": "9999"}}}
{"pk": "UNIQUE#Book.email#a@b.de", "sk": "UNIQUE"}

{"pk": "BOOK#3", "sk": "META", "kind": "Book", "email": "a@b.de"}
{"pk": "SHELF#3", "sk": "META"}
{"pk": "BOOK#4", "sk": "META", "kind": "Boook"}
{"pk": "BOOK/5", "sk": "META", "kind": "Book"}
"#;

#[test]
fn items_that_reads_would_reject_are_listed_with_their_line() {
    let folder = folder();
    fs::write(folder.path().join("library.kf"), LIBRARY).unwrap();
    fs::write(folder.path().join("items.jsonl"), ITEMS).unwrap();
    let (code, out, error) = check(&folder, &["library.kf", "--samples", "items.jsonl"]);
    assert_eq!(code, Some(1), "{out}{error}");
    let lines = [
        "warning: items.jsonl:2 {\"pk\":\"BOOK#2\",\"sk\":\"META\"}: Book: `pages` is not a whole number from 1 to 9000",
        "error: items.jsonl:5 {\"pk\":\"BOOK#3\",\"sk\":\"META\"}: Book: `pages` is missing",
        "error: items.jsonl:6 {\"pk\":\"SHELF#3\",\"sk\":\"META\"}: no entity has such a key",
        "error: items.jsonl:7 {\"pk\":\"BOOK#4\",\"sk\":\"META\"}: no entity has the tag `kind` = \"Boook\"",
        "error: items.jsonl:8 {\"pk\":\"BOOK/5\",\"sk\":\"META\"}: Book: its key does not match the templates of Book",
        "7 items compared with library: 2 Book, 1 of Keyform, 4 broken",
    ];
    assert!(out.ends_with(&format!("{}\n", lines.join("\n"))), "{out}");
    let (code, out, _) = check(&folder, &["library.kf", "--samples", "items.jsonl", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    let samples = &report["samples"][0];
    assert_eq!(
        (code, &samples["items"], &samples["broken"], &samples["own"]),
        (Some(1), &7.into(), &4.into(), &1.into())
    );
    assert_eq!((&samples["unfit"][1]["line"], &samples["unfit"][1]["field"]), (&5.into(), &"pages".into()));
    let good: String = ITEMS.lines().take(1).map(|line| format!("{line}\n")).collect();
    fs::write(folder.path().join("good.jsonl"), good).unwrap();
    let (code, out, _) = check(&folder, &["library.kf", "--samples", "good.jsonl"]);
    assert_eq!(code, Some(0), "{out}");
    assert!(out.ends_with("1 item compared with library: 1 Book, 0 broken\n"), "{out}");
}

#[test]
fn the_tables_of_a_store_are_compared_too() {
    let folder = folder();
    fs::write(folder.path().join("library.kf"), LIBRARY).unwrap();
    let data = folder.path().join("data");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let encryption = keyform::Encryption::KeyFile(folder.path().join("master.key"));
        let options = keyform::Options { encryption, ..keyform::Options::default() };
        let database = std::sync::Arc::new(keyform::Database::open_with(&data, options).unwrap());
        let checked = std::sync::Arc::new(keyform_check::Checked::read(LIBRARY));
        let world = std::sync::Arc::new(keyform::SystemWorld);
        let runner = keyform_runtime::run::Runner::new(checked, database.clone(), world, Default::default()).unwrap();
        runner.create_tables().await.unwrap();
        let text = |pairs: &[(&str, &str)]| -> keyform::Attributes {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect()
        };
        let mut arguments = text(&[("isbn", "1"), ("email", "a@b.de")]);
        arguments.insert("pages".to_owned(), 7.into());
        runner.write("add", &keyform_runtime::run::Call { arguments, ..Default::default() }).await.unwrap();
        let item = text(&[("pk", "BOOK#2"), ("sk", "META"), ("email", "a@b.de"), ("pages", "x")]);
        let put = keyform::operation::PutItem { table: "Library".to_owned(), item, ..Default::default() };
        keyform::ExecuteExt::call(&*database, put).await.unwrap();
        drop(runner);
        std::sync::Arc::into_inner(database).unwrap().close().unwrap();
    });
    let mut command = command(&folder, &["library.kf", "--store", "data:data"]);
    command.env("KEYFORM_MASTER_KEY_FILE", folder.path().join("master.key"));
    let (code, out, error) = told(command.output().unwrap());
    assert_eq!(code, Some(1), "{out}{error}");
    let last = "error: Library {\"pk\":\"BOOK#2\",\"sk\":\"META\"}: Book: `pages` is not a whole number from 1 to 9000\n\
        3 items compared with library: 1 Book, 1 of Keyform, 1 broken\n";
    assert!(out.ends_with(last), "{out}");
}
