//! Fingerprint of a table: the item count and the sum of the item hashes, which is independent of the order.

use std::fmt;
use std::sync::Arc;

use keyform_core::operation::Segment;
use keyform_core::{Error, Execute, Item, ValueRef};
use sha2::{Digest as _, Sha256};
use tokio::task::JoinSet;

use super::CopyError;
use super::segment::{page, segment};

/// Item count and checksum of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint {
    /// Number of items, without those that expire soon.
    pub items: u64,
    /// Wrapping sum of the first 128 bits of each item's SHA-256.
    pub checksum: u128,
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} items with the checksum {:032x}", self.items, self.checksum)
    }
}

impl Fingerprint {
    /// Adds an item. Attributes are sorted first, so that equal items have equal hashes.
    pub fn add(&mut self, item: &Item) {
        let canonical = Item::from(&item.to_attributes());
        let hash = Sha256::digest(canonical.as_bytes());
        let mut half = [0; 16];
        half.copy_from_slice(&hash[..16]);
        self.items += 1;
        self.checksum = self.checksum.wrapping_add(u128::from_be_bytes(half));
    }

    fn merge(&mut self, other: Self) {
        self.items += other.items;
        self.checksum = self.checksum.wrapping_add(other.checksum);
    }
}

/// Filter for items that expire before a time.
#[derive(Clone, Debug)]
pub struct Mortal {
    /// Attribute that holds the expiry time.
    pub attribute: String,
    /// Items that expire before this time are excluded; in seconds since the Unix epoch.
    pub until_secs: i64,
}

impl Mortal {
    fn is_met_by(&self, item: &Item) -> bool {
        match item.get(&self.attribute) {
            Some(ValueRef::N(number)) => number.to_i64().is_some_and(|secs| secs < self.until_secs),
            _ => false,
        }
    }
}

/// Reads a whole table in parallel segments and returns its fingerprint.
///
/// # Errors
///
/// The store fails.
pub async fn fingerprint(
    store: Arc<dyn Execute>,
    table: &str,
    segments: u32,
    without: Option<Mortal>,
) -> Result<Fingerprint, CopyError> {
    let total = segments.max(1) as usize;
    let mut parts = JoinSet::new();
    for number in 0..total {
        let (store, table, without) = (store.clone(), table.to_owned(), without.clone());
        parts.spawn(async move { part(&*store, &table, segment(number, total), without.as_ref()).await });
    }
    let mut whole = Fingerprint::default();
    while let Some(done) = parts.join_next().await {
        whole.merge(done??);
    }
    Ok(whole)
}

async fn part(
    store: &dyn Execute,
    table: &str,
    segment: Option<Segment>,
    without: Option<&Mortal>,
) -> Result<Fingerprint, Error> {
    let counts = |item: &&Item| !without.is_some_and(|without| without.is_met_by(item));
    let (mut found, mut start) = (Fingerprint::default(), None);
    loop {
        let page = page(store, table, segment, None, start).await?;
        page.items.iter().flatten().filter(counts).for_each(|item| found.add(item));
        start = page.last_key.map(|key| key.to_attributes());
        if start.is_none() {
            return Ok(found);
        }
    }
}
