//! Start of the next page of a SELECT. A token is valid only for the statement that created it.
//!
//! ```text
//! token = base64( version  fingerprint of the statement  read  last key )
//!                 1 byte   8 bytes                       4     the rest, possibly none
//! ```

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use keyform_core::error::partiql;
use keyform_core::statement::Statement;
use keyform_core::{Error, Item};
use twox_hash::XxHash3_64;

const VERSION: u8 = 1;
const HEADER_BYTES: usize = 13;

/// Position between two pages.
#[derive(Clone, Debug, PartialEq)]
pub struct NextToken {
    /// Number of the statement's read that continues.
    pub read: u32,
    /// Key after which that read continues; `None` means from its start.
    pub last_key: Option<Item>,
}

impl NextToken {
    /// Encodes the token for a statement.
    pub fn encode(&self, statement: &Statement) -> String {
        let mut bytes = Vec::with_capacity(64);
        bytes.push(VERSION);
        bytes.extend(fingerprint(statement).to_be_bytes());
        bytes.extend(self.read.to_be_bytes());
        bytes.extend(self.last_key.iter().flat_map(|key| key.as_bytes().iter().copied()));
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Decodes a token.
    ///
    /// # Errors
    /// When it is not a valid token, or belongs to another statement.
    pub fn decode(token: &str, statement: &Statement) -> Result<Self, Error> {
        let bytes = URL_SAFE_NO_PAD.decode(token).map_err(|_| partiql::next_token_invalid())?;
        let (header, key) = bytes.split_first_chunk::<HEADER_BYTES>().ok_or_else(partiql::next_token_invalid)?;
        let [VERSION, f0, f1, f2, f3, f4, f5, f6, f7, r0, r1, r2, r3] = *header else {
            return Err(partiql::next_token_invalid());
        };
        if u64::from_be_bytes([f0, f1, f2, f3, f4, f5, f6, f7]) != fingerprint(statement) {
            return Err(partiql::next_token_mismatch());
        }
        let last_key = match key {
            [] => None,
            key => Some(Item::decode(Bytes::copy_from_slice(key)).map_err(|_| partiql::next_token_invalid())?),
        };
        Ok(Self { read: u32::from_be_bytes([r0, r1, r2, r3]), last_key })
    }
}

/// Returns a hash of a statement that is the same in every process.
fn fingerprint(statement: &Statement) -> u64 {
    XxHash3_64::oneshot(format!("{statement:?}").as_bytes())
}
