//! Cost of an operation as the database grows: processor time of our own engine, on disk, from ten thousand items on.
//!
//! `flat [10000,100000,1000000,10000000] [plain | served BINARY]`. Items have about 100 bytes. Loading uses batches
//! without syncing. The measured calls run one by one, on random keys, after compaction has settled: first gets with
//! nothing in memory, then all calls after everything was read once. Each number is the median of several rounds.
//! `plain` disables encryption, to show its cost. `served` then lets the binary serve the same data, and prints the
//! processor time of the server per HTTP operation.

mod served;

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use keyform::expression::{Substitutions, parse_key_condition};
use keyform::operation::{BatchWriteItem, CreateTable, GetItem, PutItem, Query, WriteRequest};
use keyform::Durability;
use keyform::table::{KeySchema, ScalarType};
use keyform::{Attributes, Database, Encryption, Operation, Options};
use keyform_driver::process::cpu_time;

const ROUNDS: usize = 5;
const CALLS: usize = 20_000;
/// Few enough calls to leave most blocks of a large database unread.
const CALLS_COLD: usize = 10_000;
const PER_PARTITION: usize = 100;
/// Time without background work after which the database has settled, and the maximum time to wait for that.
const QUIET: Duration = Duration::from_secs(1);
const QUIET_WAITS_MAX: usize = 180;

fn main() {
    let sizes = std::env::args().nth(1).unwrap_or_else(|| "10000,100000,1000000,10000000".to_owned());
    let mode = std::env::args().nth(2).unwrap_or_default();
    let binary = std::env::args().nth(3).filter(|_| mode == "served");
    println!("| items | loaded in | first gets | get | put | query of 50 | on disk |");
    println!("|---|---|---|---|---|---|---|");
    for size in sizes.split(',').map(|size| size.parse().expect("sizes are numbers")) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        in_process(folder.path(), size, mode == "plain");
        if let Some(binary) = &binary {
            served::measure(binary.as_ref(), folder.path(), size);
        }
    }
}

/// Loads a database in a folder, and prints the cost of a call.
fn in_process(folder: &Path, size: usize, plain: bool) {
    let key_file = Encryption::KeyFile(folder.join("master.key"));
    let encryption = if plain { Encryption::Off } else { key_file };
    let options = Options { durability: Durability::Os, encryption, ..Options::default() };
    let database = Database::open_with(folder.join("data"), options).expect("opens");
    let started = Instant::now();
    load(&database, size);
    let loaded = started.elapsed();
    settle(&database);
    let mut random = Random::default();
    let cold = cost(CALLS_COLD, &mut random, |number| run(&database, get(number % size)));
    (0..size.div_ceil(PER_PARTITION)).for_each(|partition| run(&database, query(partition)));
    let get = median_cost(&mut random, |number| run(&database, get(number % size)));
    let query = median_cost(&mut random, |number| run(&database, query(number % size / PER_PARTITION)));
    let put = median_cost(&mut random, |number| run(&database, put(number % size)));
    let bytes = database.store_stats().table_bytes >> 20;
    println!("| {size} | {loaded:.1?} | {cold:.1} µs | {get:.1} µs | {put:.1} µs | {query:.1} µs | {bytes} MB |");
    database.close().expect("closes");
}

/// Waits until no file is written or merged.
fn settle(database: &Database) {
    let work = || {
        let stats = database.store_stats();
        (stats.flushes, stats.compactions, stats.level_files)
    };
    for _ in 0..QUIET_WAITS_MAX {
        let before = work();
        sleep(QUIET);
        if work() == before {
            return;
        }
    }
}

/// Returns the median of the rounds.
fn median_cost(random: &mut Random, call: impl Fn(usize)) -> f64 {
    let mut costs: Vec<f64> = (0..ROUNDS).map(|_| cost(CALLS, random, &call)).collect();
    costs.sort_by(f64::total_cmp);
    costs[ROUNDS / 2]
}

/// Returns the processor time of a call, for all threads of the process together, in microseconds.
fn cost(calls: usize, random: &mut Random, call: impl Fn(usize)) -> f64 {
    let before = cpu_time(std::process::id());
    (0..calls).for_each(|_| call(random.next()));
    let after = cpu_time(std::process::id());
    (after - before).as_secs_f64() * 1e6 / calls as f64
}

/// A small deterministic generator: the calls are the same in each run.
struct Random(u64);

impl Default for Random {
    fn default() -> Self {
        Self(88_172_645_463_325_252)
    }
}

impl Random {
    fn next(&mut self) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 as usize >> 1
    }
}

fn load(database: &Database, size: usize) {
    let names = ["pk", "sk"].map(str::to_owned);
    let table = CreateTable {
        attributes: names.clone().map(|name| (name, ScalarType::S)).into(),
        key: KeySchema { partition: vec![names[0].clone()], sort: vec![names[1].clone()] },
        ..CreateTable::named("flat")
    };
    run(database, Operation::CreateTable(table));
    for start in (0..size).step_by(25) {
        let writes = (start..(start + 25).min(size)).map(|number| WriteRequest::Put(item(number))).collect();
        run(
            database,
            Operation::BatchWriteItem(BatchWriteItem {
                tables: vec![("flat".to_owned(), writes)],
                ..Default::default()
            }),
        );
    }
}

fn run(database: &Database, operation: Operation) {
    database.execute_blocking(operation).expect("the call succeeds");
}

fn key(number: usize) -> Attributes {
    let partition = format!("partition-{}", number / PER_PARTITION);
    [("pk".to_owned(), partition.into()), ("sk".to_owned(), format!("{:04}", number % PER_PARTITION).into())].into()
}

fn item(number: usize) -> Attributes {
    let mut item = key(number);
    item.insert("data".to_owned(), format!("{number:064}").into());
    item
}

fn get(number: usize) -> Operation {
    Operation::GetItem(GetItem { table: "flat".to_owned(), key: key(number), ..Default::default() })
}

fn put(number: usize) -> Operation {
    Operation::PutItem(PutItem { table: "flat".to_owned(), item: item(number), ..Default::default() })
}

fn query(partition: usize) -> Operation {
    let values = [(":p".to_owned(), format!("partition-{partition}").into())].into();
    let mut values = Substitutions::new(None, Some(values)).expect("values");
    Operation::Query(Query {
        table: "flat".to_owned(),
        index: None,
        key: parse_key_condition("pk = :p", &mut values).expect("a key condition"),
        filter: None,
        projection: None,
        select: None,
        limit: Some(50),
        consistent: false,
        reverse: true,
        start: None,
        return_capacity: Default::default(),
    })
}
