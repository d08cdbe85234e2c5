//! Kills a process under load at random times, reopens its directory and compares it with the acknowledged writes.
//!
//! The process is this test binary, started again with only the test [`child`]. It prints a line for each acknowledged
//! write; the parent kills it after a random number of lines. `KEYFORM_KILL_ROUNDS` sets the number of rounds.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use keyform_engine::encryption_keys::{self, KEY_RING_FILES};
use keyform_engine::store::{Durability, RealDisk, Store, StoreOptions};
use keyform_engine::{Database, Options};

use crate::proof::bank::{self, Ack, Unknown, Writer};
use crate::proof::random::Random;

const ROUNDS: u64 = 5;
/// Rounds before a new directory is used; the directory grows with each round, and so does the time of its audit.
const ROUNDS_PER_DIRECTORY: u64 = 25;
const WRITERS: u64 = 4;
const DIRECTORY: &str = "KEYFORM_KILL_DIRECTORY";
const ROUND: &str = "KEYFORM_KILL_ROUND";

#[test]
fn nothing_acknowledged_is_lost_when_the_process_is_killed() {
    let rounds = std::env::var("KEYFORM_KILL_ROUNDS").map_or(ROUNDS, |text| text.parse().expect("a number of rounds"));
    let mut random = Random::new(std::process::id().into());
    let mut left = rounds;
    while left > 0 {
        let some = left.min(ROUNDS_PER_DIRECTORY);
        kill_again_and_again(&mut random, some);
        left -= some;
    }
}

/// Runs rounds on one directory, each continuing where the last one ended.
fn kill_again_and_again(random: &mut Random, rounds: u64) {
    let folder = tempfile::tempdir().unwrap();
    let mut acks = Vec::new();
    for round in 0..rounds {
        let lines = random.between(1, 400);
        acks.extend(killed_after(folder.path(), round, lines));
        let database = open(folder.path(), Durability::Sync);
        bank::audit(&database, &acks, Unknown { total: (round + 1) * WRITERS, each: 1 });
        database.close().unwrap();
    }
    assert!(acks.len() as u64 >= rounds, "the writers were at work");
}

/// Runs the child, kills it after this many acknowledged writes, and returns everything it acknowledged.
fn killed_after(folder: &Path, round: u64, lines: usize) -> Vec<Ack> {
    let mut child = start(folder, round);
    let output = BufReader::new(child.stdout.take().expect("the child's output is a pipe"));
    let mut acks = Vec::new();
    // Lines left in the pipe when the child is killed were acknowledged too. An incomplete line is ignored.
    for line in output.lines() {
        let Ok(line) = line else { break };
        acks.extend(Ack::from_line(line.strip_suffix('.').unwrap_or_default()));
        if acks.len() == lines {
            child.kill().expect("the child runs until it is killed");
        }
    }
    let status = child.wait().expect("the child ends");
    assert!(
        !status.success() && acks.len() >= lines,
        "the child ended by itself after {} writes: {status}",
        acks.len()
    );
    acks
}

fn start(folder: &Path, round: u64) -> Child {
    let binary = std::env::current_exe().expect("a test knows its own binary");
    let mut command = Command::new(binary);
    command.args(["proof::kill_loop::child", "--exact", "--nocapture", "--test-threads=1"]);
    command.env(DIRECTORY, folder).env(ROUND, round.to_string());
    command.stdout(Stdio::piped()).spawn().expect("the test binary runs again")
}

/// The process that is killed. Does nothing when it runs without a directory.
#[test]
fn child() {
    let Some(folder) = std::env::var_os(DIRECTORY) else { return };
    let round: u64 = std::env::var(ROUND).unwrap().parse().unwrap();
    // A killed process does not lose data in the page cache, so rounds without syncs are valid and have more writes in
    // flight.
    let durability = if round.is_multiple_of(2) { Durability::Sync } else { Durability::Os };
    let database = open(Path::new(&folder), durability);
    bank::found(&database).unwrap();
    // End the line that the test harness has begun.
    writeln!(std::io::stdout().lock()).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let database = database.clone();
            scope.spawn(move || work(&database, round, writer));
        }
        // Add and remove an index, so that some kills hit a half-filled index.
        loop {
            bank::toggle_index(&database, "by-version");
        }
    });
}

fn work(database: &Database, round: u64, number: u64) {
    let mut writer = Writer::new(format!("r{round}w{number}"), round * WRITERS + number);
    let mut log = std::io::stdout();
    loop {
        if let Some(ack) = writer.step(database).unwrap() {
            // The final dot distinguishes a complete line from a truncated one.
            writeln!(log, "{}.", ack.to_line()).unwrap();
        }
    }
}

/// Opens the encrypted database in the folder, with files so small that they are flushed and merged constantly.
fn open(folder: &Path, durability: Durability) -> Database {
    let data = folder.join("data");
    std::fs::create_dir_all(&data).unwrap();
    let disk = Arc::new(RealDisk::new(&data).unwrap());
    let ring = encryption_keys::open(&data, &folder.join("master.key"), &keyform_world::SystemWorld).unwrap();
    let options = StoreOptions {
        durability,
        memtable_bytes: 64 << 10,
        journal_bytes: 64 << 10,
        block_bytes: 2 << 10,
        table_bytes: 32 << 10,
        level0_files: 2,
        level1_bytes: 128 << 10,
        neighbours: KEY_RING_FILES.iter().map(|name| (*name).to_owned()).collect(),
        ..StoreOptions::default()
    };
    Database::on(Store::open(disk, Some(ring.data_keys()), options).unwrap(), Options::default()).unwrap()
}
