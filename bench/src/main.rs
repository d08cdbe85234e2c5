//! Keyform, dynoxide and ExtendDB over HTTP, on disk and in memory, in one interleaved run.
//!
//! 1. [`options`] parses the command line.
//! 2. Every round starts every server again and loads it with [`workload::load`].
//! 3. [`workload`] signs the requests beforehand; [`keyform_bench::generator`] sends them from one thread over a fixed
//!    number of kept-alive connections, always one request in flight on each.
//! 4. [`results`] keeps the median of the rounds and prints tables and ratios.

mod options;
mod results;
mod workload;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use keyform_bench::generator;
use keyform_driver::process::{cpu_time, resident_bytes};
use keyform_driver::server::{Engine, Launch, Server};

use crate::options::{Options, TargetName};
use crate::results::{Cell, Footprint, Results};
use crate::workload::Workload;

fn main() -> ExitCode {
    let options = match Options::from_arguments() {
        Ok(Some(options)) => options,
        Ok(None) => return ExitCode::SUCCESS,
        Err(problem) => return fail(&problem),
    };
    match measure(&options) {
        Ok(results) => {
            print!("{}", results.render());
            if let Some(path) = &options.json {
                if let Err(error) = std::fs::write(path, results.json().to_string()) {
                    return fail(&format!("{}: {error}", path.display()));
                }
            }
            ExitCode::SUCCESS
        }
        Err(problem) => fail(&problem),
    }
}

fn fail(problem: &str) -> ExitCode {
    eprintln!("bench: {problem}");
    ExitCode::FAILURE
}

fn measure(options: &Options) -> Result<Results, String> {
    let binaries = Binaries::find(options)?;
    let mut results = Results::default();
    for round in 1..=options.rounds {
        for target in &options.targets {
            eprintln!("round {round}: {target}");
            let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
            let launch = binaries.launch(*target, folder.path())?;
            measure_target(options, *target, &launch, &mut results).map_err(|error| format!("{target}: {error}"))?;
        }
    }
    Ok(results)
}

fn measure_target(options: &Options, target: TargetName, launch: &Launch, results: &mut Results) -> Result<(), String> {
    let mut server = launch.start().map_err(|error| error.to_string())?;
    let idle = resident_bytes(server.pid());
    workload::load(server.address())?;
    let loaded = resident_bytes(server.pid());
    for workload in &options.workloads {
        for connections in &options.connections {
            let cell = measure_cell(options, &server, *workload, *connections);
            if server.has_ended() {
                return Err(format!("the server ended during {workload}: {}", server.log_tail()));
            }
            results.add(target, *workload, *connections, cell?);
        }
    }
    let end = resident_bytes(server.pid());
    results.footprint(target, Footprint { start: server.start_time(), idle, loaded, end });
    Ok(())
}

fn measure_cell(options: &Options, server: &Server, workload: Workload, connections: usize) -> Result<Cell, String> {
    let requests = workload.requests(server.address());
    let mut load =
        generator::Load::open(server.address(), connections, &requests).map_err(|error| error.to_string())?;
    load.run(options.warm_up).map_err(|error| error.to_string())?;
    let before = cpu_time(server.pid());
    let sample = load.run(options.duration).map_err(|error| format!("{workload} ×{connections}: {error}"))?;
    let cpu = cpu_time(server.pid()).saturating_sub(before);
    Ok(Cell::from_sample(sample, cpu))
}

/// Paths of the programs.
struct Binaries {
    keyform: PathBuf,
    peers: Option<[PathBuf; 2]>,
}

impl Binaries {
    fn find(options: &Options) -> Result<Self, String> {
        let needs_peers = options.targets.iter().any(|target| target.engine != Engine::Keyform);
        let peers = if needs_peers { Some(peer_binaries()?) } else { None };
        Ok(Self { keyform: options.keyform.clone(), peers })
    }

    fn launch(&self, target: TargetName, folder: &Path) -> Result<Launch, String> {
        let missing = || "the peers are not installed".to_owned();
        let binary = match (target.engine, &self.peers) {
            (Engine::Keyform, _) => {
                self.keyform.canonicalize().map_err(|error| format!("{}: {error}", self.keyform.display()))?
            }
            (Engine::Dynoxide, Some([dynoxide, _])) => dynoxide.clone(),
            (Engine::ExtendDb, Some([_, extenddb])) => extenddb.clone(),
            _ => return Err(missing()),
        };
        let arguments = target.arguments();
        Ok(Launch { engine: target.engine, binary, storage: target.storage, folder: folder.to_owned(), arguments })
    }
}

fn peer_binaries() -> Result<[PathBuf; 2], String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tools/peers.sh");
    let output = Command::new(&script).output().map_err(|error| format!("{}: {error}", script.display()))?;
    let paths: Vec<PathBuf> = String::from_utf8_lossy(&output.stdout).lines().map(PathBuf::from).collect();
    paths.try_into().map_err(|_| format!("tools/peers.sh failed: {}", String::from_utf8_lossy(&output.stderr)))
}
