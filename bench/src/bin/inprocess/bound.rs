//! Upper bound set by the disk: repeatedly writes the bytes of one item to a file and syncs it.

use std::io::{Seek, SeekFrom, Write};
use std::time::{Duration, Instant};

use crate::timing::Measured;

/// Approximate size of a 1 KB item in a journal.
pub const BYTES: usize = 1_150;
/// The file has its full size before the measurement, so that a sync need not record a new size.
const FILE_BYTES: usize = 32 << 20;

/// Returns the median of several rounds.
pub fn syncs_a_second(rounds: usize, duration: Duration) -> f64 {
    let mut measured = Measured::default();
    (0..rounds).for_each(|_| measured.add(round(duration)));
    measured.median()
}

fn round(duration: Duration) -> f64 {
    let mut file = tempfile::tempfile().expect("a temporary file");
    file.write_all(&vec![0; FILE_BYTES]).expect("the disk has room");
    file.sync_all().expect("the disk syncs");
    file.seek(SeekFrom::Start(0)).expect("a file can be rewritten");
    let item = [b'x'; BYTES];
    let started = Instant::now();
    let mut syncs = 0;
    while started.elapsed() < duration && syncs < FILE_BYTES / BYTES {
        file.write_all(&item).expect("the disk writes");
        file.sync_data().expect("the disk syncs");
        syncs += 1;
    }
    syncs as f64 / started.elapsed().as_secs_f64()
}
