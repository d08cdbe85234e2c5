//! Our library against dynoxide's library, in process, on disk and in memory, in one interleaved run.
//!
//! Both get typed requests with expressions as text, and both wait until a write is acknowledged. Ours is synced and
//! encrypted on disk, dynoxide's is synced. A caller of ours may have many concurrent writes, because `execute` returns
//! a future; dynoxide's calls block, so that its only concurrency is threads.
//!
//! `inprocess [disk,memory] [put,get,query,add]`. The limit of the disk is printed above the table: how often per
//! second the bytes of one item can be written to a file of fixed size and synced, without any other work.

mod bound;
mod peer;
mod subject;
mod timing;

use std::path::Path;
use std::time::Duration;

use subject::{Call, Subject};
use timing::Measured;

const ROUNDS: usize = 3;
const CELL: Duration = Duration::from_millis(800);
const THREADS: [usize; 2] = [1, 4];

/// Order of the calls of a thread.
#[derive(Clone, Copy, PartialEq)]
enum Pace {
    /// One call after another.
    OneByOne,
    /// Up to 32 concurrent calls; only for engines whose calls are futures.
    Many,
}

fn main() {
    let chosen = |position: usize, name: &str| {
        std::env::args().nth(position).is_none_or(|list| list.split(',').any(|part| part == name))
    };
    let calls = [("put", Call::Put), ("get", Call::Get), ("query", Call::Query), ("add", Call::AddHot)];
    let places = [("disk", true), ("memory", false)];
    println!(
        "the disk: {:.0} writes and syncs of {} bytes a second",
        bound::syncs_a_second(ROUNDS, CELL),
        bound::BYTES
    );
    println!("operations a second, median of {ROUNDS} rounds; on disk ours is synced and encrypted, dynoxide's synced");
    println!("| where | call | threads | dynoxide | keyform | ratio | keyform, 32 under way | ratio |");
    println!("|---|---|---|---|---|---|---|---|");
    for (_, on_disk) in places.into_iter().filter(|(name, _)| chosen(1, name)) {
        for (_, call) in calls.into_iter().filter(|(name, _)| chosen(2, name)) {
            for threads in THREADS {
                print_row(on_disk, call, threads);
            }
        }
    }
}

fn print_row(on_disk: bool, call: Call, threads: usize) {
    let mut peer = Measured::default();
    let mut one_by_one = Measured::default();
    let mut many = Measured::default();
    for _ in 0..ROUNDS {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let place = on_disk.then_some(folder.path());
        peer.add(timing::run(&peer::Dynoxide::open(place), call, threads, CELL));
        one_by_one.add(ours(place, call, threads, Pace::OneByOne));
        many.add(ours(place, call, threads, Pace::Many));
    }
    let (peer, one_by_one, many) = (peer.median(), one_by_one.median(), many.median());
    let place = if on_disk { "disk" } else { "memory" };
    println!(
        "| {place} | {call} | {threads} | {peer:.0} | {one_by_one:.0} | {:.1}× | {many:.0} | {:.1}× |",
        one_by_one / peer,
        many / peer
    );
}

fn ours(place: Option<&Path>, call: Call, threads: usize, pace: Pace) -> f64 {
    let folder = place.map(|place| place.join(if pace == Pace::Many { "many" } else { "one" }));
    let database = subject::Keyform::open(folder.as_deref());
    match pace {
        Pace::OneByOne => timing::run(&database, call, threads, CELL),
        Pace::Many => timing::run_overlapped(&database, call, threads, CELL),
    }
}

/// Data of both engines: a table of 10,000 items of 1 KB, and 50 partitions of 100 small items.
fn load(subject: &impl Subject) {
    for number in 0..subject::ITEMS {
        subject.put(number);
    }
    for partition in 0..subject::PARTITIONS {
        for sort in 0..subject::PARTITION_ITEMS {
            subject.put_small(partition, sort);
        }
    }
}
