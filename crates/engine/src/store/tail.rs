//! Classification and report of the bytes after the last complete frame of the journal.
//!
//! ```text
//! frame frame                              closed in order, or killed between two writes
//! frame frame 0000000                      killed: unused preallocated space
//! frame frame fra00000000                  torn: the frame's end was never written, so it was not acknowledged
//! frame frame fra                          short: the same without preallocated space, or the file was truncated
//! frame frame fr?me                        damaged: the last frame is complete but does not open
//! ```
//!
//! A frame is acknowledged after its sync. A torn frame was not synced. A damaged one may have been, and a short one if
//! bytes were removed from the file, so cutting them off may lose acknowledged writes, and is logged as a warning.

use super::seal::TAG_BYTES;

/// Kind of data at the end of a journal.
#[derive(Debug, PartialEq, Eq)]
enum Tail {
    Nothing,
    Unused { bytes: usize },
    Torn { bytes: usize },
    Short { bytes: usize },
    Damaged { bytes: usize },
}

/// Minimum size of a frame: its header, the start of its payload and the tag.
const FRAME_BYTES_MIN: usize = 16 + 12 + TAG_BYTES;

/// Logs the `rest` of a journal that is cut off at `end`. `frame_bytes` is the length of the frame there, if its header
/// is valid.
pub(super) fn report(file: &str, end: usize, rest: &[u8], frame_bytes: Option<usize>) {
    match classify(rest, frame_bytes) {
        Tail::Nothing => {}
        Tail::Unused { bytes } => {
            tracing::info!(file, bytes, "the store was not closed: truncating unused space");
        }
        Tail::Torn { bytes } => tracing::info!(
            file,
            position = end,
            bytes_kept = end,
            bytes_dropped = bytes,
            "the process ended during a write that was never acknowledged: truncating it"
        ),
        Tail::Short { bytes } => tracing::warn!(
            file,
            position = end,
            bytes_kept = end,
            bytes_dropped = bytes,
            "the journal ends in the middle of its last frame, which was cut off: either the process ended during that write, or bytes were removed from the file and the writes in the frame may have been acknowledged"
        ),
        Tail::Damaged { bytes } => tracing::warn!(
            file,
            position = end,
            bytes_kept = end,
            bytes_dropped = bytes,
            "the last frame of the journal is damaged and was truncated: its writes may have been acknowledged"
        ),
    }
}

fn classify(rest: &[u8], frame_bytes: Option<usize>) -> Tail {
    let used = rest.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    if used == 0 {
        return if rest.is_empty() { Tail::Nothing } else { Tail::Unused { bytes: rest.len() } };
    }
    match frame_bytes {
        Some(length) if rest.len() < length => Tail::Short { bytes: used },
        Some(length) if !is_written_to(rest, length) => Tail::Torn { bytes: used },
        // Without a valid header the length of the frame is unknown; only the minimum size is known.
        None if rest.len() < FRAME_BYTES_MIN => Tail::Short { bytes: used },
        Some(_) | None => Tail::Damaged { bytes: used },
    }
}

/// Returns whether a frame's tag, which is its last part, was written. A tag is never all zeros: without encryption its
/// halves are complements of each other, with encryption the probability is 2⁻¹²⁸.
fn is_written_to(rest: &[u8], length: usize) -> bool {
    rest.get(length - TAG_BYTES..length).is_some_and(|tag| tag.iter().any(|byte| *byte != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rest: &[u8], frame_bytes: Option<usize>, expected: &Tail) {
        assert_eq!(&classify(rest, frame_bytes), expected, "{} bytes, {frame_bytes:?}", rest.len());
    }

    #[test]
    fn a_tail_is_damaged_when_its_end_was_written() {
        check(&[], None, &Tail::Nothing);
        check(&[0; 1000], None, &Tail::Unused { bytes: 1000 });
        let mut rest = vec![7; 100];
        check(&rest, Some(100), &Tail::Damaged { bytes: 100 });
        check(&rest, Some(101), &Tail::Short { bytes: 100 });
        check(&rest, None, &Tail::Damaged { bytes: 100 });
        check(&rest[..20], None, &Tail::Short { bytes: 20 });
        rest[40..].fill(0);
        rest.resize(1000, 0);
        check(&rest, Some(100), &Tail::Torn { bytes: 40 });
        check(&rest, Some(56), &Tail::Torn { bytes: 40 });
        check(&rest, Some(40), &Tail::Damaged { bytes: 40 });
    }
}
