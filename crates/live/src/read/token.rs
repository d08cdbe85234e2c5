//! Resume tokens: a position in the feed of a table, bound to a read and its arguments.
//!
//! ```text
//! binding:u64 position sum:u32   base64url; the checksum covers both, so that a damaged token is rejected
//! ```
//!
//! A token grants no rights and reveals nothing: a caller that presents one is checked like any other. So it needs no
//! key, and is valid on every instance and after a restart (ADR 0016).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use keyform_core::{Attributes, Item};

use crate::feed::Position;
use crate::feed::hash;

/// Returns the hash of everything that a token is bound to.
pub(super) fn binding(model: &str, read: &str, table: &str, arguments: &Attributes) -> u64 {
    let arguments = Item::from(arguments);
    let mut bytes = Vec::new();
    for part in [model.as_bytes(), read.as_bytes(), table.as_bytes(), arguments.as_bytes()] {
        bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
        bytes.extend_from_slice(part);
    }
    hash(&bytes)
}

pub(super) fn encode(binding: u64, position: &Position) -> String {
    let mut bytes = binding.to_be_bytes().to_vec();
    bytes.extend(position.to_bytes());
    bytes.extend_from_slice(&sum(&bytes));
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Returns the position of a token; `None` if it does not have this binding.
pub(super) fn decode(binding: u64, token: &str) -> Option<Position> {
    let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
    let (body, given) = bytes.split_last_chunk::<4>()?;
    let (bound, position) = body.split_first_chunk::<8>()?;
    if u64::from_be_bytes(*bound) != binding || *given != sum(body) {
        return None;
    }
    Position::of_bytes(position)
}

/// Returns the binding of tokens issued while another table holds items of the result too. Such a token does not cover
/// the changes of that table.
pub(super) fn of_two_tables(binding: u64) -> u64 {
    !binding
}

fn sum(bytes: &[u8]) -> [u8; 4] {
    let [a, b, c, d, ..] = hash(bytes).to_be_bytes();
    [a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_holds_for_its_read_and_arguments_only() {
        let arguments: Attributes = [("channelId".to_owned(), "1".into())].into();
        let bound = binding("chat", "messages", "chat-dev", &arguments);
        let position = Position::new("arn");
        let token = encode(bound, &position);
        assert_eq!(decode(bound, &token), Some(position));
        assert_eq!(decode(binding("chat", "others", "chat-dev", &arguments), &token), None);
        assert_eq!(decode(binding("chat", "messages", "chat-dev", &Attributes::new()), &token), None);
        assert_eq!(decode(bound, &token[..token.len() - 2]), None);
        assert_eq!(decode(bound, ""), None);
    }
}
