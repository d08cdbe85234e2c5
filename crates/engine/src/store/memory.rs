//! Default size of the block cache: a share of the memory of the machine or container.
//!
//! A read that finds its block in the cache takes a third of the time of one that has to open it. The cache grows as
//! data is read, so a large limit costs nothing if there is little data.

use std::fs::read_to_string;
use std::sync::OnceLock;

/// The cache gets one part in this many of the memory.
const PARTS: u64 = 8;
const BYTES_MIN: u64 = 32 << 20;
const BYTES_MAX: u64 = 4 << 30;
/// Cache size if the system does not report its memory.
const BYTES_UNKNOWN: usize = 128 << 20;
/// Files with the memory limit of the container: cgroup v2, then v1.
const CONTAINER_LIMITS: [&str; 2] = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];

/// Returns the default cache size. Determined once per process.
pub(super) fn cache_bytes() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES.get_or_init(|| {
        let machine = read_to_string("/proc/meminfo").ok().and_then(|text| machine_bytes(&text));
        let limits = CONTAINER_LIMITS.iter().filter_map(|file| read_to_string(file).ok()?.trim().parse().ok());
        limits.chain(machine).min().map_or(BYTES_UNKNOWN, share)
    })
}

fn machine_bytes(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

fn share(memory: u64) -> usize {
    (memory / PARTS).clamp(BYTES_MIN, BYTES_MAX) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_tells_its_memory() {
        assert_eq!(machine_bytes("MemTotal:       24684100 kB\nMemFree: 1 kB\n"), Some(24_684_100 << 10));
        assert_eq!(machine_bytes("MemFree: 1 kB\n"), None);
    }

    #[test]
    fn the_share_has_bounds() {
        assert_eq!(share(128 << 20), 32 << 20);
        assert_eq!(share(4 << 30), 512 << 20);
        assert_eq!(share(u64::MAX), 4 << 30);
    }
}
