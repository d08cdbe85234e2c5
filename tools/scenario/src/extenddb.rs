//! A process of ExtendDB, with a database of its own.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// The line of its log that names the port.
const LISTENING: &str = "extenddb listening on ";

/// A running ExtendDB; killed on drop.
///
/// Each store has its own, so that tests share neither tables (some models fix their names) nor ExtendDB's single
/// writer, and run in parallel as on the other stores.
pub(crate) struct ExtendDb {
    process: Child,
    /// The address it listens on.
    pub(crate) url: String,
    _folder: TempDir,
}

impl ExtendDb {
    /// Starts the binary and waits until it listens.
    pub(crate) fn start(binary: &OsStr) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut process = Command::new(binary)
            .args(["serve", "--foreground"])
            .current_dir(folder.path())
            .env("EXTENDDB__SERVER__PORT", "0")
            // In memory, it forgets everything after some minutes.
            .env("EXTENDDB__STORAGE__SQLITE__PATH", folder.path().join("extenddb.db"))
            .env("RUST_LOG", "error,extenddb_server=info")
            .env("NO_COLOR", "1")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", binary.display()));
        let mut log = BufReader::new(process.stderr.take().expect("standard error is a pipe"));
        let url = format!("http://{}", address(&mut log));
        // A full pipe would stop the process.
        std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        Self { process, url, _folder: folder }
    }
}

/// Reads the log up to the address.
fn address(log: &mut BufReader<impl Read>) -> String {
    let mut seen = String::new();
    loop {
        let mut line = String::new();
        let read = log.read_line(&mut line).expect("the log is text");
        assert!(read > 0, "ExtendDB ended before it listened:\n{seen}");
        if let Some((_, address)) = line.split_once(LISTENING) {
            return address.trim().to_owned();
        }
        seen.push_str(&line);
    }
}

impl Drop for ExtendDb {
    fn drop(&mut self) {
        // It fails only if the process has already ended.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}
