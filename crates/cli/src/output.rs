//! Output of the command: results on standard output, errors and notes on standard error.

use std::io::{self, IsTerminal as _, Write as _};

use crate::failure::Failure;

/// Writes one or more lines in a single write.
pub(crate) fn line(text: &str) -> Result<(), Failure> {
    part(&format!("{text}\n"))
}

/// Writes text without a line break.
pub(crate) fn part(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        // The reader has closed the pipe, as `head` does: not an error.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

/// Writes the final error message.
pub(crate) fn error(failure: &Failure) {
    let colours = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let label = if colours { "\u{1b}[1;31merror:\u{1b}[0m" } else { "error:" };
    // Ignore errors: if standard error is closed, the exit code still reports the failure.
    drop(writeln!(io::stderr(), "{label} {failure}"));
}

/// Writes a note for people to standard error.
pub(crate) fn note(text: &str) {
    // Ignore errors: standard error may be closed.
    drop(writeln!(io::stderr(), "{text}"));
}
