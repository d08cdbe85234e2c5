//! Disk usage stays below three times the live data plus a constant, under overwrites, counters, expiry, indexes and
//! streams (ADR 0028). All sizes are 1/256 of a server's, so that the tests are fast.

use crate::support::{START_MS, TABLE, World, global_index, item, simple_table};
use keyform_core::operation::{TimeToLive, UpdateTimeToLive};
use keyform_core::table::{ScalarType, StreamView};
use keyform_core::{AttributeValue, Attributes};
use keyform_engine::store::{Disk, StoreOptions};

const SCALE: u64 = 256;
/// The constant of the bound, 256 MB, scaled.
const CONSTANT_BYTES: u64 = (256 << 20) / SCALE;

fn scaled() -> StoreOptions {
    let usual = StoreOptions::default();
    let divisor = SCALE as usize;
    StoreOptions {
        memtable_bytes: usual.memtable_bytes / divisor,
        journal_bytes: usual.journal_bytes / SCALE,
        idle_journal_bytes: usual.idle_journal_bytes / SCALE,
        dead_bytes: usual.dead_bytes / SCALE,
        level1_bytes: usual.level1_bytes / SCALE,
        table_bytes: usual.table_bytes / divisor,
        journal_reserve_bytes: usual.journal_reserve_bytes / divisor,
        block_bytes: 1024,
        ..usual
    }
}

/// Database with a record of its peak disk usage.
struct Watched {
    world: World,
    peak_bytes: u64,
    writes: u64,
}

impl Watched {
    fn new() -> Self {
        Watched { world: World::on_disk_with(scaled()), peak_bytes: 0, writes: 0 }
    }

    fn disk_bytes(&self) -> u64 {
        self.world.disk().list().unwrap().iter().map(|(_, size)| size).sum()
    }

    fn put(&mut self, item: Attributes) {
        self.world.put(item);
        self.watch();
    }

    fn watch(&mut self) {
        self.writes += 1;
        if self.writes.is_multiple_of(16) {
            self.peak_bytes = self.peak_bytes.max(self.disk_bytes());
        }
    }

    /// Compares the peak usage with the live data at the end; returns the latter.
    fn check(self, what: &str) -> u64 {
        self.world.database.compact().unwrap();
        let live = self.disk_bytes();
        let most = 3 * live + CONSTANT_BYTES;
        assert!(self.peak_bytes <= most, "{what}: {} bytes, more than {most}, with {live} live", self.peak_bytes);
        live
    }
}

/// Returns 1 KB that does not compress.
fn noise(seed: u64) -> AttributeValue {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let bytes = (0..128).flat_map(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    });
    AttributeValue::B(bytes.collect())
}

fn thing(number: u64, seed: u64) -> Attributes {
    item([("pk", format!("item-{number}").as_str().into()), ("data", noise(seed))])
}

#[test]
fn overwrites_of_little_data() {
    let mut watched = Watched::new();
    watched.world.create(simple_table());
    for seed in 0..4000 {
        watched.put(thing(seed % 50, seed));
    }
    watched.check("overwrites");
}

#[test]
fn overwrites_of_much_data() {
    let mut watched = Watched::new();
    watched.world.create(simple_table());
    for seed in 0..6000u64 {
        watched.put(thing(seed.wrapping_mul(7919) % 1500, seed));
    }
    assert!(watched.check("overwrites of much data") > 1_500_000);
}

#[test]
fn counters() {
    let mut watched = Watched::new();
    watched.world.create(simple_table());
    for step in 0..8000i64 {
        let counter = item([("pk", format!("counter-{}", step % 20).as_str().into()), ("count", step.into())]);
        watched.put(counter);
    }
    watched.check("counters");
}

#[test]
fn expiry_of_items_that_come_and_go() {
    let mut watched = Watched::new();
    watched.world.create(simple_table());
    let setting = TimeToLive { attribute: "ends".to_owned(), enabled: true };
    watched.world.run(UpdateTimeToLive { table: TABLE.to_owned(), setting }).unwrap();
    for second in 0..150u64 {
        for number in 0..30 {
            let mut thing = thing(second * 30 + number, second * 30 + number);
            thing.insert("ends".to_owned(), ((START_MS / 1000 + second + 5) as i64).into());
            watched.put(thing);
        }
        watched.world.env.advance_ms(1000);
        watched.world.sweep();
        watched.watch();
    }
    assert!(watched.world.scan(None).len() < 300);
    watched.check("expiry");
}

#[test]
fn index_entries_that_move() {
    let mut watched = Watched::new();
    let mut request = simple_table();
    request.attributes.insert("g".to_owned(), ScalarType::S);
    request.global_indexes = vec![global_index("index", "g")];
    watched.world.create(request);
    for seed in 0..3500 {
        let mut thing = thing(seed % 100, seed);
        thing.insert("g".to_owned(), format!("group-{seed}").as_str().into());
        watched.put(thing);
    }
    watched.check("index entries");
}

#[test]
fn deletions_of_much_data_between_writes_of_little() {
    let mut watched = Watched::new();
    watched.world.create(simple_table());
    for number in 0..4000 {
        watched.put(thing(number, number));
    }
    for number in 0..4000u64 {
        watched.world.delete(item([("pk", format!("item-{number}").as_str().into())]));
        for counter in 0..3 {
            let name = format!("counter-{}", (number * 3 + counter) % 40);
            watched.put(item([("pk", name.as_str().into()), ("count", (number as i64).into())]));
        }
        if number.is_multiple_of(16) {
            let (bytes, live) = (watched.disk_bytes(), (4000 - number) * 1024);
            assert!(bytes <= 3 * live + CONSTANT_BYTES, "{bytes} bytes with {live} live");
        }
    }
    let bytes = watched.disk_bytes();
    assert!(bytes <= CONSTANT_BYTES, "{bytes} bytes without live data");
}

#[test]
fn deletions_alone() {
    let mut watched = Watched::new();
    watched.world.create(simple_table());
    for number in 0..4000 {
        watched.put(thing(number, number));
    }
    for number in 0..4000u64 {
        watched.world.delete(item([("pk", format!("item-{number}").as_str().into())]));
        if number.is_multiple_of(16) {
            let (bytes, live) = (watched.disk_bytes(), (4000 - number) * 1024);
            assert!(bytes <= 3 * live + CONSTANT_BYTES, "{bytes} bytes with {live} live");
        }
    }
    let bytes = watched.disk_bytes();
    assert!(bytes <= CONSTANT_BYTES, "{bytes} bytes without live data");
}

#[test]
fn deletions_of_large_items() {
    // At this scale an item of the service's maximum, 400 KB, has 1.6 KB.
    const PARTS: u64 = 4;
    const ITEMS: u64 = 1200;
    let mut watched = Watched::new();
    watched.world.create(simple_table());
    let large = |number: u64| {
        let parts: Vec<AttributeValue> = (0..PARTS).map(|part| noise(number * PARTS + part)).collect();
        item([("pk", format!("item-{number}").as_str().into()), ("data", AttributeValue::L(parts))])
    };
    for number in 0..ITEMS {
        watched.put(large(number));
    }
    for number in 0..ITEMS {
        watched.world.delete(item([("pk", format!("item-{number}").as_str().into())]));
        let (bytes, live) = (watched.disk_bytes(), (ITEMS - 1 - number) * PARTS * 1024);
        assert!(bytes <= 3 * live + CONSTANT_BYTES, "{bytes} bytes with {live} live");
    }
}

#[test]
fn stream_records_of_a_day() {
    let mut watched = Watched::new();
    let mut request = simple_table();
    request.stream = Some(StreamView::NewImage);
    watched.world.create(request);
    for hour in 0..100u64 {
        for number in 0..40 {
            watched.put(thing(number, hour * 40 + number));
        }
        watched.world.env.advance_ms(60 * 60 * 1000);
        watched.world.sweep();
        watched.watch();
    }
    let live = watched.check("streams");
    assert!(live > 24 * 40 * 1000, "the records of a day are live: {live} bytes");
}
