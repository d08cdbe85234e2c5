//! `keyform doc`: generates the schema document of a model.

use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command};
use keyform_check::Checked;
use keyform_check::cost::price::PRICES;
use keyform_check::doc::{document, html, markdown};

use crate::failure::Failure;
use crate::output;

use super::{file, source};

pub(super) fn command() -> Command {
    Command::new("doc")
        .about("Generate the schema document, as Markdown or one HTML page")
        .arg(file())
        .arg(
            Arg::new("format")
                .long("format")
                .value_name("FORMAT")
                .value_parser(["markdown", "html"])
                .help("Output format [default: from the extension of --output, else markdown]"),
        )
        .arg(Arg::new("output").long("output").short('o').value_name("FILE").help("Output file"))
}

pub(super) fn run(arguments: &ArgMatches) -> Result<ExitCode, Failure> {
    let path = arguments.get_one::<String>("file").map_or("-", String::as_str);
    let page = document(&Checked::read(&source::read(path)?), &PRICES);
    let target = arguments.get_one::<String>("output");
    let is_html = match arguments.get_one::<String>("format") {
        Some(format) => format == "html",
        None => target.is_some_and(|target| target.ends_with(".html") || target.ends_with(".htm")),
    };
    let printed = if is_html { html::print(&page) } else { markdown::print(&page) };
    match target {
        Some(target) => {
            std::fs::write(target, printed).map_err(|error| Failure::new(format!("cannot write {target}: {error}")))?
        }
        None => output::line(printed.trim_end())?,
    }
    Ok(ExitCode::SUCCESS)
}
