//! What the disk itself allows: the bytes of one write, put into a file and synced, again and again.

use std::io::{Seek, SeekFrom, Write};
use std::time::{Duration, Instant};

use crate::timing::Measured;

/// About what an item of 1 KB takes in a journal.
pub const BYTES: usize = 1_150;
/// The file has its size before it is measured, so that a sync has no size to record.
const FILE_BYTES: usize = 32 << 20;

/// The median of some rounds.
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
