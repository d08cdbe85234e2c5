//! `keyform deploy`: compares a model's tables with a store and applies the differences.

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command};
use keyform::SystemWorld;
use keyform_check::Checked;
use keyform_runtime::accept::{AcceptError, Candidate, accept, review};
use keyform_runtime::deploy::{self, Event, Patience, Plan, Request};

use crate::failure::Failure;
use crate::open_store::{self, OpenStore};
use crate::output;

use super::{file, source};

const PLAN: &str = "Exit codes: 0, or with --exit-code 0 without changes, 2 with changes, and 1 if a change is \
    refused or the store cannot be read.";

const APPLY: &str = "\
Applies one change after another and waits for each; for indexes, until they are backfilled. After an interruption, run it again: it plans \
from the current state.

Exit codes: 0 if the store matches the model, 1 if a change is refused or must be applied again later, 2 if the store failed.";

pub(super) fn command() -> Command {
    let exit_code = Arg::new("exit-code").long("exit-code").action(ArgAction::SetTrue);
    let exit_code = exit_code.help("Exit with 2 if there are changes");
    let yes = Arg::new("yes").long("yes").short('y').action(ArgAction::SetTrue).help("Do not ask for confirmation");
    let longest = Arg::new("longest").long("longest").value_name("SECONDS").value_parser(clap::value_parser!(u64));
    let longest = longest.help("Maximum time to wait for one change [default: a day]");
    Command::new("deploy")
        .about("Create and change the tables of a store to match the model")
        .arg_required_else_help(true)
        .subcommand_required(true)
        .subcommand(
            Command::new("plan")
                .about("Show what would be created, changed and deleted")
                .args(common())
                .arg(exit_code)
                .after_help(PLAN),
        )
        .subcommand(
            Command::new("apply")
                .about("Apply the plan; deletes only what --destroy names")
                .args(common())
                .args([yes, longest])
                .after_help(APPLY),
        )
}

fn common() -> Vec<Arg> {
    let destroy =
        Arg::new("destroy").long("destroy").value_name("NAME").action(ArgAction::Append).help(
            "Resource to delete, by its name in the store: TABLE, INDEX, TABLE/INDEX, TABLE/stream, TABLE/recovery",
        );
    let format = Arg::new("format").long("format").value_name("FORMAT").value_parser(["text", "json"]);
    let format = format.default_value("text").help("Output format of the plan");
    [file()]
        .into_iter()
        .chain(open_store::arguments())
        .chain([open_store::accept_breaking_model(), destroy, format])
        .collect()
}

pub(super) fn run(arguments: &ArgMatches) -> Result<ExitCode, Failure> {
    match arguments.subcommand() {
        Some(("apply", arguments)) => with_runtime(apply(arguments)),
        Some((_, arguments)) => match with_runtime(show(arguments)) {
            // With `--exit-code`, code 2 means that there are changes, so failures use 1.
            Err(failure) if arguments.get_flag("exit-code") => {
                output::error(&failure);
                Ok(ExitCode::from(1))
            }
            shown => shown,
        },
        None => Err(Failure::new("missing subcommand: use `keyform deploy plan` or `keyform deploy apply`")),
    }
}

fn with_runtime<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work)
}

async fn show(arguments: &ArgMatches) -> Result<ExitCode, Failure> {
    let model = model(arguments)?;
    let store = OpenStore::open(arguments).await?;
    let refusal = refusal(&model, &store, arguments).await;
    let plan = plan(&model, &store, arguments).await;
    store.close()?;
    if let Some(refusal) = refusal? {
        output::error(&refusal);
        return Ok(ExitCode::from(1));
    }
    let plan = plan?;
    print(&plan, arguments)?;
    Ok(match (arguments.get_flag("exit-code"), plan.is_refused(), plan.has_changes()) {
        (true, true, _) => ExitCode::from(1),
        (true, false, true) => ExitCode::from(2),
        _ => ExitCode::SUCCESS,
    })
}

async fn apply(arguments: &ArgMatches) -> Result<ExitCode, Failure> {
    let model = model(arguments)?;
    let store = OpenStore::open(arguments).await?;
    if let Some(refusal) = refusal(&model, &store, arguments).await? {
        store.close()?;
        output::error(&refusal);
        return Ok(ExitCode::from(1));
    }
    let plan = plan(&model, &store, arguments).await?;
    print(&plan, arguments)?;
    if plan.is_refused() {
        store.close()?;
        return Ok(ExitCode::from(1));
    }
    if plan.has_changes() && !arguments.get_flag("yes") && !is_wanted()? {
        store.close()?;
        output::note("Nothing was changed.");
        return Ok(ExitCode::from(1));
    }
    let longest = arguments.get_one::<u64>("longest").map(|secs| Duration::from_secs(*secs));
    let patience = longest.map_or_else(Patience::default, |longest| Patience { longest: Some(longest) });
    let total = plan.steps();
    let applied = deploy::apply(&*store.store(), &SystemWorld, &plan, patience, &|event| tell(event, total)).await;
    let recorded = if applied.is_ok() { record(&model, &store, arguments).await } else { Ok(()) };
    store.close()?;
    let report = applied?;
    recorded?;
    report.left_out.iter().for_each(|what| output::note(&format!("skipped: {what}")));
    report.later.iter().for_each(|what| output::note(&format!("later: {what}")));
    Ok(if report.later.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Reads and checks the model, before a store is opened for it.
fn model(arguments: &ArgMatches) -> Result<Checked, Failure> {
    let path = arguments.get_one::<String>("file").map_or("-", String::as_str);
    let checked = Checked::read(&source::read(path)?);
    if checked.has_errors() {
        return Err(Failure::new(format!("{path} has errors: see `keyform check {path}`")));
    }
    Ok(checked)
}

async fn plan(checked: &Checked, store: &OpenStore, arguments: &ArgMatches) -> Result<Plan, Failure> {
    let destroy = arguments.get_many::<String>("destroy").into_iter().flatten().cloned().collect();
    let request = Request { variables: open_store::variables(arguments)?, destroy };
    Ok(deploy::prepare(&*store.store(), &checked.model, &request).await?)
}

/// Compares the model with the one that the store has accepted; returns why it is refused.
async fn refusal(checked: &Checked, store: &OpenStore, arguments: &ArgMatches) -> Result<Option<Failure>, Failure> {
    if arguments.get_flag("accept-breaking-model") {
        return Ok(None);
    }
    let candidate = Candidate::of(checked, &open_store::variables(arguments)?);
    match review(&*store.store(), &candidate).await {
        Ok(_) => Ok(None),
        Err(refused @ AcceptError::NotAccepted(_)) => Ok(Some(refused.into())),
        Err(error) => Err(error.into()),
    }
}

/// Records the model, after its tables exist.
async fn record(checked: &Checked, store: &OpenStore, arguments: &ArgMatches) -> Result<(), Failure> {
    let candidate = Candidate::of(checked, &open_store::variables(arguments)?);
    accept(&*store.store(), &candidate, arguments.get_flag("accept-breaking-model")).await?;
    Ok(())
}

fn print(plan: &Plan, arguments: &ArgMatches) -> Result<(), Failure> {
    match arguments.get_one::<String>("format").map(String::as_str) {
        Some("json") => output::line(&serde_json::to_string_pretty(&deploy::json::json(plan))?),
        _ => {
            output::line(deploy::text::text(plan).trim_end())?;
            destroyable(plan)
        }
    }
}

/// Prints the flags that permit what the plan leaves in the store.
fn destroyable(plan: &Plan) -> Result<(), Failure> {
    let names = plan.tables.iter().flat_map(|table| &table.destroyable);
    let flags: Vec<String> = names.map(|name| format!("--destroy {name}")).collect();
    if flags.is_empty() { Ok(()) } else { output::line(&format!("To destroy: {}", flags.join(" "))) }
}

/// Asks for confirmation on a terminal.
fn is_wanted() -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() {
        return Err(Failure::new("not a terminal, cannot ask for confirmation: pass --yes"));
    }
    let mut asked = std::io::stderr();
    asked.write_all(b"Apply these changes? (yes/no) ")?;
    asked.flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}

/// Reports progress. A wait is reported when it begins and then every 30 seconds.
fn tell(event: &Event<'_>, total: usize) {
    match event {
        Event::Begun { table, step, number } => {
            output::note(&format!("[{number}/{total}] {table}: {}", step.change.words()));
        }
        Event::Waiting { table, until, waited } if is_told(*waited) => {
            output::note(&format!("      {table}: {} s, until {until}", waited.as_secs()));
        }
        Event::LeftOut { why, .. } => output::note(&format!("      {why}")),
        Event::Waiting { .. } | Event::Done { .. } => {}
    }
}

fn is_told(waited: Duration) -> bool {
    waited >= Duration::from_secs(1) && waited.as_secs() % 30 < 5
}
