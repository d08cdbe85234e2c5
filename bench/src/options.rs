//! The command line.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use keyform_driver::server::{Engine, Storage};

use crate::workload::Workload;

const HELP: &str = "\
bench: keyform, dynoxide and ExtendDB over HTTP in one interleaved run

  --keyform PATH      our binary (default ../target/release/keyform)
  --targets LIST      keyform-disk,keyform-memory,dynoxide-disk,dynoxide-memory,extenddb-disk,extenddb-memory,
                      keyform-os (on disk without a sync before the answer; not in the default)
  --only LIST         workloads: put,get,query50,add-hot,transact2,batch25
  --connections LIST  default 1,16,64
  --seconds S         measured time of a cell (default 1.2)
  --rounds N          default 3
  --json PATH         also write the medians as JSON";

/// One of the servers: a program and its storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TargetName {
    pub engine: Engine,
    pub storage: Storage,
    /// True if our writes may be answered before they are synced.
    pub unsynced: bool,
}

impl fmt::Display for TargetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.unsynced { f.write_str("keyform-os") } else { write!(f, "{}-{}", self.engine, self.storage) }
    }
}

impl TargetName {
    /// Describes what an acknowledged write survives.
    pub fn durability(self) -> &'static str {
        match (self.engine, self.storage) {
            (_, Storage::Memory) => "nothing is kept",
            (Engine::Keyform, _) if self.unsynced => "journal written, synced later; encrypted",
            (Engine::Keyform, _) => "journal synced before the answer, one sync for all who wait; encrypted",
            (Engine::Dynoxide, _) => "SQLite WAL synced once per item",
            (Engine::ExtendDb, _) => "SQLite WAL, not synced",
        }
    }

    pub fn arguments(self) -> Vec<String> {
        if self.unsynced { vec!["--durability".to_owned(), "os".to_owned()] } else { Vec::new() }
    }

    fn all() -> Vec<Self> {
        let engines = [Engine::Keyform, Engine::Dynoxide, Engine::ExtendDb];
        let both = |engine| [Storage::Disk, Storage::Memory].map(|storage| Self { engine, storage, unsynced: false });
        engines.into_iter().flat_map(both).collect()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let unsynced = Self { engine: Engine::Keyform, storage: Storage::Disk, unsynced: true };
        let known = Self::all().into_iter().chain([unsynced]).find(|target| target.to_string() == text);
        known.ok_or_else(|| format!("unknown target {text}"))
    }
}

/// Options of the benchmark.
#[derive(Debug)]
pub struct Options {
    pub keyform: PathBuf,
    pub targets: Vec<TargetName>,
    pub workloads: Vec<Workload>,
    pub connections: Vec<usize>,
    pub duration: Duration,
    pub warm_up: Duration,
    pub rounds: usize,
    pub json: Option<PathBuf>,
}

impl Options {
    /// Parses the command line; `None` if only help was requested.
    pub fn from_arguments() -> Result<Option<Self>, String> {
        let mut options = Self::default();
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            if argument == "--help" || argument == "-h" {
                println!("{HELP}");
                return Ok(None);
            }
            let value = arguments.next().ok_or_else(|| format!("{argument} needs a value"))?;
            options.set(&argument, &value)?;
        }
        Ok(Some(options))
    }

    fn set(&mut self, argument: &str, value: &str) -> Result<(), String> {
        match argument {
            "--keyform" => self.keyform = value.into(),
            "--targets" => self.targets = list(value, TargetName::parse)?,
            "--only" => self.workloads = list(value, Workload::parse)?,
            "--connections" => self.connections = list(value, number)?,
            "--seconds" => self.duration = Duration::from_secs_f64(number(value)?),
            "--rounds" => self.rounds = number(value)?,
            "--json" => self.json = Some(value.into()),
            other => return Err(format!("unknown argument {other}; --help lists them")),
        }
        Ok(())
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            keyform: PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/release/keyform")),
            targets: TargetName::all(),
            workloads: Workload::ALL.to_vec(),
            connections: vec![1, 16, 64],
            duration: Duration::from_millis(1_200),
            warm_up: Duration::from_millis(300),
            rounds: 3,
            json: None,
        }
    }
}

fn list<T>(text: &str, parse: impl Fn(&str) -> Result<T, String>) -> Result<Vec<T>, String> {
    text.split(',').map(|part| parse(part.trim())).collect()
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{text} is not a number"))
}
