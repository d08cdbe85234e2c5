//! Network address of a client, for rate limits.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Client identified by network address: an IPv4 address, or the /64 network of an IPv6 address.
///
/// Customers of an IPv6 provider own at least a /64, so a limit per IPv6 address would be easy to evade.
///
/// ```
/// use std::net::IpAddr;
/// use keyform_flow::Client;
///
/// let client = |text: &str| Client::from(text.parse::<IpAddr>().expect("an address"));
/// assert_eq!(client("2001:db8::1"), client("2001:db8::ffff:1"));
/// assert_ne!(client("2001:db8::1"), client("2001:db8:0:1::1"));
/// assert_eq!(client("::ffff:192.0.2.7"), client("192.0.2.7"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Client(IpAddr);

impl Client {
    /// Caller inside this process, without a network.
    pub const LOCAL: Self = Self(IpAddr::V4(Ipv4Addr::LOCALHOST));
}

impl From<IpAddr> for Client {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self(address.into()),
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                Self(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into())
            }
        }
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            IpAddr::V4(address) => address.fmt(f),
            IpAddr::V6(network) => write!(f, "{network}/64"),
        }
    }
}
