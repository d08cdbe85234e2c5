//! `keyform model`: converts a model to JSON and back.

use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command};
use keyform_language::document::{json, parse, print};

use crate::failure::Failure;
use crate::output;

use super::{file, source};

pub(super) fn command() -> Command {
    let json = Arg::new("file").value_name("FILE.json").required(true);
    Command::new("model")
        .about("Convert a model to JSON and back")
        .arg_required_else_help(true)
        .subcommand(Command::new("json").about("Print a model as JSON").arg(file()))
        .subcommand(
            Command::new("text")
                .about("Print the .kf text of a model in JSON")
                .arg(json.help("Model in JSON; - reads standard input")),
        )
        .subcommand(Command::new("schema").about("Print the JSON Schema of models in JSON"))
}

pub(super) fn run(arguments: &ArgMatches) -> Result<ExitCode, Failure> {
    let path = |arguments: &ArgMatches| arguments.get_one::<String>("file").map_or("-".to_owned(), String::clone);
    match arguments.subcommand() {
        Some(("json", arguments)) => to_json(&path(arguments)),
        Some(("text", arguments)) => to_text(&path(arguments)),
        _ => output::line(&format!("{:#}", json::schema())).map(|()| ExitCode::SUCCESS),
    }
}

fn to_json(path: &str) -> Result<ExitCode, Failure> {
    let text = source::read(path)?;
    let (document, mistakes) = parse(&text);
    if !mistakes.is_empty() {
        source::show(&text, path, &mistakes);
        return Ok(ExitCode::from(1));
    }
    output::line(&format!("{:#}", json::to_json(&document)))?;
    Ok(ExitCode::SUCCESS)
}

fn to_text(path: &str) -> Result<ExitCode, Failure> {
    match json::from_json(&source::read(path)?) {
        Ok(document) => {
            output::line(print(&document).trim_end_matches('\n'))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => {
            output::error(&Failure::new(format!("{path}: {error}")));
            Ok(ExitCode::from(1))
        }
    }
}
