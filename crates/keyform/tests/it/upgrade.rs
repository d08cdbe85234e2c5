//! Data directories of earlier versions are opened, read and migrated.
//!
//! `tests/fixtures/data-0.1` was written by version 0.1 with the sample data of the five example systems: `data` after a
//! clean stop, `journal` after a kill. Both are encrypted with `master.key`; `fields.json` has the keys of encrypted
//! fields. The files must never change: they prove that a later version reads what an earlier one wrote.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use keyform::operation::{ListTables, Scan};
use keyform::runtime::run::{Answer, Call, RunSettings, Runner};
use keyform::{Database, Encryption, Execute, Options, SystemWorld};
use keyform_check::Checked;
use keyform_runtime::accept::Accepted;
use keyform_runtime::evolve::{Migration, Pace, Progress};

/// Copies the fixture, because opening a directory changes it, with the permissions that key files must have.
fn copy(name: &str) -> (tempfile::TempDir, PathBuf, PathBuf) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/data-0.1");
    let folder = tempfile::tempdir().unwrap();
    let (data, key) = (folder.path().join("data"), folder.path().join("master.key"));
    fs::create_dir(&data).unwrap();
    for file in fs::read_dir(from.join(name)).unwrap() {
        let file = file.unwrap();
        private_copy(&file.path(), &data.join(file.file_name()));
    }
    private_copy(&from.join("master.key"), &key);
    private_copy(&from.join("fields.json"), &folder.path().join("fields.json"));
    (folder, data, key)
}

fn private_copy(from: &Path, to: &Path) {
    fs::copy(from, to).unwrap();
    #[cfg(unix)]
    fs::set_permissions(to, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
}

fn open(data: &Path, key: PathBuf) -> Database {
    Database::open_with(data, Options { encryption: Encryption::KeyFile(key), ..Options::default() }).unwrap()
}

fn settings() -> RunSettings {
    let variables = ["stage", "region", "env"].map(|name| (name.to_owned(), "local".to_owned()));
    RunSettings { variables: variables.into(), ..RunSettings::default() }
}

fn model(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/data-0.1").join(name)).unwrap()
}

fn runner(text: &str, store: &Arc<dyn Execute>) -> Runner {
    let checked = Checked::read(text);
    Runner::new(Arc::new(checked), store.clone(), Arc::new(SystemWorld), settings()).unwrap()
}

async fn members(runner: &Runner) -> usize {
    let arguments = [("agencyId".to_owned(), "01M7JPQ6MA09XBHZTSB88QE8MC".into())].into();
    match runner.read("membersOfAgency", &Call { arguments, ..Call::default() }).await.unwrap() {
        Answer::Page { items, .. } => items.len(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_data_directory_of_version_0_1_is_read_after_a_stop_and_after_a_kill() {
    for name in ["data", "journal"] {
        let (_folder, data, key) = copy(name);
        let database = open(&data, key);
        let tables = database.call(ListTables::default()).await.unwrap().tables;
        let mut items = 0;
        for table in &tables {
            items += database.call(Scan::of(table)).await.unwrap().items.unwrap_or_default().len();
        }
        assert!(tables.len() >= 8 && items >= 60, "{name}: {items} items in {tables:?}");
        database.close().unwrap();
    }
}

#[tokio::test]
async fn items_of_version_0_1_are_found_and_migrated() {
    let (_folder, data, key) = copy("data");
    let database = open(&data, key);
    let store: Arc<dyn Execute> = Arc::new(database.clone());
    let first = runner(&model("members.kf"), &store);
    let found = members(&first).await;
    assert!(found > 0);
    // The directory is older than the record of accepted models: the first model is accepted.
    first.create_tables().await.unwrap();
    assert_eq!(first.accept().await, Ok(Accepted::Same));

    let moved = model("members-moved.kf");
    let next = runner(&moved, &store);
    assert_eq!(next.accept().await, Ok(Accepted::Compatible));
    assert_eq!(members(&next).await, found, "before the migration");
    let checked = Arc::new(Checked::read(&moved));
    let migration = Migration::new(checked, store.clone(), Arc::new(SystemWorld), settings().variables).unwrap();
    let quiet = |_: &Progress| {};
    let ran = migration.run(&Pace::default(), &quiet).await.unwrap();
    assert!(ran.stuck.is_empty() && ran.state.counts.carried > 0, "{ran:?}");
    migration.cut_over(&Pace::default(), &quiet).await.unwrap();
    assert_eq!(members(&next).await, found, "after the cut-over");
    database.close().unwrap();
}
