//! Opening a store: locks the directory, reads the manifest, replays the journal, starts the threads.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::thread;

use keyform_core::World;
use parking_lot::Mutex;

use super::background::Background;
use super::batch::SeqNo;
use super::commit::Gate;
use super::cut::{self, CutLimits};
use super::disk::{Disk, DiskLock};
use super::error::StoreError;
use super::header::FileKind;
use super::horizon::Readers;
use super::journal::JournalWriter;
use super::levels::Levels;
use super::manifest::{MANIFEST_NAME, MANIFEST_NEXT_NAME, Manifest};
use super::memtable::Memtable;
use super::options::StoreOptions;
use super::pipeline::Pipeline;
use super::pulse::Pulse;
use super::replay::{Replay, ReplaySegment};
use super::seal::{DataKeys, Vault};
use super::snapshot::View;
use super::sorted_table::TableFiles;
use super::weight::DeadShare;
use super::{Counters, Files, Shared, Store};

/// With more journal segments than this, opening starts a flush, so that a store that is opened often opens quickly.
const SEGMENTS_MAX: usize = 8;

/// Implements [`Store::open`].
pub(super) fn open(disk: Arc<dyn Disk>, keys: Option<DataKeys>, options: StoreOptions) -> Result<Store, StoreError> {
    refuse_foreign(disk.as_ref(), &options)?;
    let lock = take_lock(disk.as_ref(), &*options.world)?;
    let vault = Vault::new(keys, options.world.clone());
    let mut manifest = load_or_create(disk.as_ref(), &vault)?;
    let listed = list(disk.as_ref())?;
    check_tables(&manifest, &listed)?;
    check_newest_segment(&manifest, &listed)?;
    manifest.next_number = manifest.next_number.max(next_number(&listed));
    remove_leftovers(disk.as_ref(), &manifest, &listed)?;
    let segments = needed_segments(&manifest, &listed);
    let (memtable, seqno, rekeyed) = replay_journal(disk.as_ref(), &vault, &manifest, &segments)?;
    let memtable = Arc::new(memtable);
    check_end(&manifest, seqno)?;
    let replayed = replayed_bytes(disk.as_ref(), &segments)?;
    let shared =
        Arc::new(assemble(disk, vault, options, manifest, Replayed { memtable, seqno, bytes: replayed }, lock));
    let store = start(shared)?;
    store.flush_after_open(rekeyed || segments.len() > SEGMENTS_MAX);
    Ok(store)
}

struct Replayed {
    memtable: Arc<Memtable>,
    seqno: SeqNo,
    bytes: u64,
}

fn assemble(
    disk: Arc<dyn Disk>,
    vault: Vault,
    options: StoreOptions,
    manifest: Manifest,
    replayed: Replayed,
    lock: Box<dyn DiskLock>,
) -> Shared {
    let Replayed { memtable, seqno, bytes } = replayed;
    let journal = JournalWriter::new(disk.clone(), vault.clone(), manifest.store_id, &options);
    let tables = Arc::new(TableFiles::new(disk, vault, manifest.store_id, options.block_cache_bytes));
    let levels = Levels::open(&manifest.levels, &tables);
    let background = Background::new(cut::frozen_journal_bytes_max(&options), options.world.clone());
    let retired = manifest.retired_prefixes();
    let levels = Arc::new(levels);
    let view = View { memtables: vec![memtable.clone()], levels: levels.clone(), retired };
    let (segment, world) = (manifest.next_number, options.world.clone());
    let files = Files {
        options,
        journal: Mutex::new(journal),
        tables,
        next_number: AtomicU64::new(segment + 1),
        manifest: Mutex::new(manifest),
        background,
        quiet: Mutex::default(),
        dead_share: DeadShare::default(),
        lock: Mutex::new(Some(lock)),
    };
    files.background.set_weight(&files.weight(&levels));
    files.update_work(|work| work.wanted += 1);
    Shared {
        readers: Arc::new(Readers::new(seqno, Arc::new(view))),
        pipeline: Pipeline::new(seqno, memtable, segment, bytes, world),
        gate: Gate::new(seqno),
        pulse: Pulse::default(),
        files: Some(files),
        counters: Counters { replayed_bytes: AtomicU64::new(bytes), ..Counters::default() },
    }
}

impl Store {
    fn flush_after_open(&self, wanted: bool) {
        let Some(files) = &self.shared.files else { return };
        let mut state = self.shared.pipeline.lock();
        let limits = CutLimits::of(&files.options, files.background.deletions_max());
        if limits.are_reached(&state.memtable, state.journal_bytes) || wanted {
            self.shared.freeze(files, &mut state);
        }
    }
}

fn start(shared: Arc<Shared>) -> Result<Store, StoreError> {
    let store = Store { shared, threads: Mutex::default() };
    let shared = store.shared.clone();
    store.spawn("store-journal", move || with_files(&shared, Shared::journal_loop))?;
    let shared = store.shared.clone();
    store.spawn("store-flush", move || with_files(&shared, Shared::flush_loop))?;
    let shared = store.shared.clone();
    store.spawn("store-compact", move || with_files(&shared, Shared::compact_loop))?;
    Ok(store)
}

fn with_files(shared: &Shared, body: impl Fn(&Shared, &Files)) {
    if let Some(files) = &shared.files {
        body(shared, files);
    }
}

impl Store {
    fn spawn(&self, name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), StoreError> {
        let guard = PanicGuard { shared: self.shared.clone() };
        let guarded = move || {
            let _guard = guard;
            body();
        };
        let thread = thread::Builder::new().name(name.to_owned()).spawn(guarded);
        let thread = thread.map_err(|error| StoreError::io("start a thread for", "the store", error))?;
        self.threads.lock().push(thread);
        Ok(())
    }
}

/// Poisons the store if one of its threads panics, so that no caller waits for that thread for ever.
struct PanicGuard {
    shared: Arc<Shared>,
}

impl Drop for PanicGuard {
    fn drop(&mut self) {
        if thread::panicking() {
            self.shared.stop(&StoreError::Poisoned { cause: Arc::from("a thread of the store has panicked") });
        }
    }
}

fn take_lock(disk: &dyn Disk, world: &dyn World) -> Result<Box<dyn DiskLock>, StoreError> {
    let now_secs = u64::try_from(world.now_millis() / 1000).unwrap_or(0);
    disk.lock(now_secs).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => StoreError::InUse { place: disk.place(), holder: disk.holder() },
        _ => StoreError::io("lock", &disk.place(), error),
    })
}

/// Names and sizes of the files in the directory.
type Listed = Vec<(String, u64)>;

fn list(disk: &dyn Disk) -> Result<Listed, StoreError> {
    disk.list().map_err(|error| StoreError::io("list", &disk.place(), error))
}

fn has_manifest(listed: &Listed) -> bool {
    listed.iter().any(|(name, _)| name == MANIFEST_NAME)
}

/// Rejects a directory with files of another program, before anything in it changes, even the lock file.
fn refuse_foreign(disk: &dyn Disk, options: &StoreOptions) -> Result<(), StoreError> {
    let listed = list(disk)?;
    let foreign = |name: &&String| *name != MANIFEST_NEXT_NAME && !options.neighbours.contains(name);
    match listed.iter().map(|(name, _)| name).find(foreign) {
        Some(found) if !has_manifest(&listed) => Err(StoreError::Foreign { place: disk.place(), found: found.clone() }),
        _ => Ok(()),
    }
}

fn load_or_create(disk: &dyn Disk, vault: &Vault) -> Result<Manifest, StoreError> {
    if has_manifest(&list(disk)?) {
        // Make the last process's changes of names durable, before readers see the data and dependent files are
        // removed.
        disk.sync_dir().map_err(|error| StoreError::sync(&disk.place(), error))?;
        return Manifest::load(disk, vault);
    }
    let manifest = Manifest::new(vault);
    manifest.save(disk, vault)?;
    Ok(manifest)
}

/// Checks that every table in the manifest exists with its full size.
fn check_tables(manifest: &Manifest, listed: &Listed) -> Result<(), StoreError> {
    let sizes: BTreeMap<&str, u64> = listed.iter().map(|(name, size)| (name.as_str(), *size)).collect();
    for meta in manifest.levels.iter().flatten() {
        let name = FileKind::Table.file_name(meta.number);
        match sizes.get(name.as_str()) {
            Some(size) if *size == meta.size => {}
            Some(size) => return Err(StoreError::corrupt(&name, format!("it has {size} bytes, not {}", meta.size))),
            None => return Err(StoreError::Missing { file: name, holds: "items" }),
        }
    }
    Ok(())
}

/// Checks that the newest segment with frames exists: after a kill, only the manifest shows that it did. Missing
/// earlier segments are detected by the gap in the sequence numbers.
fn check_newest_segment(manifest: &Manifest, listed: &Listed) -> Result<(), StoreError> {
    let name = FileKind::Journal.file_name(manifest.newest_segment);
    let needed = manifest.newest_segment >= manifest.first_segment.max(1);
    if needed && !listed.iter().any(|(listed, _)| *listed == name) {
        return Err(StoreError::Missing { file: name, holds: "the last acknowledged writes" });
    }
    Ok(())
}

/// Checks that the journal reaches as far as the manifest says.
fn check_end(manifest: &Manifest, seqno: SeqNo) -> Result<(), StoreError> {
    let reached = manifest.reached_seqno;
    if seqno < reached {
        return Err(StoreError::corrupt("the journal", format!("its last {} commits are missing", reached - seqno)));
    }
    Ok(())
}

fn next_number(listed: &Listed) -> u64 {
    let numbers = listed.iter().filter_map(|(name, _)| FileKind::of_name(name));
    numbers.map(|(_, number)| number.saturating_add(1)).max().unwrap_or(0)
}

/// Removes files that a crash left behind: those not in the manifest, and segments that are no longer needed.
fn remove_leftovers(disk: &dyn Disk, manifest: &Manifest, listed: &Listed) -> Result<(), StoreError> {
    let known: BTreeSet<u64> = manifest.levels.iter().flatten().map(|meta| meta.number).collect();
    let is_leftover = |name: &str| match FileKind::of_name(name) {
        Some((FileKind::Journal, number)) => number < manifest.first_segment,
        Some((FileKind::Table, number)) => !known.contains(&number),
        _ => name == MANIFEST_NEXT_NAME,
    };
    for (name, _) in listed.iter().filter(|(name, _)| is_leftover(name)) {
        disk.remove(name).map_err(|error| StoreError::io("remove", name, error))?;
    }
    Ok(())
}

fn needed_segments(manifest: &Manifest, listed: &Listed) -> Vec<u64> {
    let journal = |(name, _): &(String, u64)| match FileKind::of_name(name) {
        Some((FileKind::Journal, number)) if number >= manifest.first_segment => Some(number),
        _ => None,
    };
    let mut segments: Vec<u64> = listed.iter().filter_map(journal).collect();
    segments.sort_unstable();
    segments
}

/// Replays the journal. Returns its changes, the last sequence number, and whether a segment has an older key.
fn replay_journal(
    disk: &dyn Disk,
    vault: &Vault,
    manifest: &Manifest,
    segments: &[u64],
) -> Result<(Memtable, SeqNo, bool), StoreError> {
    let mut rekeyed = false;
    let mut replay = Replay::new(disk, vault, manifest);
    for number in segments {
        let last = segments.last() == Some(number);
        let segment = ReplaySegment { number: *number, last, recorded: *number <= manifest.newest_segment };
        let key_id = replay.segment(segment)?;
        rekeyed |= key_id.is_some_and(|key_id| key_id != vault.current_key_id());
    }
    let (memtable, seqno) = replay.finish();
    Ok((memtable, seqno, rekeyed))
}

/// Returns the size of the replayed segments, without a torn end that was cut off.
fn replayed_bytes(disk: &dyn Disk, segments: &[u64]) -> Result<u64, StoreError> {
    let is_replayed =
        |name: &str| matches!(FileKind::of_name(name), Some((FileKind::Journal, number)) if segments.contains(&number));
    Ok(list(disk)?.iter().filter(|(name, _)| is_replayed(name)).map(|(_, size)| size).sum())
}
