//! The file operations the store needs, and nothing else, so that tests can take their place.
//!
//! One [`Disk`] is one directory. [`RealDisk`] is a directory of the operating system; [`SimDisk`] lives in memory
//! and can cut the power, tear writes, fail the Nth operation and flip bits.
//!
//! What the store relies on: a file's bytes are durable after [`DiskFile::sync`]; a file's name (created, renamed,
//! removed) is durable after [`Disk::sync_dir`]; a rename replaces its target atomically. Nothing else is assumed:
//! what was not synced may be there, not be there, or be there in part.

mod holder;
mod real;
mod sim;

use std::fmt;
use std::io;
use std::sync::Arc;

pub use holder::Holder;
pub use real::RealDisk;
pub use sim::{PowerCut, Scarce, SimDisk};

/// A directory with files in it.
pub trait Disk: Send + Sync + fmt::Debug {
    /// What to call the directory in messages.
    fn place(&self) -> String;
    /// Takes the directory for this process until the returned guard is dropped.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] when another holder has it.
    fn lock(&self) -> io::Result<Box<dyn DiskLock>>;
    /// The process that holds the lock, where the disk knows it.
    fn holder(&self) -> Option<Holder> {
        None
    }
    /// The names and sizes of the files in the directory, in no particular order.
    fn list(&self) -> io::Result<Vec<(String, u64)>>;
    /// Makes an empty file for writing, in place of an older one of the same name.
    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>>;
    /// Opens an existing file.
    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>>;
    /// Gives a file a new name, replacing the file which has it.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Makes creations, renames and removals durable.
    fn sync_dir(&self) -> io::Result<()>;
}

/// An open file.
pub trait DiskFile: Send + Sync + fmt::Debug {
    /// Writes all of `data` at `offset`, making the file longer where needed.
    fn write_at(&self, data: &[u8], offset: u64) -> io::Result<()>;
    /// Fills `buffer` from `offset`; the end of the file before that is an error.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;
    /// Makes everything written so far durable.
    fn sync(&self) -> io::Result<()>;
    /// Whether the file was removed since it was opened, so that what is written to it is lost. Who cannot tell says no.
    fn is_removed(&self) -> io::Result<bool> {
        Ok(false)
    }
    /// The file's length.
    fn size(&self) -> io::Result<u64>;
    /// Cuts the file off at `size`.
    fn truncate(&self, size: u64) -> io::Result<()>;
}

/// Holds a directory's lock until it is dropped.
pub trait DiskLock: Send + Sync + fmt::Debug {}

/// The whole content of a file.
pub(super) fn read_whole(disk: &dyn Disk, name: &str) -> io::Result<Vec<u8>> {
    let file = disk.open(name)?;
    let size = usize::try_from(file.size()?).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
    let mut content = vec![0; size];
    file.read_at(&mut content, 0)?;
    Ok(content)
}
