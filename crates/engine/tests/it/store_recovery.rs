//! The disk runs out of space or file descriptors at every operation of a workload and recovers later: the store
//! continues without being reopened, with all acknowledged commits and none that it rejected.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use keyform_engine::store::{
    Batch, Commit, DataKeys, Durability, PowerCut, Scarce, SimDisk, Snapshot, Store, StoreError, StoreOptions,
};

type Model = BTreeMap<String, String>;

const COMMITS: u64 = 30;
const FLUSH_EVERY: u64 = 6;
const BOTH: [Scarce; 2] = [Scarce::Space, Scarce::Descriptors];

fn options(durability: Durability) -> StoreOptions {
    StoreOptions {
        durability,
        memtable_bytes: 2000,
        block_bytes: 200,
        table_bytes: 1500,
        level0_files: 2,
        level1_bytes: 4000,
        journal_reserve_bytes: 1000,
        ..StoreOptions::default()
    }
}

fn open(disk: &SimDisk, durability: Durability) -> Store {
    Store::open(Arc::new(disk.clone()), Some(DataKeys::new(1, [7; 32])), options(durability)).unwrap()
}

fn content(snapshot: &Snapshot) -> Model {
    let text = |bytes: bytes::Bytes| String::from_utf8(bytes.to_vec()).unwrap();
    let entries = snapshot.range(Bound::Unbounded, Bound::Unbounded).map(Result::unwrap);
    entries.map(|(key, value)| (text(key), text(value))).collect()
}

fn put(store: &Store, number: u64) -> Commit {
    let mut batch = Batch::new();
    batch.put(format!("key {number:04}"), format!("value {number} ").repeat(10));
    store.commit(batch)
}

/// Outcomes of the commits.
#[derive(Default)]
struct Outcomes {
    acknowledged: Vec<u64>,
    unconfirmed: Vec<u64>,
    refused: Vec<u64>,
}

impl Outcomes {
    fn note(&mut self, number: u64, outcome: &Result<u64, StoreError>) {
        match outcome {
            Ok(_) => self.acknowledged.push(number),
            Err(StoreError::Unconfirmed { .. }) => self.unconfirmed.push(number),
            Err(StoreError::Paused { .. }) => self.refused.push(number),
            Err(other) => panic!("commit {number}: {other}"),
        }
    }

    /// Checks that every acknowledged commit is present, no rejected one is, and each unconfirmed one is present as a
    /// whole or absent.
    fn check(&self, found: &Model, context: &str) {
        let has = |number: &u64| found.contains_key(&format!("key {number:04}"));
        assert_eq!(self.acknowledged.iter().find(|number| !has(number)), None, "lost, {context}");
        assert_eq!(self.refused.iter().find(|number| has(number)), None, "refused and still written, {context}");
        let known = self.acknowledged.len() + self.unconfirmed.iter().filter(|number| has(number)).count();
        assert_eq!(found.len(), known, "{context}");
    }
}

/// Commits while the resource is exhausted; every commit gets a response.
fn run(store: &Store, outcomes: &mut Outcomes) {
    for number in 0..COMMITS {
        outcomes.note(number, &put(store, number).wait());
        if number % FLUSH_EVERY == 0 {
            // The flush may be rejected now; it is retried later.
            drop(store.flush());
        }
    }
}

/// Commits until the store accepts one again.
fn come_back(store: &Store, outcomes: &mut Outcomes) {
    for number in COMMITS.. {
        let outcome = put(store, number).wait();
        outcomes.note(number, &outcome);
        if outcome.is_ok() {
            return;
        }
        std::thread::yield_now();
    }
}

fn settle(store: &Store) {
    while let Err(error) = store.settle() {
        assert!(matches!(error, StoreError::Paused { .. }), "{error}");
        std::thread::yield_now();
    }
}

fn starve_everywhere(durability: Durability) {
    let whole = SimDisk::new();
    run(&open(&whole, durability), &mut Outcomes::default());
    let first = {
        let disk = SimDisk::new();
        drop(open(&disk, durability));
        disk.operations()
    };
    let (mut unconfirmed, mut refused) = (0, 0);
    for scarce in BOTH {
        for operation in first..whole.operations() {
            let context = format!("{scarce:?} from operation {operation}");
            let disk = SimDisk::new();
            let store = open(&disk, durability);
            let mut outcomes = Outcomes::default();
            disk.starve_at(operation, scarce);
            run(&store, &mut outcomes);
            if durability == Durability::Sync {
                let left = open(&disk.cut_power(PowerCut::Tear(operation)), durability);
                outcomes.check(&content(&left.snapshot()), &format!("{context}, power cut while it lasts"));
            }
            disk.heal();
            come_back(&store, &mut outcomes);
            settle(&store);
            store.health().unwrap();
            outcomes.check(&content(&store.snapshot()), &context);
            store.close().unwrap();
            drop(store);
            outcomes.check(&content(&open(&disk, durability).snapshot()), &format!("{context}, opened again"));
            unconfirmed += outcomes.unconfirmed.len();
            refused += outcomes.refused.len();
        }
    }
    assert!(unconfirmed > 0 && refused > 0, "the workload met what is scarce: {unconfirmed}, {refused}");
}

#[test]
fn whatever_is_scarce_and_whenever_the_store_comes_back() {
    starve_everywhere(Durability::Sync);
}

#[test]
fn without_syncs_the_store_comes_back_too() {
    starve_everywhere(Durability::Os);
}

/// The first write fails half way; later ones find the store paused, and reads continue.
#[test]
fn a_paused_store_says_why_and_reads() {
    let disk = SimDisk::new();
    let store = open(&disk, Durability::Sync);
    put(&store, 1).wait().unwrap();
    disk.starve_at(disk.operations(), Scarce::Space);
    let unconfirmed = put(&store, 2).wait().unwrap_err();
    assert!(matches!(unconfirmed, StoreError::Unconfirmed { .. }), "{unconfirmed}");
    let refused = put(&store, 3).wait().unwrap_err();
    assert!(matches!(refused, StoreError::Paused { .. }), "{refused}");
    assert!(refused.to_string().contains("os error 28"), "{refused}");
    assert_eq!(store.health().unwrap_err().to_string(), refused.to_string());
    assert_eq!(content(&store.snapshot()).len(), 1, "what is not durable is not shown");
    disk.heal();
    while store.health().is_err() {
        std::thread::yield_now();
    }
    assert_eq!(
        content(&store.snapshot()).len(),
        2,
        "what was unconfirmed is durable now, what was refused is not there"
    );
    assert_eq!(put(&store, 4).wait().unwrap(), 3);
}

#[test]
fn closing_a_paused_store_reports_that_its_last_writes_are_unconfirmed() {
    let disk = SimDisk::new();
    let store = open(&disk, Durability::Sync);
    put(&store, 1).wait().unwrap();
    disk.starve_at(disk.operations(), Scarce::Space);
    put(&store, 2).wait().unwrap_err();
    assert!(matches!(store.close().unwrap_err(), StoreError::Unconfirmed { .. }));
    drop(store);
    disk.heal();
    assert_eq!(content(&open(&disk, Durability::Sync).snapshot()).len(), 1);
}

#[test]
fn many_writers_are_all_answered_and_come_back() {
    let disk = SimDisk::new();
    let store = open(&disk, Durability::Sync);
    for round in 0..20 {
        disk.starve_at(disk.operations() + round % 7, BOTH[round as usize % 2]);
        let outcomes: Vec<(u64, Result<u64, StoreError>)> = std::thread::scope(|scope| {
            let store = &store;
            let write = |writer: u64| scope.spawn(move || (writer, put(store, 1000 * round + writer).wait()));
            let writers: Vec<_> = (0..8).map(write).collect();
            writers.into_iter().map(|writer| writer.join().unwrap()).collect()
        });
        disk.heal();
        while put(&store, 1000 * round + 999).wait().is_err() {
            std::thread::yield_now();
        }
        let found = content(&store.snapshot());
        for (writer, outcome) in outcomes {
            let has = found.contains_key(&format!("key {:04}", 1000 * round + writer));
            match outcome {
                Ok(_) | Err(StoreError::Unconfirmed { .. }) => assert!(has, "round {round}, writer {writer}"),
                Err(StoreError::Paused { .. }) => assert!(!has, "round {round}, writer {writer}"),
                Err(other) => panic!("{other}"),
            }
        }
    }
}
