//! What the command writes for people: results on standard output, the last word on standard error.

use std::io::{self, IsTerminal as _, Write as _};

use crate::failure::Failure;

/// Writes a line, or several, at once.
pub(crate) fn line(text: &str) -> Result<(), Failure> {
    part(&format!("{text}\n"))
}

/// Writes a text as it is.
pub(crate) fn part(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        // Whoever read our output has enough of it.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

/// Says why the command ends without success.
pub(crate) fn error(failure: &Failure) {
    let colours = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let label = if colours { "\u{1b}[1;31merror:\u{1b}[0m" } else { "error:" };
    // When standard error is closed, the exit code has to do.
    drop(writeln!(io::stderr(), "{label} {failure}"));
}

/// A word beside the result, for people only.
pub(crate) fn note(text: &str) {
    // When standard error is closed, nobody misses it.
    drop(writeln!(io::stderr(), "{text}"));
}
