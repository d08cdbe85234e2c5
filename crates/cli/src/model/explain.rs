//! `keyform explain`: shows the request behind each pattern.

use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};
use keyform_check::Checked;
use keyform_check::explain::{explain, text};

use crate::failure::Failure;
use crate::output;

use super::{file, source};

const MORE: &str = "Arguments are samples, the same in every run. The request is what the model sends; the command \
    sends the same with the AWS CLI, to Keyform with --endpoint-url http://localhost:8000.";

pub(super) fn command() -> Command {
    Command::new("explain")
        .about("Show the plan, the request and the AWS CLI command of each pattern")
        .arg(file())
        .arg(Arg::new("pattern").value_name("PATTERN").help("Name of a pattern; * matches any characters"))
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print JSON"))
        .after_help(MORE)
}

pub(super) fn run(arguments: &ArgMatches) -> Result<ExitCode, Failure> {
    let path = arguments.get_one::<String>("file").map_or("-", String::as_str);
    let pattern = arguments.get_one::<String>("pattern").map_or("*", String::as_str);
    let checked = Checked::read(&source::read(path)?);
    if checked.has_errors() {
        output::note(&format!("{path} has errors, so patterns may be missing: see `keyform check {path}`"));
    }
    let explained = explain(&checked, pattern);
    if explained.is_empty() && pattern != "*" {
        return Err(Failure::new(format!("{path} has no read or write `{pattern}`")));
    }
    let printed =
        if arguments.get_flag("json") { serde_json::to_string_pretty(&explained)? } else { text::text(&explained) };
    output::line(printed.trim_end())?;
    Ok(ExitCode::SUCCESS)
}
