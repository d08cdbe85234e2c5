//! Files and directories that only their owner can read, whatever the umask of the process is.
//!
//! New files get mode 0600 and new directories mode 0700 when they are created, not afterwards, so there is no moment
//! in which another account can open them. On Windows, the access lists of the parent directory apply.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

/// Returns options that create files with mode 0600.
pub fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, FILE_MODE);
    options
}

/// Creates a file for writing, or truncates an existing one and removes the access of other accounts.
///
/// # Errors
/// The file cannot be created or opened.
pub fn create(path: &Path) -> io::Result<File> {
    let file = options().create(true).truncate(true).write(true).open(path)?;
    tighten_file(path, &file)?;
    Ok(file)
}

/// Creates or truncates a file and writes `content` to it.
///
/// # Errors
/// The file cannot be created or written.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    io::Write::write_all(&mut create(path)?, content)
}

/// Creates a directory and its missing parents with mode 0700. Does not change existing directories.
///
/// # Errors
/// A directory cannot be created.
pub fn create_dir_all(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, DIRECTORY_MODE);
    builder.create(path)
}

#[cfg(unix)]
const FILE_MODE: u32 = 0o600;
#[cfg(unix)]
const DIRECTORY_MODE: u32 = 0o700;
/// Permission bits of the group and of others.
#[cfg(unix)]
const OTHERS: u32 = 0o077;

/// Removes the access of other accounts to a directory and to the files in it. Failures are only logged: the file
/// system may not support modes, or the directory may belong to another account on purpose.
#[cfg(unix)]
pub(crate) fn tighten_directory(directory: &Path) {
    tighten(directory, DIRECTORY_MODE);
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) => return warn(directory, &error),
    };
    for entry in entries.filter_map(Result::ok) {
        if entry.file_type().is_ok_and(|kind| kind.is_file()) {
            tighten(&entry.path(), FILE_MODE);
        }
    }
}

#[cfg(unix)]
fn tighten(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    let tightened = fs::metadata(path).and_then(|metadata| match metadata.permissions().mode() & OTHERS {
        0 => Ok(()),
        _ => fs::set_permissions(path, fs::Permissions::from_mode(mode)),
    });
    match tightened {
        // The store removed the file in the meantime.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => warn(path, &error),
        Ok(()) => {}
    }
}

#[cfg(unix)]
fn warn(path: &Path, error: &io::Error) {
    tracing::warn!(path = %path.display(), %error, "other accounts may read this: set mode 0700 on the directory");
}

#[cfg(not(unix))]
pub(crate) fn tighten_directory(_directory: &Path) {}

/// Removes the access of other accounts to an existing file; the mode of `open` applies to new files only. Skips
/// devices and pipes, such as `/dev/stdout`.
#[cfg(unix)]
fn tighten_file(path: &Path, file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let metadata = file.metadata()?;
    let is_wide = metadata.is_file() && metadata.permissions().mode() & OTHERS != 0;
    if is_wide && let Err(error) = file.set_permissions(fs::Permissions::from_mode(FILE_MODE)) {
        tracing::warn!(path = %path.display(), %error, "other accounts may read this file: set mode 0600 on it");
    }
    Ok(())
}

#[cfg(not(unix))]
fn tighten_file(_path: &Path, _file: &File) -> io::Result<()> {
    Ok(())
}
