//! The guarantees of the store one by one, in memory and on a simulated disk.

use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;
use keyform_engine::store::{
    Batch, DataKeys, Disk, PowerCut, RealDisk, SimDisk, Snapshot, Store, StoreError, StoreOptions,
};

fn keys() -> Option<DataKeys> {
    Some(DataKeys::new(1, [7; 32]))
}

fn open(disk: &SimDisk) -> Result<Store, StoreError> {
    Store::open(Arc::new(disk.clone()), keys(), StoreOptions::default())
}

fn put(store: &Store, key: &str, value: &str) -> u64 {
    let mut batch = Batch::new();
    batch.put(key.to_owned(), value.to_owned());
    store.commit(batch).wait().unwrap()
}

fn delete(store: &Store, key: &str) {
    let mut batch = Batch::new();
    batch.delete(key.to_owned());
    store.commit(batch).wait().unwrap();
}

fn text(bytes: &Bytes) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn all(snapshot: &Snapshot) -> Vec<(String, String)> {
    let entries = snapshot.range(Bound::Unbounded, Bound::Unbounded);
    entries.map(|entry| entry.map(|(key, value)| (text(&key), text(&value))).unwrap()).collect()
}

fn on_both(check: impl Fn(&Store)) {
    check(&Store::in_memory());
    check(&open(&SimDisk::new()).unwrap());
}

#[test]
fn a_snapshot_does_not_change() {
    on_both(|store| {
        put(store, "a", "1");
        put(store, "b", "1");
        let before = store.snapshot();
        put(store, "a", "2");
        delete(store, "b");
        assert_eq!(all(&before), [("a".into(), "1".into()), ("b".into(), "1".into())]);
        assert_eq!(all(&store.snapshot()), [("a".into(), "2".into())]);
        assert_eq!(before.get(b"b").unwrap().as_deref(), Some(b"1".as_slice()));
        assert_eq!(store.snapshot().get(b"b").unwrap(), None);
    });
}

#[test]
fn ranges_go_both_ways_within_their_bounds() {
    on_both(|store| {
        for key in ["a", "b", "c", "d"] {
            put(store, key, "x");
        }
        let snapshot = store.snapshot();
        let bounds = (Bound::Excluded(b"a".as_slice()), Bound::Included(b"c".as_slice()));
        let keys = |range: keyform_engine::store::Range| -> Vec<String> {
            range.map(|entry| text(&entry.unwrap().0)).collect()
        };
        assert_eq!(keys(snapshot.range(bounds.0, bounds.1)), ["b", "c"]);
        assert_eq!(keys(snapshot.range_rev(bounds.0, bounds.1)), ["c", "b"]);
        assert_eq!(keys(snapshot.range(bounds.1, bounds.0)), [""; 0], "an upside-down range is empty");
    });
}

#[test]
fn appended_records_sort_in_commit_order() {
    on_both(|store| {
        for number in 0..20 {
            let mut batch = Batch::new();
            batch.append("s/", format!("{number}"));
            batch.append("s/", format!("{number}b"));
            store.commit(batch).wait().unwrap();
        }
        let expected: Vec<String> = (0..20).flat_map(|number| [format!("{number}"), format!("{number}b")]).collect();
        let found: Vec<String> = all(&store.snapshot()).into_iter().map(|(_, value)| value).collect();
        assert_eq!(found, expected);
    });
}

#[test]
fn a_retired_prefix_is_gone_and_stays_gone() {
    on_both(|store| {
        put(store, "a/1", "x");
        put(store, "b/1", "y");
        store.retire_prefix(b"a/").unwrap();
        assert_eq!(all(&store.snapshot()), [("b/1".into(), "y".into())]);
        assert_eq!(store.snapshot().get(b"a/1").unwrap(), None);
    });
    let disk = SimDisk::new();
    let store = open(&disk).unwrap();
    put(&store, "a/1", "x");
    store.retire_prefix(b"a/").unwrap();
    drop(store);
    assert_eq!(all(&open(&disk).unwrap().snapshot()), []);
}

#[test]
fn what_was_acknowledged_survives_a_power_cut() {
    let disk = SimDisk::new();
    let store = open(&disk).unwrap();
    put(&store, "a", "1");
    let last = put(&store, "b", "2");
    let after = disk.cut_power(PowerCut::DropAll);
    let reopened = open(&after).unwrap();
    assert_eq!(all(&reopened.snapshot()), [("a".into(), "1".into()), ("b".into(), "2".into())]);
    assert_eq!(reopened.snapshot().seqno(), last);
    assert!(put(&reopened, "c", "3") > last);
}

#[test]
fn sequence_numbers_rise_across_restarts_also_when_all_is_deleted() {
    let disk = SimDisk::new();
    let store = open(&disk).unwrap();
    put(&store, "a", "1");
    delete(&store, "a");
    let before = store.snapshot().seqno();
    store.close().unwrap();
    assert_eq!(put(&open(&disk).unwrap(), "a", "1"), before + 1);
}

#[test]
fn a_directory_has_one_owner() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Store::open(Arc::new(RealDisk::new(folder.path()).unwrap()), keys(), StoreOptions::default());
    let first = open().unwrap();
    put(&first, "a", "1");
    assert!(matches!(open().unwrap_err(), StoreError::InUse { .. }));
    first.close().unwrap();
    assert_eq!(all(&open().unwrap().snapshot()), [("a".into(), "1".into())]);
}

#[test]
fn a_closed_store_refuses_commits() {
    let store = open(&SimDisk::new()).unwrap();
    store.close().unwrap();
    let mut batch = Batch::new();
    batch.put("a", "1");
    assert!(matches!(store.commit(batch).wait().unwrap_err(), StoreError::Closed));
}

#[test]
fn a_foreign_directory_is_refused() {
    let disk = SimDisk::new();
    disk.tamper("photo.jpg", vec![1, 2, 3]);
    assert!(matches!(open(&disk).unwrap_err(), StoreError::Foreign { .. }));
    let options = StoreOptions { neighbours: vec!["photo.jpg".to_owned()], ..StoreOptions::default() };
    assert!(Store::open(Arc::new(disk), keys(), options).is_ok());
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("photo.jpg"), [1, 2, 3]).unwrap();
    let real = Arc::new(RealDisk::new(folder.path()).unwrap());
    assert!(matches!(Store::open(real, keys(), StoreOptions::default()).unwrap_err(), StoreError::Foreign { .. }));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing was added to it");
}

#[test]
fn a_wrong_key_is_not_mistaken_for_damage() {
    let disk = SimDisk::new();
    drop(open(&disk).unwrap());
    for keys in [Some(DataKeys::new(1, [8; 32])), Some(DataKeys::new(2, [7; 32])), None] {
        let error = Store::open(Arc::new(disk.clone()), keys, StoreOptions::default()).unwrap_err();
        assert!(matches!(error, StoreError::WrongKey { .. }), "{error}");
    }
    let plain = SimDisk::new();
    drop(Store::open(Arc::new(plain.clone()), None, StoreOptions::default()).unwrap());
    assert!(matches!(open(&plain).unwrap_err(), StoreError::WrongKey { .. }));
}

#[test]
fn deleting_in_memory_gives_the_memory_back() {
    let store = Store::in_memory();
    let reader = store.snapshot();
    for round in 0..10 {
        for number in 0..100 {
            put(&store, &format!("{number}"), &"x".repeat(100 + round));
        }
    }
    drop(reader);
    for number in 0..100 {
        delete(&store, &format!("{number}"));
    }
    for _ in 0..1000 {
        delete(&store, "none");
    }
    assert_eq!(store.stats().memtable_bytes, 0);
}

#[test]
fn files_may_go_while_their_directory_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    let disk = RealDisk::new(folder.path()).unwrap();
    std::thread::scope(|scope| {
        let coming_and_going = scope.spawn(|| {
            for _ in 0..100 {
                let names: Vec<String> = (0..20).map(|number| format!("{number}.table")).collect();
                names.iter().for_each(|name| drop(disk.create(name).unwrap()));
                names.iter().for_each(|name| disk.remove(name).unwrap());
            }
        });
        while !coming_and_going.is_finished() {
            disk.list().unwrap();
        }
    });
}
