//! Power cuts and failures at every file operation of a workload, damage to every file, and plaintext that no file may
//! contain.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use keyform_engine::store::{
    Batch, Commit, DataKeys, Disk, Durability, PowerCut, RealDisk, SimDisk, Snapshot, Store, StoreError, StoreOptions,
};

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

fn small() -> StoreOptions {
    StoreOptions {
        memtable_bytes: 3000,
        block_bytes: 200,
        table_bytes: 1500,
        level0_files: 2,
        level1_bytes: 4000,
        journal_reserve_bytes: 1000,
        // Keep a journal to damage; `store_cut.rs` tests the flush on close.
        flush_at_close: false,
        ..StoreOptions::default()
    }
}

fn open(disk: &SimDisk) -> Result<Store, StoreError> {
    Store::open(Arc::new(disk.clone()), Some(DataKeys::new(1, [7; 32])), small())
}

fn content(snapshot: &Snapshot) -> Result<Model, StoreError> {
    let entries = snapshot.range(Bound::Unbounded, Bound::Unbounded);
    entries.map(|entry| entry.map(|(key, value)| (key.to_vec(), value.to_vec()))).collect()
}

const COMMITS: u64 = 40;
const FLUSH_EVERY: u64 = 8;

/// Returns the batch of commit `number` and applies it to the model.
fn batch(number: u64, model: &mut Model) -> Batch {
    let mut batch = Batch::new();
    let fresh = format!("secret-key-{:03}", (number * 7) % 100).into_bytes();
    let value = format!("secret-value-{number}-").repeat(8).into_bytes();
    batch.put(fresh.clone(), value.clone());
    model.insert(fresh, value);
    batch.put("counter", number.to_string());
    model.insert(b"counter".to_vec(), number.to_string().into_bytes());
    let gone = format!("secret-key-{:03}", (number * 7 + 58) % 100).into_bytes();
    batch.delete(gone.clone());
    model.remove(&gone);
    batch
}

/// Returns the state after each commit, starting with the empty one.
fn states() -> Vec<Model> {
    let mut model = Model::new();
    let mut states = vec![model.clone()];
    for number in 0..COMMITS {
        batch(number, &mut model);
        states.push(model.clone());
    }
    states
}

/// Way of waiting for a commit.
#[derive(Clone, Copy, Debug)]
enum Waiting {
    /// Blocks the thread, which writes the journal itself.
    Blocked,
    /// Polls, so that the journal thread writes.
    Polled,
}

impl Waiting {
    fn wait(self, commit: Commit) -> Result<u64, StoreError> {
        match self {
            Waiting::Blocked => commit.wait(),
            Waiting::Polled => block_on(commit),
        }
    }
}

fn block_on(mut commit: Commit) -> Result<u64, StoreError> {
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(std::thread::current())).into();
    loop {
        match Pin::new(&mut commit).poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(outcome) => return outcome,
            Poll::Pending => std::thread::park(),
        }
    }
}

/// Runs the workload until it ends or fails; returns the number of acknowledged commits.
fn run(disk: &SimDisk) -> u64 {
    run_waiting(disk, Waiting::Blocked)
}

fn run_waiting(disk: &SimDisk, waiting: Waiting) -> u64 {
    let Ok(store) = open(disk) else { return 0 };
    for number in 0..COMMITS {
        let committed = waiting.wait(store.commit(batch(number, &mut Model::new())));
        if let Err(error) = committed {
            assert!(matches!(error, StoreError::Poisoned { .. }), "{error}");
            assert!(store.commit(batch(number, &mut Model::new())).wait().is_err(), "nothing after a failure");
            return number;
        }
        if number % FLUSH_EVERY == 0 {
            // The next commit reports a failure.
            drop(store.flush());
        }
    }
    COMMITS
}

fn check_after(disk: &SimDisk, acknowledged: u64, states: &[Model], context: &str) {
    let store = open(disk).unwrap_or_else(|error| panic!("{context}: {error}"));
    let snapshot = store.snapshot();
    let found = snapshot.seqno();
    assert!(found >= acknowledged, "{context}: {found} of {acknowledged} acknowledged commits are there");
    assert_eq!(content(&snapshot).unwrap(), states[found as usize], "{context}");
    let seqno = store.commit(batch(99, &mut Model::new())).wait().unwrap();
    assert_eq!(seqno, found + 1, "{context}");
}

#[test]
fn power_cuts_and_failures_at_every_operation_lose_nothing_acknowledged() {
    cut_and_fail_everywhere(Waiting::Blocked);
}

#[test]
fn power_cuts_and_failures_lose_nothing_that_the_journal_thread_wrote() {
    cut_and_fail_everywhere(Waiting::Polled);
}

fn cut_and_fail_everywhere(waiting: Waiting) {
    let whole = SimDisk::new();
    assert_eq!(run_waiting(&whole, waiting), COMMITS);
    let states = states();
    for operation in 0..whole.operations() {
        let disk = SimDisk::new();
        disk.fail_at(operation);
        let acknowledged = run_waiting(&disk, waiting);
        let tear = PowerCut::Tear(operation);
        for cut in [PowerCut::DropAll, PowerCut::KeepAll, tear, PowerCut::Tear(operation + 10_000)] {
            let context = format!("{waiting:?}, operation {operation}, {cut:?}");
            check_after(&disk.cut_power(cut), acknowledged, &states, &context);
        }
        check_restart(&disk, acknowledged, &states, operation);
    }
}

/// Restarts the process, reads, and cuts the power: everything that was read must survive.
fn check_restart(disk: &SimDisk, acknowledged: u64, states: &[Model], operation: u64) {
    disk.heal();
    let store = open(disk).unwrap();
    let shown = store.snapshot().seqno();
    assert_eq!(content(&store.snapshot()).unwrap(), states[shown as usize]);
    assert!(shown >= acknowledged);
    for cut in [PowerCut::DropAll, PowerCut::Tear(operation)] {
        check_after(&disk.cut_power(cut), shown, states, &format!("restart after {operation}, {cut:?}"));
    }
    let next = store.commit(batch(99, &mut Model::new())).wait().unwrap();
    let after = open(&disk.cut_power(PowerCut::Tear(operation))).unwrap();
    assert_eq!(after.snapshot().seqno(), next, "restart after {operation}");
}

#[test]
fn power_cuts_during_recovery_lose_nothing() {
    let disk = SimDisk::new();
    let store = open(&disk).unwrap();
    for number in 0..COMMITS {
        store.commit(batch(number, &mut Model::new())).wait().unwrap();
    }
    let torn = disk.cut_power(PowerCut::Tear(1));
    let states = states();
    for operation in 0..60 {
        let again = torn.duplicate();
        again.fail_at(operation);
        drop(open(&again));
        check_after(&again.cut_power(PowerCut::Tear(operation)), COMMITS, &states, &format!("operation {operation}"));
    }
}

#[test]
fn damage_to_any_file_is_noticed_or_harmless() {
    let disk = SimDisk::new();
    assert_eq!(run(&disk), COMMITS);
    let expected = &states()[COMMITS as usize];
    let mut noticed = BTreeSet::new();
    for name in disk.names() {
        let bits = disk.content(&name).unwrap().len() * 8;
        for bit in (0..bits).step_by(bits / 60 + 1) {
            let damaged = disk.duplicate();
            assert!(damaged.flip_bit(&name, bit));
            match open(&damaged).and_then(|store| content(&store.snapshot())) {
                Ok(found) => assert_eq!(&found, expected, "bit {bit} of {name}"),
                Err(_) => drop(noticed.insert(kind(&name).to_owned())),
            }
        }
    }
    assert_eq!(noticed, ["MANIFEST", "journal", "table"].map(str::to_owned).into());
}

#[test]
fn a_damaged_commit_is_not_taken_for_a_torn_one() {
    let disk = SimDisk::new();
    let store = open(&disk).unwrap();
    for number in 0..3 {
        store.commit(batch(number, &mut Model::new())).wait().unwrap();
    }
    let journal = disk.names().into_iter().find(|name| name.ends_with(".journal")).unwrap();
    for bit in [90 * 8, 120 * 8] {
        let damaged = disk.cut_power(PowerCut::DropAll);
        damaged.flip_bit(&journal, bit);
        assert!(matches!(open(&damaged).unwrap_err(), StoreError::Corrupt { .. }));
    }
}

/// Closing the store can interrupt a compaction. Its output is then a file that is not in the manifest: losing it is
/// harmless, losing any other file is not.
#[test]
fn a_missing_file_is_noticed_or_harmless() {
    let disk = SimDisk::new();
    assert_eq!(run(&disk), COMMITS);
    let expected = &states()[COMMITS as usize];
    let mut noticed = BTreeSet::new();
    for name in disk.names() {
        let damaged = disk.duplicate();
        Disk::remove(&damaged, &name).unwrap();
        match open(&damaged).and_then(|store| content(&store.snapshot())) {
            Ok(found) => assert_eq!(&found, expected, "without {name}"),
            Err(_) => drop(noticed.insert(kind(&name).to_owned())),
        }
    }
    assert_eq!(noticed, ["MANIFEST", "journal", "table"].map(str::to_owned).into());
}

/// Returns a file's extension, or its whole name if it has none.
fn kind(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

#[test]
fn a_journal_that_was_cut_off_after_an_orderly_end_is_noticed() {
    let disk = SimDisk::new();
    let store = open(&disk).unwrap();
    for number in 0..3 {
        store.commit(batch(number, &mut Model::new())).wait().unwrap();
    }
    store.close().unwrap();
    let name = disk.names().into_iter().find(|name| name.ends_with(".journal")).unwrap();
    let size = disk.content(&name).unwrap().len() as u64;
    for kept in [0, 40, 84, size / 2, size - 100] {
        let damaged = disk.duplicate();
        Disk::open(&damaged, &name).unwrap().truncate(kept).unwrap();
        assert!(matches!(open(&damaged).unwrap_err(), StoreError::Corrupt { .. }), "{kept} bytes");
    }
}

#[test]
fn a_newer_format_is_refused_as_newer() {
    let disk = SimDisk::new();
    drop(open(&disk).unwrap());
    let mut bytes = disk.content("MANIFEST").unwrap();
    bytes[8] = 2;
    let checksum = twox_hash::XxHash64::oneshot(0, &bytes[..76]);
    bytes[76..84].copy_from_slice(&checksum.to_le_bytes());
    disk.tamper("MANIFEST", bytes);
    assert!(matches!(open(&disk).unwrap_err(), StoreError::Newer { found: 2, supported: 1 }));
}

fn find(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}

fn readable_files(disk: &SimDisk) -> Vec<String> {
    let names = disk.names().into_iter();
    names.filter(|name| find(&disk.content(name).unwrap(), b"secret") || find(name.as_bytes(), b"secret")).collect()
}

#[test]
fn no_file_shows_keys_or_values() {
    let disk = SimDisk::new();
    assert_eq!(run(&disk), COMMITS);
    let kinds = |end: &str| disk.names().iter().filter(|name| name.ends_with(end)).count();
    assert!(kinds(".table") > 0 && kinds(".journal") > 0);
    assert_eq!(readable_files(&disk), [""; 0]);
    let plain = SimDisk::new();
    let options = StoreOptions { compression: false, ..small() };
    let store = Store::open(Arc::new(plain.clone()), None, options).unwrap();
    for number in 0..COMMITS {
        store.commit(batch(number, &mut Model::new())).wait().unwrap();
    }
    assert!(!readable_files(&plain).is_empty(), "the search would find it");
}

#[test]
fn readers_never_see_what_a_power_cut_takes_back() {
    let disk = SimDisk::new();
    let store = open(&disk).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..6u64)
            .map(|writer| {
                let store = &store;
                scope.spawn(move || {
                    for number in 0..40u64 {
                        let mut batch = Batch::new();
                        let value = (writer * 1000 + number).to_string();
                        batch.put("left", value.clone());
                        batch.put(format!("padding-{writer}-{number}"), vec![0; 60]);
                        batch.put("right", value);
                        batch.append("log/", vec![writer as u8]);
                        store.commit(batch).wait().unwrap();
                    }
                })
            })
            .collect();
        scope.spawn(|| {
            while !done.load(Ordering::Acquire) {
                let snapshot = store.snapshot();
                assert_eq!(snapshot.get(b"left").unwrap(), snapshot.get(b"right").unwrap(), "half a batch");
                let after = open(&disk.cut_power(PowerCut::DropAll)).unwrap().snapshot();
                assert!(after.seqno() >= snapshot.seqno(), "a durable commit was lost");
            }
        });
        for writer in writers {
            writer.join().unwrap();
        }
        done.store(true, Ordering::Release);
    });
    let seqnos: Vec<u64> = content(&store.snapshot())
        .unwrap()
        .keys()
        .filter_map(|key| key.strip_prefix(b"log/"))
        .map(|rest| u64::from_be_bytes(rest[..8].try_into().unwrap()))
        .collect();
    assert_eq!(seqnos, (1..=240).collect::<Vec<_>>(), "appended records have no gaps and no doubles");
}

#[test]
fn without_syncs_the_journal_still_survives_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions { durability: Durability::Os, ..small() };
    let open = || Store::open(Arc::new(RealDisk::new(folder.path()).unwrap()), None, options.clone()).unwrap();
    let states = states();
    let store = open();
    for number in 0..COMMITS {
        store.commit(batch(number, &mut Model::new())).wait().unwrap();
    }
    drop(store);
    assert_eq!(&content(&open().snapshot()).unwrap(), &states[COMMITS as usize]);
}

#[test]
fn new_files_use_the_new_key_and_old_ones_stay_readable() {
    let disk = SimDisk::new();
    assert_eq!(run(&disk), COMMITS);
    let keys = DataKeys::new(2, [9; 32]).with_older(1, [7; 32]);
    let store = Store::open(Arc::new(disk.clone()), Some(keys), small()).unwrap();
    assert_eq!(&content(&store.snapshot()).unwrap(), &states()[COMMITS as usize]);
    store.compact().unwrap();
    assert_eq!(store.stats().key_ids, [2]);
    store.close().unwrap();
    let only_new = Store::open(Arc::new(disk.clone()), Some(DataKeys::new(2, [9; 32])), small()).unwrap();
    assert_eq!(&content(&only_new.snapshot()).unwrap(), &states()[COMMITS as usize]);
    only_new.compact().unwrap();
    only_new.close().unwrap();
    let third = DataKeys::new(3, [4; 32]).with_older(2, [9; 32]);
    drop(only_new);
    let one_table = StoreOptions { table_bytes: 1 << 20, ..small() };
    let store = Store::open(Arc::new(disk.clone()), Some(third.clone()), one_table.clone()).unwrap();
    store.compact().unwrap();
    store.close().unwrap();
    let fourth = DataKeys::new(4, [5; 32]).with_older(3, [4; 32]);
    let store = Store::open(Arc::new(disk), Some(fourth), one_table).unwrap();
    assert_eq!(store.stats().level_files.iter().sum::<usize>(), 1);
    store.compact().unwrap();
    assert_eq!(store.stats().key_ids, [4], "a single table is rewritten too");
}

/// Kills the store after some commits and removes the newest segment.
#[test]
fn the_newest_segment_of_a_killed_store_is_missed() {
    let disk = SimDisk::new();
    let store = open(&disk).unwrap();
    for number in 0..COMMITS {
        store.commit(batch(number, &mut Model::new())).wait().unwrap();
        let killed = disk.duplicate();
        let newest = killed.names().into_iter().filter(|name| name.ends_with(".journal")).max().unwrap();
        Disk::remove(&killed, &newest).unwrap();
        match open(&killed) {
            Err(StoreError::Missing { file, .. }) => assert_eq!(file, newest),
            Err(error) => panic!("{error}"),
            // A flush can finish between the commit and the copy; then the segment is no longer needed.
            Ok(store) => assert_eq!(content(&store.snapshot()).unwrap(), states()[number as usize + 1]),
        }
    }
}

/// A segment in the manifest once had a durable header, so an empty one is damage, not a crash.
#[test]
fn an_emptied_newest_segment_of_a_killed_store_is_damage() {
    let disk = SimDisk::new();
    let store = open(&disk).unwrap();
    store.commit(batch(0, &mut Model::new())).wait().unwrap();
    let name = disk.names().into_iter().find(|name| name.ends_with(".journal")).unwrap();
    for kept in [0, 50] {
        let killed = disk.duplicate();
        Disk::open(&killed, &name).unwrap().truncate(kept).unwrap();
        assert!(matches!(open(&killed).unwrap_err(), StoreError::Corrupt { .. }), "{kept} bytes");
    }
}

#[test]
fn a_removed_lock_file_lets_nobody_in() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Store::open(Arc::new(RealDisk::new(folder.path()).unwrap()), None, small());
    let first = open().unwrap();
    let lock = folder.path().join("LOCK");
    let refused = |error: StoreError| match error {
        StoreError::InUse { holder, .. } => holder,
        other => panic!("{other}"),
    };
    let holder = refused(open().unwrap_err()).unwrap();
    assert_eq!(holder.pid, std::process::id());
    assert!(holder.since_secs.is_some());
    std::fs::remove_file(&lock).unwrap();
    refused(open().unwrap_err());
    assert!(!lock.exists(), "a refused process leaves nothing behind");
    first.commit(batch(0, &mut Model::new())).wait().unwrap();
    first.close().unwrap();
    assert!(open().is_ok());
}

/// An unreadable table stops the compaction that needs it, but neither writes nor other reads.
#[test]
fn an_unreadable_table_stops_its_compaction_and_no_writes() {
    for gone in [true, false] {
        let disk = SimDisk::new();
        assert_eq!(run(&disk), COMMITS);
        let store = open(&disk).unwrap();
        store.settle().unwrap();
        let tables: Vec<String> = disk.names().into_iter().filter(|name| name.ends_with(".table")).collect();
        for name in &tables {
            if gone {
                Disk::remove(&disk, name).unwrap();
            } else {
                disk.flip_bit(name, 90 * 8);
            }
        }
        let error = store.compact().unwrap_err();
        assert!(tables.iter().any(|name| error.to_string().contains(name)), "{error}");
        store.health().unwrap();
        let mut batch = Batch::new();
        batch.put("new", "value");
        store.commit(batch).wait().unwrap();
        assert!(store.snapshot().get(b"new").unwrap().is_some());
        store.close().unwrap();
    }
}
