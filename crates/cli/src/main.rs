//! The `keyform` command: server, key and credential management, and commands for models. A thin layer over the
//! library.
//!
//! 1. `command` defines the arguments, and `config` combines flags, environment, `keyform.toml` and defaults.
//! 2. `serve` opens the database, serves it, and waits for a stop signal.
//! 3. `keys` and `credentials` manage keys and access keys.
//! 4. `copy` copies tables between stores, and exports and imports files.
//! 5. `demo` runs demonstrations based on the example systems.
//! 6. `model` contains the commands for models, `lsp` the language server for editors.
//!
//! `open_store` opens the store of a command, `remote_store` is a remote store for a server, `live` follows reads on a
//! server, `key_files` stores the keys of cursors and fields, `systems` lists the example systems, `applications` runs
//! them, and `files` is their directory for data outside items.
//!
//! Exit codes: 0 for success, 1 if a model has errors or refuses a call, 2 for invalid arguments or settings and for
//! failures of the environment. `--help` of a command lists deviations.

mod advice;
mod applications;
mod command;
mod config;
mod copy;
mod credentials;
mod demo;
mod failure;
mod files;
mod key_files;
mod keys;
mod live;
mod logging;
mod lsp;
mod model;
mod open_store;
mod output;
mod remote_store;
mod serve;
mod signals;
mod systems;

use std::process::ExitCode;

use clap::ArgMatches;

use config::{Config, ProcessContext};
use failure::Failure;

/// The system allocator may never return memory that many threads have freed: with glibc, a gigabyte after a flood of
/// log-ins, which in a small container ends the process. docs/performance.md compares allocators.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // A store with many tables needs many files. If raising the limit fails, the server reduces its connections and
    // logs a warning.
    drop(keyform_server::descriptors::raise());
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
    let context = ProcessContext::of_process();
    let config = |arguments: &ArgMatches| Config::resolve(arguments, &context);
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
