//! Password rules and hashes, independent of users.
//!
//! A hash is argon2id in PHC string format, which includes its parameters and salt. Hashing takes tens of milliseconds
//! and 19 MB by design, so it runs on the blocking pool with bounded concurrency and reused memory: a flood of log-ins
//! uses no more memory than that.

use std::fmt;

use argon2::password_hash::phc::{Output, ParamsString, PasswordHash, Salt};
use argon2::{Algorithm, Argon2, Block, Params, Version};
use keyform::flow::{BlockingPool, PoolError};

/// Minimum length of a password.
pub const CHARACTERS_MIN: usize = 10;
/// Maximum length; longer passwords would only cost time.
pub const CHARACTERS_MAX: usize = 200;

/// Common passwords that are rejected.
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

/// Password hasher. Cheap to clone.
#[derive(Clone)]
pub struct Passwords {
    params: Params,
    pool: BlockingPool<Vec<Block>>,
}

impl Passwords {
    /// Uses 19 MB and two passes, as recommended for servers, with one concurrent hash per core, at most four.
    #[must_use]
    pub fn new() -> Self {
        Self { params: Params::default(), pool: BlockingPool::for_this_machine() }
    }

    /// Sets the number of concurrent hashes, which use 19 MB each, and of waiting callers.
    #[must_use]
    pub fn bounded(self, at_once: usize, waiting_max: usize) -> Self {
        Self { pool: BlockingPool::new(at_once, waiting_max), ..self }
    }

    /// Uses the fastest and weakest parameters of argon2, for tests only.
    #[must_use]
    pub fn quick() -> Self {
        Self { params: Params::new(Params::MIN_M_COST, 1, 1, None).unwrap_or_default(), ..Self::new() }
    }

    /// Hashes a password with a salt of at least 8 characters.
    ///
    /// # Errors
    /// The salt is too short, there is no memory, or too many callers are waiting.
    pub async fn hash(&self, password: &str, salt: &str) -> Result<String, HashError> {
        let (params, password, salt) = (self.params.clone(), password.to_owned(), salt.to_owned());
        let hashed = self.pool.run(move |blocks| hash(params, &password, salt.as_bytes(), blocks));
        hashed.await?.map(|hash| hash.to_string()).map_err(|error| HashError::Failed(error.to_string()))
    }

    /// Returns whether a hash belongs to the password. Without a hash it returns false after the same time, so that the
    /// time does not reveal whether an account exists.
    ///
    /// # Errors
    /// There is no memory, or too many callers are waiting.
    pub async fn is_of(&self, hash: Option<&str>, password: &str) -> Result<bool, HashError> {
        let password = password.to_owned();
        let hash = hash.map_or_else(|| self.nobodys_hash(), str::to_owned);
        // Malformed text matches no password.
        let verified = self.pool.run(move |blocks| verify(&hash, &password, blocks).unwrap_or(false));
        Ok(verified.await?)
    }

    /// Returns a hash of 32 zero bytes, for which no password can be found.
    fn nobodys_hash(&self) -> String {
        let (memory, passes, lanes) = (self.params.m_cost(), self.params.t_cost(), self.params.p_cost());
        format!("$argon2id$v=19$m={memory},t={passes},p={lanes}$bm9ib2R5J3Mgc2FsdA${}", "A".repeat(43))
    }
}

type Hashed<T> = Result<T, argon2::password_hash::Error>;

fn hash(params: Params, password: &str, salt: &[u8], blocks: &mut Vec<Block>) -> Hashed<PasswordHash> {
    let (algorithm, version, salt) = (Algorithm::Argon2id, Version::V0x13, Salt::new(salt)?);
    let argon2 = Argon2::new(algorithm, version, params.clone());
    let output = output(&argon2, password, &salt, Params::DEFAULT_OUTPUT_LEN, blocks)?;
    Ok(PasswordHash {
        algorithm: algorithm.ident(),
        version: Some(version.into()),
        params: ParamsString::try_from(&params)?,
        salt: Some(salt),
        hash: Some(output),
    })
}

/// Verifies a password with the parameters of the hash. The comparison takes constant time.
fn verify(hash: &str, password: &str, blocks: &mut Vec<Block>) -> Hashed<bool> {
    let hash = PasswordHash::new(hash)?;
    let (Some(salt), Some(expected)) = (&hash.salt, &hash.hash) else { return Ok(false) };
    let algorithm = Algorithm::try_from(hash.algorithm.as_str())?;
    let version = hash.version.map_or(Ok(Version::default()), Version::try_from)?;
    let argon2 = Argon2::new(algorithm, version, Params::try_from(&hash)?);
    Ok(output(&argon2, password, salt, expected.len(), blocks)? == *expected)
}

/// Runs argon2 in reused memory, which its first pass overwrites completely.
fn output(argon2: &Argon2<'_>, password: &str, salt: &Salt, bytes: usize, blocks: &mut Vec<Block>) -> Hashed<Output> {
    blocks.resize(blocks.len().max(argon2.params().block_count()), Block::default());
    let mut buffer = [0; Output::MAX_LENGTH];
    let output = &mut buffer[..bytes.min(Output::MAX_LENGTH)];
    argon2.hash_password_into_with_memory(password.as_bytes(), salt, output, blocks)?;
    Ok(Output::new(output)?)
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

/// Hashing error. Reveals nothing about the password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HashError {
    /// Too many callers are waiting, or the work panicked.
    Pool(PoolError),
    /// argon2 returned an error.
    Failed(String),
}

impl fmt::Display for HashError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cannot hash the password: ")?;
        match self {
            Self::Pool(error) => error.fmt(f),
            Self::Failed(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for HashError {}

impl From<PoolError> for HashError {
    fn from(error: PoolError) -> Self {
        Self::Pool(error)
    }
}

impl From<HashError> for keyform::flow::FlowError {
    fn from(error: HashError) -> Self {
        match error {
            HashError::Pool(error) => error.into(),
            HashError::Failed(_) => Self::Broken(error.to_string()),
        }
    }
}

/// Checks the rules: [`CHARACTERS_MIN`] to [`CHARACTERS_MAX`] characters, not a common password, not one repeated
/// character, and neither the person's address nor name.
///
/// # Errors
/// The violated rule, with advice.
pub fn check(password: &str, email: &str, username: &str) -> Result<(), String> {
    let characters = password.chars().count();
    if characters < CHARACTERS_MIN {
        return Err(format!(
            "a password must have at least {CHARACTERS_MIN} characters: several words are easy to remember"
        ));
    }
    if characters > CHARACTERS_MAX {
        return Err(format!("a password can have at most {CHARACTERS_MAX} characters"));
    }
    let lower = password.to_lowercase();
    let first = lower.chars().next();
    if COMMON.contains(&lower.as_str()) || lower.chars().all(|character| Some(character) == first) {
        return Err("this password is too common: choose another".to_owned());
    }
    let local_part = email.split('@').next().unwrap_or_default();
    if [email, local_part, username].iter().any(|known| lower == known.trim().to_lowercase()) {
        return Err("a password must differ from your name and address".to_owned());
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
            ("Password123", "too common"),
            ("aaaaaaaaaaaa", "too common"),
            ("ADA.lovelace", "must differ"),
            ("countess ada", "must differ"),
        ] {
            let said = check(password).expect_err(password);
            assert!(said.contains(why), "{password}: {said}");
        }
        assert!(check(&"ab".repeat(101)).is_err());
    }

    #[tokio::test]
    async fn memory_that_is_used_again_gives_the_same_hashes() {
        use argon2::password_hash::PasswordHasher as _;
        let passwords = Passwords::quick().bounded(1, 8);
        for (password, memory) in [("correct horse", 8), ("another horse", 64), ("correct horse", 16)] {
            let passwords = Passwords { params: Params::new(memory, 2, 1, None).expect("params"), ..passwords.clone() };
            let fresh = Argon2::new(Algorithm::Argon2id, Version::V0x13, passwords.params.clone());
            let fresh = fresh.hash_password_with_salt(password.as_bytes(), b"sixteen letters!").expect("a hash");
            assert_eq!(passwords.hash(password, "sixteen letters!").await, Ok(fresh.to_string()));
            // A hash contains its own parameters.
            assert_eq!(Passwords::quick().is_of(Some(&fresh.to_string()), password).await, Ok(true));
        }
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
