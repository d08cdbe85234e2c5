//! File operations that the store needs, as a trait, so that tests can replace them.
//!
//! One [`Disk`] is one directory. [`RealDisk`] is a directory of the operating system. `SimDisk` lives in memory and
//! can cut the power, tear writes, fail the Nth operation and flip bits.
//!
//! The store relies on this only: a file's bytes are durable after [`DiskFile::sync`]; a file's name (created, renamed,
//! removed) is durable after [`Disk::sync_dir`]; a rename replaces its target atomically. Data that was not synced may
//! be present, absent, or partly present after a crash.

mod holder;
mod real;
#[cfg(any(test, feature = "testing"))]
mod sim;

use std::fmt;
use std::io;
use std::sync::Arc;

pub use holder::Holder;
pub use real::RealDisk;
#[cfg(any(test, feature = "testing"))]
pub use sim::{PowerCut, Scarce, SimDisk};

/// Flat directory of the store: the only access to files, which tests replace.
pub trait Disk: Send + Sync + fmt::Debug {
    /// Returns the name of the directory for messages.
    fn place(&self) -> String;
    /// Locks the directory for this process until the returned guard is dropped.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] if another process or store holds it.
    fn lock(&self, now_secs: u64) -> io::Result<Box<dyn DiskLock>>;
    /// Returns the process that holds the lock, if known.
    fn holder(&self) -> Option<Holder> {
        None
    }
    /// Returns the names and sizes of the files in the directory, in any order.
    fn list(&self) -> io::Result<Vec<(String, u64)>>;
    /// Creates an empty file for writing, replacing an older one with the same name.
    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>>;
    /// Opens an existing file.
    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>>;
    /// Renames a file, replacing the target atomically.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Makes creations, renames and removals durable.
    fn sync_dir(&self) -> io::Result<()>;
}

/// Open file.
pub trait DiskFile: Send + Sync + fmt::Debug {
    /// Writes all of `data` at `offset`, extending the file if needed.
    fn write_at(&self, data: &[u8], offset: u64) -> io::Result<()>;
    /// Fills `buffer` from `offset`. Reaching the end of the file before that is an error.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;
    /// Makes everything written so far durable.
    fn sync(&self) -> io::Result<()>;
    /// Returns whether the file was deleted after it was opened, so that writes to it are lost; false if unknown.
    fn is_removed(&self) -> io::Result<bool> {
        Ok(false)
    }
    /// Returns the length of the file.
    fn size(&self) -> io::Result<u64>;
    /// Truncates the file to `size`.
    fn truncate(&self, size: u64) -> io::Result<()>;
}

/// Lock on a directory, released on drop.
pub trait DiskLock: Send + Sync + fmt::Debug {}

/// Reads a whole file.
pub(super) fn read_whole(disk: &dyn Disk, name: &str) -> io::Result<Vec<u8>> {
    let file = disk.open(name)?;
    let size = usize::try_from(file.size()?).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
    let mut content = vec![0; size];
    file.read_at(&mut content, 0)?;
    Ok(content)
}
