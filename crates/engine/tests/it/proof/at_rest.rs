//! The data directory contains no plaintext, and only one process with the right key can open it.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use keyform_core::operation::PutItem;
use keyform_core::table::{GlobalIndex, KeySchema, LocalIndex, Projection, ScalarType, StreamView};
use keyform_core::{AttributeValue, Attributes};
use keyform_engine::{Database, Encryption, OpenError, Options, encryption_keys};

use crate::proof::bank;
use crate::proof::compare::contents;

const SECRETS: [&str; 8] = [
    "SecretTable",
    "SecretGlobal",
    "SecretLocal",
    "secretPartition",
    "secret-key",
    "secret-sort",
    "secretAttribute",
    "secret value",
];

struct Place {
    _folder: tempfile::TempDir,
    data: PathBuf,
    master: PathBuf,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let (data, master) = (folder.path().join("data"), folder.path().join("master.key"));
    Place { _folder: folder, data, master }
}

fn open(place: &Place) -> Result<Database, OpenError> {
    let options =
        Options { encryption: Encryption::KeyFile(place.master.clone()), sweep_interval: None, ..Options::default() };
    Database::open_with(&place.data, options)
}

fn schema(partition: &str, sort: &str) -> KeySchema {
    KeySchema { partition: vec![partition.to_owned()], sort: vec![sort.to_owned()] }
}

fn fill(database: &Database) {
    let mut create = bank::table("SecretTable", schema("secretPartition", "sk"));
    create.attributes =
        ["secretPartition", "sk", "secretAttribute"].map(|name| (name.to_owned(), ScalarType::S)).into();
    create.stream = Some(StreamView::NewAndOldImages);
    create.global_indexes.push(GlobalIndex {
        name: "SecretGlobal".to_owned(),
        key: schema("secretAttribute", "sk"),
        projection: Projection::All,
        throughput: None,
        on_demand: None,
        warm: None,
    });
    create.local_indexes.push(LocalIndex {
        name: "SecretLocal".to_owned(),
        key: schema("secretPartition", "secretAttribute"),
        projection: Projection::All,
    });
    database.call_blocking(create).unwrap();
    database.sweep().unwrap();
    (0..50).for_each(|number| put_one(database, number));
}

fn put_one(database: &Database, number: usize) {
    let text = |text: String| AttributeValue::S(text);
    let item = Attributes::from([
        ("secretPartition".to_owned(), text(format!("secret-key{}", number % 5))),
        ("sk".to_owned(), text(format!("secret-sort{number}"))),
        ("secretAttribute".to_owned(), text(format!("secret value {}", "of a text ".repeat(number % 100)))),
    ]);
    let put = PutItem { table: "SecretTable".to_owned(), item, ..PutItem::default() };
    database.call_blocking(put).unwrap();
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Returns everything that no file may contain: the written data, and the master key in any form.
fn forbidden(master: &Path) -> Vec<Vec<u8>> {
    let mut parts: Vec<Vec<u8>> = SECRETS.iter().map(|secret| secret.as_bytes().to_vec()).collect();
    let text = std::fs::read_to_string(master).unwrap();
    for word in text.split_whitespace().filter(|word| word.len() >= 40) {
        parts.push(word.as_bytes().to_vec());
        parts.extend(base64::engine::general_purpose::STANDARD.decode(word).ok());
    }
    assert!(parts.len() >= SECRETS.len() + 2, "the master key was found in its file");
    parts
}

fn assert_nothing_readable(place: &Place) {
    let forbidden = forbidden(&place.master);
    let files = files(&place.data);
    assert!(files.iter().map(|file| file.metadata().unwrap().len()).sum::<u64>() > 2_000, "the items are in the files");
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        for part in &forbidden {
            assert!(!holds(&bytes, part), "{} holds {}", file.display(), part.escape_ascii());
        }
    }
}

#[test]
fn no_file_holds_anything_readable() {
    let place = place();
    let database = open(&place).unwrap();
    fill(&database);
    assert_nothing_readable(&place);
    database.close().unwrap();
    assert_nothing_readable(&place);
    let reopened = open(&place).unwrap();
    assert_nothing_readable(&place);
    reopened.close().unwrap();
    assert_nothing_readable(&place);
}

#[test]
fn a_missing_or_wrong_master_key_is_told() {
    let place = place();
    let database = open(&place).unwrap();
    fill(&database);
    database.close().unwrap();
    let aside = place.master.with_extension("aside");
    std::fs::rename(&place.master, &aside).unwrap();
    let missing = open(&place).unwrap_err();
    assert!(matches!(missing, OpenError::Key(_)) && missing.to_string().contains("master.key"), "{missing}");
    assert!(!place.master.exists(), "no new key is made for old data");

    let other = self::place();
    open(&other).unwrap().close().unwrap();
    std::fs::copy(&other.master, &place.master).unwrap();
    let wrong = open(&place).unwrap_err();
    assert!(matches!(wrong, OpenError::Key(_)) && wrong.to_string().contains("key"), "{wrong}");

    let without =
        Database::open_with(&place.data, Options { encryption: Encryption::Off, ..Options::default() }).unwrap_err();
    assert!(without.to_string().contains("key"), "without a master key: {without}");

    std::fs::rename(&aside, &place.master).unwrap();
    assert!(open(&place).is_ok(), "with its key the data is there again");
}

#[test]
fn data_written_before_a_rotation_is_read_after_it() {
    let place = place();
    let database = open(&place).unwrap();
    fill(&database);
    let before = contents(&database, "SecretTable", None);
    database.close().unwrap();
    encryption_keys::rotate(&place.data, &place.master, &keyform_world::SystemWorld).unwrap();
    let reopened = open(&place).unwrap();
    assert_eq!(contents(&reopened, "SecretTable", None), before);
    put_one(&reopened, 1000);
    reopened.close().unwrap();
    assert_nothing_readable(&place);
    assert_eq!(contents(&open(&place).unwrap(), "SecretTable", None).len(), before.len() + 1);
}

#[test]
fn a_directory_has_one_owner_at_a_time() {
    let place = place();
    let database = open(&place).unwrap();
    fill(&database);
    let second = open(&place).unwrap_err();
    assert!(second.to_string().contains(&format!("is in use by process {}", std::process::id())), "{second}");
    database.close().unwrap();
    assert!(open(&place).is_ok());
}

#[test]
fn a_foreign_directory_is_left_alone() {
    let place = place();
    std::fs::create_dir_all(&place.data).unwrap();
    std::fs::write(place.data.join("holiday.jpg"), b"a picture").unwrap();
    let foreign = open(&place).unwrap_err();
    assert!(foreign.to_string().contains("holiday.jpg"), "{foreign}");
    let names: Vec<_> = files(&place.data).into_iter().map(|file| file.file_name().unwrap().to_owned()).collect();
    assert_eq!(names, ["holiday.jpg"], "nothing was written there");
}
