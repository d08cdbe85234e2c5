//! Only the owner can read the files in a data directory.
#![cfg(unix)]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use keyform_core::operation::CreateTable;
use keyform_core::table::{BillingMode, KeySchema, ScalarType};
use keyform_engine::{Database, Encryption, Options, owner_only};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn files(directory: &Path) -> Vec<std::path::PathBuf> {
    fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect()
}

fn check(directory: &Path) {
    assert_eq!(mode(directory), 0o700, "{}", directory.display());
    let files = files(directory);
    assert!(files.len() >= 3, "LOCK, MANIFEST and a journal at least: {files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

fn create_table(data: &Path, name: &str, encryption: Encryption) {
    let database = Database::open_with(data, Options { encryption, ..Options::default() }).unwrap();
    let create = CreateTable {
        attributes: [("pk".to_owned(), ScalarType::S)].into(),
        key: KeySchema { partition: vec!["pk".to_owned()], sort: vec![] },
        billing: BillingMode::PayPerRequest,
        ..CreateTable::named(name)
    };
    database.call_blocking(create).unwrap();
    database.close().unwrap();
}

#[test]
fn a_data_directory_is_for_its_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let key_file = folder.path().join("config/master.key");
    let (plain, sealed) = (folder.path().join("parent/plain"), folder.path().join("sealed"));
    create_table(&plain, "t", Encryption::Off);
    create_table(&sealed, "t", Encryption::KeyFile(key_file.clone()));
    [&plain, &sealed].into_iter().for_each(|data| check(data));
    assert_eq!(mode(plain.parent().unwrap()), 0o700, "parents that were made");
    assert_eq!((mode(key_file.parent().unwrap()), mode(&key_file)), (0o700, 0o600));
}

#[test]
fn a_wide_directory_is_tightened_when_it_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    create_table(&data, "older", Encryption::Off);
    set_mode(&data, 0o755);
    files(&data).iter().for_each(|file| set_mode(file, 0o644));
    create_table(&data, "newer", Encryption::Off);
    check(&data);
}

#[test]
fn a_foreign_directory_keeps_its_modes() {
    let folder = tempfile::tempdir().unwrap();
    set_mode(folder.path(), 0o755);
    let photo = folder.path().join("photo.jpg");
    fs::write(&photo, "x").unwrap();
    set_mode(&photo, 0o644);
    let options = Options { encryption: Encryption::Off, ..Options::default() };
    assert!(Database::open_with(folder.path(), options).is_err());
    assert_eq!((mode(folder.path()), mode(&photo)), (0o755, 0o644));
}

#[test]
fn an_existing_file_is_tightened_when_it_is_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("export.json");
    fs::write(&file, "older").unwrap();
    set_mode(&file, 0o664);
    owner_only::write(&file, b"new").unwrap();
    assert_eq!((mode(&file), fs::read_to_string(&file).unwrap().as_str()), (0o600, "new"));
    // The mode of a device is not changed.
    let null = mode(Path::new("/dev/null"));
    owner_only::write(Path::new("/dev/null"), b"x").unwrap();
    assert_eq!(mode(Path::new("/dev/null")), null);
}
