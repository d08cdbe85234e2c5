//! Group commit: every commit becomes durable, whichever thread writes the journal, and a failure reaches all waiters.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use keyform_engine::store::{
    Batch, Commit, Disk, DiskFile, DiskLock, Durability, PowerCut, SimDisk, Store, StoreError, StoreOptions,
};

fn open(disk: Arc<dyn Disk>) -> Store {
    Store::open(disk, None, StoreOptions::default()).unwrap()
}

fn commit(store: &Store, key: impl Into<String>) -> Commit {
    let mut batch = Batch::new();
    batch.put(key.into(), "value");
    store.commit(batch)
}

/// Polls once; returns whether the commit has resolved.
fn is_durable(commit: &mut Commit) -> bool {
    let polled = Pin::new(commit).poll(&mut Context::from_waker(Waker::noop()));
    matches!(polled, Poll::Ready(Ok(_)))
}

fn wait_until(mut done: impl FnMut() -> bool) {
    while !done() {
        std::thread::yield_now();
    }
}

#[test]
fn a_thread_that_waits_writes_the_journal_itself() {
    let disk = SimDisk::new();
    let store = open(Arc::new(disk.clone()));
    let first = commit(&store, "first");
    assert!(!disk.names().iter().any(|name| name.ends_with(".journal")), "not requested yet");
    assert_eq!(first.wait().unwrap(), 1);
    assert!(open(Arc::new(disk.cut_power(PowerCut::DropAll))).snapshot().get(b"first").unwrap().is_some());
}

#[test]
fn commits_that_nobody_waits_for_become_durable() {
    let store = open(Arc::new(SimDisk::new()));
    drop(commit(&store, "dropped"));
    wait_until(|| store.snapshot().seqno() == 1);
    let mut polled = commit(&store, "polled once");
    is_durable(&mut polled);
    wait_until(|| store.snapshot().seqno() == 2);
    assert!(is_durable(&mut polled));
}

#[test]
fn a_commit_that_is_held_goes_with_the_next_one() {
    let store = open(Arc::new(SimDisk::new()));
    let mut held = commit(&store, "held");
    assert_eq!(commit(&store, "next").wait().unwrap(), 2);
    assert!(is_durable(&mut held));
    assert_eq!(store.stats().frames, 1, "one frame served both");
}

#[test]
fn commits_that_are_held_do_not_hold_up_files() {
    let options = StoreOptions { memtable_bytes: 2000, journal_reserve_bytes: 0, ..StoreOptions::default() };
    let store = Store::open(Arc::new(SimDisk::new()), None, options).unwrap();
    let mut held: Vec<Commit> = (0..100).map(|number| commit(&store, format!("{number:0100}"))).collect();
    store.flush().unwrap();
    assert!(held.iter_mut().all(is_durable));
    let held = commit(&store, "last");
    store.close().unwrap();
    assert_eq!(held.wait().unwrap(), 101, "closing makes everything durable");
}

#[test]
fn waiting_and_polling_mix() {
    for durability in [Durability::Sync, Durability::Os] {
        let disk = SimDisk::new();
        let options = StoreOptions { durability, memtable_bytes: 5000, ..StoreOptions::default() };
        let store = Store::open(Arc::new(disk.clone()), None, options).unwrap();
        std::thread::scope(|scope| {
            for writer in 0..6 {
                let store = &store;
                scope.spawn(move || {
                    for number in 0..200 {
                        let mut under_way = commit(store, format!("{writer} {number}"));
                        match (writer + number) % 3 {
                            0 => drop(under_way.wait().unwrap()),
                            1 => wait_until(|| is_durable(&mut under_way)),
                            _ => drop(under_way),
                        }
                    }
                });
            }
        });
        store.close().unwrap();
        drop(store);
        assert_eq!(open(Arc::new(disk)).snapshot().seqno(), 1200);
    }
}

/// Disk whose files panic on writes once it is armed.
#[derive(Debug)]
struct Trap {
    disk: SimDisk,
    armed: Arc<AtomicBool>,
}

#[derive(Debug)]
struct TrapFile {
    file: Arc<dyn DiskFile>,
    armed: Arc<AtomicBool>,
}

impl Trap {
    fn file(&self, file: Arc<dyn DiskFile>) -> Arc<dyn DiskFile> {
        Arc::new(TrapFile { file, armed: self.armed.clone() })
    }
}

impl Disk for Trap {
    fn place(&self) -> String {
        self.disk.place()
    }
    fn lock(&self, now_secs: u64) -> io::Result<Box<dyn DiskLock>> {
        self.disk.lock(now_secs)
    }
    fn list(&self) -> io::Result<Vec<(String, u64)>> {
        self.disk.list()
    }
    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        self.disk.create(name).map(|file| self.file(file))
    }
    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        self.disk.open(name).map(|file| self.file(file))
    }
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.disk.rename(from, to)
    }
    fn remove(&self, name: &str) -> io::Result<()> {
        self.disk.remove(name)
    }
    fn sync_dir(&self) -> io::Result<()> {
        self.disk.sync_dir()
    }
}

impl DiskFile for TrapFile {
    fn write_at(&self, data: &[u8], offset: u64) -> io::Result<()> {
        assert!(!self.armed.load(Ordering::SeqCst), "the trap");
        self.file.write_at(data, offset)
    }
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_at(buffer, offset)
    }
    fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }
    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }
    fn truncate(&self, size: u64) -> io::Result<()> {
        self.file.truncate(size)
    }
}

#[test]
fn a_panic_of_the_one_who_writes_ends_the_store_for_all() {
    let armed = Arc::new(AtomicBool::new(false));
    let store = open(Arc::new(Trap { disk: SimDisk::new(), armed: armed.clone() }));
    commit(&store, "before").wait().unwrap();
    let held = commit(&store, "held");
    armed.store(true, Ordering::SeqCst);
    let panicked = std::thread::scope(|scope| scope.spawn(|| commit(&store, "panics").wait()).join().is_err());
    assert!(panicked);
    armed.store(false, Ordering::SeqCst);
    for refused in [held.wait(), commit(&store, "after").wait(), store.close().map(|()| 0)] {
        assert!(matches!(refused, Err(StoreError::Poisoned { .. })), "{refused:?}");
    }
    assert_eq!(store.snapshot().seqno(), 1);
}
