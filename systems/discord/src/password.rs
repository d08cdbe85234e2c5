//! Passwords: what is asked of them, and their hashes. It knows no users.
//!
//! A hash is argon2id in its usual text form, with its parameters and its salt in it. Hashing takes tens of milliseconds and 19 MB on purpose, so it
//! runs on threads of its own, and only as many at once as the machine has cores.

use std::fmt;
use std::sync::Arc;

use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use argon2::{Algorithm, Argon2, Params, Version};
use tokio::sync::Semaphore;

/// The fewest characters of a password.
pub const CHARACTERS_MIN: usize = 10;
/// The most; more would only cost time.
pub const CHARACTERS_MAX: usize = 200;

/// What people choose before they think.
const COMMON: [&str; 12] = [
    "1234567890",
    "0123456789",
    "12345678910",
    "qwertyuiop",
    "password12",
    "password123",
    "password1234",
    "iloveyou12",
    "letmein123",
    "welcome123",
    "qwerty12345",
    "administrator",
];

/// How passwords are hashed. Cheap to clone.
#[derive(Clone)]
pub struct Passwords {
    params: Params,
    at_once: Arc<Semaphore>,
}

impl Passwords {
    /// With 19 MB and two passes: what is recommended for servers.
    #[must_use]
    pub fn new() -> Self {
        Self::with(Params::default())
    }

    /// As quick as argon2 can be, and as weak: for tests alone.
    #[must_use]
    pub fn quick() -> Self {
        Self::with(Params::new(Params::MIN_M_COST, 1, 1, None).unwrap_or_default())
    }

    fn with(params: Params) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self { params, at_once: Arc::new(Semaphore::new(cores)) }
    }

    /// The hash of a password under a salt of at least 8 characters.
    ///
    /// # Errors
    /// The salt is too short, or there is no memory.
    pub async fn hash(&self, password: &str, salt: &str) -> Result<String, HashError> {
        let (argon2, password, salt) = (self.argon2(), password.to_owned(), salt.to_owned());
        let hashed = self.apart(move || argon2.hash_password_with_salt(password.as_bytes(), salt.as_bytes()));
        hashed.await?.map(|hash| hash.to_string()).map_err(|error| HashError(error.to_string()))
    }

    /// Whether a hash is of this password. Without a hash the answer is no, and takes as long.
    ///
    /// # Errors
    /// There is no memory.
    pub async fn is_of(&self, hash: Option<&str>, password: &str) -> Result<bool, HashError> {
        let (argon2, password) = (self.argon2(), password.to_owned());
        let hash = hash.map_or_else(|| self.nobodys_hash(), str::to_owned);
        let verified = self.apart(move || argon2.verify_password(password.as_bytes(), hash.as_str()).is_ok());
        verified.await
    }

    fn argon2(&self) -> Argon2<'static> {
        Argon2::new(Algorithm::Argon2id, Version::V0x13, self.params.clone())
    }

    /// A hash of no password at all: 32 zero bytes, which no password is found for.
    fn nobodys_hash(&self) -> String {
        let (memory, passes, lanes) = (self.params.m_cost(), self.params.t_cost(), self.params.p_cost());
        format!("$argon2id$v=19$m={memory},t={passes},p={lanes}$bm9ib2R5J3Mgc2FsdA${}", "A".repeat(43))
    }

    /// Does work that takes a processor for long.
    async fn apart<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, HashError> {
        let broken = |_| HashError("hashing broke off".to_owned());
        let permit = self.at_once.clone().acquire_owned().await.map_err(|_| HashError("stopped".to_owned()))?;
        let done = tokio::task::spawn_blocking(move || {
            let done = work();
            drop(permit);
            done
        });
        done.await.map_err(broken)
    }
}

impl Default for Passwords {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Passwords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Passwords").field("params", &self.params).finish_non_exhaustive()
    }
}

/// Why there is no hash. It says nothing of the password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashError(String);

impl fmt::Display for HashError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the password cannot be hashed: {}", self.0)
    }
}

impl std::error::Error for HashError {}

impl From<HashError> for keyform::server::FlowError {
    fn from(error: HashError) -> Self {
        Self::Broken(error.to_string())
    }
}

/// Looks whether a password may be somebody's: it has [`CHARACTERS_MIN`] to [`CHARACTERS_MAX`] characters, is not one of the most common ones, not
/// one character again and again, and neither the person's address nor name.
///
/// # Errors
/// What to do about it.
pub fn check(password: &str, email: &str, username: &str) -> Result<(), String> {
    let characters = password.chars().count();
    if characters < CHARACTERS_MIN {
        return Err(format!(
            "a password has at least {CHARACTERS_MIN} characters: a few words in a row are easy to keep"
        ));
    }
    if characters > CHARACTERS_MAX {
        return Err(format!("a password has at most {CHARACTERS_MAX} characters"));
    }
    let lower = password.to_lowercase();
    let first = lower.chars().next();
    if COMMON.contains(&lower.as_str()) || lower.chars().all(|character| Some(character) == first) {
        return Err("this password is among the first that are tried: choose another".to_owned());
    }
    let local_part = email.split('@').next().unwrap_or_default();
    if [email, local_part, username].iter().any(|known| lower == known.trim().to_lowercase()) {
        return Err("a password is neither one's name nor one's address".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_say_what_to_do() {
        let check = |password: &str| check(password, "ada.lovelace@example.com", "Countess Ada");
        assert_eq!(check("correct horse"), Ok(()));
        assert_eq!(check(&"né".repeat(5)), Ok(()));
        for (password, why) in [
            ("short", "at least 10"),
            ("", "at least 10"),
            ("Password123", "among the first"),
            ("aaaaaaaaaaaa", "among the first"),
            ("ADA.lovelace", "neither one's name"),
            ("countess ada", "neither one's name"),
        ] {
            let said = check(password).expect_err(password);
            assert!(said.contains(why), "{password}: {said}");
        }
        assert!(check(&"ab".repeat(101)).is_err());
    }

    #[tokio::test]
    async fn a_hash_is_of_its_password_alone() {
        let passwords = Passwords::quick();
        let hash = passwords.hash("correct horse", "sixteen letters!").await.expect("a hash");
        assert!(hash.starts_with("$argon2id$v=19$"), "{hash}");
        assert_eq!(passwords.is_of(Some(&hash), "correct horse").await, Ok(true));
        assert_eq!(passwords.is_of(Some(&hash), "correct horsf").await, Ok(false));
        assert_eq!(passwords.is_of(None, "correct horse").await, Ok(false));
        assert_eq!(passwords.is_of(Some("no hash"), "correct horse").await, Ok(false));
        let strong = Passwords::new().nobodys_hash();
        assert!(argon2::password_hash::phc::PasswordHash::new(&strong).is_ok(), "{strong}");
    }
}
