//! The text of a model: from a file, or from standard input; and what is wrong with it, for people.

use std::io::{IsTerminal as _, Read as _};

use keyform::model::Diagnostic;
use keyform::model::diagnostic::render;

use crate::failure::Failure;
use crate::output;

/// Reads a file; `-` is standard input.
pub(super) fn read(path: &str) -> Result<String, Failure> {
    if path == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        return Ok(text);
    }
    std::fs::read_to_string(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::InvalidData => {
            Failure::new(format!("{path} is not UTF-8 text. A model is a text file with the ending .kf"))
        }
        _ => Failure::new(format!("cannot read {path}: {error}")),
    })
}

/// Shows what is wrong with a model, on standard error.
pub(super) fn show(text: &str, name: &str, findings: &[Diagnostic]) {
    let colours = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    output::note(render::text(text, name, findings, colours).trim_end());
}
