//! Starts and stops servers: ours and the two peers, in memory or on disk.
//!
//! Every server runs on a free loopback port and is stopped by its own process id, also when the value is dropped.
//! A server counts as started when it answers ListTables.

#![expect(clippy::disallowed_methods, reason = "it waits for processes")]

use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::http::Connection;

const START_MAX: Duration = Duration::from_secs(20);

/// Program of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Engine {
    /// Keyform itself.
    Keyform,
    /// dynoxide, SQLite behind one lock.
    Dynoxide,
    /// ExtendDB's SQLite edition.
    ExtendDb,
}

/// Storage of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Storage {
    /// In memory.
    Memory,
    /// In a folder.
    Disk,
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Keyform => "keyform",
            Self::Dynoxide => "dynoxide",
            Self::ExtendDb => "extenddb",
        })
    }
}

impl fmt::Display for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Memory => "memory",
            Self::Disk => "disk",
        })
    }
}

/// Options for starting a server.
#[derive(Debug, Clone)]
pub struct Launch {
    /// Program to start.
    pub engine: Engine,
    /// Path of the binary.
    pub binary: PathBuf,
    /// Storage of the server.
    pub storage: Storage,
    /// Folder for data and logs, used by this server only.
    pub folder: PathBuf,
    /// Further arguments.
    pub arguments: Vec<String>,
}

impl Launch {
    /// Starts the server and waits until it answers.
    ///
    /// # Errors
    /// Returns an error if the program cannot be run, ends, or does not answer in time; its log is in the folder.
    pub fn start(&self) -> io::Result<Server> {
        fs::create_dir_all(&self.folder)?;
        let began = Instant::now();
        let port = free_port()?;
        let child = self.command(port)?.spawn()?;
        let mut server = Server {
            child,
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
            start: Duration::ZERO,
            log: self.log_path(),
        };
        server.wait_until_ready(began)?;
        Ok(server)
    }

    fn log_path(&self) -> PathBuf {
        self.folder.join("log")
    }

    fn command(&self, port: u16) -> io::Result<Command> {
        let mut command = Command::new(&self.binary);
        match self.engine {
            Engine::Keyform => keyform(&mut command, port, self.storage, &self.folder),
            Engine::Dynoxide => dynoxide(&mut command, port, self.storage, &self.folder),
            Engine::ExtendDb => extenddb(&mut command, port, self.storage, &self.folder),
        }
        let log = File::create(self.log_path())?;
        command.args(&self.arguments).current_dir(&self.folder);
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        Ok(command)
    }
}

fn keyform(command: &mut Command, port: u16, storage: Storage, folder: &Path) {
    command.arg("serve").arg("--port").arg(port.to_string());
    command.env("KEYFORM_MASTER_KEY_FILE", folder.join("master.key"));
    match storage {
        Storage::Memory => command.arg("--in-memory"),
        Storage::Disk => command.arg("--data").arg(folder.join("data")),
    };
}

fn dynoxide(command: &mut Command, port: u16, storage: Storage, folder: &Path) {
    command.arg("serve").arg("--port").arg(port.to_string());
    if storage == Storage::Disk {
        command.arg("--db-path").arg(folder.join("dynoxide.db"));
    }
}

fn extenddb(command: &mut Command, port: u16, storage: Storage, folder: &Path) {
    command.arg("serve").arg("--foreground").env("EXTENDDB__SERVER__PORT", port.to_string());
    let path = match storage {
        Storage::Memory => PathBuf::from(":memory:"),
        Storage::Disk => folder.join("extenddb.db"),
    };
    command.env("EXTENDDB__STORAGE__SQLITE__PATH", path).env("RUST_LOG", "error");
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// A running server; dropping it stops the process.
#[derive(Debug)]
pub struct Server {
    child: Child,
    address: SocketAddr,
    start: Duration,
    log: PathBuf,
}

impl Server {
    /// Returns the address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns the time from the start of the process to its first answer.
    #[must_use]
    pub fn start_time(&self) -> Duration {
        self.start
    }

    /// Returns whether the process has ended.
    #[must_use]
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Returns the end of the server's log, at most 2,000 bytes.
    #[must_use]
    pub fn log_tail(&self) -> String {
        let text = fs::read(&self.log).unwrap_or_default();
        String::from_utf8_lossy(&text[text.len().saturating_sub(2_000)..]).into_owned()
    }

    fn wait_until_ready(&mut self, began: Instant) -> io::Result<()> {
        while began.elapsed() < START_MAX {
            if self.has_ended() {
                return Err(io::Error::other(format!("the server ended at once: {}", self.log_tail())));
            }
            let answer = Connection::to(self.address).call("DynamoDB_20120810.ListTables", b"{}");
            if answer.is_ok_and(|answer| answer.status == 200) {
                self.start = began.elapsed();
                return Ok(());
            }
            std::thread::sleep(Duration::from_micros(500));
        }
        Err(io::Error::new(ErrorKind::TimedOut, format!("the server did not answer: {}", self.log_tail())))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A process that has already ended cannot be killed, and drop cannot report either outcome.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
