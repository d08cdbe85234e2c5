//! Detects secret files that other accounts can read.

use std::io;
use std::path::Path;

/// Returns the Unix permission bits of a file that other accounts can read, or `None` if only its owner can. Pipes count
/// as files; a directory does not, because reading it fails anyway. On other systems the access lists of the directory
/// apply, and the result is always `None`.
///
/// # Errors
/// The file's metadata cannot be read.
#[cfg(unix)]
pub fn exposed_mode(file: &Path) -> io::Result<Option<u32>> {
    use std::os::unix::fs::PermissionsExt as _;
    let metadata = std::fs::metadata(file)?;
    let mode = metadata.permissions().mode() & 0o7777;
    Ok((!metadata.is_dir() && mode & 0o077 != 0).then_some(mode))
}

/// Returns `None`: the access lists of the directory apply.
///
/// # Errors
/// Never.
#[cfg(not(unix))]
pub fn exposed_mode(_file: &Path) -> io::Result<Option<u32>> {
    Ok(None)
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn mode_of(path: &Path, mode: u32) -> Option<u32> {
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("the owner sets permissions");
        exposed_mode(path).expect("the metadata can be read")
    }

    #[test]
    fn a_file_that_others_can_read_is_exposed() {
        let folder = tempfile::tempdir().expect("a folder can be created");
        let file = folder.path().join("secret");
        fs::write(&file, "").expect("a file can be written");
        assert_eq!(mode_of(&file, 0o600), None);
        assert_eq!(mode_of(&file, 0o640), Some(0o640));
        assert_eq!(mode_of(&file, 0o604), Some(0o604));
        assert_eq!(mode_of(folder.path(), 0o755), None);
        assert!(exposed_mode(&folder.path().join("missing")).is_err());
    }
}
