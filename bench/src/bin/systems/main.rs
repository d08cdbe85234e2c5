//! The hot path of each of the five systems: through the model in process, through the model over HTTP, and the same
//! flow handwritten with the AWS SDK, against our endpoint, dynoxide and ExtendDB. All alternate within one run, on
//! disk.
//!
//! 1. [`world`] fills a store with the data of the paths, through the systems' own models.
//! 2. [`path`] names the hot paths.
//! 3. [`ours`] calls them in process and over HTTP, [`by_hand`] writes them with the SDK.
//!
//! `systems --keyform PATH --dynoxide PATH --extenddb PATH [--seconds S] [--rounds N] [--callers N]`; `tools/peers.sh` installs the peers.

mod by_hand;
mod options;
mod ours;
mod path;
mod world;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use keyform_driver::server::{Engine, Launch, Server, Storage};
use tokio::runtime::Runtime;

use options::Options;
use path::{HotPath, Way};

fn main() {
    let options = Options::parse().unwrap_or_else(|problem| {
        eprintln!("{problem}");
        std::process::exit(2);
    });
    let runtime = Arc::new(Runtime::new().expect("the operating system gives threads"));
    let folder = tempfile::tempdir().expect("a folder for data");
    let stage = Stage::set(&options, folder.path(), &runtime);
    let mut seen: BTreeMap<(HotPath, String), Vec<f64>> = BTreeMap::new();
    for round in 1..=options.rounds {
        eprintln!("round {round} of {}", options.rounds);
        for path in HotPath::ALL {
            for way in &stage.ways {
                let rate = measure(way.as_ref(), path, &options);
                seen.entry((path, way.name())).or_default().push(rate);
            }
        }
    }
    print(&stage, &seen, &options);
}

/// The ways to call the paths, and the servers behind them.
struct Stage {
    ways: Vec<Box<dyn Way>>,
    _servers: Vec<Server>,
}

impl Stage {
    fn set(options: &Options, folder: &std::path::Path, runtime: &Arc<Runtime>) -> Self {
        let mut servers = Vec::new();
        let mut start = |engine: Engine, binary: &std::path::Path| {
            let launch = Launch {
                engine,
                binary: binary.to_owned(),
                storage: Storage::Disk,
                folder: folder.join(engine.to_string()),
                arguments: Vec::new(),
            };
            let server = launch.start().unwrap_or_else(|error| panic!("{engine} does not start: {error}"));
            let address = server.address();
            servers.push(server);
            address
        };
        let mut ways: Vec<Box<dyn Way>> =
            vec![Box::new(ours::InProcess::new(&folder.join("embedded"), options.callers, runtime))];
        ways.push(Box::new(ours::OverHttp::new(&folder.join("served"), options.callers, runtime)));
        let keyform = start(Engine::Keyform, &options.keyform);
        let (remote, world) = by_hand::prepare(keyform, options.callers, runtime);
        ways.push(Box::new(by_hand::ByHand::new(Engine::Keyform, remote, world, runtime)));
        for (engine, binary) in [(Engine::Dynoxide, &options.dynoxide), (Engine::ExtendDb, &options.extenddb)] {
            let address = start(engine, binary);
            let (remote, world) = by_hand::prepare(address, options.callers, runtime);
            ways.push(Box::new(by_hand::ByHand::new(engine, remote, world, runtime)));
        }
        Self { ways, _servers: servers }
    }
}

/// Returns the calls per second of this number of concurrent callers. A failing call ends the run, because a rate of
/// failures has no meaning.
fn measure(way: &dyn Way, path: HotPath, options: &Options) -> f64 {
    let (counting, ended) = (AtomicBool::new(false), AtomicBool::new(false));
    let calls = AtomicU64::new(0);
    let mut taken = Duration::ZERO;
    thread::scope(|scope| {
        for number in 0..options.callers {
            let (counting, ended, calls) = (&counting, &ended, &calls);
            scope.spawn(move || {
                let mut caller = way.caller(number);
                while !ended.load(Ordering::Relaxed) {
                    caller(path).unwrap_or_else(|error| panic!("{} {path}: {error}", way.name()));
                    if counting.load(Ordering::Relaxed) {
                        calls.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        thread::sleep(options.warm_up);
        counting.store(true, Ordering::Relaxed);
        let began = Instant::now();
        thread::sleep(options.duration);
        taken = began.elapsed();
        ended.store(true, Ordering::Relaxed);
    });
    calls.load(Ordering::Relaxed) as f64 / taken.as_secs_f64()
}

/// Prints a line for each path: calls per second for each way, and the ratio of our two ways to the peers.
fn print(stage: &Stage, seen: &BTreeMap<(HotPath, String), Vec<f64>>, options: &Options) {
    println!("calls a second, medians of {} rounds, {} callers, on disk", options.rounds, options.callers);
    println!(
        "keyform: journal synced before the answer; dynoxide: SQLite WAL synced once per item; ExtendDB: SQLite WAL, not synced\n"
    );
    let names: Vec<String> = stage.ways.iter().map(|way| way.name()).collect();
    println!("| path | {} | in process ÷ dynoxide, ExtendDB | over HTTP ÷ dynoxide, ExtendDB |", names.join(" | "));
    println!("|---|{}---|---|", "---:|".repeat(names.len()));
    for path in HotPath::ALL {
        let rate = |way: &String| median(&seen[&(path, way.clone())]);
        let rates: Vec<f64> = names.iter().map(rate).collect();
        let [inside, http, _, dynoxide, extenddb] = rates[..] else { unreachable!("there are five ways") };
        let cells: Vec<String> = rates.iter().map(|rate| format!("{rate:.0}")).collect();
        let times = |ours: f64| format!("{:.1} ×, {:.1} ×", ours / dynoxide, ours / extenddb);
        println!("| {path} | {} | {} | {} |", cells.join(" | "), times(inside), times(http));
    }
}

fn median(rates: &[f64]) -> f64 {
    let mut sorted = rates.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}
