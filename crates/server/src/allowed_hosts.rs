//! Host names that the server answers for.
//!
//! Any web page can make its own name resolve to this machine (DNS rebinding). The browser then treats the server as
//! part of that page's site and lets the page read every answer. Such requests carry the page's name in `Host`, so a
//! server without credentials answers only to names that DNS cannot redirect:
//!
//! | name | answered |
//! |---|---|
//! | `localhost`, `anything.localhost` | always: browsers resolve them to loopback themselves |
//! | `127.0.0.0/8`, `[::1]` | always: addresses are not resolved |
//! | the name that the server listens on, and `allowed_hosts` | always: the operator vouches for them |
//! | all others | with credentials, unless `allowed_hosts` narrows them |

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Host part of an authority in normalized form: addresses parsed, names in lower case without the final dot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HostName {
    V4(Ipv4Addr),
    V6(Ipv6Addr),
    Name(String),
}

/// Maximum length of a DNS name.
const NAME_BYTES_MAX: usize = 253;

impl HostName {
    /// Parses `host` or `host:port`, as in `Host`. Rejects user names, escapes, spaces and ports that are not numbers.
    pub(crate) fn of_authority(text: &str) -> Option<Self> {
        let (host, rest) = match text.strip_prefix('[') {
            Some(inner) => {
                let (address, rest) = inner.split_once(']')?;
                (Self::V6(address.parse().ok()?), rest)
            }
            None => {
                let (name, rest) = text.split_at(text.find(':').unwrap_or(text.len()));
                (Self::named(name)?, rest)
            }
        };
        is_port(rest).then_some(host)
    }

    /// Parses the value of a setting: a name or an address, with or without brackets, without a port.
    pub(crate) fn of_setting(text: &str) -> Option<Self> {
        match text.parse() {
            Ok(IpAddr::V4(address)) => Some(Self::V4(address)),
            Ok(IpAddr::V6(address)) => Some(Self::V6(address)),
            Err(_) if text.starts_with('[') == text.ends_with(']') && !has_port(text) => Self::of_authority(text),
            Err(_) => None,
        }
    }

    fn named(text: &str) -> Option<Self> {
        // Only dotted quads are addresses. `127.1` and `2130706433` remain names, which do not match ours.
        if let Ok(address) = text.parse() {
            return Some(Self::V4(address));
        }
        let name = text.strip_suffix('.').unwrap_or(text);
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let good =
            name.len() <= NAME_BYTES_MAX && name.split('.').all(|label| !label.is_empty() && label.bytes().all(plain));
        good.then(|| Self::Name(name.to_ascii_lowercase()))
    }

    /// Returns whether the name always means this machine.
    fn is_local(&self) -> bool {
        match self {
            Self::V4(address) => address.is_loopback(),
            Self::V6(address) => address.is_loopback(),
            Self::Name(name) => name == "localhost" || name.ends_with(".localhost"),
        }
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::V4(address) => address.fmt(f),
            Self::V6(address) => write!(f, "[{address}]"),
            Self::Name(name) => f.write_str(name),
        }
    }
}

fn has_port(text: &str) -> bool {
    text.rsplit(']').next().is_some_and(|end| end.contains(':'))
}

/// Returns whether the text may follow a host: nothing, or a colon and a port.
fn is_port(text: &str) -> bool {
    match text.strip_prefix(':') {
        None => text.is_empty(),
        Some("") => true,
        Some(port) => port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok(),
    }
}

/// Requests that must name a host of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    All,
    /// All requests with a host name. An address is not resolved, so no foreign page can have it as its own name.
    AllNames,
    /// All requests except probes, which use the address of the machine they probe.
    AllButProbes,
    /// No request: every call is signed or carries a token, which a foreign page does not have.
    Nothing,
}

/// Hosts that the server answers for.
#[derive(Clone, Debug)]
pub(crate) struct Hosts {
    /// Listen name and `allowed_hosts`.
    named: Vec<HostName>,
    scope: Scope,
}

impl Hosts {
    /// Creates the list for a server that listens on `bound`. `open` means that DNS rebinding would be an attack: there
    /// are no credentials, and only a browser on this machine can reach the address.
    pub(crate) fn new(bound: &str, allowed: &[HostName], open: bool) -> Self {
        let scope = match open {
            true => Scope::All,
            false if allowed.is_empty() => Scope::Nothing,
            false => Scope::AllButProbes,
        };
        let named = HostName::of_setting(bound).into_iter().chain(allowed.iter().cloned()).collect();
        Self { named, scope }
    }

    /// Creates the list for a port without authentication on an address that other machines can reach: they use the
    /// machine's address, and another name must be allowed.
    pub(crate) fn addresses(bound: &str, allowed: &[HostName]) -> Self {
        Self { scope: Scope::AllNames, ..Self::new(bound, allowed, true) }
    }

    /// Returns whether the server answers a request with this host.
    pub(crate) fn answer_for(&self, host: &HostName, path: &str) -> bool {
        match self.scope {
            Scope::Nothing => true,
            Scope::AllButProbes if is_probe(path) => true,
            Scope::AllNames if !matches!(host, HostName::Name(_)) => true,
            Scope::AllNames | Scope::AllButProbes | Scope::All => self.include(host),
        }
    }

    /// Returns whether HTTP/1.0 requests may omit the host.
    pub(crate) fn may_be_absent(&self, path: &str) -> bool {
        match self.scope {
            Scope::Nothing => true,
            Scope::AllButProbes => is_probe(path),
            Scope::AllNames | Scope::All => false,
        }
    }

    /// Returns whether the host is on the list.
    pub(crate) fn include(&self, host: &HostName) -> bool {
        host.is_local() || self.named.contains(host)
    }
}

fn is_probe(path: &str) -> bool {
    matches!(path, "/healthz" | "/readyz")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Option<String> {
        HostName::of_authority(text).map(|host| host.to_string())
    }

    #[test]
    fn hosts_have_one_spelling() {
        for (text, expected) in [
            ("localhost", "localhost"),
            ("LocalHost:8000", "localhost"),
            ("localhost.:8000", "localhost"),
            ("localhost:", "localhost"),
            ("127.0.0.1:80", "127.0.0.1"),
            ("[::1]", "[::1]"),
            ("[0:0:0:0:0:0:0:1]:8000", "[::1]"),
            ("key_form.internal:1", "key_form.internal"),
            ("127.1", "127.1"),
            ("2130706433", "2130706433"),
        ] {
            assert_eq!(parsed(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn malformed_hosts_are_none() {
        for text in [
            "",
            ":8000",
            ".",
            "..",
            "localhost..",
            ".localhost",
            "local host",
            "localhost@evil.example",
            "evil@localhost",
            "localhost:80:80",
            "localhost:x",
            "localhost:65536",
            "localhost:+80",
            "localhost/",
            "localhost#",
            "localhost?",
            "local%68ost",
            "[::1",
            "::1",
            "[::1]x",
            "[::1%25lo]",
            "[127.0.0.1]",
            "localhost\t",
            "localhost,evil.example",
            "löcalhost",
            "localhost\\evil",
        ] {
            assert_eq!(parsed(text), None, "{text}");
        }
        assert_eq!(parsed(&"a".repeat(254)), None);
    }

    #[test]
    fn settings_name_hosts_without_ports() {
        for (text, expected) in [
            ("::1", Some("[::1]")),
            ("[::1]", Some("[::1]")),
            ("0.0.0.0", Some("0.0.0.0")),
            ("Keyform.Test", Some("keyform.test")),
            ("keyform.test:80", None),
            ("[::1]:80", None),
            ("http://keyform.test", None),
            ("*.test", None),
            ("", None),
        ] {
            assert_eq!(HostName::of_setting(text).map(|host| host.to_string()).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn an_open_server_answers_for_its_own_names() {
        let allowed = [HostName::of_setting("keyform.test").expect("a name")];
        let hosts = Hosts::new("bound.example", &allowed, true);
        for (text, expected) in [
            ("localhost", true),
            ("a.b.localhost:1", true),
            ("127.255.0.9", true),
            ("[::1]:8000", true),
            ("KEYFORM.TEST.:9", true),
            ("bound.example", true),
            ("evil.example", false),
            ("localhost.evil.example", false),
            ("evillocalhost", false),
            ("127.0.0.1.evil.example", false),
            ("sub.keyform.test", false),
            ("127.1", false),
            ("2130706433", false),
            ("0x7f000001", false),
            ("128.0.0.1", false),
            ("0.0.0.0", false),
            ("[::]", false),
            ("[::ffff:127.0.0.1]", false),
        ] {
            let host = HostName::of_authority(text).expect("a host");
            for path in ["/", "/healthz", "/v1/notes/live"] {
                assert_eq!(hosts.answer_for(&host, path), expected, "{text} {path}");
            }
        }
        assert!(!hosts.may_be_absent("/healthz"));
    }

    #[test]
    fn a_port_for_other_machines_answers_for_addresses_and_allowed_names() {
        let allowed = [HostName::of_setting("keyform.test").expect("a name")];
        let hosts = Hosts::addresses("0.0.0.0", &allowed);
        for (text, expected) in [
            ("10.0.0.7:9100", true),
            ("[fe80::1]", true),
            ("localhost", true),
            ("keyform.test", true),
            ("evil.example", false),
            ("10.0.0.7.evil.example", false),
            ("167772167", false),
        ] {
            let host = HostName::of_authority(text).expect("a host");
            for path in ["/metrics", "/healthz"] {
                assert_eq!(hosts.answer_for(&host, path), expected, "{text} {path}");
            }
        }
        assert!(!hosts.may_be_absent("/metrics"));
    }

    #[test]
    fn a_secured_server_answers_for_all_names_until_they_are_narrowed() {
        let other = HostName::of_authority("10.0.0.7").expect("a host");
        let wide = Hosts::new("0.0.0.0", &[], false);
        assert!(wide.answer_for(&other, "/") && wide.may_be_absent("/"));
        let narrow = Hosts::new("0.0.0.0", &[HostName::of_setting("api.example").expect("a name")], false);
        assert!(!narrow.answer_for(&other, "/"));
        assert!(narrow.answer_for(&other, "/healthz") && narrow.answer_for(&other, "/readyz"));
        assert!(narrow.may_be_absent("/readyz") && !narrow.may_be_absent("/"));
    }
}
