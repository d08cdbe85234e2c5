//! The `keyform` command: settings, a server, the keeping of keys and credentials, and the commands for models. Thin: what it starts lives in the
//! library.
//!
//! 1. `command` describes the arguments, and `config` puts flags, environment, `keyform.toml` and defaults together.
//! 2. `serve` opens the database, serves it, and waits for a signal to stop.
//! 3. `keys` and `credentials` do their errands and end.
//! 4. `copy` moves tables between stores, and items in and out of files.
//! 5. `demo` makes something to look at of the systems that come along.
//! 6. `model` holds the commands that work on models, `lsp` the language server for editors.
//!
//! `place` says where a command finds its tables, `elsewhere` is a store behind an endpoint, `live` follows reads on a server, `systems` are the applications that come along,
//! `applications` runs them, `files` is where they keep what does not fit into items.
//!
//! Exit codes: 0 when all went well, 1 when a model has errors, 2 when the arguments, the settings or the surroundings do not allow it.

mod applications;
mod command;
mod config;
mod copy;
mod credentials;
mod demo;
mod elsewhere;
mod failure;
mod files;
mod keys;
mod live;
mod logging;
mod lsp;
mod model;
mod output;
mod place;
mod serve;
mod signals;
mod systems;

use std::process::ExitCode;

use clap::ArgMatches;

use config::{Config, Surroundings};
use failure::Failure;

/// The system's allocator may keep for ever what many threads have freed: with glibc, a gigabyte after a flood of log-ins, which in a
/// small container ends the process. docs/performance.md compares allocators.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // A store of many tables needs many files. If the limit stays, the server fits its connections into it, with a warning.
    drop(keyform::server::descriptors::raise());
    let arguments = command::command().get_matches();
    match run(&arguments) {
        Ok(code) => code,
        Err(failure) => {
            output::error(&failure);
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &ArgMatches) -> Result<ExitCode, Failure> {
    if let Some(done) = arguments.subcommand().and_then(|(name, arguments)| model::run(name, arguments)) {
        return done;
    }
    if let Some(("demo", arguments)) = arguments.subcommand() {
        return demo::run(arguments);
    }
    if let Some((name @ ("copy" | "export"), arguments)) = arguments.subcommand() {
        return if name == "copy" { copy::run(arguments) } else { copy::export::run(arguments) };
    }
    run_store(arguments).map(|()| ExitCode::SUCCESS)
}

fn run_store(arguments: &ArgMatches) -> Result<(), Failure> {
    let surroundings = Surroundings::of_process();
    let config = |arguments: &ArgMatches| Config::resolve(arguments, &surroundings);
    match arguments.subcommand() {
        None => serve::run(&config(arguments)?, &serve::Request::default()),
        Some(("lsp", _)) => lsp::run(),
        Some(("serve", arguments)) => serve::run(&config(arguments)?, &serve::Request::of(arguments)?),
        Some(("keys", arguments)) => match arguments.subcommand() {
            Some(("rotate", arguments)) => keys::rotate(&config(arguments)?, arguments.get_flag("rewrite")),
            Some(("forget", arguments)) => keys::forget(&config(arguments)?, command::id(arguments)),
            Some((_, arguments)) => keys::show(&config(arguments)?),
            None => keys::show(&config(arguments)?),
        },
        Some(("credentials", arguments)) => match arguments.subcommand() {
            Some(("add", arguments)) => {
                let text = |name| arguments.get_one::<String>(name).map(String::as_str);
                let replace = arguments.get_flag("replace");
                credentials::add(&config(arguments)?, text("id"), text("secret"), replace)
            }
            Some(("remove", arguments)) => credentials::remove(&config(arguments)?, command::id(arguments)),
            Some((_, arguments)) => credentials::list(&config(arguments)?),
            None => credentials::list(&config(arguments)?),
        },
        Some(_) => output::line(&format!("keyform {}", env!("CARGO_PKG_VERSION"))),
    }
}
