//! Directory of the operating system.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::holder::{self, Holder};
use super::{Disk, DiskFile, DiskLock};
use crate::owner_only;

const LOCK_NAME: &str = "LOCK";

/// Directory of the operating system, created if missing.
#[derive(Debug)]
pub struct RealDisk {
    root: PathBuf,
    /// Kept open, so that a sync of the directory works when the process has no file descriptors left.
    #[cfg(unix)]
    directory: File,
}

impl RealDisk {
    /// Opens the directory at `root`; creates it and its parents if missing.
    ///
    /// # Errors
    /// When the directory cannot be created.
    pub fn new(root: impl Into<PathBuf>) -> io::Result<Self> {
        let root = root.into();
        if !root.is_dir() {
            owner_only::create_dir_all(&root)?;
            sync_parent(&root)?;
        }
        Ok(RealDisk {
            #[cfg(unix)]
            directory: File::open(&root)?,
            root,
        })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    fn hold(&self, now_secs: u64) -> io::Result<HeldLock> {
        let directory = lock_directory(&self.root)?;
        let file =
            owner_only::options().create(true).truncate(false).read(true).write(true).open(self.path(LOCK_NAME))?;
        try_lock(&file)?;
        if let Err(error) = holder::note(&file, now_secs) {
            // Only the name of the process in a later error message is lost.
            tracing::debug!(%error, "cannot write the process id to LOCK");
        }
        Ok(HeldLock { file, directory })
    }
}

impl Disk for RealDisk {
    fn place(&self) -> String {
        self.root.display().to_string()
    }

    /// Locks the directory itself and the file `LOCK` in it (ADR 0029). A directory with files cannot be removed, so
    /// deleting `LOCK` by hand does not admit a second process. `LOCK` is for systems that cannot lock directories
    /// (Windows, network file systems), and names the process that holds it.
    fn lock(&self, now_secs: u64) -> io::Result<Box<dyn DiskLock>> {
        // The store has already recognized the directory as its own; the modes of a foreign one are not changed.
        owner_only::tighten_directory(&self.root);
        Ok(Box::new(self.hold(now_secs)?))
    }

    fn holder(&self) -> Option<Holder> {
        holder::noted(&self.path(LOCK_NAME)).or_else(|| holder::of_directory(&self.root))
    }

    fn list(&self) -> io::Result<Vec<(String, u64)>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.root)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name == LOCK_NAME {
                continue;
            }
            match entry.metadata() {
                Ok(metadata) => found.push((name, metadata.len())),
                // Another thread of the store removed the file in the meantime.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let file = owner_only::options().create(true).truncate(true).read(true).write(true).open(self.path(name))?;
        Ok(Arc::new(RealFile { file }))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let file = File::options().read(true).write(true).open(self.path(name))?;
        Ok(Arc::new(RealFile { file }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path(from), self.path(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path(name))
    }

    #[cfg(unix)]
    fn sync_dir(&self) -> io::Result<()> {
        self.directory.sync_all()
    }

    /// Does nothing: Windows cannot sync a directory, and NTFS journals names by itself.
    #[cfg(windows)]
    fn sync_dir(&self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Debug)]
struct HeldLock {
    file: File,
    directory: Option<File>,
}

impl DiskLock for HeldLock {}

impl Drop for HeldLock {
    /// Unlocks explicitly. Closing the descriptors is not enough: a child process that this program is starting has
    /// copies of them until it executes its own program, and they would keep the directory locked.
    fn drop(&mut self) {
        for file in [Some(&self.file), self.directory.as_ref()].into_iter().flatten() {
            if let Err(error) = file.unlock() {
                tracing::debug!(%error, "a lock is released only when its descriptor is closed");
            }
        }
    }
}

fn try_lock(file: &File) -> io::Result<()> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Locks the directory itself; returns `None` if the file system does not support it, so that only `LOCK` protects.
#[cfg(unix)]
fn lock_directory(root: &Path) -> io::Result<Option<File>> {
    let directory = File::open(root)?;
    match try_lock(&directory) {
        Ok(()) => Ok(Some(directory)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(error),
        Err(error) => {
            tracing::debug!(%error, "cannot lock the directory: only LOCK keeps other processes out");
            Ok(None)
        }
    }
}

#[cfg(windows)]
fn lock_directory(_root: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

#[derive(Debug)]
struct RealFile {
    file: File,
}

impl DiskFile for RealFile {
    #[cfg(unix)]
    fn write_at(&self, data: &[u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(&self.file, data, offset)
    }

    #[cfg(windows)]
    fn write_at(&self, mut data: &[u8], mut offset: u64) -> io::Result<()> {
        while !data.is_empty() {
            let written = std::os::windows::fs::FileExt::seek_write(&self.file, data, offset)?;
            data = &data[written..];
            offset += written as u64;
        }
        Ok(())
    }

    #[cfg(unix)]
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, buffer, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !buffer.is_empty() {
            let read = std::os::windows::fs::FileExt::seek_read(&self.file, buffer, offset)?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            buffer = &mut buffer[read..];
            offset += read as u64;
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    #[cfg(unix)]
    fn is_removed(&self) -> io::Result<bool> {
        Ok(std::os::unix::fs::MetadataExt::nlink(&self.file.metadata()?) == 0)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn truncate(&self, size: u64) -> io::Result<()> {
        self.file.set_len(size)
    }
}

fn sync_parent(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => sync_directory(parent),
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Does nothing: Windows cannot sync a directory, and NTFS journals names by itself.
#[cfg(windows)]
fn sync_directory(_path: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_the_descriptors_do_not_keep_the_lock() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let disk = RealDisk::new(folder.path()).expect("a directory can be opened");
        let held = disk.hold(0).expect("the directory is free");
        assert_eq!(disk.hold(0).expect_err("it is locked").kind(), io::ErrorKind::WouldBlock);
        // A process that was forked and has not executed its program yet has such copies.
        let copies = [Some(&held.file), held.directory.as_ref()].map(|file| file.map(File::try_clone));
        drop(held);
        assert!(disk.hold(0).is_ok(), "the lock was released");
        drop(copies);
    }
}
