//! The journal stays short: it is cut by size, when the store is idle and on close. A power cut or a failure at any
//! operation of a cut loses no acknowledged commit.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use keyform_engine::store::{Batch, DataKeys, Disk, PowerCut, SimDisk, Snapshot, Store, StoreError, StoreOptions};

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

const IDLE_MS: u64 = 1000;
const JOURNAL_BYTES: u64 = 16_000;

/// Sizes with which overwrites reach the limit of the journal, but never that of the memtable.
fn options() -> StoreOptions {
    StoreOptions {
        memtable_bytes: 64_000,
        journal_bytes: JOURNAL_BYTES,
        idle_ms: IDLE_MS,
        idle_journal_bytes: 500,
        block_bytes: 400,
        table_bytes: 4000,
        level0_files: 2,
        level1_bytes: 16_000,
        journal_reserve_bytes: 500,
        ..StoreOptions::default()
    }
}

fn open(disk: &SimDisk) -> Result<Store, StoreError> {
    Store::open(Arc::new(disk.clone()), Some(DataKeys::new(1, [7; 32])), options())
}

fn content(snapshot: &Snapshot) -> Model {
    let entries = snapshot.range(Bound::Unbounded, Bound::Unbounded);
    entries.map(|entry| entry.map(|(key, value)| (key.to_vec(), value.to_vec())).unwrap()).collect()
}

fn bytes_of(disk: &SimDisk, end: &str) -> u64 {
    disk.list().unwrap().iter().filter(|(name, _)| name.ends_with(end)).map(|(_, size)| size).sum()
}

/// Overwrites one of ten keys; every fifth commit deletes another one.
fn overwrite(number: u64, model: &mut Model) -> Batch {
    let mut batch = Batch::new();
    let (key, value) = (format!("key-{}", number % 10), format!("value-{number}-").repeat(10));
    batch.put(key.clone(), value.clone());
    model.insert(key.into_bytes(), value.into_bytes());
    if number.is_multiple_of(5) {
        let gone = format!("key-{}", (number + 3) % 10);
        batch.delete(gone.clone());
        model.remove(gone.as_bytes());
    }
    batch
}

fn commit(store: &Store, numbers: std::ops::Range<u64>, model: &mut Model) {
    for number in numbers {
        store.commit(overwrite(number, model)).wait().unwrap();
    }
}

#[test]
fn overwrites_keep_the_journal_short() {
    let (disk, mut model) = (SimDisk::new(), Model::new());
    let store = open(&disk).unwrap();
    for number in 0..5000 {
        store.commit(overwrite(number, &mut model)).wait().unwrap();
        let bytes = bytes_of(&disk, ".journal");
        assert!(bytes <= JOURNAL_BYTES + 1000, "{bytes} bytes of journal after commit {number}");
    }
    assert!(store.stats().flushes > 100, "{:?}", store.stats());
    assert!(store.stats().journal_bytes < JOURNAL_BYTES);
    store.settle().unwrap();
    assert!(bytes_of(&disk, ".table") < 20_000, "{:?}", disk.list());
    assert_eq!(content(&store.snapshot()), model);
}

#[test]
fn commits_without_changes_are_cut_from_the_journal_too() {
    let disk = SimDisk::new();
    let store = open(&disk).unwrap();
    for _ in 0..2000 {
        store.commit(Batch::new()).wait().unwrap();
    }
    assert!(bytes_of(&disk, ".journal") <= JOURNAL_BYTES + 1000);
    assert_eq!(bytes_of(&disk, ".table"), 0);
    store.close().unwrap();
    assert_eq!(bytes_of(&disk, ".journal"), 0);
    assert_eq!(open(&disk).unwrap().snapshot().seqno(), 2000);
}

#[test]
fn a_killed_store_replays_no_more_than_the_longest_journal() {
    let (disk, mut model) = (SimDisk::new(), Model::new());
    let store = open(&disk).unwrap();
    let mut replayed = Vec::new();
    for round in 0..40 {
        commit(&store, round * 37..round * 37 + 37, &mut model);
        let after = open(&disk.cut_power(PowerCut::KeepAll)).unwrap();
        replayed.push(after.stats().replayed_bytes);
        assert_eq!(content(&after.snapshot()), model);
    }
    // A flush that ends just before the cut leaves nothing to replay in its round.
    assert!(replayed.iter().any(|bytes| *bytes > 0));
    assert!(replayed.iter().all(|bytes| *bytes <= JOURNAL_BYTES + 1000), "{replayed:?} bytes were replayed");
}

#[test]
fn a_long_journal_of_a_killed_store_is_cut_after_the_opening() {
    let (disk, mut model) = (SimDisk::new(), Model::new());
    let unbounded = StoreOptions { journal_bytes: 1 << 30, ..options() };
    let store = Store::open(Arc::new(disk.clone()), None, unbounded).unwrap();
    commit(&store, 0..2000, &mut model);
    let killed = disk.cut_power(PowerCut::KeepAll);
    assert!(bytes_of(&killed, ".journal") > 10 * JOURNAL_BYTES);
    let store = Store::open(Arc::new(killed.clone()), None, options()).unwrap();
    store.settle().unwrap();
    assert_eq!(store.stats().journal_bytes, 0);
    assert_eq!(bytes_of(&killed, ".journal"), 0);
    assert_eq!(content(&store.snapshot()), model);
}

#[test]
fn closing_leaves_nothing_to_replay() {
    let (disk, mut model) = (SimDisk::new(), Model::new());
    let store = open(&disk).unwrap();
    commit(&store, 0..30, &mut model);
    assert!(store.stats().journal_bytes > 0);
    store.close().unwrap();
    assert_eq!(bytes_of(&disk, ".journal"), 0);
    let before = disk.list().unwrap();
    let store = open(&disk).unwrap();
    assert_eq!(store.stats().replayed_bytes, 0);
    assert_eq!(content(&store.snapshot()), model);
    store.close().unwrap();
    assert_eq!(disk.list().unwrap(), before, "nothing was written, so nothing changes");
}

#[test]
fn an_idle_store_cuts_its_journal_once() {
    let (disk, mut model) = (SimDisk::new(), Model::new());
    let store = open(&disk).unwrap();
    commit(&store, 0..20, &mut model);
    store.flush_if_idle(10_000);
    store.flush_if_idle(10_000 + IDLE_MS - 1);
    assert_eq!(store.stats().flushes, 0, "the time is not over");
    commit(&store, 20..21, &mut model);
    store.flush_if_idle(10_000 + IDLE_MS);
    store.settle().unwrap();
    assert_eq!(store.stats().flushes, 0, "a commit starts the wait again");
    for beyond in 0..3 {
        store.flush_if_idle(10_000 + 2 * IDLE_MS + beyond);
        store.settle().unwrap();
        assert_eq!(store.stats().flushes, 1, "an empty journal is not cut");
    }
    assert_eq!(store.stats().journal_bytes, 0);
    assert_eq!(bytes_of(&disk, ".journal"), 0, "the last segment is closed and removed");
    assert_eq!(content(&store.snapshot()), model);
    commit(&store, 21..22, &mut model);
    assert_eq!(content(&open(&disk.cut_power(PowerCut::DropAll)).unwrap().snapshot()), model);
}

#[test]
fn an_idle_store_keeps_a_journal_that_is_quick_to_replay() {
    let disk = SimDisk::new();
    let store = open(&disk).unwrap();
    store.commit(overwrite(1, &mut Model::new())).wait().unwrap();
    store.flush_if_idle(0);
    store.flush_if_idle(10 * IDLE_MS);
    store.settle().unwrap();
    assert_eq!(store.stats().flushes, 0);
}

#[test]
fn a_retired_prefix_is_forgotten_when_the_store_is_idle() {
    let disk = SimDisk::new();
    let store = open(&disk).unwrap();
    store.commit(overwrite(1, &mut Model::new())).wait().unwrap();
    store.retire_prefix(b"key-").unwrap();
    store.flush_if_idle(0);
    store.flush_if_idle(IDLE_MS);
    store.settle().unwrap();
    assert_eq!(store.stats().flushes, 1);
    assert_eq!(bytes_of(&disk, ".table"), 0);
}

/// Otherwise each short life of a store would leave a table, and every few lives would compact everything.
#[test]
fn many_short_lives_leave_few_tables() {
    let (disk, mut model) = (SimDisk::new(), Model::new());
    let roomy = StoreOptions { level0_files: 100, ..options() };
    let open = || Store::open(Arc::new(disk.clone()), None, roomy.clone()).unwrap();
    for life in 0..60 {
        let store = open();
        commit(&store, life..life + 1, &mut model);
        store.close().unwrap();
    }
    let store = open();
    assert_eq!(store.stats().level_files, [1]);
    assert_eq!(store.stats().compactions, 0);
    assert_eq!(content(&store.snapshot()), model);
}

#[test]
fn a_snapshot_sees_what_it_saw_after_small_tables_were_merged() {
    let (disk, mut model) = (SimDisk::new(), Model::new());
    let store = open(&disk).unwrap();
    let mut held = Vec::new();
    for round in 0..30 {
        commit(&store, round * 7..round * 7 + 7, &mut model);
        held.push((store.snapshot(), model.clone()));
        store.flush().unwrap();
    }
    for (snapshot, model) in &held {
        assert_eq!(&content(snapshot), model);
    }
}

#[test]
fn a_small_table_that_cannot_be_read_stops_no_flush() {
    let (disk, mut model) = (SimDisk::new(), Model::new());
    let roomy = StoreOptions { level0_files: 100, ..options() };
    let open = || Store::open(Arc::new(disk.clone()), None, roomy.clone()).unwrap();
    let store = open();
    commit(&store, 0..5, &mut model);
    store.close().unwrap();
    let table = disk.names().into_iter().find(|name| name.ends_with(".table")).unwrap();
    assert!(disk.flip_bit(&table, 90 * 8));
    let store = open();
    commit(&store, 5..9, &mut Model::new());
    store.flush().unwrap();
    assert_eq!(store.stats().level_files, [2]);
}

const COMMITS: u64 = 120;

/// Commits with cuts by size, an idle period, more commits, and a close. Returns the number of acknowledged commits.
fn run(disk: &SimDisk) -> u64 {
    let Ok(store) = open(disk) else { return 0 };
    for number in 0..COMMITS {
        if let Err(error) = store.commit(overwrite(number, &mut Model::new())).wait() {
            assert!(matches!(error, StoreError::Poisoned { .. }), "{error}");
            return number;
        }
        if number == COMMITS - 5 {
            store.flush_if_idle(0);
            store.flush_if_idle(IDLE_MS);
            // The next commit reports a failure.
            drop(store.settle());
        }
    }
    drop(store.close());
    COMMITS
}

fn states() -> Vec<Model> {
    let mut model = Model::new();
    let mut states = vec![model.clone()];
    for number in 0..COMMITS {
        overwrite(number, &mut model);
        states.push(model.clone());
    }
    states
}

fn check_after(disk: &SimDisk, acknowledged: u64, states: &[Model], context: &str) {
    let store = open(disk).unwrap_or_else(|error| panic!("{context}: {error}"));
    let found = store.snapshot().seqno();
    assert!(found >= acknowledged, "{context}: {found} of {acknowledged} acknowledged commits are there");
    assert_eq!(content(&store.snapshot()), states[found as usize], "{context}");
    let seqno = store.commit(overwrite(0, &mut Model::new())).wait().unwrap();
    assert_eq!(seqno, found + 1, "{context}");
}

#[test]
fn power_cuts_and_failures_during_every_kind_of_cut_lose_nothing_acknowledged() {
    let whole = SimDisk::new();
    assert_eq!(run(&whole), COMMITS);
    assert_eq!(bytes_of(&whole, ".journal"), 0, "it was closed");
    let states = states();
    for operation in 0..whole.operations() {
        let disk = SimDisk::new();
        disk.fail_at(operation);
        let acknowledged = run(&disk);
        for cut in [PowerCut::DropAll, PowerCut::KeepAll, PowerCut::Tear(operation)] {
            check_after(&disk.cut_power(cut), acknowledged, &states, &format!("operation {operation}, {cut:?}"));
        }
        disk.heal();
        check_after(&disk, acknowledged, &states, &format!("restart after operation {operation}"));
    }
}

#[test]
fn a_close_that_cannot_flush_keeps_the_journal() {
    let (disk, mut model) = (SimDisk::new(), Model::new());
    let store = open(&disk).unwrap();
    commit(&store, 0..20, &mut model);
    disk.fail_at(disk.operations());
    assert!(store.close().is_err());
    disk.heal();
    drop(store);
    assert_eq!(content(&open(&disk).unwrap().snapshot()), model);
}
