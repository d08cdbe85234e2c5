//! When an operation is tried again, and after how long (ADR 0029).
//!
//! Scarce are disk space, quota, descriptors and memory: the cause passes without the store, and a refused create, write or
//! rename has changed nothing that the store relies on. Everything else (an I/O error, a file that is gone) is a failure.

use std::io;
use std::time::Duration;

/// The pause before the first retry; each further one is twice as long.
const FIRST: Duration = Duration::from_millis(20);
/// The longest pause: so long after the cause is gone writes are accepted again.
const LONGEST: Duration = Duration::from_secs(1);
/// The pause before damaged tables are read again: damage does not pass, but an operator may restore the file.
pub(super) const DAMAGE: Duration = Duration::from_secs(60);

/// Whether an operation was refused because something is scarce.
pub(super) fn is_scarcity(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, OutOfMemory, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | OutOfMemory | Interrupted) || lacks_descriptors(error)
}

/// ENFILE and EMFILE, which std has no kinds for; Linux and macOS number them alike.
#[cfg(unix)]
fn lacks_descriptors(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(23 | 24))
}

/// ERROR_TOO_MANY_OPEN_FILES.
#[cfg(windows)]
fn lacks_descriptors(error: &io::Error) -> bool {
    error.raw_os_error() == Some(4)
}

/// The pause after that many failures in a row.
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
