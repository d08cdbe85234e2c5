//! Reads the source of a model, and displays its diagnostics.

use std::io::{IsTerminal as _, Read as _};
use std::path::Path;

use keyform_language::Diagnostic;
use keyform_language::diagnostic::render;

use crate::failure::Failure;
use crate::{output, systems};

/// Reads a file. `-` is standard input; the name of an example system gives its model, unless such a file exists.
pub(super) fn read(path: &str) -> Result<String, Failure> {
    if let Some(text) = systems::model(path) {
        return Ok(text.to_owned());
    }
    if path == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        return Ok(text);
    }
    std::fs::read_to_string(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::InvalidData => {
            Failure::new(format!("{path} is not UTF-8 text; a model is a text file with the extension .kf"))
        }
        std::io::ErrorKind::NotFound if !path.contains(['.', '/']) => {
            let names: Vec<&str> = systems::SYSTEMS.iter().map(|system| system.name).collect();
            Failure::new(format!(
                "no file or example system named {path}; the example systems are {}",
                names.join(", ")
            ))
        }
        _ => Failure::new(format!("cannot read {path}: {error}")),
    })
}

/// Writes diagnostics to standard error.
pub(super) fn show(text: &str, name: &str, findings: &[Diagnostic]) {
    let colours = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    output::note(render::text(text, name, findings, colours).trim_end());
}

/// Returns all models below `./systems` or, without that folder, below the current directory, sorted by name.
pub(super) fn all() -> Result<Vec<String>, Failure> {
    let systems = Path::new("systems");
    let mut found = Vec::new();
    below(if systems.is_dir() { systems } else { Path::new(".") }, &mut found)?;
    found.sort();
    Ok(found)
}

/// Collects the models below a folder. Skips hidden folders and build output.
fn below(folder: &Path, found: &mut Vec<String>) -> Result<(), Failure> {
    let entries = std::fs::read_dir(folder);
    for entry in entries.map_err(|error| Failure::new(format!("cannot read {}: {error}", folder.display())))? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if entry.file_type()?.is_dir() {
            if !name.starts_with('.') && !["target", "node_modules"].contains(&name.as_ref()) {
                below(&path, found)?;
            }
        } else if name.ends_with(".kf") {
            found.push(path.strip_prefix(".").unwrap_or(&path).to_string_lossy().into_owned());
        }
    }
    Ok(())
}
