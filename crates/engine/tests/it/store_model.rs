//! Random histories, compared with an ordered map after each step: batches, snapshots held across flushes and
//! compactions, retired prefixes, reopening, reads in both directions.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use keyform_engine::store::{Batch, DataKeys, SimDisk, Snapshot, Store, StoreOptions};
use proptest::prelude::*;

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

#[derive(Debug, Clone)]
enum Step {
    Commit(Vec<Change>),
    Hold,
    Release(usize),
    Flush,
    Compact,
    Settle,
    Reopen,
    Retire(u8),
    Range(Edge, Edge),
}

#[derive(Debug, Clone)]
enum Change {
    Put(u8, u8, u16),
    Delete(u8, u8),
    Append(u8, u8),
}

#[derive(Debug, Clone)]
enum Edge {
    Open,
    Included(u8, u8),
    Excluded(u8, u8),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        6 => (0..3u8, 0..60u8, 0..200u16).prop_map(|(table, key, size)| Change::Put(table, key, size)),
        3 => (0..3u8, 0..60u8).prop_map(|(table, key)| Change::Delete(table, key)),
        1 => (0..3u8, any::<u8>()).prop_map(|(table, value)| Change::Append(table, value)),
    ]
}

fn edge() -> impl Strategy<Value = Edge> {
    prop_oneof![
        Just(Edge::Open),
        (0..3u8, 0..60u8).prop_map(|(table, key)| Edge::Included(table, key)),
        (0..3u8, 0..60u8).prop_map(|(table, key)| Edge::Excluded(table, key)),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => prop::collection::vec(change(), 1..12).prop_map(Step::Commit),
        3 => Just(Step::Hold),
        3 => any::<usize>().prop_map(Step::Release),
        3 => Just(Step::Flush),
        1 => Just(Step::Compact),
        1 => Just(Step::Settle),
        1 => Just(Step::Reopen),
        1 => (0..3u8).prop_map(Step::Retire),
        4 => (edge(), edge()).prop_map(|(lower, upper)| Step::Range(lower, upper)),
    ]
}

/// Store and its expected content.
struct Pair {
    place: Option<Place>,
    store: Store,
    model: Model,
    held: Vec<(Snapshot, Model)>,
    /// Number of times each of the three prefixes was retired; a retired prefix is never used again.
    lives: [u8; 3],
}

fn small() -> StoreOptions {
    StoreOptions {
        memtable_bytes: 6000,
        block_bytes: 200,
        table_bytes: 1500,
        level0_files: 2,
        level1_bytes: 4000,
        journal_reserve_bytes: 1000,
        block_cache_bytes: 4000,
        ..StoreOptions::default()
    }
}

#[derive(Debug, Clone)]
struct Place {
    disk: SimDisk,
    keys: Option<DataKeys>,
}

fn open(place: &Place) -> Store {
    let options = StoreOptions { compression: place.keys.is_some(), ..small() };
    Store::open(Arc::new(place.disk.clone()), place.keys.clone(), options).unwrap()
}

impl Pair {
    fn new(place: Option<Place>) -> Self {
        let store = place.as_ref().map_or_else(Store::in_memory, open);
        Pair { place, store, model: Model::new(), held: Vec::new(), lives: [0; 3] }
    }

    fn prefix(&self, table: u8) -> Vec<u8> {
        vec![b'a' + table, self.lives[usize::from(table)], b'/']
    }

    fn key(&self, table: u8, key: u8) -> Vec<u8> {
        [self.prefix(table), format!("key-{key:03}").into_bytes()].concat()
    }

    fn apply(&mut self, step: &Step) {
        match step {
            Step::Commit(changes) => self.commit(changes),
            Step::Hold => self.held.push((self.store.snapshot(), self.model.clone())),
            Step::Release(which) if !self.held.is_empty() => drop(self.held.swap_remove(which % self.held.len())),
            Step::Release(_) => {}
            Step::Flush => self.store.flush().unwrap(),
            Step::Compact => self.store.compact().unwrap(),
            Step::Settle => self.store.settle().unwrap(),
            Step::Reopen => self.reopen(),
            Step::Retire(table) => self.retire(*table),
            Step::Range(lower, upper) => self.check_range(lower, upper),
        }
        check(&self.store.latest(), &self.model, Bound::Unbounded, Bound::Unbounded);
        check(&self.store.snapshot(), &self.model, Bound::Unbounded, Bound::Unbounded);
    }

    fn commit(&mut self, changes: &[Change]) {
        let mut batch = Batch::new();
        let mut appended = Vec::new();
        for change in changes {
            match change {
                Change::Put(table, key, size) => {
                    let value = vec![*size as u8; usize::from(*size)];
                    batch.put(self.key(*table, *key), value.clone());
                    self.model.insert(self.key(*table, *key), value);
                }
                Change::Delete(table, key) => {
                    batch.delete(self.key(*table, *key));
                    self.model.remove(&self.key(*table, *key));
                }
                Change::Append(table, value) => {
                    batch.append(self.prefix(*table), vec![*value]);
                    appended.push((self.prefix(*table), vec![*value]));
                }
            }
        }
        let seqno = self.store.commit(batch).wait().unwrap();
        for (position, (prefix, value)) in appended.into_iter().enumerate() {
            let key = [prefix, seqno.to_be_bytes().to_vec(), (position as u16).to_be_bytes().to_vec()].concat();
            self.model.insert(key, value);
        }
    }

    fn reopen(&mut self) {
        let Some(place) = &self.place else { return };
        let seqno = self.store.latest().seqno();
        self.held.clear();
        self.store.close().unwrap();
        self.store = open(place);
        assert_eq!(self.store.snapshot().seqno(), seqno);
    }

    fn retire(&mut self, table: u8) {
        let prefix = self.prefix(table);
        self.lives[usize::from(table)] += 1;
        self.store.retire_prefix(&prefix).unwrap();
        self.model.retain(|key, _| !key.starts_with(&prefix));
        // Older snapshots do not guarantee what they show of a retired prefix.
        self.held.clear();
    }

    fn check_range(&self, lower: &Edge, upper: &Edge) {
        let (lower, upper) = (self.bound(lower), self.bound(upper));
        let borrow = |bound: &Bound<Vec<u8>>| bound.clone();
        check(&self.store.snapshot(), &self.model, borrow(&lower), borrow(&upper));
        for (snapshot, model) in &self.held {
            check(snapshot, model, borrow(&lower), borrow(&upper));
        }
    }

    fn bound(&self, edge: &Edge) -> Bound<Vec<u8>> {
        match edge {
            Edge::Open => Bound::Unbounded,
            Edge::Included(table, key) => Bound::Included(self.key(*table, *key)),
            Edge::Excluded(table, key) => Bound::Excluded(self.key(*table, *key)),
        }
    }
}

fn check(snapshot: &Snapshot, model: &Model, lower: Bound<Vec<u8>>, upper: Bound<Vec<u8>>) {
    let inside = |key: &Vec<u8>| std::ops::RangeBounds::contains(&(lower.clone(), upper.clone()), key);
    let expected: Vec<(Vec<u8>, Vec<u8>)> =
        model.iter().filter(|(key, _)| inside(key)).map(|(key, value)| (key.clone(), value.clone())).collect();
    let bounds = (lower.as_ref().map(Vec::as_slice), upper.as_ref().map(Vec::as_slice));
    let read = |range: keyform_engine::store::Range| -> Vec<(Vec<u8>, Vec<u8>)> {
        range.map(|entry| entry.map(|(key, value)| (key.to_vec(), value.to_vec())).unwrap()).collect()
    };
    assert_eq!(read(snapshot.range(bounds.0, bounds.1)), expected);
    let mut backward = read(snapshot.range_rev(bounds.0, bounds.1));
    backward.reverse();
    assert_eq!(backward, expected);
    for (key, value) in expected.iter().step_by(7) {
        assert_eq!(snapshot.get(key).unwrap().as_deref(), Some(value.as_slice()));
    }
    assert_eq!(snapshot.get(b"a\0/nothing").unwrap(), None);
}

fn run(place: Option<Place>, steps: &[Step]) {
    let mut pair = Pair::new(place);
    for step in steps {
        pair.apply(step);
    }
    for (snapshot, model) in &pair.held {
        check(snapshot, model, Bound::Unbounded, Bound::Unbounded);
    }
    pair.reopen();
    check(&pair.store.snapshot(), &pair.model, Bound::Unbounded, Bound::Unbounded);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_store_behaves_as_an_ordered_map(steps in prop::collection::vec(step(), 1..80)) {
        run(None, &steps);
        run(Some(Place { disk: SimDisk::new(), keys: Some(DataKeys::new(1, [7; 32])) }), &steps);
        run(Some(Place { disk: SimDisk::new(), keys: None }), &steps);
    }
}
