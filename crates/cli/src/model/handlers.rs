//! `keyform handlers dead-letters`: lists, retries and drops changes that a handler could not process.

use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};
use keyform_check::Checked;
use keyform_live::handle::{DeadLetter, DeadLetters, HandlerSettings};
use keyform_runtime::run::json;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::open_store::{self, OpenStore};
use crate::output;

use super::{file, source};

const MORE: &str = "A change that a handler repeatedly fails to process becomes a dead letter. `redrive` schedules \
    letters for another attempt: the program that runs the handlers picks them up within seconds, passes each to the \
    handler once, and deletes those that succeed. `drop` deletes letters permanently: their changes are never \
    handled.";

pub(super) fn command() -> Command {
    let steps = [
        ("list", "List changes that a handler failed to process, with the last error"),
        ("redrive", "Schedule letters for another attempt by the program that runs the handlers"),
        ("drop", "Delete letters permanently"),
    ];
    let step = |(name, about)| {
        let step =
            Command::new(name).about(about).arg(file()).arg(handler()).args(open_store::arguments()).arg(table());
        match name {
            "list" => step.arg(format()),
            "redrive" => step.arg(change()),
            _ => step.arg(change().required_unless_present("all")).arg(all()),
        }
    };
    let letters = Command::new("dead-letters")
        .about("List, retry and delete changes that a handler failed to process")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(steps.map(step))
        .after_help(MORE);
    Command::new("handlers")
        .about("Inspect the change handlers of a model")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(letters)
}

fn handler() -> Arg {
    Arg::new("handler").value_name("HANDLER").help("Handler [default: all handlers of the model]")
}

fn change() -> Arg {
    Arg::new("change").long("change").value_name("ID").help("Select only the dead letter of this change")
}

fn all() -> Arg {
    Arg::new("all").long("all").action(ArgAction::SetTrue).conflicts_with("change").help("Select all dead letters")
}

fn table() -> Arg {
    Arg::new("checkpoints")
        .long("checkpoints-table")
        .value_name("TABLE")
        .help("Table of the handlers' checkpoints, if it is not keyform-checkpoints")
}

fn format() -> Arg {
    let format = Arg::new("format").long("format").value_name("FORMAT").value_parser(["text", "jsonl"]);
    format.default_value("text").help("Output format: text, or one JSON line per dead letter")
}

pub(super) fn run(arguments: &ArgMatches) -> Result<ExitCode, Failure> {
    let step = arguments.subcommand().and_then(|(_, arguments)| arguments.subcommand());
    let Some((step, arguments)) = step else { return Ok(ExitCode::from(2)) };
    let path = arguments.get_one::<String>("file").map_or("", String::as_str);
    let checked = Checked::read(&source::read(path)?);
    if checked.has_errors() {
        return Err(Failure::new(format!("{path} has errors: see `keyform check {path}`")));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let store = OpenStore::open(arguments).await?;
        let done = run_on(step, &checked, &store, arguments).await;
        store.close()?;
        done
    })
}

async fn run_on(step: &str, checked: &Checked, store: &OpenStore, arguments: &ArgMatches) -> Result<ExitCode, Failure> {
    let mut settings = HandlerSettings::default();
    if let Some(table) = arguments.get_one::<String>("checkpoints") {
        settings.table.clone_from(table);
    }
    let letters = DeadLetters::new(store.store(), &checked.model, &settings);
    let found = wanted(&letters, arguments).await?;
    match step {
        "list" => list(&found, arguments)?,
        "redrive" => {
            for letter in &found {
                letters.want(letter).await?;
            }
            output::line(&format!("{} scheduled: the program that runs the handlers retries them", found.len()))?;
        }
        _ => {
            for letter in &found {
                letters.discard(letter).await?;
            }
            output::line(&format!("{} dropped", found.len()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the dead letters that the arguments select.
async fn wanted(letters: &DeadLetters, arguments: &ArgMatches) -> Result<Vec<DeadLetter>, Failure> {
    let named = arguments.get_one::<String>("handler").cloned();
    let handlers = named.map_or_else(|| letters.handlers().to_vec(), |handler| vec![handler]);
    let mut found = Vec::new();
    for handler in &handlers {
        found.extend(letters.of(handler).await?);
    }
    let Some(change) = arguments.try_get_one::<String>("change").ok().flatten() else { return Ok(found) };
    found.retain(|letter| letter.change == *change);
    match found.is_empty() {
        true => Err(Failure::new(format!("no dead letter for the change {change}"))),
        false => Ok(found),
    }
}

fn list(letters: &[DeadLetter], arguments: &ArgMatches) -> Result<(), Failure> {
    if arguments.get_one::<String>("format").is_some_and(|format| format == "jsonl") {
        return letters.iter().try_for_each(|letter| output::line(&value(letter).to_string()));
    }
    for letter in letters {
        let wanted = if letter.is_wanted { ", scheduled again" } else { "" };
        let (kind, key) = (letter.record.kind.name(), keys(letter));
        output::line(&format!("{} {} {kind} of {key} in {}", letter.handler, letter.change, letter.table))?;
        output::line(&format!("    tried {} times{wanted}: {}", letter.attempts, letter.error))?;
    }
    output::line(&format!("{} dead letters", letters.len()))
}

fn keys(letter: &DeadLetter) -> Value {
    let keys = letter.record.keys.to_attributes();
    Value::Object(keys.iter().map(|(name, value)| (name.clone(), json::to_json(value))).collect())
}

fn value(letter: &DeadLetter) -> Value {
    json!({
        "handler": letter.handler,
        "change": letter.change,
        "kind": letter.record.kind.name(),
        "table": letter.table,
        "key": keys(letter),
        "at": letter.record.at_ms,
        "attempts": letter.attempts,
        "error": letter.error,
        "wanted": letter.is_wanted,
    })
}
