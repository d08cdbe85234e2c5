//! Benchmark of the store: synced and unsynced commits, cached reads, short ranges, start after a kill.
//!
//! Reads are measured in processor time where the system reports it, so that other load on the machine matters less.
//!
//! `cargo run --release -p keyform-engine --example store_bench -- [items] [directory] [seconds of steady load]`

#![expect(clippy::disallowed_methods, reason = "it measures real time")]
#![expect(clippy::print_stdout, reason = "a measurement is there to be read")]

use std::error::Error;
use std::ops::Bound;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use keyform_engine::store::{Batch, DataKeys, Durability, RealDisk, Store, StoreOptions};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Small deterministic generator, so that the workload is the same in each run.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// The allocator of the `keyform` command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let items: u64 = arguments.next().map_or(Ok(1_000_000), |text| text.parse())?;
    let folder = arguments.next().map_or_else(|| std::env::temp_dir().join("store-bench"), PathBuf::from);
    recovery(&folder, "overwrites of 1,000 keys", 1000, 180)?;
    recovery(&folder, "new keys", u64::MAX, 180)?;
    recovery(&folder, "large values", 1000, 10_000)?;
    if let Some(seconds) = arguments.next() {
        return steady(&folder, seconds.parse()?);
    }
    idle(&folder)?;
    commits(&folder, "memory", None)?;
    commits(&folder, "os", Some(Durability::Os))?;
    commits(&folder, "sync", Some(Durability::Sync))?;
    reads(&folder, items)
}

/// Measures the time to open an empty store, and its memory.
fn idle(folder: &PathBuf) -> Outcome<()> {
    clear(folder);
    let start = Instant::now();
    let store = open(folder, Durability::Sync)?;
    let elapsed = start.elapsed();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let resident = status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or("VmRSS: unknown");
    println!("open empty: {:.1} ms, {resident}", elapsed.as_secs_f64() * 1e3);
    Ok(store.close()?)
}

fn open(folder: &PathBuf, durability: Durability) -> Outcome<Store> {
    let options = StoreOptions { durability, ..StoreOptions::default() };
    Ok(Store::open(Arc::new(RealDisk::new(folder)?), Some(DataKeys::new(1, [7; 32])), options)?)
}

fn clear(folder: &PathBuf) {
    if let Err(error) = std::fs::remove_dir_all(folder) {
        println!("({}: {error})", folder.display());
    }
}

/// Returns a batch of three 1 KB writes, like an item with an index entry and a stream record.
fn batch(dice: &mut Dice) -> Batch {
    let mut batch = Batch::new();
    let key = format!("table-1/partition-{:012}/sort-key-0000000000000000000000", dice.next() % 10_000_000);
    let value = |seed: u64| -> Vec<u8> {
        let mut dice = Dice(seed | 1);
        (0..128).flat_map(|_| dice.next().to_le_bytes()).collect()
    };
    let seed = dice.next();
    batch.put(format!("index/{key}"), value(seed));
    batch.put(key, value(seed));
    batch.append("stream/", value(seed));
    batch
}

fn commits(folder: &PathBuf, name: &str, durability: Option<Durability>) -> Outcome<()> {
    for writers in [1u64, 16, 64] {
        clear(folder);
        let store = match durability {
            Some(durability) => open(folder, durability)?,
            None => Store::in_memory(),
        };
        let before = process_time();
        let spent = commit_for(&store, writers, Duration::from_secs(2))?;
        let worked = process_time().zip(before).map(|(after, before)| after.saturating_sub(before));
        let stats = store.stats();
        println!(
            "put {name} ×{writers}: {:.0}/s, {:.1} µs processor time, {:.1} µs in commit(), {:.1} commits a frame",
            stats.commits as f64 / 2.0,
            worked.unwrap_or_default().as_secs_f64() * 1e6 / stats.commits as f64,
            spent.as_secs_f64() * 1e6 / stats.commits as f64,
            stats.commits as f64 / stats.frames.max(1) as f64,
        );
    }
    Ok(())
}

fn commit_for(store: &Store, writers: u64, time: Duration) -> Outcome<Duration> {
    let end = Instant::now() + time;
    std::thread::scope(|scope| {
        let write = |writer: u64| {
            move || -> Outcome<Duration> {
                let mut dice = Dice(writer + 1);
                let mut spent = Duration::ZERO;
                while Instant::now() < end {
                    let batch = batch(&mut dice);
                    let start = Instant::now();
                    let commit = store.commit(batch);
                    spent += start.elapsed();
                    commit.wait()?;
                }
                Ok(spent)
            }
        };
        let threads: Vec<_> = (0..writers).map(|writer| scope.spawn(write(writer))).collect();
        let mut total = Duration::ZERO;
        for thread in threads {
            total += thread.join().map_err(|_| "a writer panicked")??;
        }
        Ok(total)
    })
}

/// Measures sustained commits: the throughput that compaction can follow, and the longest wait.
fn steady(folder: &PathBuf, seconds: u64) -> Outcome<()> {
    clear(folder);
    let store = open(folder, Durability::Os)?;
    let mut before = 0;
    for round in 0..seconds / 5 {
        let longest = steady_round(&store, round)?;
        let stats = store.stats();
        println!(
            "{:.0} commits/s, longest {} ms, tables {:?}, {} MB",
            (stats.commits - before) as f64 / 5.0,
            longest.as_millis(),
            stats.level_files,
            stats.table_bytes >> 20,
        );
        before = stats.commits;
    }
    drop(store);
    clear(folder);
    Ok(())
}

fn steady_round(store: &Store, round: u64) -> Outcome<Duration> {
    let end = Instant::now() + Duration::from_secs(5);
    std::thread::scope(|scope| {
        let write = |writer: u64| {
            move || -> Outcome<Duration> {
                let mut dice = Dice((round * 100 + writer + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
                let mut longest = Duration::ZERO;
                while Instant::now() < end {
                    let batch = batch(&mut dice);
                    let start = Instant::now();
                    store.commit(batch).wait()?;
                    longest = longest.max(start.elapsed());
                }
                Ok(longest)
            }
        };
        let threads: Vec<_> = (0..16).map(|writer| scope.spawn(write(writer))).collect();
        let mut longest = Duration::ZERO;
        for thread in threads {
            longest = longest.max(thread.join().map_err(|_| "a writer panicked")??);
        }
        Ok(longest)
    })
}

/// Measures the start after a kill at the moment when the journal has 64 MB. The files are copied while the store
/// runs.
fn recovery(folder: &PathBuf, name: &str, keys: u64, value_bytes: usize) -> Outcome<()> {
    const JOURNAL_BYTES: u64 = 64 << 20;
    let copy = folder.with_extension("copy");
    clear(folder);
    clear(&copy);
    let options = StoreOptions {
        durability: Durability::Os,
        journal_bytes: 8 * JOURNAL_BYTES,
        memtable_bytes: usize::MAX,
        ..StoreOptions::default()
    };
    let store = Store::open(Arc::new(RealDisk::new(folder)?), Some(DataKeys::new(1, [7; 32])), options)?;
    let mut dice = Dice(3);
    while store.stats().journal_bytes < JOURNAL_BYTES {
        let mut batch = Batch::new();
        let value: Vec<u8> = (0..value_bytes / 8).flat_map(|_| dice.next().to_le_bytes()).collect();
        batch.put(format!("table-1/{:020}", dice.next() % keys), value);
        store.commit(batch).wait()?;
    }
    std::fs::create_dir_all(&copy)?;
    for file in std::fs::read_dir(folder)? {
        let file = file?;
        let copied = copy.join(file.file_name());
        std::fs::copy(file.path(), &copied)?;
        // A store that syncs its commits leaves a synced journal.
        std::fs::File::open(&copied)?.sync_all()?;
    }
    // The replay uses several threads, so the time of the process is measured too. It has a resolution of 10 ms and
    // includes the beginning of the flush that the opening starts.
    let (start, worked, worked_by_all) = (Instant::now(), thread_time(), process_time());
    let reopened = open(&copy, Durability::Sync)?;
    let (elapsed, stats) = (start.elapsed(), reopened.stats());
    let worked_by_all = process_time().zip(worked_by_all).map_or(elapsed, |(after, before)| after - before);
    let worked = thread_time().zip(worked).map_or(elapsed, |(after, before)| after.saturating_sub(before));
    println!(
        "start after a kill, {name}: {} MB, {} commits, {:.0} ms, {:.0} ms processor time of the thread, {:.0} ms of all",
        stats.replayed_bytes >> 20,
        stats.latest_seqno,
        elapsed.as_secs_f64() * 1e3,
        worked.as_secs_f64() * 1e3,
        worked_by_all.as_secs_f64() * 1e3
    );
    drop((store, reopened));
    clear(folder);
    clear(&copy);
    Ok(())
}

fn key(number: u64) -> String {
    format!("table-1/partition-{:08}/sort-key-{:08}", number / 50, number % 50)
}

fn reads(folder: &PathBuf, items: u64) -> Outcome<()> {
    clear(folder);
    let store = open(folder, Durability::Os)?;
    let start = Instant::now();
    let mut dice = Dice(42);
    for chunk in 0..items / 100 {
        let mut batch = Batch::new();
        for _ in 0..100 {
            // The multiplier scatters the order of the keys.
            let number = (chunk * 100 + batch.len() as u64).wrapping_mul(7_368_787) % items;
            let value: Vec<u8> = (0..25).flat_map(|_| dice.next().to_le_bytes()).collect();
            batch.put(key(number), value);
        }
        store.commit(batch).wait()?;
    }
    println!("load {items} items of 200 B: {:.1} s", start.elapsed().as_secs_f64());
    measure_reads(&store, items, "fresh")?;
    store.compact()?;
    println!("{:?}", store.stats());
    measure_reads(&store, items, "compacted")?;
    let start = Instant::now();
    let count = store.snapshot().range(Bound::Unbounded, Bound::Unbounded).count();
    println!("scan: {:.0} items/s", count as f64 / start.elapsed().as_secs_f64());
    drop(store);
    let start = Instant::now();
    let store = open(folder, Durability::Os)?;
    println!("reopen: {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    drop(store);
    clear(folder);
    Ok(())
}

fn measure_reads(store: &Store, items: u64, state: &str) -> Outcome<()> {
    for (name, spread) in [("cached", items / 50), ("spread", items)] {
        let mut dice = Dice(9);
        let get = |number: u64| -> Outcome<()> {
            let found = store.snapshot().get(key(number).as_bytes())?;
            found.map(drop).ok_or_else(|| "an item is missing".into())
        };
        println!("{state} get {name}: {:.2} µs", per_call(50_000, || get(dice.next() % spread))?);
        let missing = |number: u64| -> Outcome<()> {
            store.snapshot().get(format!("{}x", key(number)).as_bytes())?;
            Ok(())
        };
        println!("{state} get missing {name}: {:.2} µs", per_call(50_000, || missing(dice.next() % spread))?);
        for reverse in [false, true] {
            let range = |number: u64| -> Outcome<()> {
                let lower = key(number - number % 50);
                let upper = format!("{}~", &lower[..27]);
                let bounds = (Bound::Included(lower.as_bytes()), Bound::Excluded(upper.as_bytes()));
                let snapshot = store.snapshot();
                let entries =
                    if reverse { snapshot.range_rev(bounds.0, bounds.1) } else { snapshot.range(bounds.0, bounds.1) };
                let count = entries.take(50).count();
                if count == 50 { Ok(()) } else { Err(format!("{count} items").into()) }
            };
            let cost = per_call(20_000, || range(dice.next() % spread))?;
            println!("{state} range of 50 {name} reverse={reverse}: {cost:.2} µs");
        }
    }
    Ok(())
}

/// Returns the microseconds per call, after a first round that warms the cache.
fn per_call(calls: u32, mut call: impl FnMut() -> Outcome<()>) -> Outcome<f64> {
    for _ in 0..calls {
        call()?;
    }
    let (start, worked) = (Instant::now(), thread_time());
    for _ in 0..calls {
        call()?;
    }
    let spent = match (worked, thread_time()) {
        (Some(before), Some(after)) => after.saturating_sub(before),
        _ => start.elapsed(),
    };
    Ok(spent.as_secs_f64() * 1e6 / f64::from(calls))
}

/// Returns the processor time of this thread.
fn thread_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(text.split(' ').next()?.parse().ok()?))
}

/// Returns the processor time of the whole process, with a resolution of 10 ms.
fn process_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = text.rsplit(')').next()?.split_whitespace().collect();
    let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 10))
}
