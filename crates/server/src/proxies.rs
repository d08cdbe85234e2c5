//! Trusted proxies: the client's address and scheme from the headers of a proxy that the operator trusts.
//!
//! Any client can send `X-Forwarded-For`, so the header counts only on connections from a trusted address, and only as
//! far as trusted proxies have written it: each appends the address that it saw, so the list is read from the right.
//!
//! ```text
//! X-Forwarded-For: 6.6.6.6, 203.0.113.7, 10.0.0.9     peer 10.0.0.8, trusted 10.0.0.0/8
//!                  claimed  client       trusted
//! ```
//!
//! A proxy manages one of `X-Forwarded-For` and `Forwarded` (RFC 7239) and may pass the other on
//! as the client sent it. If both name different clients, neither is believed.

use std::net::{IpAddr, SocketAddr};

use hyper::HeaderMap;
use hyper::header::{FORWARDED, HeaderName};
use ipnet::IpNet;

use crate::error::StartError;

static FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
static PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// Networks of the trusted proxies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Proxies(Vec<IpNet>);

/// Scheme of the URL that the client used, if the server knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    Http,
    Https,
}

impl Proxies {
    /// Parses networks such as `10.0.0.0/8`, and single addresses.
    pub(crate) fn new(networks: &[String]) -> Result<Self, StartError> {
        let parsed = |text: &String| {
            let address = || text.parse::<IpAddr>().ok().map(IpNet::from);
            let network = text.parse().ok().or_else(address);
            network.ok_or_else(|| StartError::TrustedProxy { text: text.clone() })
        };
        networks.iter().map(parsed).collect::<Result<_, _>>().map(Self)
    }

    /// Returns whether the address is one of a trusted proxy.
    pub(crate) fn trust(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }

    /// Returns the address of the client behind the peer of a connection.
    pub(crate) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        if !self.trust(peer) {
            return peer;
        }
        let by_list = headers.contains_key(&FOR).then(|| self.last_untrusted(peer, &addresses(headers, &FOR)));
        let forwarded: Vec<String> = elements(headers, &FORWARDED).filter_map(|element| part(element, "for")).collect();
        let by_elements = headers.contains_key(FORWARDED).then(|| self.last_untrusted(peer, &forwarded));
        match (by_list, by_elements) {
            (Some(one), Some(other)) if one != other => peer,
            (Some(client), _) | (None, Some(client)) => client,
            (None, None) => peer,
        }
    }

    /// Returns the scheme that the client used, as the proxy next to the server names it.
    pub(crate) fn scheme(&self, peer: IpAddr, headers: &HeaderMap) -> Option<Scheme> {
        if !self.trust(peer) {
            return None;
        }
        let by_list = addresses(headers, &PROTO).pop();
        let named = by_list.or_else(|| part(elements(headers, &FORWARDED).last()?, "proto"))?;
        match named.to_ascii_lowercase().as_str() {
            "https" | "wss" => Some(Scheme::Https),
            "http" | "ws" => Some(Scheme::Http),
            _ => None,
        }
    }

    /// Walks from the proxy towards the client as long as the hops are trusted. An entry that is not an address ends
    /// the walk at the last hop that is one.
    fn last_untrusted(&self, peer: IpAddr, hops: &[String]) -> IpAddr {
        let mut known = peer;
        for hop in hops.iter().rev() {
            let Some(address) = address(hop) else { return known };
            known = address;
            if !self.trust(address) {
                return known;
            }
        }
        known
    }
}

/// Returns the entries of a comma-separated header in order.
fn elements<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    let lists = headers.get_all(name).iter().map(|value| value.to_str().unwrap_or_default());
    lists.flat_map(|list| list.split(','))
}

fn addresses(headers: &HeaderMap, name: &HeaderName) -> Vec<String> {
    elements(headers, name).map(|entry| entry.trim().to_owned()).collect()
}

/// Returns a parameter of an element of `Forwarded`: `for="[2001:db8::1]:80";proto=https`. An element without it is
/// empty, so that it ends the walk.
fn part(element: &str, wanted: &str) -> Option<String> {
    let pairs = element.split(';').filter_map(|pair| pair.split_once('='));
    let mut values = pairs.filter(|(name, _)| name.trim().eq_ignore_ascii_case(wanted)).map(|(_, value)| value.trim());
    Some(values.next().unwrap_or_default().trim_matches('"').to_owned())
}

/// Parses an address with or without a port.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let with_port = || text.parse::<SocketAddr>().ok().map(|address| address.ip());
    bare.parse::<IpAddr>().ok().or_else(with_port).map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies() -> Proxies {
        Proxies::new(&["10.0.0.0/8".to_owned(), "2001:db8::/32".to_owned(), "127.0.0.1".to_owned()]).unwrap()
    }

    fn headers(lines: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(HeaderName::try_from(*name).unwrap(), value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn the_client_is_the_last_hop_that_is_not_trusted() {
        const F: &str = "x-forwarded-for";
        const R: &str = "forwarded";
        for (peer, lines, expected) in [
            ("192.0.2.1", &[(F, "203.0.113.7"), (R, "for=203.0.113.7")][..], "192.0.2.1"),
            ("10.0.0.1", &[], "10.0.0.1"),
            ("::ffff:10.0.0.1", &[(F, "203.0.113.7")], "203.0.113.7"),
            ("10.0.0.1", &[(F, "203.0.113.7")], "203.0.113.7"),
            ("10.0.0.1", &[(F, "6.6.6.6, 203.0.113.7")], "203.0.113.7"),
            ("10.0.0.1", &[(F, "6.6.6.6, 203.0.113.7, 10.2.3.4")], "203.0.113.7"),
            ("10.0.0.1", &[(F, "6.6.6.6"), (F, "203.0.113.7,10.2.3.4")], "203.0.113.7"),
            ("10.0.0.1", &[(F, "10.9.9.9, 10.2.3.4")], "10.9.9.9"),
            ("10.0.0.1", &[(F, "203.0.113.7:4711")], "203.0.113.7"),
            ("10.0.0.1", &[(F, "[2a00::1]:4711")], "2a00::1"),
            ("10.0.0.1", &[(F, "2a00::1, 2001:db8::5")], "2a00::1"),
            ("10.0.0.1", &[(F, "203.0.113.7, unknown")], "10.0.0.1"),
            ("10.0.0.1", &[(F, "203.0.113.7, unknown, 10.0.0.9")], "10.0.0.9"),
            ("10.0.0.1", &[(F, "")], "10.0.0.1"),
            ("10.0.0.1", &[(R, "for=203.0.113.7;proto=https;by=10.0.0.1")], "203.0.113.7"),
            ("10.0.0.1", &[(R, "For=\"[2a00::1]:80\", for=10.0.0.3")], "2a00::1"),
            ("10.0.0.1", &[(R, "for=203.0.113.7, for=_hidden")], "10.0.0.1"),
            ("10.0.0.1", &[(R, "for=6.6.6.6, proto=https")], "10.0.0.1"),
            ("10.0.0.1", &[(F, "203.0.113.7"), (R, "for=203.0.113.7")], "203.0.113.7"),
            ("10.0.0.1", &[(F, "203.0.113.7"), (R, "for=6.6.6.6")], "10.0.0.1"),
        ] {
            let found = proxies().client(peer.parse().unwrap(), &headers(lines));
            assert_eq!(found, expected.parse::<IpAddr>().unwrap(), "{peer} {lines:?}");
        }
    }

    #[test]
    fn the_scheme_is_the_one_that_the_nearest_proxy_names() {
        for (peer, lines, expected) in [
            ("192.0.2.1", &[("x-forwarded-proto", "https")][..], None),
            ("10.0.0.1", &[], None),
            ("10.0.0.1", &[("x-forwarded-proto", "HTTPS")], Some(Scheme::Https)),
            ("10.0.0.1", &[("x-forwarded-proto", "https, http")], Some(Scheme::Http)),
            ("10.0.0.1", &[("x-forwarded-proto", "gopher")], None),
            ("10.0.0.1", &[("forwarded", "for=1.2.3.4;proto=https")], Some(Scheme::Https)),
        ] {
            assert_eq!(proxies().scheme(peer.parse().unwrap(), &headers(lines)), expected, "{peer} {lines:?}");
        }
    }

    #[test]
    fn networks_and_addresses_are_settings() {
        for text in ["10.0.0.0/33", "proxy.example", "", "10.0.0.0/-1"] {
            assert!(Proxies::new(&[text.to_owned()]).is_err(), "{text}");
        }
    }
}
