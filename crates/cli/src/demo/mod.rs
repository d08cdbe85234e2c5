//! `keyform demo`: demonstrations based on the example systems.

mod chat;
mod legacy;

use std::process::ExitCode;

use clap::{ArgMatches, Command};

use crate::failure::Failure;

pub(crate) fn command() -> Command {
    Command::new("demo")
        .about("Try the example systems")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(chat::command())
        .subcommand(legacy::command())
}

pub(crate) fn run(arguments: &ArgMatches) -> Result<ExitCode, Failure> {
    match arguments.subcommand() {
        Some(("chat", arguments)) => chat::run(arguments),
        Some(("legacy", arguments)) => legacy::run(arguments),
        _ => Ok(ExitCode::from(2)),
    }
}
