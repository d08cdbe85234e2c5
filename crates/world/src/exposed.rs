//! Detects secret files that other accounts can read.

use std::io;
use std::path::Path;

/// Returns the Unix permission bits of a file that other accounts can read, or `None` if only its owner can, or if it
/// is not a regular file but, for example, a pipe. On other systems the access lists of the directory apply, and the
/// result is always `None`.
///
/// # Errors
/// The file's metadata cannot be read.
#[cfg(unix)]
pub fn exposed_mode(file: &Path) -> io::Result<Option<u32>> {
    use std::os::unix::fs::PermissionsExt as _;
    let metadata = std::fs::metadata(file)?;
    let mode = metadata.permissions().mode() & 0o7777;
    Ok((metadata.is_file() && mode & 0o077 != 0).then_some(mode))
}

/// Returns `None`: the access lists of the directory apply.
///
/// # Errors
/// Never.
#[cfg(not(unix))]
pub fn exposed_mode(_file: &Path) -> io::Result<Option<u32>> {
    Ok(None)
}
