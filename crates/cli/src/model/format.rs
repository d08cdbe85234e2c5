//! `keyform fmt`: formats models.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};
use keyform_language::document::{parse, print};

use crate::failure::Failure;
use crate::output;

use super::source;

pub(super) fn command() -> Command {
    Command::new("fmt")
        .about("Format models")
        .arg(
            Arg::new("files")
                .value_name("FILES")
                .required(true)
                .num_args(1..)
                .help("Models or folders of models; - formats standard input to standard output"),
        )
        .arg(
            Arg::new("check")
                .long("check")
                .action(ArgAction::SetTrue)
                .help("Do not write; list the files that would change and exit with 1 if there are any"),
        )
}

pub(super) fn run(arguments: &ArgMatches) -> Result<ExitCode, Failure> {
    let check = arguments.get_flag("check");
    let mut good = true;
    for path in arguments.get_many::<String>("files").into_iter().flatten() {
        if path == "-" {
            good &= standard_input(check)?;
            continue;
        }
        for file in files(Path::new(path))? {
            good &= format(&file, check)?;
        }
    }
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Returns the file itself, or all models in a folder and its subfolders.
fn files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let unreadable = |error| Failure::new(format!("cannot read {}: {error}", path.display()));
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(path).map_err(unreadable)? {
        entries.push(entry.map_err(unreadable)?);
    }
    entries.sort_by_key(std::fs::DirEntry::file_name);
    let mut all = Vec::new();
    for entry in entries {
        let inner = entry.path();
        // `file_type` does not follow links, so a link to a parent folder cannot cause a loop.
        if entry.file_type().map_err(unreadable)?.is_dir() {
            all.extend(files(&inner)?);
        } else if inner.extension().is_some_and(|extension| extension == "kf") {
            all.push(inner);
        }
    }
    Ok(all)
}

/// Formats a file in place, or checks its formatting; returns whether the file is fine.
fn format(path: &Path, check: bool) -> Result<bool, Failure> {
    let name = path.display().to_string();
    let text = source::read(&name)?;
    let Some(printed) = printed(&text, &name) else { return Ok(false) };
    if printed == text {
        return Ok(true);
    }
    if !check {
        std::fs::write(path, printed).map_err(|error| Failure::new(format!("cannot write {name}: {error}")))?;
    }
    output::line(&name)?;
    Ok(!check)
}

fn standard_input(check: bool) -> Result<bool, Failure> {
    let text = source::read("-")?;
    let Some(printed) = printed(&text, "-") else { return Ok(false) };
    if !check {
        output::line(printed.trim_end_matches('\n'))?;
    }
    Ok(!check || printed == text)
}

/// Formats a model; shows its syntax errors and returns `None` if it has any.
fn printed(text: &str, name: &str) -> Option<String> {
    let (document, mistakes) = parse(text);
    if mistakes.is_empty() {
        return Some(print(&document));
    }
    source::show(text, name, &mistakes);
    None
}
