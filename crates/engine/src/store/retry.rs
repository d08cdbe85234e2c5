//! Classification of errors as temporary, and the pauses between retries (ADR 0029).
//!
//! Disk space, quota, file descriptors and memory can become available again without the store, and a failed create,
//! write or rename has changed nothing that the store relies on. Everything else (an I/O error, a missing file) is a
//! failure.

use std::io;
use std::time::Duration;

/// Pause before the first retry; each further one is twice as long.
const FIRST: Duration = Duration::from_millis(20);
/// Longest pause, which bounds the delay between the end of a shortage and the next accepted write.
const LONGEST: Duration = Duration::from_secs(1);
/// Pause before damaged tables are read again. Damage does not go away, but an operator may restore the file.
pub(super) const DAMAGE: Duration = Duration::from_secs(60);

/// Returns whether an operation failed because a resource is exhausted.
pub(super) fn is_scarcity(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, OutOfMemory, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | OutOfMemory | Interrupted) || lacks_descriptors(error)
}

/// Detects ENFILE (23) and EMFILE (24), for which std has no kinds. Linux and macOS use the same numbers.
#[cfg(unix)]
fn lacks_descriptors(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(23 | 24))
}

/// Detects ERROR_TOO_MANY_OPEN_FILES.
#[cfg(windows)]
fn lacks_descriptors(error: &io::Error) -> bool {
    error.raw_os_error() == Some(4)
}

/// Returns the pause after this many consecutive failures.
pub(super) fn pause(failures: u32) -> Duration {
    FIRST.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_a_second() {
        assert_eq!(pause(1), Duration::from_millis(20));
        assert_eq!(pause(3), Duration::from_millis(80));
        assert_eq!(pause(1000), Duration::from_secs(1));
    }

    #[cfg(unix)]
    #[test]
    fn scarce_are_space_quota_and_descriptors() {
        let found: Vec<bool> = [5, 13, 23, 24, 28].map(|code| is_scarcity(&io::Error::from_raw_os_error(code))).into();
        assert_eq!(found, [false, false, true, true, true]);
    }
}
