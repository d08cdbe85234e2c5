//! Access keys that may use the server, and their file.
//!
//! ```text
//! # Access keys of keyform: one per line, id and secret. Keep this file secret.
//! AKKF3Q7ZJ5N2X6W4TBHD 4mKj…
//! ```
//!
//! The file has mode 0600. Files that other users can read are rejected.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use keyform_core::World as _;
use keyform_world::SystemWorld;
use keyform_world::exposed_mode;
use zeroize::Zeroizing;

const ADVICE: &str = "# Access keys of keyform: one per line, id and secret. Keep this file secret.\n";
const ID_SYMBOLS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const SECRET_SYMBOLS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Access key ids with their secrets.
#[derive(Clone, Default)]
pub struct Credentials(BTreeMap<String, Zeroizing<String>>);

impl Credentials {
    /// Creates credentials from pairs of id and secret.
    pub fn new(pairs: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(pairs.into_iter().map(|(id, secret)| (id, Zeroizing::new(secret))).collect())
    }

    /// Loads a credentials file. A missing file is the same as an empty one.
    ///
    /// # Errors
    /// The file cannot be read, is malformed, or is readable by other users.
    pub fn load(file: &Path) -> Result<Self, CredentialsError> {
        let text = match fs::read_to_string(file) {
            Ok(text) => Zeroizing::new(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(source) => return Err(CredentialsError::io("read", file, source)),
        };
        refuse_exposed(file)?;
        let mut credentials = Self::default();
        for (place, line) in text.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
            let mut words = line.split_whitespace();
            match (words.next(), words.next(), words.next()) {
                (None, _, _) => {}
                (Some(id), Some(secret), None) => {
                    credentials.0.insert(id.to_owned(), Zeroizing::new(secret.to_owned()));
                }
                _ => return Err(CredentialsError::Format { file: file.to_owned(), line: place + 1 }),
            }
        }
        Ok(credentials)
    }

    /// Replaces the file atomically, with permissions for the owner only.
    ///
    /// # Errors
    /// The file or its directory cannot be written.
    pub fn save(&self, file: &Path) -> Result<(), CredentialsError> {
        if let Some(parent) = file.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            create_private_dir(parent).map_err(|error| CredentialsError::io("create", parent, error))?;
        }
        let temporary = file.with_extension("tmp");
        let mut text = Zeroizing::new(ADVICE.to_owned());
        for (id, secret) in &self.0 {
            text.push_str(id);
            text.push(' ');
            text.push_str(secret);
            text.push('\n');
        }
        write_private(&temporary, &text).map_err(|error| CredentialsError::io("write", &temporary, error))?;
        fs::rename(&temporary, file).map_err(|error| CredentialsError::io("replace", file, error))
    }

    /// Adds a key or replaces its secret.
    ///
    /// # Errors
    /// The id or the secret contains characters that the file format does not allow.
    pub fn add(&mut self, id: &str, secret: &str) -> Result<(), CredentialsError> {
        let plain = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        if !plain(id) || id.starts_with('#') || id.contains('/') {
            return Err(CredentialsError::BadId { id: id.to_owned() });
        }
        if !plain(secret) {
            return Err(CredentialsError::BadSecret);
        }
        self.0.insert(id.to_owned(), Zeroizing::new(secret.to_owned()));
        Ok(())
    }

    /// Removes a key. Returns whether it existed.
    pub fn remove(&mut self, id: &str) -> bool {
        self.0.remove(id).is_some()
    }

    /// Returns the key ids in order.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Returns whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn secret(&self, id: &str) -> Option<&str> {
        self.0.get(id).map(|secret| secret.as_str())
    }
}

/// Generates an id and a secret in the format of AWS access keys.
#[must_use]
pub fn generate() -> (String, Zeroizing<String>) {
    let id = format!("AKKF{}", random_text(ID_SYMBOLS, 16).as_str());
    (id, random_text(SECRET_SYMBOLS, 40))
}

fn random_text(symbols: &[u8], length: usize) -> Zeroizing<String> {
    let mut bytes = Zeroizing::new(vec![0; length]);
    SystemWorld.fill(&mut bytes);
    Zeroizing::new(bytes.iter().map(|byte| char::from(symbols[usize::from(*byte) % symbols.len()])).collect())
}

fn create_private_dir(directory: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

fn write_private(file: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut writer = options.open(file)?;
    // The mode above applies to new files only; a file left by a crash keeps its own.
    #[cfg(unix)]
    writer.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    writer.write_all(text.as_bytes())?;
    writer.sync_all()
}

fn refuse_exposed(file: &Path) -> Result<(), CredentialsError> {
    match exposed_mode(file).map_err(|error| CredentialsError::io("read", file, error))? {
        Some(mode) => Err(CredentialsError::Exposed { file: file.to_owned(), mode }),
        None => Ok(()),
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Error while reading or writing credentials. Messages never contain a secret.
#[derive(Debug)]
pub enum CredentialsError {
    /// Other users can read the file.
    Exposed {
        /// Path of the credentials file.
        file: PathBuf,
        /// Unix permission bits.
        mode: u32,
    },
    /// A line is not an id and a secret.
    Format {
        /// Path of the credentials file.
        file: PathBuf,
        /// Line number, starting at 1.
        line: usize,
    },
    /// The id contains characters that an access key cannot have.
    BadId {
        /// Rejected id.
        id: String,
    },
    /// The secret is empty or contains characters other than printable ASCII.
    BadSecret,
    /// A file operation failed.
    Io {
        /// Failed operation, as a verb: "read", "create".
        action: &'static str,
        /// Path of the file or directory.
        file: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
}

impl CredentialsError {
    fn io(action: &'static str, file: &Path, source: io::Error) -> Self {
        Self::Io { action, file: file.to_owned(), source }
    }
}

impl fmt::Display for CredentialsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exposed { file, mode } => {
                let file = file.display();
                write!(f, "{file} is readable by other users (mode {mode:04o}): run chmod 600 {file}")
            }
            Self::Format { file, line } => {
                write!(f, "{}, line {line}: an access key id and its secret are expected", file.display())
            }
            Self::BadId { id } => {
                write!(f, "{id:?} is not a valid access key id: use visible ASCII characters without / and spaces")
            }
            Self::BadSecret => f.write_str("invalid secret: use visible ASCII characters without spaces"),
            Self::Io { action, file, source } => write!(f, "cannot {action} {}: {source}", file.display()),
        }
    }
}

impl std::error::Error for CredentialsError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_private_and_holds_what_was_saved() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keyform").join("credentials");
        assert!(Credentials::load(&file).unwrap().is_empty());
        let (id, secret) = generate();
        let mut credentials = Credentials::default();
        credentials.add(&id, &secret).unwrap();
        credentials.add("local", "local").unwrap();
        credentials.save(&file).unwrap();
        let mut loaded = Credentials::load(&file).unwrap();
        assert_eq!(loaded.secret(&id), Some(secret.as_str()));
        assert!(loaded.remove("local") && !loaded.remove("local"));
        assert_eq!(loaded.ids().collect::<Vec<_>>(), [id.as_str()]);
        assert!(!format!("{loaded:?}").contains(secret.as_str()));
    }

    #[cfg(unix)]
    #[test]
    fn file_that_others_may_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("credentials");
        Credentials::new([("a".to_owned(), "b".to_owned())]).save(&file).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(Credentials::load(&file).unwrap_err().to_string().contains("chmod 600"));
    }

    #[test]
    fn damaged_lines_and_odd_names_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("credentials");
        write_private(&file, "# fine\n\nid secret\nid secret more\n").unwrap();
        assert!(Credentials::load(&file).unwrap_err().to_string().contains("line 4"));
        let mut credentials = Credentials::default();
        for (id, secret) in [("", "s"), ("a/b", "s"), ("a b", "s"), ("#a", "s"), ("a", ""), ("a", "b c")] {
            assert!(credentials.add(id, secret).is_err(), "{id} {secret}");
        }
    }
}
