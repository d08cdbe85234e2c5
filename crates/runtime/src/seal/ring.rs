//! Key ring, and its text format.
//!
//! ```text
//! keyform field keys, version 1
//! # Without these keys, fields encrypted with them cannot be read. Back this file up, and keep it secret.
//! key 3f9a61c07be2d514 <32 bytes in base64>     the first key seals
//! key 90b1…            <32 bytes in base64>     the others open what was sealed before
//! ```
//!
//! An environment variable holds only the base64 keys, separated by commas.

use keyform_core::World;
use zeroize::Zeroizing;

use super::{FieldKey, KeyId, SealError};

const TITLE: &str = "keyform field keys, version 1";
const ADVICE: &str =
    "# Without these keys, fields encrypted with them cannot be read. Back this file up, and keep it secret.";

/// Keys of encrypted fields: the first encrypts, all decrypt.
#[derive(Clone, Debug)]
pub struct Keyring {
    primary: FieldKey,
    older: Vec<FieldKey>,
}

impl Keyring {
    /// Creates a ring of one key.
    #[must_use]
    pub fn of(primary: FieldKey) -> Self {
        Self { primary, older: Vec::new() }
    }

    /// Creates a ring of one random key, for tests and short-lived data.
    #[must_use]
    pub fn generate(world: &dyn World) -> Self {
        Self::of(FieldKey::generate(world))
    }

    /// Returns the ring with a new primary key. The former primary key still decrypts.
    #[must_use]
    pub fn rotated(mut self, primary: FieldKey) -> Self {
        let before = std::mem::replace(&mut self.primary, primary);
        self.older.retain(|key| key.id() != self.primary.id());
        if before.id() != self.primary.id() {
            self.older.insert(0, before);
        }
        self
    }

    /// Returns the ring without an older key.
    ///
    /// # Errors
    ///
    /// Returns [`SealError::Ring`] if it is the primary key, or not in the ring.
    pub fn without(mut self, id: KeyId) -> Result<Self, SealError> {
        if self.primary.id() == id {
            return Err(SealError::Ring(format!("{id} is the current field key: rotate first")));
        }
        let before = self.older.len();
        self.older.retain(|key| key.id() != id);
        if self.older.len() == before {
            return Err(SealError::Ring(format!("unknown field key {id}")));
        }
        Ok(self)
    }

    /// Returns the primary key, which encrypts.
    #[must_use]
    pub fn primary(&self) -> &FieldKey {
        &self.primary
    }

    /// Returns the other keys, newest first.
    #[must_use]
    pub fn older(&self) -> &[FieldKey] {
        &self.older
    }

    pub(super) fn find(&self, id: KeyId) -> Option<&FieldKey> {
        std::iter::once(&self.primary).chain(&self.older).find(|key| key.id() == id)
    }

    /// Parses the output of [`Keyring::to_text`], or base64 keys separated by commas or line breaks.
    ///
    /// # Errors
    ///
    /// Returns [`SealError::Ring`], which names the invalid line but never shows its content.
    pub fn from_text(text: &str) -> Result<Self, SealError> {
        let keys = if text.trim_start().starts_with(TITLE) { lines(text)? } else { plain(text)? };
        let mut keys = keys.into_iter();
        let primary = keys.next().ok_or_else(|| SealError::Ring("the file contains no field key".to_owned()))?;
        let ring = Self { primary, older: keys.collect() };
        let mut ids: Vec<KeyId> = ring.older.iter().map(FieldKey::id).chain([ring.primary.id()]).collect();
        ids.sort_unstable();
        match ids.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(SealError::Ring(format!("duplicate field key {}", pair[0]))),
            None => Ok(ring),
        }
    }

    /// Formats the keys as the content of a key file.
    #[must_use]
    pub fn to_text(&self) -> Zeroizing<String> {
        let mut text = Zeroizing::new(format!("{TITLE}\n{ADVICE}\n"));
        for key in std::iter::once(&self.primary).chain(&self.older) {
            text.push_str(&format!("key {} ", key.id()));
            text.push_str(&key.to_text());
            text.push('\n');
        }
        text
    }
}

fn lines(text: &str) -> Result<Vec<FieldKey>, SealError> {
    let lines = text.lines().enumerate().skip(1).map(|(number, line)| (number + 1, line.trim()));
    let keys = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    keys.map(|(number, line)| {
        let wrong = |why: &str| SealError::Ring(format!("line {number} {why}"));
        let mut words = line.split_whitespace();
        let (Some("key"), Some(id), Some(key), None) = (words.next(), words.next(), words.next(), words.next()) else {
            return Err(wrong("is not `key ID BASE64`"));
        };
        let key = FieldKey::from_text(key).ok_or_else(|| wrong("has a key that is not 32 bytes in base64"))?;
        if KeyId::from_text(id) == Some(key.id()) {
            Ok(key)
        } else {
            Err(wrong("has an id that does not match its key: one of them is damaged"))
        }
    })
    .collect()
}

fn plain(text: &str) -> Result<Vec<FieldKey>, SealError> {
    let parts = text.split([',', '\n']).map(str::trim).enumerate().filter(|(_, part)| !part.is_empty());
    let wrong = |number: usize| SealError::Ring(format!("key {} is not 32 bytes in base64", number + 1));
    parts.map(|(number, part)| FieldKey::from_text(part).ok_or_else(|| wrong(number))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(byte: u8) -> FieldKey {
        FieldKey::new([byte; 32])
    }

    #[test]
    fn a_ring_is_what_its_text_says() {
        let ring = Keyring::of(key(1)).rotated(key(2)).rotated(key(3));
        let again = Keyring::from_text(&ring.to_text()).expect("its own text");
        assert_eq!(again.primary().id(), key(3).id());
        assert_eq!(again.older().iter().map(FieldKey::id).collect::<Vec<_>>(), [key(2).id(), key(1).id()]);
        let plain = format!("{},{}", &*key(3).to_text(), &*key(2).to_text());
        let plain = Keyring::from_text(&plain).expect("two keys");
        assert_eq!((plain.primary().id(), plain.older().len()), (key(3).id(), 1));
    }

    #[test]
    fn what_is_wrong_with_a_ring_is_said_without_showing_it() {
        let check = |text: &str, expected: &str| {
            assert_eq!(Keyring::from_text(text).map(|_| ()), Err(SealError::Ring(expected.to_owned())), "{text}");
        };
        let good = Keyring::of(key(1)).to_text();
        check("", "the file contains no field key");
        check("abc", "key 1 is not 32 bytes in base64");
        check(
            &format!("{}\n{}", &*key(1).to_text(), &*key(1).to_text()),
            &format!("duplicate field key {}", key(1).id()),
        );
        check(&good.replace("key ", "cle "), "line 3 is not `key ID BASE64`");
        check(
            &good.replace(&key(1).id().to_string(), "0000000000000000"),
            "line 3 has an id that does not match its key: one of them is damaged",
        );
        assert!(!format!("{:?}", Keyring::of(key(1))).contains("AQEB"));
    }

    #[test]
    fn the_key_that_seals_stays() {
        let ring = Keyring::of(key(1)).rotated(key(2));
        assert!(ring.clone().without(key(2).id()).is_err());
        assert!(ring.clone().without(key(9).id()).is_err());
        assert!(ring.without(key(1).id()).expect("an older key").older().is_empty());
    }
}
