//! What lies behind the last whole frame of the journal, and how it is reported.
//!
//! ```text
//! frame frame                              closed in order, or killed between two writes
//! frame frame 0000000                      killed: unused space
//! frame frame fra                          torn: the end of the last frame was never written, so it was never acknowledged
//! frame frame fr?me                        damaged: the last frame is there to its end, and does not open
//! ```
//!
//! A frame is acknowledged after its sync. One whose last bytes are missing was not synced; one that is complete may have
//! been, so losing it may lose acknowledged writes, and that is reported as a warning.

use super::seal::TAG_BYTES;

/// What was found at the end of a journal.
#[derive(Debug, PartialEq, Eq)]
enum Tail {
    Nothing,
    Unused { bytes: usize },
    Torn { bytes: usize },
    Damaged { bytes: usize },
}

/// No frame is shorter: its header, the start of its payload and the tag.
const FRAME_BYTES_MIN: usize = 16 + 12 + TAG_BYTES;

/// Reports the `rest` of a journal, which is cut off at `end`. `frame_bytes` is the length of the frame there, if its header
/// can be read.
pub(super) fn report(file: &str, end: usize, rest: &[u8], frame_bytes: Option<usize>) {
    match classify(rest, frame_bytes) {
        Tail::Nothing => {}
        Tail::Unused { bytes } => {
            tracing::info!(file, bytes, "the store was not closed: unused space is cut off");
        }
        Tail::Torn { bytes } => tracing::info!(
            file,
            position = end,
            bytes_kept = end,
            bytes_dropped = bytes,
            "the process ended in the middle of a write, which was never acknowledged: it is cut off"
        ),
        Tail::Damaged { bytes } => tracing::warn!(
            file,
            position = end,
            bytes_kept = end,
            bytes_dropped = bytes,
            "the last frame of the journal is damaged and was cut off: the writes in it may have been acknowledged"
        ),
    }
}

fn classify(rest: &[u8], frame_bytes: Option<usize>) -> Tail {
    let used = rest.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    if used == 0 {
        return if rest.is_empty() { Tail::Nothing } else { Tail::Unused { bytes: rest.len() } };
    }
    // Of a frame without a readable header it is not known how long it is, only that it needs some room.
    let is_torn = match frame_bytes {
        Some(length) => !is_written_to(rest, length),
        None => rest.len() < FRAME_BYTES_MIN,
    };
    if is_torn { Tail::Torn { bytes: used } } else { Tail::Damaged { bytes: used } }
}

/// Whether a frame's tag, its last bytes, was written. No tag is all zeros: without encryption its halves are each other's
/// complement, with encryption that has a chance of 2⁻¹²⁸.
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
        check(&rest, Some(101), &Tail::Torn { bytes: 100 });
        check(&rest, None, &Tail::Damaged { bytes: 100 });
        check(&rest[..20], None, &Tail::Torn { bytes: 20 });
        rest[40..].fill(0);
        rest.resize(1000, 0);
        check(&rest, Some(100), &Tail::Torn { bytes: 40 });
        check(&rest, Some(56), &Tail::Torn { bytes: 40 });
        check(&rest, Some(40), &Tail::Damaged { bytes: 40 });
    }
}
