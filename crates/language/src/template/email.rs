//! E-mail addresses have one spelling, so that one mailbox is one account.
//!
//! A mailbox can be written in many ways that look the same or are delivered to the same place: with zero-width
//! characters, full-width letters, composed and decomposed accents, a domain in Unicode or in its `xn--` form, or a dot
//! at the end of the domain. The rules are those of `<input type="email">` in HTML: only ASCII is allowed, and a domain
//! consists of labels.

/// Maximum length of a label of a domain name.
const LABEL_BYTES_MAX: usize = 63;

/// Returns whether an address, trimmed and in lower case, has no other spelling.
pub(super) fn has_one_spelling(address: &str) -> bool {
    let Some((local, domain)) = address.rsplit_once('@') else { return false };
    local.is_ascii() && domain.split('.').all(is_label)
}

fn is_label(label: &str) -> bool {
    let is_edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = label.as_bytes();
    label.len() <= LABEL_BYTES_MAX
        && is_edge(bytes.first())
        && is_edge(bytes.last())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_spellings_of_a_mailbox_are_rejected() {
        for address in
            ["ada@example.com", "a.d+a#1@mail.example.com", "ada@xn--mnchen-3ya.de", "ada@localhost", "ada@1.example"]
        {
            assert!(has_one_spelling(address), "{address}");
        }
        for address in [
            "ada@example.com.",
            "ada@.example.com",
            "ada@example..com",
            "ada@-example.com",
            "ada@example-.com",
            "ada\u{200b}@example.com",
            "ada@exam\u{ad}ple.com",
            "\u{ff41}da@example.com",
            "ada@\u{ff45}xample.com",
            "ada@m\u{fc}nchen.de",
            "ade\u{301}@example.com",
            "ada@example\u{3002}com",
            "ada@",
            "ada",
        ] {
            assert!(!has_one_spelling(address), "{address}");
        }
        assert!(!has_one_spelling(&format!("ada@{}.example", "a".repeat(64))));
    }
}
