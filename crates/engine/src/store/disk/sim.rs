//! Simulated disk in memory that loses unsynced data, fails on request, and lets tests inspect every byte.
//!
//! Each file has two images, the current one (`live`) and the one that survives a power cut (`synced`), plus the writes
//! in between. The directory does the same with names. [`SimDisk::cut_power`] creates a new disk from what survives;
//! handles of the old disk keep working on the old one, like a process that has not noticed yet.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::{Disk, DiskFile, DiskLock};

/// Unit in which a torn write survives.
const SECTOR_BYTES: usize = 512;

/// Directory in memory whose power can be cut.
///
/// ```
/// use keyform_engine::store::{Disk, PowerCut, SimDisk};
///
/// let disk = SimDisk::new();
/// let file = disk.create("note").unwrap();
/// file.write_at(b"lost", 0).unwrap();
/// disk.sync_dir().unwrap();
/// let after = disk.cut_power(PowerCut::DropAll);
/// assert_eq!(after.content("note"), Some(Vec::new()));
/// ```
#[derive(Debug, Clone, Default)]
pub struct SimDisk {
    state: Arc<Mutex<State>>,
    locked: Arc<AtomicBool>,
}

/// Fate of unsynced data in a power cut.
#[derive(Debug, Clone, Copy)]
pub enum PowerCut {
    /// All of it is lost.
    DropAll,
    /// All of it survives.
    KeepAll,
    /// Each sector and each change of a name survives or not, decided by a random generator with this seed.
    Tear(u64),
}

/// Resource that a disk can run out of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scarce {
    /// Disk space (ENOSPC): files cannot be created, renamed or written; a failed write leaves half of its data.
    Space,
    /// File descriptors (EMFILE): files cannot be created or opened, and the directory cannot be listed.
    Descriptors,
}

impl Scarce {
    fn error(self) -> io::Error {
        io::Error::from_raw_os_error(match self {
            Scarce::Space => 28,
            Scarce::Descriptors => 24,
        })
    }
}

#[derive(Debug, Default)]
struct State {
    live: BTreeMap<String, Arc<Mutex<Content>>>,
    synced: BTreeMap<String, Arc<Mutex<Content>>>,
    names_pending: Vec<NameChange>,
    operations: u64,
    fail_at: Option<u64>,
    /// Exhausted resource, and the number of the first operation that it affects.
    scarce: Option<(Scarce, u64)>,
    failed: bool,
}

#[derive(Debug, Clone)]
enum NameChange {
    Put(String, Arc<Mutex<Content>>),
    Rename(String, String),
    Remove(String),
}

#[derive(Debug, Default)]
struct Content {
    live: Vec<u8>,
    synced: Vec<u8>,
    pending: Vec<Pending>,
}

#[derive(Debug, Clone)]
enum Pending {
    Write(u64, Vec<u8>),
    Truncate(u64),
}

impl SimDisk {
    /// Creates an empty disk.
    pub fn new() -> Self {
        SimDisk::default()
    }

    /// Returns the number of operations so far that change or sync something.
    pub fn operations(&self) -> u64 {
        self.state.lock().operations
    }

    /// Makes the operation with this number (as counted by [`SimDisk::operations`]) and all later ones fail.
    pub fn fail_at(&self, operation: u64) {
        self.state.lock().fail_at = Some(operation);
    }

    /// Exhausts a resource from the operation with this number on, until [`SimDisk::heal`].
    pub fn starve_at(&self, operation: u64, scarce: Scarce) {
        self.state.lock().scarce = Some((scarce, operation));
    }

    /// Makes operations succeed again, as after the cause is gone, or a restart of the process but not of the machine.
    pub fn heal(&self) {
        let mut state = self.state.lock();
        state.fail_at = None;
        state.scarce = None;
    }

    /// Returns whether an operation has failed because of [`SimDisk::fail_at`] or [`SimDisk::starve_at`].
    pub fn has_failed(&self) -> bool {
        self.state.lock().failed
    }

    /// Returns the current names of the files.
    pub fn names(&self) -> Vec<String> {
        self.state.lock().live.keys().cloned().collect()
    }

    /// Returns the current content of a file.
    pub fn content(&self, name: &str) -> Option<Vec<u8>> {
        self.state.lock().live.get(name).map(|content| content.lock().live.clone())
    }

    /// Replaces a file's content durably, without counting as an operation, to simulate damage from outside.
    pub fn tamper(&self, name: &str, bytes: Vec<u8>) {
        let mut state = self.state.lock();
        let content = Arc::new(Mutex::new(Content { live: bytes.clone(), synced: bytes, pending: Vec::new() }));
        state.live.insert(name.to_owned(), content.clone());
        state.synced.insert(name.to_owned(), content);
    }

    /// Flips one bit of a file. Returns false if the file has no such bit.
    pub fn flip_bit(&self, name: &str, bit: usize) -> bool {
        let Some(mut bytes) = self.content(name) else { return false };
        match bytes.get_mut(bit / 8) {
            Some(byte) => *byte ^= 1 << (bit % 8),
            None => return false,
        }
        self.tamper(name, bytes);
        true
    }

    /// Returns the disk as it is after a power cut.
    pub fn cut_power(&self, cut: PowerCut) -> SimDisk {
        let state = self.state.lock();
        let mut dice = Dice::new(cut);
        let mut names = state.synced.clone();
        for change in &state.names_pending {
            if dice.survives() {
                change.apply(&mut names);
            }
        }
        let after = SimDisk::new();
        for (name, content) in names {
            after.tamper(&name, content.lock().after_cut(&mut dice));
        }
        after
    }

    /// Copies the current state of the disk, for example to damage the copy.
    pub fn duplicate(&self) -> SimDisk {
        let copy = SimDisk::new();
        for (name, content) in &self.state.lock().live {
            copy.tamper(name, content.lock().live.clone());
        }
        copy
    }

    fn change(&self) -> io::Result<()> {
        self.state.lock().count()
    }

    /// Counts an operation that needs disk space.
    fn grow(&self) -> io::Result<()> {
        let mut state = self.state.lock();
        state.count()?;
        state.check(&[Scarce::Space])
    }
}

impl State {
    fn count(&mut self) -> io::Result<()> {
        let number = self.operations;
        self.operations += 1;
        match self.fail_at {
            Some(limit) if number >= limit => {
                self.failed = true;
                Err(io::Error::other(format!("simulated failure of operation {number}")))
            }
            _ => Ok(()),
        }
    }

    /// Fails an operation that needs an exhausted resource.
    fn check(&mut self, needed: &[Scarce]) -> io::Result<()> {
        match self.scarce {
            Some((scarce, from)) if self.operations > from && needed.contains(&scarce) => {
                self.failed = true;
                Err(scarce.error())
            }
            _ => Ok(()),
        }
    }

    fn rename_live(&mut self, change: NameChange) {
        change.apply(&mut self.live);
        self.names_pending.push(change);
    }
}

impl NameChange {
    fn apply(&self, names: &mut BTreeMap<String, Arc<Mutex<Content>>>) {
        match self {
            NameChange::Put(name, content) => {
                names.insert(name.clone(), content.clone());
            }
            NameChange::Rename(from, to) => {
                if let Some(content) = names.remove(from) {
                    names.insert(to.clone(), content);
                }
            }
            NameChange::Remove(name) => {
                names.remove(name);
            }
        }
    }
}

impl Content {
    fn after_cut(&self, dice: &mut Dice) -> Vec<u8> {
        let mut bytes = self.synced.clone();
        for pending in &self.pending {
            match pending {
                Pending::Truncate(size) if dice.survives() => bytes.truncate(*size as usize),
                Pending::Truncate(_) => {}
                Pending::Write(offset, data) => write_torn(&mut bytes, *offset as usize, data, dice),
            }
        }
        bytes
    }
}

fn write_torn(bytes: &mut Vec<u8>, offset: usize, data: &[u8], dice: &mut Dice) {
    let mut at = 0;
    while at < data.len() {
        let sector_end = ((offset + at) / SECTOR_BYTES + 1) * SECTOR_BYTES - offset;
        let end = sector_end.min(data.len());
        if dice.survives() {
            write_into(bytes, offset + at, &data[at..end]);
        }
        at = end;
    }
}

fn write_into(bytes: &mut Vec<u8>, offset: usize, data: &[u8]) {
    let end = offset + data.len();
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    bytes[offset..end].copy_from_slice(data);
}

/// Decides what survives; a small xorshift generator makes it reproducible.
struct Dice {
    cut: PowerCut,
    state: u64,
}

impl Dice {
    fn new(cut: PowerCut) -> Self {
        let state = match cut {
            PowerCut::Tear(seed) => seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
            PowerCut::DropAll | PowerCut::KeepAll => 1,
        };
        Dice { cut, state }
    }

    fn survives(&mut self) -> bool {
        match self.cut {
            PowerCut::DropAll => false,
            PowerCut::KeepAll => true,
            PowerCut::Tear(_) => {
                self.state ^= self.state << 13;
                self.state ^= self.state >> 7;
                self.state ^= self.state << 17;
                self.state & 0x100 != 0
            }
        }
    }
}

impl Disk for SimDisk {
    fn place(&self) -> String {
        "the simulated disk".to_owned()
    }

    fn lock(&self, _: u64) -> io::Result<Box<dyn DiskLock>> {
        if self.locked.swap(true, Ordering::AcqRel) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        Ok(Box::new(SimLock { locked: self.locked.clone() }))
    }

    fn list(&self) -> io::Result<Vec<(String, u64)>> {
        let mut state = self.state.lock();
        state.check(&[Scarce::Descriptors])?;
        Ok(state.live.iter().map(|(name, content)| (name.clone(), content.lock().live.len() as u64)).collect())
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let mut state = self.state.lock();
        state.count()?;
        state.check(&[Scarce::Space, Scarce::Descriptors])?;
        let content = Arc::new(Mutex::new(Content::default()));
        state.rename_live(NameChange::Put(name.to_owned(), content.clone()));
        Ok(Arc::new(SimFile { disk: self.clone(), content }))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let mut state = self.state.lock();
        state.check(&[Scarce::Descriptors])?;
        let content = state.live.get(name).ok_or(io::ErrorKind::NotFound)?.clone();
        Ok(Arc::new(SimFile { disk: self.clone(), content }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut state = self.state.lock();
        state.count()?;
        state.check(&[Scarce::Space])?;
        if !state.live.contains_key(from) {
            return Err(io::ErrorKind::NotFound.into());
        }
        state.rename_live(NameChange::Rename(from.to_owned(), to.to_owned()));
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut state = self.state.lock();
        state.count()?;
        if !state.live.contains_key(name) {
            return Err(io::ErrorKind::NotFound.into());
        }
        state.rename_live(NameChange::Remove(name.to_owned()));
        Ok(())
    }

    fn sync_dir(&self) -> io::Result<()> {
        let mut state = self.state.lock();
        state.count()?;
        state.synced = state.live.clone();
        state.names_pending.clear();
        Ok(())
    }
}

#[derive(Debug)]
struct SimLock {
    locked: Arc<AtomicBool>,
}

impl DiskLock for SimLock {}

impl Drop for SimLock {
    fn drop(&mut self) {
        self.locked.store(false, Ordering::Release);
    }
}

struct SimFile {
    disk: SimDisk,
    content: Arc<Mutex<Content>>,
}

impl std::fmt::Debug for SimFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SimFile").finish_non_exhaustive()
    }
}

impl DiskFile for SimFile {
    fn write_at(&self, data: &[u8], offset: u64) -> io::Result<()> {
        let outcome = self.disk.grow();
        // A failed write still leaves part of its data in the file.
        let data = if outcome.is_ok() { data } else { &data[..data.len() / 2] };
        let mut content = self.content.lock();
        write_into(&mut content.live, offset as usize, data);
        content.pending.push(Pending::Write(offset, data.to_vec()));
        outcome
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let content = self.content.lock();
        let start = usize::try_from(offset).map_err(|_| io::ErrorKind::UnexpectedEof)?;
        let end = start.checked_add(buffer.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        let bytes = content.live.get(start..end).ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(bytes);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.change()?;
        let mut content = self.content.lock();
        for pending in std::mem::take(&mut content.pending) {
            match pending {
                Pending::Write(offset, data) => write_into(&mut content.synced, offset as usize, &data),
                Pending::Truncate(size) => content.synced.truncate(size as usize),
            }
        }
        Ok(())
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.content.lock().live.len() as u64)
    }

    fn truncate(&self, size: u64) -> io::Result<()> {
        self.disk.change()?;
        let mut content = self.content.lock();
        content.live.truncate(size as usize);
        content.pending.push(Pending::Truncate(size));
        Ok(())
    }
}
