//! Cuts the power of a simulated disk under many writers: writes acknowledged before survive.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use keyform_engine::store::{Durability, PowerCut, SimDisk};
use keyform_world::testing::ManualWorld;

use crate::proof::bank::{self, Ack, EndOnDrop, Unknown, Writer};
use crate::proof::random::Random;
use crate::proof::subject;

const SEEDS: u64 = 12;
const WRITERS: u64 = 4;
const CUTS: usize = 6;
const NOW_MS: u64 = 1_700_000_000_500;

#[test]
fn nothing_acknowledged_is_lost_when_the_power_goes() {
    (0..SEEDS).for_each(|seed| cut_under_load(seed, Durability::Sync));
}

/// Without syncs the newest writes may be lost, but never part of a write, and never a write before later ones.
#[test]
fn without_syncs_the_power_takes_no_half() {
    (0..SEEDS).for_each(|seed| cut_under_load(seed, Durability::Os));
}

/// Cuts the power several times while writers work on one disk. Each cut creates another disk, on which a database is
/// opened and audited; the writers do not notice.
fn cut_under_load(seed: u64, durability: Durability) {
    let (disk, env) = (SimDisk::new(), ManualWorld::at_ms(NOW_MS));
    let database = subject::open(&disk, &env).unwrap();
    bank::found(&database).unwrap();
    database.close().unwrap();
    let database = subject::open_with(&disk, &env, durability).unwrap();
    let (acks, done) = (Mutex::new(Vec::new()), AtomicBool::new(false));
    let acked = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for number in 0..WRITERS {
            let (database, acks, acked, done) = (&database, &acks, &acked, &done);
            scope.spawn(move || {
                let mut writer = Writer::new(format!("w{number}"), seed * WRITERS + number);
                while !done.load(Ordering::SeqCst) {
                    if let Some(ack) = writer.step(database).unwrap() {
                        acks.lock().unwrap().push(ack);
                        acked.fetch_add(1, Ordering::SeqCst);
                    }
                }
            });
        }
        let _end = EndOnDrop(&done);
        let mut random = Random::new(seed);
        for _ in 0..CUTS {
            wait_for(&acked, random.between(20, 80) as u64);
            let before: Vec<Ack> = acks.lock().unwrap().clone();
            let after = disk.cut_power(some_cut(&mut random));
            let later = acks.lock().unwrap().len() - before.len();
            let reopened = subject::open(&after, &env).unwrap();
            let unknown = later as u64 + WRITERS;
            let kept = if durability == Durability::Sync { before.as_slice() } else { &[] };
            bank::audit(&reopened, kept, Unknown { total: unknown, each: unknown });
        }
    });
    bank::audit(&database, &acks.lock().unwrap(), Unknown::default());
}

/// Waits for this many more acknowledgements.
fn wait_for(acked: &AtomicU64, more: u64) {
    let until = acked.load(Ordering::SeqCst) + more;
    while acked.load(Ordering::SeqCst) < until {
        std::thread::yield_now();
    }
}

fn some_cut(random: &mut Random) -> PowerCut {
    match random.below(4) {
        0 => PowerCut::DropAll,
        1 => PowerCut::KeepAll,
        _ => PowerCut::Tear(random.bits()),
    }
}
