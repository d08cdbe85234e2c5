//! Commands for models. The library generates their output from the text of a file.
//!
//! Exit codes: 0 for success, 1 if a model has errors, 2 if a file cannot be read.

mod call;
mod check;
mod convert;
mod cost;
mod deploy;
mod doc;
mod explain;
mod field_keys;
mod format;
mod generate;
mod handlers;
mod import;
mod items;
mod migrate;
mod printed;
mod prove;
mod run;
mod source;
mod token;
mod watch;

use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command};

use crate::failure::Failure;

/// Returns the commands in the order of the help.
pub(crate) fn commands() -> Vec<Command> {
    vec![
        check::command(),
        prove::command(),
        format::command(),
        explain::command(),
        doc::command(),
        cost::command(),
        run::command(),
        watch::command(),
        migrate::command(),
        deploy::command(),
        field_keys::command(),
        generate::command(),
        handlers::command(),
        token::command(),
        import::command(),
        convert::command(),
    ]
}

/// Runs a command if it belongs to this module.
pub(crate) fn run(name: &str, arguments: &ArgMatches) -> Option<Result<ExitCode, Failure>> {
    Some(match name {
        "check" => check::run(arguments),
        "prove" => prove::run(arguments),
        "cost" => cost::run(arguments),
        "deploy" => deploy::run(arguments),
        "doc" => doc::run(arguments),
        "explain" => explain::run(arguments),
        "field-keys" => field_keys::run(arguments),
        "generate" => generate::run(arguments),
        "handlers" => handlers::run(arguments),
        "fmt" => format::run(arguments),
        "model" => convert::run(arguments),
        "import" => import::run(arguments),
        "run" => run::run(arguments),
        "token" => token::run(arguments),
        "migrate" => migrate::run(arguments),
        "watch" => watch::run(arguments),
        _ => return None,
    })
}

/// Returns the argument for the model file.
fn file() -> Arg {
    Arg::new("file")
        .value_name("FILE")
        .required(true)
        .help("Model: a .kf file, the name of an example system, or - for standard input")
}
