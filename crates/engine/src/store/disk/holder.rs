//! The process that holds a data directory: what it writes to `LOCK`, and how another process finds it.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Seek as _, Write as _};
use std::path::Path;

use crate::calendar;

/// Process that has a data directory open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holder {
    /// Process id, in the holder's own pid namespace.
    pub pid: u32,
    /// Time at which it opened the directory, in seconds since the Unix epoch, if known.
    pub since_secs: Option<u64>,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {}", self.pid)?;
        match self.since_secs {
            Some(secs) => write!(f, " (started {})", calendar::utc_minute(secs)),
            None => Ok(()),
        }
    }
}

/// Writes this process to a lock file that it holds since `now_secs`.
pub(super) fn note(mut file: &File, now_secs: u64) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "process {} since {}", std::process::id(), now_secs)
}

/// Reads the process from a lock file.
pub(super) fn noted(lock: &Path) -> Option<Holder> {
    parse(&fs::read_to_string(lock).ok()?)
}

fn parse(text: &str) -> Option<Holder> {
    let (pid, since) = text.trim().strip_prefix("process ")?.split_once(" since ")?;
    Some(Holder { pid: pid.parse().ok()?, since_secs: Some(since.parse().ok()?) })
}

/// Finds the holder of the lock on a directory in `/proc/locks`, for the case that `LOCK` was deleted by hand.
#[cfg(target_os = "linux")]
pub(super) fn of_directory(root: &Path) -> Option<Holder> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = fs::metadata(root).ok()?;
    let (major, minor) = numbers(metadata.dev());
    let place = format!("{major:02x}:{minor:02x}:{}", metadata.ino());
    let pid = holder_of(&fs::read_to_string("/proc/locks").ok()?, &place)?;
    Some(Holder { pid, since_secs: None })
}

#[cfg(not(target_os = "linux"))]
pub(super) fn of_directory(_root: &Path) -> Option<Holder> {
    None
}

/// Splits a device number into major and minor, as Linux packs them.
#[cfg(target_os = "linux")]
fn numbers(device: u64) -> (u64, u64) {
    let major = (device >> 8 & 0xfff) | (device >> 32 & 0xffff_f000);
    let minor = (device & 0xff) | (device >> 12 & 0xffff_ff00);
    (major, minor)
}

/// Finds the process in a line such as `3: FLOCK  ADVISORY  WRITE 4211 fe:01:1234567 0 EOF`.
#[cfg(target_os = "linux")]
fn holder_of(locks: &str, place: &str) -> Option<u32> {
    locks.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        match fields.as_slice() {
            [_, "FLOCK", _, "WRITE", pid, at, ..] if *at == place => pid.parse().ok(),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_holder_reads_its_own_note() {
        let file = tempfile::NamedTempFile::new().unwrap();
        note(file.as_file(), 1_794_700_000).unwrap();
        note(file.as_file(), 1_794_700_000).unwrap();
        assert_eq!(noted(file.path()).unwrap().pid, std::process::id());
        for text in ["", "process", "process x since 1", "process 4 since"] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_holder_is_shown_with_its_start() {
        let holder = parse("process 4211 since 1794700000\n").unwrap();
        assert_eq!(holder.to_string(), "process 4211 (started 2026-11-14 23:46 UTC)");
        assert_eq!(Holder { pid: 7, since_secs: None }.to_string(), "process 7");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_kernel_names_the_holder() {
        let locks = "1: POSIX  ADVISORY  WRITE 12 fe:01:77 0 EOF\n2: FLOCK  ADVISORY  WRITE 4211 fe:01:77 0 EOF\n";
        assert_eq!(holder_of(locks, "fe:01:77"), Some(4211));
        assert_eq!(holder_of(locks, "fe:01:78"), None);
    }
}
