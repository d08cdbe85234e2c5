//! Limits on attempts: log-ins, mails, guesses of a code. Per client, per account, and per account at one client.
//!
//! Each key has a [`Rate`], kept by the generic cell rate algorithm (GCRA): one number per key, the time at which the key's allowance is full again.
//! An attempt moves it `every` further; an attempt that would move it more than `burst` times `every` ahead of now is refused.
//!
//! Memory is fixed and nothing is ever evicted. A key has no entry of its own but one cell in each of four rows, chosen by a hash with a secret seed
//! (a count-min sketch with conservative update), and its time is the smallest of the four:
//!
//! ```text
//! row 0   . . 9 . . . .      key "ada": cells 9, 9, 12, 9: its time is 9
//! row 1   . 9 . . . . .      the 12 is shared with a busier key; the other rows correct it
//! row 2   . . . . . 12 .
//! row 3   9 . . . . . .
//! ```
//!
//! A cell only ever grows, so a key is never below its true time: no flood of other keys, and no success, gives an attempt back. A flood of distinct
//! keys can do no more than make others wait as if they had tried, it must fill all rows for that, and the cells are empty again after one window.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::client::Client;

/// The rows of the table. Four keep the chance of a full collision with a thousand exhausted keys below one in a million.
const ROWS: usize = 4;
/// The bits of a hash that choose a column.
const COLUMN_BITS: u32 = 15;
const COLUMNS: usize = 1 << COLUMN_BITS;

/// A number of attempts at once, and then one attempt per period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    burst: u32,
    every: Duration,
}

impl Rate {
    /// `burst` attempts at once, and one more `every` so often. A burst of zero is taken as one.
    #[must_use]
    pub const fn new(burst: u32, every: Duration) -> Self {
        Self { burst, every }
    }

    /// Microseconds until an attempt is allowed for a key whose allowance is full again at `full`.
    fn wait(self, now: u64, full: u64) -> u64 {
        let ahead = micros(self.every).saturating_mul(u64::from(self.burst.saturating_sub(1)));
        full.saturating_sub(ahead).saturating_sub(now)
    }
}

/// The limits of one kind of attempt.
///
/// The limit per account at one client is the strict one. It leaves the owner of an account, who is at another address, a way in while a stranger
/// guesses; the limit per account bounds what many strangers guess together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempts {
    /// The kind of attempt; attempts of different kinds are counted apart.
    pub kind: &'static str,
    /// Attempts of one client. Clients behind one proxy are one client: keep it generous.
    pub per_client: Rate,
    /// Attempts on one account by all clients.
    pub per_account: Option<Rate>,
    /// Attempts on one account by one client.
    pub per_account_and_client: Option<Rate>,
}

/// A refusal: there were too many attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Throttled {
    /// An attempt after this time is allowed, unless others take it.
    pub retry_after: Duration,
}

impl Throttled {
    /// The seconds to wait, rounded up, for `Retry-After`.
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

/// Time since some fixed moment; it never goes back.
pub type Stopwatch = Arc<dyn Fn() -> Duration + Send + Sync>;

/// Counts attempts in a table of fixed size, 1 MB. Clones share it.
///
/// ```
/// use std::time::Duration;
/// use keyform_server::{Attempts, Client, Rate, Throttle};
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
    stopwatch: Stopwatch,
}

impl Throttle {
    /// An empty table, on the machine's monotonic clock.
    #[must_use]
    pub fn new() -> Self {
        let start = Instant::now();
        Self::with_stopwatch(Arc::new(move || start.elapsed()))
    }

    /// An empty table on another clock.
    #[must_use]
    pub fn with_stopwatch(stopwatch: Stopwatch) -> Self {
        Self(Arc::new(Inner { cells: Mutex::new(Cells::new()), seed: RandomState::new(), stopwatch }))
    }

    /// Counts an attempt, before what is attempted is looked at. A refused attempt is not counted: who waits as long as told gets through.
    ///
    /// # Errors
    /// [`Throttled`] if one of the limits is reached. Nothing is counted then, in none of them.
    pub fn attempt(&self, attempts: &Attempts, client: Client, account: Option<&[u8]>) -> Result<(), Throttled> {
        let kind = attempts.kind;
        let hash =
            |scope: &str, account: &[u8], client: Option<Client>| self.0.seed.hash_one((kind, scope, account, client));
        let mut limits = vec![(attempts.per_client, hash("client", &[], Some(client)))];
        if let Some(account) = account {
            let both = attempts.per_account_and_client;
            limits.extend(attempts.per_account.map(|rate| (rate, hash("account", account, None))));
            limits.extend(both.map(|rate| (rate, hash("both", account, Some(client)))));
        }
        let now = micros((self.0.stopwatch)());
        // One lock from the look to the count: of attempts at the same time each sees those before it.
        self.cells().admit(&limits, now)
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

/// The times of all keys, in microseconds of the stopwatch, row after row.
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

    /// The time at which a key's allowance is full again.
    fn full(&self, hash: u64) -> u64 {
        places(hash).map(|place| self.0[place]).min().unwrap_or(0)
    }

    /// Raises the cells that are lower, and leaves those that another key has raised further.
    fn raise(&mut self, hash: u64, full: u64) {
        for place in places(hash) {
            self.0[place] = self.0[place].max(full);
        }
    }
}

/// The cells of a key: a column in each row, by different bits of its hash.
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
