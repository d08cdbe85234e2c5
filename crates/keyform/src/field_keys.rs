//! Where the keys of encrypted fields are kept: a file that its owner alone may read, or an environment variable.
//!
//! ```
//! use keyform::field_keys;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let file = folder.path().join("field.keys");
//! let made = field_keys::create(&file)?;
//! let rotated = field_keys::rotate(&file)?;
//! assert_eq!(rotated.older()[0].id(), made.primary().id());
//! # Ok(())
//! # }
//! ```

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use keyform_engine::owner_only;
use keyform_runtime::seal::{FieldKey, KeyId, Keyring, SealError};
use zeroize::Zeroizing;

/// The variable that names the file with the keys.
pub const FILE_VARIABLE: &str = "KEYFORM_FIELD_KEYS_FILE";
/// The variable that holds the keys: base64, with commas between them, the one that seals first.
pub const KEYS_VARIABLE: &str = "KEYFORM_FIELD_KEYS";

/// Why keys cannot be had.
#[derive(Debug)]
pub enum FieldKeysError {
    /// Something with the file went wrong.
    File {
        /// What was tried: `read`, for one.
        doing: &'static str,
        /// The file.
        file: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// There is no such file.
    Missing(PathBuf),
    /// There is a file already, and it is not overwritten.
    Exists(PathBuf),
    /// Others than the owner may read the file.
    Exposed {
        /// The file.
        file: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// What the file or the variable holds cannot be read.
    Content {
        /// The file or the variable.
        place: String,
        /// What is wrong.
        source: SealError,
    },
    /// Both the file and the keys are given.
    Both,
}

impl fmt::Display for FieldKeysError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { doing, file, source } => write!(f, "cannot {doing} {}: {source}", file.display()),
            Self::Missing(file) => write!(
                f,
                "there is no file of field keys {file}: `keyform field-keys new {file}` makes it",
                file = file.display()
            ),
            Self::Exists(file) => write!(
                f,
                "{file} is there already, and its keys may be in use: `keyform field-keys rotate {file}` adds a key",
                file = file.display()
            ),
            Self::Exposed { file, mode } => write!(
                f,
                "{file} can be read by others (mode {mode:04o}): `chmod 600 {file}`, and rotate if somebody may have read it",
                file = file.display()
            ),
            Self::Content { place, source } => write!(f, "{place}: {source}"),
            Self::Both => write!(f, "{FILE_VARIABLE} and {KEYS_VARIABLE} are both given: leave one away"),
        }
    }
}

impl std::error::Error for FieldKeysError {}

/// Reads a file of keys.
///
/// # Errors
///
/// It is not there, not readable, readable by others, or damaged.
pub fn load(file: &Path) -> Result<Keyring, FieldKeysError> {
    let text = match fs::read_to_string(file) {
        Ok(text) => Zeroizing::new(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(FieldKeysError::Missing(file.to_owned())),
        Err(error) => return Err(failed("read", file)(error)),
    };
    refuse_exposed(file)?;
    let place = || file.display().to_string();
    Keyring::from_text(&text).map_err(|source| FieldKeysError::Content { place: place(), source })
}

/// The keys that a variable holds, or the file that another names; `None` if neither is given.
///
/// # Errors
///
/// As [`load`], or if both are given.
pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Keyring>, FieldKeysError> {
    let given = |name| variable(name).filter(|text| !text.is_empty());
    match (given(FILE_VARIABLE), given(KEYS_VARIABLE).map(Zeroizing::new)) {
        (Some(_), Some(_)) => Err(FieldKeysError::Both),
        (Some(file), None) => load(Path::new(&file)).map(Some),
        (None, Some(keys)) => {
            let ring = Keyring::from_text(&keys);
            ring.map(Some).map_err(|source| FieldKeysError::Content { place: KEYS_VARIABLE.to_owned(), source })
        }
        (None, None) => Ok(None),
    }
}

/// Makes a file with one fresh key.
///
/// # Errors
///
/// There is a file already, or it cannot be written.
pub fn create(file: &Path) -> Result<Keyring, FieldKeysError> {
    let ring = generated(file)?;
    let mut new = match owner_only::options().write(true).create_new(true).open(file) {
        Ok(new) => new,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(FieldKeysError::Exists(file.to_owned()));
        }
        Err(error) => return Err(failed("make", file)(error)),
    };
    new.write_all(ring.to_text().as_bytes()).and_then(|()| new.sync_all()).map_err(failed("write", file))?;
    Ok(ring)
}

/// Reads a file of keys, or makes it with one fresh key.
///
/// # Errors
///
/// As [`load`] and [`create`].
pub fn load_or_create(file: &Path) -> Result<Keyring, FieldKeysError> {
    if file.exists() {
        return load(file);
    }
    if let Some(folder) = file.parent() {
        owner_only::create_dir_all(folder).map_err(failed("make", folder))?;
    }
    match create(file) {
        // Another process was faster: its key is the one that counts.
        Err(FieldKeysError::Exists(_)) => load(file),
        made => made,
    }
}

/// Adds a fresh key to a file, which seals from now on; the others still open.
///
/// # Errors
///
/// As [`load`], or if the file cannot be replaced.
pub fn rotate(file: &Path) -> Result<Keyring, FieldKeysError> {
    let fresh = generated(file)?.primary().clone();
    change(file, |ring| Ok(ring.rotated(fresh)))
}

/// Removes an older key from a file. What is still sealed under it cannot be opened any more.
///
/// # Errors
///
/// As [`load`], or if it is the key that seals or none of the file's.
pub fn forget(file: &Path, id: KeyId) -> Result<Keyring, FieldKeysError> {
    change(file, |ring| ring.without(id))
}

fn generated(file: &Path) -> Result<Keyring, FieldKeysError> {
    let place = || file.display().to_string();
    FieldKey::generate().map(Keyring::of).map_err(|source| FieldKeysError::Content { place: place(), source })
}

/// Replaces the file as a whole: a crash leaves the old keys or the new ones.
fn change(file: &Path, by: impl FnOnce(Keyring) -> Result<Keyring, SealError>) -> Result<Keyring, FieldKeysError> {
    let place = || file.display().to_string();
    let ring = by(load(file)?).map_err(|source| FieldKeysError::Content { place: place(), source })?;
    let mut name = file.as_os_str().to_owned();
    name.push(".new");
    let beside = PathBuf::from(name);
    let mut new = owner_only::options().write(true).create_new(true).open(&beside).map_err(failed("make", &beside))?;
    new.write_all(ring.to_text().as_bytes()).and_then(|()| new.sync_all()).map_err(failed("write", &beside))?;
    fs::rename(&beside, file).map_err(failed("replace", file))?;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed("sync", folder))?;
    Ok(ring)
}

fn failed(doing: &'static str, file: &Path) -> impl FnOnce(io::Error) -> FieldKeysError {
    let file = file.to_owned();
    move |source| FieldKeysError::File { doing, file, source }
}

fn refuse_exposed(file: &Path) -> Result<(), FieldKeysError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(file).map_err(failed("read", file))?.permissions().mode() & 0o7777;
        if mode & 0o077 != 0 {
            return Err(FieldKeysError::Exposed { file: file.to_owned(), mode });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_made_once_rotated_and_forgets() -> Result<(), Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("field.keys");
        assert!(matches!(load(&file), Err(FieldKeysError::Missing(_))));
        let first = create(&file)?.primary().id();
        assert!(matches!(create(&file), Err(FieldKeysError::Exists(_))));
        let second = rotate(&file)?.primary().id();
        let ring = load(&file)?;
        assert_eq!((ring.primary().id(), ring.older()[0].id()), (second, first));
        assert!(forget(&file, second).is_err());
        assert!(forget(&file, first)?.older().is_empty());
        Ok(())
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_may_read_is_refused() -> Result<(), Box<dyn std::error::Error>> {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("field.keys");
        create(&file)?;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640))?;
        let refused = load(&file).map(|_| ()).map_err(|error| error.to_string());
        assert!(refused.is_err_and(|text| text.contains("mode 0640") && text.contains("chmod 600")));
        Ok(())
    }

    #[test]
    fn the_environment_gives_a_file_or_keys_but_not_both() {
        let with = |pairs: &[(&str, &str)]| {
            let pairs: Vec<(String, String)> = pairs.iter().map(|(a, b)| ((*a).into(), (*b).into())).collect();
            from_environment(move |name| pairs.iter().find(|(of, _)| of == name).map(|(_, value)| value.clone()))
        };
        let key = FieldKey::new([7; 32]);
        assert!(matches!(with(&[]), Ok(None)));
        assert!(matches!(with(&[(KEYS_VARIABLE, "")]), Ok(None)));
        assert!(matches!(with(&[(KEYS_VARIABLE, &key.to_text())]), Ok(Some(ring)) if ring.primary().id() == key.id()));
        assert!(matches!(with(&[(KEYS_VARIABLE, "short")]), Err(FieldKeysError::Content { .. })));
        assert!(matches!(with(&[(FILE_VARIABLE, "a"), (KEYS_VARIABLE, "b")]), Err(FieldKeysError::Both)));
        assert!(matches!(with(&[(FILE_VARIABLE, "there/is/none")]), Err(FieldKeysError::Missing(_))));
    }
}
