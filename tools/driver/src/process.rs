//! Processor time and resident memory of a running process, read from `/proc`.

use std::fs;
use std::time::Duration;

/// The kernel's clock tick in `/proc/PID/stat`; 100 a second on every Linux that Rust supports.
const TICKS_PER_SEC: u64 = 100;

/// Returns the processor time of a process, in user and kernel mode together, or zero if it has ended.
#[must_use]
pub fn cpu_time(pid: u32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks: u64 = after_name.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 1_000 / TICKS_PER_SEC)
}

/// Returns the resident memory of a process in bytes, or zero if it has ended.
#[must_use]
pub fn resident_bytes(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next())
        .and_then(|kb| kb.parse::<u64>().ok())
        .map_or(0, |kb| kb * 1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_process_takes_memory() {
        assert!(resident_bytes(std::process::id()) > 100_000);
        assert_eq!(resident_bytes(u32::MAX), 0);
    }
}
