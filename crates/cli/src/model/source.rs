//! The text of a model: from a file, or from standard input.

use std::io::Read as _;

use crate::failure::Failure;

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
