//! Keys and tokens that are shown once and then only recognized.
//!
//! A [`Minted`] secret is random text with a prefix. Its stored form is a [`Kept`]: a SHA-256 for look-up, and a scrypt
//! hash with its salt for verification. Look-up is fast and proves nothing; verification is slow by design, runs on the
//! blocking pool with bounded concurrency, and compares in constant time.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use keyform::World;
use keyform::flow::{BlockingPool, PoolError};
use scrypt::Params;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// Prefix of API keys.
pub const API_KEY_PREFIX: &str = "hmat_";
/// Prefix of refresh tokens.
pub const REFRESH_TOKEN_PREFIX: &str = "hmat_refresh_";
/// Number of characters of a key that lists may show.
pub const SHOWN_CHARS: usize = 12;

const RANDOM_BYTES: usize = 32;
const SALT_BYTES: usize = 16;
const HASH_BYTES: usize = 64;
const BLOCK_SIZE: u32 = 8;
const PARALLELISM: u32 = 1;
/// N is 16384.
const LOG_N: u8 = 14;

/// Newly generated secret. It is shown to its owner only.
#[derive(Clone, PartialEq, Eq)]
pub struct Minted(String);

impl Minted {
    /// Generates a prefix and 64 hexadecimal digits.
    #[must_use]
    pub fn new(prefix: &str, world: &dyn World) -> Self {
        Self(format!("{prefix}{}", world.token(RANDOM_BYTES)))
    }

    /// Returns the text, for its owner.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns the part that lists may show.
    #[must_use]
    pub fn shown(&self) -> String {
        self.0.chars().take(SHOWN_CHARS).collect()
    }
}

impl std::fmt::Debug for Minted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Minted(…)")
    }
}

/// Stored form of a secret.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Scrypt hash in base64.
    pub hash: String,
    /// Salt of the scrypt hash in base64.
    pub salt: String,
    /// SHA-256 for look-up, in hexadecimal digits.
    pub lookup_hash: String,
}

/// Returns whether a string has the form of [`Minted::new`]. Other strings need no look-up.
#[must_use]
pub fn is_well_formed(text: &str, prefix: &str) -> bool {
    text.strip_prefix(prefix).is_some_and(|digits| {
        digits.len() == 2 * RANDOM_BYTES && digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
    })
}

/// Returns the SHA-256 of a text in hexadecimal digits.
#[must_use]
pub fn lookup_hash(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))
}

/// Compares two strings in constant time.
#[must_use]
pub fn same(one: &str, other: &str) -> bool {
    one.as_bytes().ct_eq(other.as_bytes()).into()
}

/// scrypt with a cost and bounded concurrency.
#[derive(Clone, Debug)]
pub struct Hashing {
    log_n: u8,
    /// scrypt allocates 16 MB per hash and does not accept a buffer, so the pool only bounds the concurrency.
    pool: BlockingPool<()>,
}

impl Default for Hashing {
    fn default() -> Self {
        Self::with_log_n(LOG_N)
    }
}

impl Hashing {
    /// Uses another cost: N is two to the power of `log_n`. Tests use a low one; hashes of one cost are not recognized
    /// with another.
    #[must_use]
    pub fn with_log_n(log_n: u8) -> Self {
        Self { log_n, pool: BlockingPool::for_this_machine() }
    }

    /// Returns the stored form of a secret.
    ///
    /// # Errors
    /// The pool is overloaded, or the cost is invalid.
    pub async fn keep(&self, secret: &Minted, world: &dyn World) -> Result<Kept, HashingFailed> {
        let salt = salt(world);
        let hash = self.hash(secret.reveal().to_owned(), salt.clone()).await?;
        Ok(Kept { hash: STANDARD.encode(hash), salt: STANDARD.encode(salt), lookup_hash: lookup_hash(secret.reveal()) })
    }

    /// Returns whether a text is the secret of this hash and salt.
    ///
    /// # Errors
    /// The pool is overloaded, or the cost is invalid.
    pub async fn proves(&self, text: &str, hash: &str, salt: &str) -> Result<bool, HashingFailed> {
        let (Ok(hash), Ok(salt)) = (STANDARD.decode(hash), STANDARD.decode(salt)) else { return Ok(false) };
        let found = self.hash(text.to_owned(), salt).await?;
        Ok(found.ct_eq(&hash).into())
    }

    async fn hash(&self, text: String, salt: Vec<u8>) -> Result<Vec<u8>, HashingFailed> {
        let params = Params::new(self.log_n, BLOCK_SIZE, PARALLELISM).map_err(HashingFailed::because)?;
        let compute = move |(): &mut ()| {
            let mut hash = vec![0; HASH_BYTES];
            scrypt::scrypt(text.as_bytes(), &salt, &params, &mut hash).map(|()| hash)
        };
        self.pool.run(compute).await?.map_err(HashingFailed::because)
    }
}

/// Generates a salt. Random values come as hexadecimal text and are converted to bytes.
fn salt(world: &dyn World) -> Vec<u8> {
    let digits = world.token(SALT_BYTES);
    let pair = |at: usize| digits.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    (0..digits.len()).step_by(2).filter_map(pair).collect()
}

/// Reason why a hash could not be computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HashingFailed {
    /// Too many callers are waiting, or the work panicked.
    Pool(PoolError),
    /// The cost is invalid.
    Cost(String),
}

impl HashingFailed {
    fn because(why: impl std::fmt::Display) -> Self {
        Self::Cost(why.to_string())
    }
}

impl std::fmt::Display for HashingFailed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("cannot compute a hash: ")?;
        match self {
            Self::Pool(error) => error.fmt(f),
            Self::Cost(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for HashingFailed {}

impl From<PoolError> for HashingFailed {
    fn from(error: PoolError) -> Self {
        Self::Pool(error)
    }
}

impl From<HashingFailed> for keyform::flow::FlowError {
    fn from(error: HashingFailed) -> Self {
        match error {
            HashingFailed::Pool(error) => error.into(),
            HashingFailed::Cost(_) => Self::Broken(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use keyform::SystemWorld;

    use super::*;

    #[test]
    fn keys_have_the_form_that_is_asked_for() {
        for (prefix, length) in [(API_KEY_PREFIX, 69), (REFRESH_TOKEN_PREFIX, 77)] {
            let key = Minted::new(prefix, &SystemWorld);
            assert_eq!(key.reveal().len(), length);
            assert!(is_well_formed(key.reveal(), prefix));
            assert_eq!(key.shown().len(), SHOWN_CHARS);
            assert_eq!(format!("{key:?}"), "Minted(…)");
        }
        let key = Minted::new(API_KEY_PREFIX, &SystemWorld);
        for wrong in ["", "hmat_", &key.reveal()[1..], &format!("{}0", key.reveal()), &key.reveal().to_uppercase()] {
            assert!(!is_well_formed(wrong, API_KEY_PREFIX), "{wrong}");
        }
    }

    #[tokio::test]
    async fn a_key_proves_itself_and_nothing_else_does() {
        let hashing = Hashing::with_log_n(4);
        let (key, other) = (Minted::new(API_KEY_PREFIX, &SystemWorld), Minted::new(API_KEY_PREFIX, &SystemWorld));
        let kept = hashing.keep(&key, &SystemWorld).await.expect("hashed");
        assert_eq!(STANDARD.decode(&kept.hash).map(|hash| hash.len()), Ok(64));
        assert_eq!(STANDARD.decode(&kept.salt).map(|salt| salt.len()), Ok(16));
        assert_eq!(kept.lookup_hash.len(), 64);
        assert_eq!(hashing.proves(key.reveal(), &kept.hash, &kept.salt).await, Ok(true));
        assert_eq!(hashing.proves(other.reveal(), &kept.hash, &kept.salt).await, Ok(false));
        assert_eq!(hashing.proves(key.reveal(), "?", &kept.salt).await, Ok(false));
        assert_eq!(hashing.proves(key.reveal(), "", &kept.salt).await, Ok(false));
    }

    /// Third vector of RFC 7914, section 12.
    #[tokio::test]
    async fn the_hash_is_that_of_the_standard() {
        let hash =
            Hashing::default().hash("pleaseletmein".to_owned(), b"SodiumChloride".to_vec()).await.expect("hashed");
        assert!(hex::encode(&hash).starts_with("7023bdcb3afd7348461c06cd81fd38eb"));
        assert!(hex::encode(&hash).ends_with("e61e85dc0d651e40dfcf017b45575887"));
    }
}
