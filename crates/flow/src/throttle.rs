//! Rate limits on attempts, such as log-ins, e-mails or guesses of a code: per client, per account, and per account and
//! client.
//!
//! Each key has a [`Rate`], tracked with the generic cell rate algorithm (GCRA): one number per key, the time at which
//! the key's allowance is full again. An attempt advances it by `every`; an attempt that would advance it more than
//! `burst` times `every` beyond now is rejected.
//!
//! Memory is fixed and nothing is ever evicted. A key has no entry of its own but one cell in each of four rows,
//! selected by a hash with a secret seed (a count-min sketch with conservative update). Its time is the smallest of the
//! four:
//!
//! ```text
//! row 0   . . 9 . . . .      key "ada": cells 9, 9, 12, 9: its time is 9
//! row 1   . 9 . . . . .      the 12 is shared with a busier key; the other rows correct it
//! row 2   . . . . . 12 .
//! row 3   9 . . . . . .
//! ```
//!
//! Cells only grow, so a key's time is never underestimated: no flood of other keys, and no success, gives an attempt
//! back. A flood of distinct keys can at most delay other keys as if they had made attempts. It would have to fill all
//! rows, and the cells expire after one window.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use keyform_core::World;

use crate::client::Client;

/// Rows of the table. Four keep the probability of a full collision with a thousand exhausted keys below one in a
/// million.
const ROWS: usize = 4;
/// Hash bits that select a column.
const COLUMN_BITS: u32 = 15;
const COLUMNS: usize = 1 << COLUMN_BITS;

/// Burst of attempts, then one attempt per period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    burst: u32,
    every: Duration,
}

impl Rate {
    /// Allows `burst` attempts at once, and one more per `every`. A burst of zero counts as one.
    #[must_use]
    pub const fn new(burst: u32, every: Duration) -> Self {
        Self { burst, every }
    }

    /// Returns the microseconds until the next allowed attempt for a key whose allowance is full again at `full`.
    fn wait(self, now: u64, full: u64) -> u64 {
        let ahead = micros(self.every).saturating_mul(u64::from(self.burst.saturating_sub(1)));
        full.saturating_sub(ahead).saturating_sub(now)
    }
}

/// Limits for one kind of attempt.
///
/// The limit per account and client should be the strictest. It leaves the account's owner, who uses another address, a
/// way in while an attacker guesses; the limit per account bounds distributed guessing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempts {
    /// Kind of attempt; kinds are counted separately.
    pub kind: &'static str,
    /// Attempts by one client. Clients behind one proxy count as one: choose it generously.
    pub per_client: Rate,
    /// Attempts on one account by all clients.
    pub per_account: Option<Rate>,
    /// Attempts on one account by one client.
    pub per_account_and_client: Option<Rate>,
}

/// Rejection because of too many attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Throttled {
    /// Time until the next attempt is allowed, unless other attempts use it up.
    pub retry_after: Duration,
}

impl Throttled {
    /// Returns the seconds to wait, rounded up, for `Retry-After`.
    #[must_use]
    pub fn retry_after_secs(&self) -> u64 {
        self.retry_after.as_secs() + u64::from(self.retry_after.subsec_nanos() > 0)
    }
}

impl fmt::Display for Throttled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "too many attempts: try again in {} s", self.retry_after_secs())
    }
}

impl std::error::Error for Throttled {}

/// Number of characters of a guessed secret that [`beginning`] keeps.
const BEGINNING_CHARS: usize = 2;

/// Returns the beginning of a guessed secret, to be the account of its [`Attempts`]. It limits all clients together, so
/// that an attacker with many addresses is limited too. The whole secret would limit nothing, since every guess is
/// another one, and would reject many people who use one valid secret, such as an invite that was published.
#[must_use]
pub fn beginning(secret: &str) -> String {
    secret.chars().take(BEGINNING_CHARS).collect()
}

/// Counts attempts in a table of fixed size, 1 MB. Clones share the table.
///
/// ```
/// use std::time::Duration;
/// use keyform_flow::{Attempts, Client, Rate, Throttle};
///
/// const LOG_IN: Attempts = Attempts {
///     kind: "logIn",
///     per_client: Rate::new(100, Duration::from_secs(1)),
///     per_account: Some(Rate::new(2, Duration::from_secs(30))),
///     per_account_and_client: None,
/// };
/// let throttle = Throttle::new();
/// let attempt = || throttle.attempt(&LOG_IN, Client::LOCAL, Some(b"ada@example.com"));
/// assert!(attempt().is_ok() && attempt().is_ok());
/// assert_eq!(attempt().expect_err("the third at once").retry_after_secs(), 30);
/// ```
#[derive(Clone)]
pub struct Throttle(Arc<Inner>);

struct Inner {
    cells: Mutex<Cells>,
    seed: RandomState,
    world: Arc<dyn World>,
}

impl Throttle {
    /// Creates an empty table that uses the machine's monotonic clock.
    #[must_use]
    pub fn new() -> Self {
        Self::in_world(keyform_world::system())
    }

    /// Creates an empty table that uses the monotonic clock of a world.
    #[must_use]
    pub fn in_world(world: Arc<dyn World>) -> Self {
        Self(Arc::new(Inner { cells: Mutex::new(Cells::new()), seed: RandomState::new(), world }))
    }

    /// Counts an attempt; call it before checking the secret. A rejected attempt is not counted, so a client that waits
    /// for `retry_after` gets through.
    ///
    /// # Errors
    /// [`Throttled`] if one of the limits is reached. No limit counts the attempt then.
    pub fn attempt(&self, attempts: &Attempts, client: Client, account: Option<&[u8]>) -> Result<(), Throttled> {
        self.attempt_all(client, &[(attempts, account)])
    }

    /// Counts one attempt of several kinds, each with its account.
    ///
    /// # Errors
    /// [`Throttled`] if a limit of one kind is reached. No kind counts the attempt then.
    pub fn attempt_all(&self, client: Client, kinds: &[(&Attempts, Option<&[u8]>)]) -> Result<(), Throttled> {
        let limits: Vec<_> = kinds.iter().flat_map(|(kind, account)| self.limits(kind, client, *account)).collect();
        let now = micros(self.0.world.monotonic());
        // Check and count under one lock, so that concurrent attempts see each other.
        self.cells().admit(&limits, now)
    }

    /// Returns the limits of an attempt, each with the hash of its key.
    fn limits(&self, attempts: &Attempts, client: Client, account: Option<&[u8]>) -> Vec<(Rate, u64)> {
        let kind = attempts.kind;
        let hash =
            |scope: &str, account: &[u8], client: Option<Client>| self.0.seed.hash_one((kind, scope, account, client));
        let mut limits = vec![(attempts.per_client, hash("client", &[], Some(client)))];
        if let Some(account) = account {
            let both = attempts.per_account_and_client;
            limits.extend(attempts.per_account.map(|rate| (rate, hash("account", account, None))));
            limits.extend(both.map(|rate| (rate, hash("both", account, Some(client)))));
        }
        limits
    }

    fn cells(&self) -> MutexGuard<'_, Cells> {
        self.0.cells.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Throttle {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Throttle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Throttle")
    }
}

/// Times of all keys in microseconds of the monotonic clock, row by row.
struct Cells(Box<[u64]>);

impl Cells {
    fn new() -> Self {
        Self(vec![0; ROWS * COLUMNS].into_boxed_slice())
    }

    fn admit(&mut self, limits: &[(Rate, u64)], now: u64) -> Result<(), Throttled> {
        let wait = limits.iter().map(|(rate, hash)| rate.wait(now, self.full(*hash))).max().unwrap_or(0);
        if wait > 0 {
            return Err(Throttled { retry_after: Duration::from_micros(wait) });
        }
        for (rate, hash) in limits {
            let full = self.full(*hash).max(now).saturating_add(micros(rate.every));
            self.raise(*hash, full);
        }
        Ok(())
    }

    /// Returns the time at which a key's allowance is full again.
    fn full(&self, hash: u64) -> u64 {
        places(hash).map(|place| self.0[place]).min().unwrap_or(0)
    }

    /// Raises the lower cells; cells that another key has raised further stay as they are.
    fn raise(&mut self, hash: u64, full: u64) {
        for place in places(hash) {
            self.0[place] = self.0[place].max(full);
        }
    }
}

/// Returns the cells of a key: one column per row, selected by different bits of its hash.
fn places(hash: u64) -> impl Iterator<Item = usize> {
    (0..ROWS).map(move |row| {
        let bits = hash >> (COLUMN_BITS * u32::try_from(row).unwrap_or(0));
        row * COLUMNS + usize::try_from(bits).unwrap_or(usize::MAX) % COLUMNS
    })
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
