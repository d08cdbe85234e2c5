//! `keyform import`: creates a model from templates or table descriptions; with `--to`, loads items from files into a
//! table.

use std::path::Path;
use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command};
use keyform_check::import::import;

use crate::failure::Failure;
use crate::output;

use super::source;

const MORE: &str = "Reads CloudFormation and SAM templates (JSON or YAML), answers of DescribeTable (`aws dynamodb \
    describe-table`), and models of NoSQL Workbench. Tables, indexes and settings are complete; add the key \
    templates and access patterns yourself.";

pub(super) fn command() -> Command {
    Command::new("import")
        .about("Create a model from a template or table description; with --to, import items")
        .arg(
            Arg::new("file")
                .value_name("FILE")
                .required(true)
                .help("Template or table description; - reads standard input. With --to: file or folder of items"),
        )
        .arg(Arg::new("name").long("name").value_name("NAME").help("Name of the model [default: the name of the file]"))
        .args(crate::copy::import::arguments())
        .after_help(format!("{MORE}\n\n{}", crate::copy::import::MORE))
}

pub(super) fn run(arguments: &ArgMatches) -> Result<ExitCode, Failure> {
    let path = arguments.get_one::<String>("file").map_or("-", String::as_str);
    if let Some(store) = arguments.get_one::<String>("to") {
        return crate::copy::import::run(path, store, arguments);
    }
    let stem = Path::new(path).file_stem().and_then(|stem| stem.to_str()).filter(|stem| *stem != "-");
    let name = arguments.get_one::<String>("name").map(String::as_str).or(stem).unwrap_or("imported");
    output::line(import(&source::read(path)?, name)?.trim_end())?;
    Ok(ExitCode::SUCCESS)
}
