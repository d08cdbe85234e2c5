//! Storage of the keys of encrypted fields: a file that only its owner can read, or an environment variable (ADR 0014).

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use keyform::SystemWorld;
use keyform_engine::owner_only;
use keyform_runtime::seal::{FieldKey, KeyId, Keyring, SealError};
use keyform_world::exposed_mode;
use zeroize::Zeroizing;

/// Environment variable with the path of the key file.
pub(crate) const FILE_VARIABLE: &str = "KEYFORM_FIELD_KEYS_FILE";
/// Environment variable with the keys: base64, comma-separated, the sealing key first.
pub(crate) const KEYS_VARIABLE: &str = "KEYFORM_FIELD_KEYS";

/// Reason why keys cannot be loaded or changed.
#[derive(Debug)]
pub(crate) enum FieldKeysError {
    /// A file operation failed.
    File {
        /// Operation as a verb, such as `read`.
        doing: &'static str,
        /// Path of the key file.
        file: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The file does not exist.
    Missing(PathBuf),
    /// The file exists and is not overwritten.
    Exists(PathBuf),
    /// Other users can read the file.
    Exposed {
        /// Path of the key file.
        file: PathBuf,
        /// Unix permission bits.
        mode: u32,
    },
    /// The contents of the file or the variable are invalid.
    Content {
        /// Path of the file, or name of the variable.
        source_name: String,
        /// Reason why the keys are invalid.
        source: SealError,
    },
    /// Both variables are set.
    Both,
}

impl fmt::Display for FieldKeysError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { doing, file, source } => write!(f, "cannot {doing} {}: {source}", file.display()),
            Self::Missing(file) => write!(
                f,
                "no field key file {file}: create it with `keyform field-keys new {file}`",
                file = file.display()
            ),
            Self::Exists(file) => write!(
                f,
                "{file} already exists, and its keys may be in use: `keyform field-keys rotate {file}` adds a key",
                file = file.display()
            ),
            Self::Exposed { file, mode } => write!(
                f,
                "{file} is readable by other users (mode {mode:04o}): run `chmod 600 {file}`, and rotate the keys if \
                anyone may have read it",
                file = file.display()
            ),
            Self::Content { source_name, source } => write!(f, "{source_name}: {source}"),
            Self::Both => write!(f, "both {FILE_VARIABLE} and {KEYS_VARIABLE} are set: set only one"),
        }
    }
}

impl std::error::Error for FieldKeysError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::File { source, .. } => Some(source),
            Self::Content { source, .. } => Some(source),
            Self::Missing(_) | Self::Exists(_) | Self::Exposed { .. } | Self::Both => None,
        }
    }
}

/// Loads a key file.
///
/// # Errors
///
/// The file does not exist, cannot be read, is readable by other users, or is damaged.
pub(crate) fn load(file: &Path) -> Result<Keyring, FieldKeysError> {
    let text = match fs::read_to_string(file) {
        Ok(text) => Zeroizing::new(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(FieldKeysError::Missing(file.to_owned())),
        Err(error) => return Err(failed("read", file)(error)),
    };
    refuse_exposed(file)?;
    let file_name = || file.display().to_string();
    Keyring::from_text(&text).map_err(|source| FieldKeysError::Content { source_name: file_name(), source })
}

/// Loads the keys from [`KEYS_VARIABLE`], or from the file that [`FILE_VARIABLE`] names; `None` if neither is set.
///
/// # Errors
///
/// As [`load`], or if both are set.
pub(crate) fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Keyring>, FieldKeysError> {
    let given = |name| variable(name).filter(|text| !text.is_empty());
    match (given(FILE_VARIABLE), given(KEYS_VARIABLE).map(Zeroizing::new)) {
        (Some(_), Some(_)) => Err(FieldKeysError::Both),
        (Some(file), None) => load(Path::new(&file)).map(Some),
        (None, Some(keys)) => {
            let ring = Keyring::from_text(&keys);
            ring.map(Some).map_err(|source| FieldKeysError::Content { source_name: KEYS_VARIABLE.to_owned(), source })
        }
        (None, None) => Ok(None),
    }
}

/// Creates a file with one generated key.
///
/// # Errors
///
/// The file exists or cannot be written.
pub(crate) fn create(file: &Path) -> Result<Keyring, FieldKeysError> {
    let ring = Keyring::generate(&SystemWorld);
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

/// Loads a key file, or creates it with one generated key.
///
/// # Errors
///
/// As [`load`] and [`create`].
pub(crate) fn load_or_create(file: &Path) -> Result<Keyring, FieldKeysError> {
    if file.exists() {
        return load(file);
    }
    if let Some(folder) = file.parent() {
        owner_only::create_dir_all(folder).map_err(failed("make", folder))?;
    }
    match create(file) {
        // Another process created the file first: use its key.
        Err(FieldKeysError::Exists(_)) => load(file),
        made => made,
    }
}

/// Adds a generated key to a file. It seals from now on; the older keys still open.
///
/// # Errors
///
/// As [`load`], or if the file cannot be replaced.
pub(crate) fn rotate(file: &Path) -> Result<Keyring, FieldKeysError> {
    let fresh = FieldKey::generate(&SystemWorld);
    change(file, |ring| Ok(ring.rotated(fresh)))
}

/// Removes an older key from a file. Fields that are still sealed with it can no longer be opened.
///
/// # Errors
///
/// As [`load`], or if the id is the sealing key or unknown.
pub(crate) fn forget(file: &Path, id: KeyId) -> Result<Keyring, FieldKeysError> {
    change(file, |ring| ring.without(id))
}

/// Replaces the file atomically: a crash leaves the old keys or the new ones.
fn change(file: &Path, by: impl FnOnce(Keyring) -> Result<Keyring, SealError>) -> Result<Keyring, FieldKeysError> {
    let file_name = || file.display().to_string();
    let ring = by(load(file)?).map_err(|source| FieldKeysError::Content { source_name: file_name(), source })?;
    let mut name = file.as_os_str().to_owned();
    name.push(".new");
    let beside = PathBuf::from(name);
    // A crash before the rename leaves the file. Its keys were never in use, so the next change replaces it. It is
    // removed instead of truncated, because another program may have created it with wider modes.
    match fs::remove_file(&beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed("replace", &beside)(error)),
        _ => {}
    }
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
    match exposed_mode(file).map_err(failed("read", file))? {
        Some(mode) => Err(FieldKeysError::Exposed { file: file.to_owned(), mode }),
        None => Ok(()),
    }
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

    #[test]
    fn a_change_that_a_crash_interrupted_does_not_prevent_the_next() -> Result<(), Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("field.keys");
        let first = create(&file)?.primary().id();
        let beside = folder.path().join("field.keys.new");
        fs::write(&beside, "half a key")?;
        let second = rotate(&file)?.primary().id();
        let ring = load(&file)?;
        assert_eq!((ring.primary().id(), ring.older()[0].id()), (second, first));
        assert!(!beside.exists());
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
