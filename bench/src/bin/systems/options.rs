//! The command line.

use std::path::PathBuf;
use std::time::Duration;

const HELP: &str = "systems --keyform PATH --dynoxide PATH --extenddb PATH [--seconds S] [--rounds N] [--callers N]
`tools/peers.sh` installs the two peers and prints their paths";

/// Options of the benchmark.
pub struct Options {
    pub keyform: PathBuf,
    pub dynoxide: PathBuf,
    pub extenddb: PathBuf,
    pub duration: Duration,
    pub warm_up: Duration,
    pub rounds: usize,
    pub callers: usize,
}

impl Options {
    pub fn parse() -> Result<Self, String> {
        let mut given = std::collections::BTreeMap::new();
        let mut words = std::env::args().skip(1);
        while let Some(name) = words.next() {
            let name = name.strip_prefix("--").ok_or(HELP)?.to_owned();
            given.insert(name, words.next().ok_or(HELP)?);
        }
        let mut path = |name: &str| given.remove(name).map(PathBuf::from).ok_or(HELP);
        let (keyform, dynoxide, extenddb) = (path("keyform")?, path("dynoxide")?, path("extenddb")?);
        let mut number = |name: &str, otherwise: f64| match given.remove(name) {
            Some(text) => text.parse().map_err(|_| format!("--{name} is a number")),
            None => Ok(otherwise),
        };
        let seconds = number("seconds", 2.0)?;
        let (rounds, callers) = (number("rounds", 3.0)? as usize, number("callers", 16.0)? as usize);
        if !given.is_empty() {
            return Err(HELP.to_owned());
        }
        let (duration, warm_up) = (Duration::from_secs_f64(seconds), Duration::from_secs_f64(seconds / 4.0));
        Ok(Self { keyform, dynoxide, extenddb, duration, warm_up, rounds, callers })
    }
}
