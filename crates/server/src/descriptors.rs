//! File descriptors: connections and the store's files share one limit of the process.
//!
//! Shells usually set the limit to 1,024, far below what the system allows; [`raise`] lifts it. If it is still too low,
//! the server reduces connections and never the store: a store that cannot open a file cannot accept writes.

use std::io;

/// Bounds of the descriptors reserved for files that the store opens later, and for connections being refused.
const RESERVE_MIN: usize = 64;
const RESERVE_MAX: usize = 4096;

/// Raises the process limit on open files to the maximum that the system allows, and returns it.
///
/// # Errors
/// The system rejects the change. The old limit remains in force.
#[cfg(unix)]
pub fn raise() -> io::Result<u64> {
    rlimit::increase_nofile_limit(u64::MAX)
}

/// Does nothing: on these systems sockets do not count as files.
///
/// # Errors
/// Never fails.
#[cfg(not(unix))]
pub fn raise() -> io::Result<u64> {
    Ok(u64::MAX)
}

/// Returns the connection limit, at most `wanted`, that leaves enough descriptors for the store.
pub(crate) fn connections_max(wanted: usize) -> usize {
    let Some(limit) = limit() else { return wanted };
    let fitting = fitting(limit, open());
    if wanted > fitting {
        tracing::warn!(
            connections_max = wanted,
            limit,
            used = fitting,
            "connections_max does not fit the limit on open files: raise the limit (ulimit -n, LimitNOFILE), or lower connections_max"
        );
    }
    wanted.min(fitting)
}

fn fitting(limit: usize, open: usize) -> usize {
    let reserve = (limit / 4).clamp(RESERVE_MIN, RESERVE_MAX);
    limit.saturating_sub(open).saturating_sub(reserve).max(1)
}

#[cfg(unix)]
fn limit() -> Option<usize> {
    rlimit::Resource::NOFILE.get_soft().ok().map(|limit| usize::try_from(limit).unwrap_or(usize::MAX))
}

#[cfg(not(unix))]
fn limit() -> Option<usize> {
    None
}

/// Counts open descriptors; most of them are the store's tables.
fn open() -> usize {
    std::fs::read_dir("/dev/fd").map_or(0, Iterator::count)
}

/// Returns whether an operation failed for lack of descriptors, in the process (EMFILE) or in the system (ENFILE).
pub(crate) fn is_exhausted(error: &io::Error) -> bool {
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    cfg!(unix) && matches!(error.raw_os_error(), Some(ENFILE | EMFILE))
}

#[cfg(test)]
mod tests {
    use super::fitting;

    #[test]
    fn connections_leave_room_for_the_store() {
        for (limit, open, expected) in [
            (1024, 24, 744),
            (1024, 900, 1),
            (256, 20, 172),
            (64, 20, 1),
            (1_048_576, 1_000, 1_043_480),
            (usize::MAX, 0, usize::MAX - 4096),
        ] {
            assert_eq!(fitting(limit, open), expected, "{limit} {open}");
        }
    }
}
