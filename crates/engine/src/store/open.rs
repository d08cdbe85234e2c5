//! Opening a store: take the directory, read the manifest, replay the journal, start the threads.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;

use parking_lot::Mutex;

use super::batch::{Batch, SeqNo};
use super::commit::Gate;
use super::disk::{Disk, DiskLock};
use super::error::StoreError;
use super::header::FileKind;
use super::horizon::{Horizon, Readers};
use super::journal::{self, JournalWriter};
use super::manifest::{MANIFEST_NAME, MANIFEST_NEXT_NAME, Manifest};
use super::memtable::Memtable;
use super::options::{Durability, StoreOptions};
use super::pipeline::Pipeline;
use super::seal::{DataKeys, Vault};
use super::snapshot::View;
use super::{Counters, Files, Shared, Store};

/// See [`Store::open`].
pub(super) fn open(disk: Arc<dyn Disk>, keys: Option<DataKeys>, options: StoreOptions) -> Result<Store, StoreError> {
    let lock = take_lock(disk.as_ref())?;
    let vault = Vault::new(keys);
    let mut manifest = load_or_create(disk.as_ref(), &vault, &options)?;
    remove_leftovers(disk.as_ref(), &manifest)?;
    let memtable = Arc::new(Memtable::default());
    let seqno = replay_journal(disk.as_ref(), &vault, &mut manifest, &memtable)?;
    let segment = manifest.next_number;
    manifest.next_number += 1;
    let synced = options.durability == Durability::Sync;
    let journal = JournalWriter::new(disk.clone(), vault.clone(), manifest.store_id, synced);
    let view = View { memtables: vec![memtable.clone()], retired: manifest.retired.clone() };
    let files = Files { disk, vault, options, manifest: Mutex::new(manifest), lock: Mutex::new(Some(lock)) };
    let shared = Arc::new(Shared {
        readers: Arc::new(Readers::new(seqno, Arc::new(view))),
        pipeline: Pipeline::new(seqno, memtable, segment),
        gate: Arc::new(Gate::new(seqno)),
        files: Some(files),
        counters: Counters::default(),
    });
    start(shared, journal)
}

fn start(shared: Arc<Shared>, mut journal: JournalWriter) -> Result<Store, StoreError> {
    let writer = shared.clone();
    let body = move || write_journal(&writer, &mut journal);
    let thread = thread::Builder::new()
        .name("store-journal".to_owned())
        .spawn(body)
        .map_err(|error| StoreError::io("start a thread for", "the journal", error))?;
    Ok(Store { shared, threads: Mutex::new(vec![thread]) })
}

/// The journal thread: frame after frame until the store closes or a write fails.
fn write_journal(shared: &Shared, journal: &mut JournalWriter) {
    while let Some(mut frame) = shared.pipeline.next_frame() {
        if let Err(error) = journal.write(&mut frame) {
            return shared.poison(&error);
        }
        shared.counters.frames.fetch_add(1, Ordering::Relaxed);
        shared.counters.syncs.fetch_add(1, Ordering::Relaxed);
        shared.readers.set_durable(frame.last());
        shared.gate.advance(frame.last());
        shared.pipeline.recycle(frame);
    }
    if let Err(error) = journal.finish() {
        shared.poison(&error);
    }
}

fn take_lock(disk: &dyn Disk) -> Result<Box<dyn DiskLock>, StoreError> {
    disk.lock().map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => StoreError::InUse { place: disk.place() },
        _ => StoreError::io("lock", &disk.place(), error),
    })
}

fn list(disk: &dyn Disk) -> Result<Vec<String>, StoreError> {
    let failed = |error| StoreError::io("list", &disk.place(), error);
    Ok(disk.list().map_err(failed)?.into_iter().map(|(name, _)| name).collect())
}

fn load_or_create(disk: &dyn Disk, vault: &Vault, options: &StoreOptions) -> Result<Manifest, StoreError> {
    let names = list(disk)?;
    if names.iter().any(|name| name == MANIFEST_NAME) {
        return Manifest::load(disk, vault);
    }
    let foreign = |name: &&String| *name != MANIFEST_NEXT_NAME && !options.neighbours.contains(name);
    if let Some(found) = names.iter().find(foreign) {
        return Err(StoreError::Foreign { place: disk.place(), found: found.clone() });
    }
    let manifest = Manifest::new()?;
    manifest.save(disk, vault)?;
    Ok(manifest)
}

/// Removes what a crash left behind: files the manifest does not know, and segments it no longer needs.
fn remove_leftovers(disk: &dyn Disk, manifest: &Manifest) -> Result<(), StoreError> {
    let is_leftover = |name: &str| match FileKind::of_name(name) {
        Some((FileKind::Journal, number)) => number < manifest.first_segment,
        _ => name == MANIFEST_NEXT_NAME,
    };
    for name in list(disk)?.iter().filter(|name| is_leftover(name)) {
        disk.remove(name).map_err(|error| StoreError::io("remove", name, error))?;
    }
    Ok(())
}

fn replay_journal(
    disk: &dyn Disk,
    vault: &Vault,
    manifest: &mut Manifest,
    memtable: &Memtable,
) -> Result<SeqNo, StoreError> {
    let mut segments: Vec<u64> = list(disk)?.iter().filter_map(|name| segment_number(name)).collect();
    segments.sort_unstable();
    let mut seqno = manifest.last_seqno;
    let everything = Horizon { durable: SeqNo::MAX, live: Vec::new() };
    let retired = manifest.retired.clone();
    let mut apply = |number: SeqNo, batch: Batch| {
        let mut writing = memtable.write();
        for (key, value) in batch.into_changes(number) {
            if !retired.iter().any(|prefix| key.starts_with(prefix)) {
                writing.insert(key, number, value, &everything);
            }
        }
        seqno = seqno.max(number);
    };
    for number in &segments {
        let last = segments.last() == Some(number);
        journal::replay(disk, vault, manifest.store_id, *number, last, &mut apply)?;
        manifest.next_number = manifest.next_number.max(number + 1);
    }
    Ok(seqno)
}

fn segment_number(name: &str) -> Option<u64> {
    match FileKind::of_name(name) {
        Some((FileKind::Journal, number)) => Some(number),
        _ => None,
    }
}
