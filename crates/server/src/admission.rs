//! Admission of connections: a limit on the total, and a limit per client address.
//!
//! Connections of a trusted proxy carry requests of many clients: they count only in the total, and each request counts as
//! a connection of its client for as long as it runs.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::settings::Limits;

/// Default limit for one client address that is not loopback.
const PER_ADDRESS_MAX: usize = 512;

/// Reason for refusing a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The server is at its total connection limit.
    Full,
    /// This client is at the per-client limit.
    Client,
    /// The process or the system is out of file descriptors.
    Descriptors,
}

/// Counts of open connections, in total and per client.
pub(crate) struct Admissions {
    max: usize,
    per_address_max: Option<usize>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    total: usize,
    by_client: HashMap<IpAddr, usize>,
}

impl Admissions {
    pub(crate) fn new(limits: &Limits) -> Self {
        let Limits { connections_max, connections_per_address_max, .. } = *limits;
        Self { max: connections_max, per_address_max: connections_per_address_max, open: Mutex::default() }
    }

    /// Counts a connection until the returned [`Admission`] is dropped.
    pub(crate) fn admit(self: &Arc<Self>, address: IpAddr) -> Result<Admission, Refusal> {
        let client = client(address);
        let mut open = self.lock();
        if open.total >= self.max {
            return Err(Refusal::Full);
        }
        let of_client = open.by_client.entry(client).or_default();
        if *of_client >= self.max_of(client) {
            return Err(Refusal::Client);
        }
        *of_client += 1;
        open.total += 1;
        Ok(Admission { admissions: self.clone(), client: Some(client), connections: 1 })
    }

    /// Counts a connection of a trusted proxy.
    pub(crate) fn admit_proxy(self: &Arc<Self>) -> Result<Admission, Refusal> {
        let mut open = self.lock();
        if open.total >= self.max {
            return Err(Refusal::Full);
        }
        open.total += 1;
        Ok(Admission { admissions: self.clone(), client: None, connections: 1 })
    }

    /// Counts a request that came through a trusted proxy as a connection of its client.
    pub(crate) fn admit_request(self: &Arc<Self>, address: IpAddr) -> Result<Admission, Refusal> {
        let client = client(address);
        let mut open = self.lock();
        if open.by_client.get(&client).copied().unwrap_or_default() >= self.max_of(client) {
            return Err(Refusal::Client);
        }
        *open.by_client.entry(client).or_default() += 1;
        Ok(Admission { admissions: self.clone(), client: Some(client), connections: 0 })
    }

    pub(crate) fn total(&self) -> usize {
        self.lock().total
    }

    /// Loopback has no limit of its own by default, because every client behind a local proxy shares that address.
    fn max_of(&self, client: IpAddr) -> usize {
        self.per_address_max.unwrap_or(if client.is_loopback() { self.max } else { PER_ADDRESS_MAX }).max(1)
    }

    fn leave(&self, client: Option<IpAddr>, connections: usize) {
        let mut open = self.lock();
        open.total -= connections;
        let Some(client) = client else { return };
        match open.by_client.get_mut(&client) {
            Some(of_client) if *of_client > 1 => *of_client -= 1,
            // Remove the entry with the last connection, so that the map never outgrows the connection limit.
            _ => {
                open.by_client.remove(&client);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Slot of one open connection or request; dropping it releases the slot.
pub(crate) struct Admission {
    admissions: Arc<Admissions>,
    /// Address whose limit counts the slot.
    client: Option<IpAddr>,
    /// Connections in the total: one, or none for a request.
    connections: usize,
}

impl Drop for Admission {
    fn drop(&mut self) {
        self.admissions.leave(self.client, self.connections);
    }
}

/// Groups IPv6 addresses by /64, because one client usually owns a whole /64 network.
fn client(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)))
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admissions(connections_max: usize, connections_per_address_max: Option<usize>) -> Arc<Admissions> {
        Arc::new(Admissions::new(&Limits { connections_max, connections_per_address_max, ..Limits::default() }))
    }

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_client_has_its_share_and_gets_it_back() {
        let admissions = admissions(3, Some(2));
        let (one, other) = (address("192.0.2.1"), address("192.0.2.2"));
        let first = admissions.admit(one).ok().unwrap();
        let second = admissions.admit(one).ok().unwrap();
        assert_eq!(admissions.admit(one).err(), Some(Refusal::Client));
        let third = admissions.admit(other).ok().unwrap();
        assert_eq!(admissions.admit(other).err(), Some(Refusal::Full));
        drop(first);
        assert!(admissions.admit(one).is_ok());
        drop((second, third));
        assert_eq!(admissions.total(), 0);
        assert!(admissions.lock().by_client.is_empty(), "clients without connections are forgotten");
    }

    #[test]
    fn requests_through_a_proxy_count_for_their_client() {
        let admissions = admissions(2, Some(1));
        let proxy = admissions.admit_proxy().ok().unwrap();
        let second = admissions.admit_proxy().ok().unwrap();
        assert_eq!(admissions.admit_proxy().err(), Some(Refusal::Full));
        let one = address("192.0.2.1");
        let request = admissions.admit_request(one).ok().unwrap();
        assert_eq!(admissions.admit_request(one).err(), Some(Refusal::Client));
        assert!(admissions.admit_request(address("192.0.2.2")).is_ok());
        drop(request);
        assert!(admissions.admit_request(one).is_ok());
        drop((proxy, second));
        assert_eq!((admissions.total(), admissions.lock().by_client.len()), (0, 0));
    }

    #[test]
    fn addresses_of_one_client_count_together() {
        for (one, other, same) in [
            ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", true),
            ("2001:db8:1:2::1", "2001:db8:1:3::1", false),
            ("::ffff:192.0.2.1", "192.0.2.1", true),
            ("192.0.2.1", "192.0.2.2", false),
        ] {
            assert_eq!(client(address(one)) == client(address(other)), same, "{one} {other}");
        }
    }

    #[test]
    fn loopback_is_limited_only_on_request() {
        let (local, remote) = (address("127.0.0.1"), address("192.0.2.1"));
        let by_default = admissions(2000, None);
        assert_eq!((by_default.max_of(local), by_default.max_of(remote)), (2000, PER_ADDRESS_MAX));
        assert_eq!(by_default.max_of(client(address("::1"))), 2000);
        assert_eq!(admissions(2000, Some(7)).max_of(local), 7);
    }
}
