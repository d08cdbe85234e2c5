//! `keyform migrate`: converts items to the new form, in steps that can be interrupted at any time.

use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use clap::{Arg, ArgAction, ArgMatches, Command};
use indicatif::{ProgressBar, ProgressStyle};
use keyform::SystemWorld;
use keyform_check::Checked;
use keyform_runtime::evolve::state::{Counts, State};
use keyform_runtime::evolve::{MigrateError, Migration, Pace, Progress, RolledBack, Verified};
use keyform_transfer::{Rehearsal, Rehearse, Stage};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::open_store::{self, OpenStore};
use crate::output;

use super::{file, source};

const MORE: &str = "The order: `plan` counts items and estimates the effort, `run` migrates every old item (it \
    resumes from its checkpoint after an interruption), `verify` compares every item, `cutover` verifies again \
    and refuses if an item remains, then completes the migration and deletes the old items, `rollback` returns to the old form before the cut-over. Readers and writers \
    of the new model keep running all the time. Exit code 1: items remain or are wrong.";

pub(super) fn command() -> Command {
    let steps = [
        ("plan", "Count the items and estimate the effort of the migration"),
        ("run", "Migrate every old item; resumes an interrupted run"),
        ("status", "Show the phase, the process that runs the migration, and the counters"),
        ("verify", "Compare every item"),
        ("cutover", "Complete the migration: read only the new form, and delete the old items"),
        ("rollback", "Return to the old form; not possible after the cut-over"),
    ];
    let step = |(name, about)| {
        let step = Command::new(name).about(about).arg(file()).args(open_store::arguments()).arg(format());
        let step = step.arg(open_store::accept_breaking_model());
        match name {
            "plan" => step.arg(budget()),
            "run" => step.arg(budget()).arg(take_over()).arg(rehearse()).arg(tables_prefix()),
            "cutover" => step.arg(budget()).arg(take_over()),
            "rollback" => step.arg(take_over()).arg(no_wait()),
            _ => step,
        }
    };
    Command::new("migrate")
        .about("Move items to a new key format while the application keeps running")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(steps.map(step))
        .after_help(MORE)
}

fn format() -> Arg {
    let format = Arg::new("format").long("format").value_name("FORMAT").value_parser(["text", "json"]);
    format.default_value("text").help("Output format: text, or JSON with progress as JSON lines on standard error")
}

fn budget() -> Arg {
    Arg::new("write-units-per-second")
        .long("write-units-per-second")
        .value_name("UNITS")
        .value_parser(clap::value_parser!(f64))
        .help("Maximum write units per second, so that the application keeps its share")
}

fn take_over() -> Arg {
    Arg::new("take-over")
        .long("take-over")
        .action(ArgAction::SetTrue)
        .help("Take over the lease of another run that is known to have died")
}

fn no_wait() -> Arg {
    Arg::new("no-wait")
        .long("no-wait")
        .action(ArgAction::SetTrue)
        .help("Skip the grace period; only safe when no instance of the application is running")
}

fn rehearse() -> Arg {
    Arg::new("rehearse").long("rehearse").action(ArgAction::SetTrue).help(
        "Run the migration on a copy in memory (up to 512 MB of items) and report the result; the tables are only read",
    )
}

fn tables_prefix() -> Arg {
    Arg::new("tables-prefix")
        .long("tables-prefix")
        .value_name("PREFIX")
        .requires("rehearse")
        .value_parser(clap::builder::NonEmptyStringValueParser::new())
        .help("Rehearse on copies in the store itself; their names start with this prefix and they are deleted at the end")
}

pub(super) fn run(arguments: &ArgMatches) -> Result<ExitCode, Failure> {
    let Some((step, arguments)) = arguments.subcommand() else { return Ok(ExitCode::from(2)) };
    let path = arguments.get_one::<String>("file").map_or("", String::as_str);
    let checked = Checked::read(&source::read(path)?);
    if checked.has_errors() {
        return Err(Failure::new(format!("{path} has errors: see `keyform check {path}`")));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(run_step(step, Arc::new(checked), arguments))
}

async fn run_step(step: &str, checked: Arc<Checked>, arguments: &ArgMatches) -> Result<ExitCode, Failure> {
    let store = OpenStore::open(arguments).await?;
    let done = run_on(step, checked, &store, arguments).await;
    store.close()?;
    done
}

async fn run_on(
    step: &str,
    checked: Arc<Checked>,
    store: &OpenStore,
    arguments: &ArgMatches,
) -> Result<ExitCode, Failure> {
    let config = open_store::config(arguments)?;
    let variables = open_store::run_settings(&config, open_store::variables(arguments)?, Default::default()).variables;
    let is_sealed = checked.model.entities.iter().any(|entity| entity.encrypted_fields().next().is_some());
    let keys = if is_sealed { config.field_keys()? } else { None };
    let migration = Migration::new(Arc::clone(&checked), store.store(), Arc::new(SystemWorld), variables.clone())?;
    let accept_breaking = arguments.get_flag("accept-breaking-model");
    let migration = migration.with_keys(keys.as_ref()).accepting_breaking_model(accept_breaking);
    if matches!(step, "plan" | "run" | "cutover") {
        migration.review().await?;
    }
    let is_json = arguments.get_one::<String>("format").is_some_and(|format| format == "json");
    let bar = Bar::new(is_json);
    let watch = |progress: &Progress| bar.show(progress);
    let said = match step {
        "plan" => {
            let estimate = migration.estimate(pace(arguments).write_units_per_second, &watch).await?;
            Said::good(estimate.text(), serde_json::to_value(&estimate)?)
        }
        "run" if arguments.get_flag("rehearse") => {
            let rehearse = Rehearse {
                checked,
                variables,
                keys,
                stage: stage(arguments),
                write_units_per_second: pace(arguments).write_units_per_second,
                copying: Arc::new(copied),
                world: Arc::new(SystemWorld),
            };
            rehearsed(&rehearse.run(&store.store(), &watch).await?, &rehearse.stage)?
        }
        "run" => {
            let ran = migration.run(&pace(arguments), &watch).await?;
            let mut text: String = ran.made.iter().map(|name| format!("created {name}\n")).collect();
            text.push_str(&counted(&ran.state));
            text.extend(ran.stuck.iter().map(|stuck| format!("stuck: {stuck}\n")));
            let value = json!({ "made": ran.made, "state": state_value(&ran.state)?, "stuck": ran.stuck });
            Said { text, value, is_good: ran.stuck.is_empty() }
        }
        "verify" => verified(&migration.verify(&watch).await?)?,
        "cutover" => match migration.cut_over(&pace(arguments), &watch).await {
            Ok(state) => {
                let text = format!("{}remove the `evolve` from the model\n", counted(&state));
                Said::good(text, state_value(&state)?)
            }
            Err(error @ MigrateError::Left(..)) => {
                Said { text: format!("{error}\n"), value: json!({ "error": error.to_string() }), is_good: false }
            }
            Err(error) => return Err(error.into()),
        },
        "rollback" => {
            let migration = if arguments.get_flag("no-wait") { migration.without_waiting() } else { migration };
            rolled_back(&migration.roll_back(&pace(arguments), &watch).await?)?
        }
        _ => {
            let state = migration.status().await?;
            Said::good(status(&state), state_value(&state)?)
        }
    };
    bar.end();
    let text = if is_json { serde_json::to_string_pretty(&said.value)? } else { said.text };
    output::line(text.trim_end())?;
    Ok(if said.is_good { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Result of a step, as text and as JSON.
struct Said {
    text: String,
    value: Value,
    is_good: bool,
}

impl Said {
    fn good(text: String, value: Value) -> Self {
        Self { text, value, is_good: true }
    }
}

fn stage(arguments: &ArgMatches) -> Stage {
    match arguments.get_one::<String>("tables-prefix") {
        Some(prefix) => Stage::Tables { prefix: prefix.clone() },
        None => Stage::Memory { bytes_max: Stage::BYTES_MAX },
    }
}

/// Reports the progress of copying every thousand items, because a copy in the store may take long.
fn copied(progress: &keyform_transfer::Progress) {
    if progress.items.is_multiple_of(1000) && progress.items > 0 {
        output::note(&format!("copying {}: {} of about {}", progress.table, progress.items, progress.items_total));
    }
}

fn pace(arguments: &ArgMatches) -> Pace {
    let flag = |name: &str| arguments.try_get_one::<bool>(name).ok().flatten().copied().unwrap_or(false);
    let budget = arguments.try_get_one::<f64>("write-units-per-second").ok().flatten().copied();
    let host = std::env::var("HOSTNAME").unwrap_or_else(|_| "this host".to_owned());
    Pace {
        write_units_per_second: budget,
        owner: format!("process {} on {host}", std::process::id()),
        take_over: flag("take-over"),
        ..Pace::default()
    }
}

fn state_value(state: &State) -> Result<Value, Failure> {
    Ok(json!({
        "id": state.id,
        "phase": state.phase.name(),
        "lease": serde_json::to_value(&state.lease)?,
        "counts": serde_json::to_value(&state.counts)?,
        "begunMillis": state.begun_millis,
        "writtenMillis": state.written_millis,
    }))
}

fn counted(state: &State) -> String {
    let Counts { carried, superseded, stuck, removed, .. } = state.counts;
    let mut parts = vec![format!("{carried} migrated")];
    let others = [(superseded, "superseded"), (stuck, "stuck"), (removed, "old items deleted")];
    parts.extend(others.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")));
    format!("{}: {}\n", state.phase.name(), parts.join(", "))
}

fn status(state: &State) -> String {
    let mut text = counted(state);
    if let Some(lease) = &state.lease {
        text.push_str(&format!("run by {}\n", lease.owner));
    }
    text
}

fn verified(found: &Verified) -> Result<Said, Failure> {
    let parts = [
        (found.left, "left"),
        (found.wrong, "wrong"),
        (found.same, "unchanged since the migration"),
        (found.changed, "changed since"),
        (found.deleted, "deleted since"),
        (found.superseded, "superseded"),
        (found.new, "in the new form"),
        (found.other, "of other kinds"),
    ];
    let parts: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    let mut text = format!("{} items: {}\n", found.scanned, parts.join(", "));
    text.extend(found.examples.iter().map(|example| format!("for example {example}\n")));
    text.push_str(&verdict(found));
    let mut value = serde_json::to_value(found)?;
    value["complete"] = found.is_complete().into();
    Ok(Said { text, value, is_good: found.is_complete() })
}

/// States whether the cut-over may follow.
fn verdict(found: &Verified) -> String {
    match (found.left, found.wrong) {
        (0, 0) => "complete: every old item is migrated\n".to_owned(),
        (left, 0) => format!("not complete: {left} old items are left; repeat `keyform migrate run`\n"),
        (left, wrong) => format!("not complete: {left} old items are left, {wrong} differ from what was migrated\n"),
    }
}

fn rolled_back(found: &RolledBack) -> Result<Said, Failure> {
    let mut text = format!("{} items returned to their old form, {} deleted\n", found.reverted, found.deleted);
    if found.kept > 0 {
        text.push_str(&format!("{} stay in the new form: the old form cannot express them\n", found.kept));
        text.extend(found.examples.iter().map(|example| format!("for example {example}\n")));
    }
    Ok(Said::good(text, serde_json::to_value(found)?))
}

fn rehearsed(rehearsal: &Rehearsal, stage: &Stage) -> Result<Said, Failure> {
    let items: u64 = rehearsal.copied.values().sum();
    let destination = match stage {
        Stage::Memory { .. } => String::new(),
        Stage::Tables { prefix } => format!(" in tables {prefix}…, which are deleted again"),
    };
    let mut text = format!("rehearsed on a copy of {items} items{destination}\n{}", rehearsal.estimate.text());
    text.push_str(&format!("took {} write units and {} ms\n", rehearsal.units.ceil(), rehearsal.millis));
    text.push_str(&verified(&rehearsal.verified)?.text);
    text.push_str(&rolled_back(&rehearsal.rolled_back)?.text);
    text.extend(rehearsal.stuck.iter().map(|stuck| format!("stuck: {stuck}\n")));
    text.push_str(if rehearsal.cut_over { "the cut-over succeeds\n" } else { "the cut-over fails\n" });
    let value = json!({
        "copied": rehearsal.copied,
        "estimate": serde_json::to_value(&rehearsal.estimate)?,
        "units": rehearsal.units,
        "millis": rehearsal.millis,
        "stuck": rehearsal.stuck,
        "verified": serde_json::to_value(&rehearsal.verified)?,
        "rolledBack": serde_json::to_value(&rehearsal.rolled_back)?,
        "cutOver": rehearsal.cut_over,
    });
    Ok(Said { text, value, is_good: rehearsal.is_good() })
}

/// Progress display: a bar on a terminal, periodic lines otherwise, or JSON on request.
enum Bar {
    Drawn(ProgressBar),
    /// Step and tenth of the last line.
    Lines(Mutex<Option<(&'static str, u64)>>),
    Json,
}

impl Bar {
    fn new(is_json: bool) -> Self {
        let style = ProgressStyle::with_template("[{bar:30}] {percent:>3}% {msg} {pos}/{len}");
        let bar = ProgressBar::new(1).with_style(style.expect("the template is valid").progress_chars("#-"));
        match (is_json, bar.is_hidden()) {
            (true, _) => Self::Json,
            (false, false) => Self::Drawn(bar),
            (false, true) => Self::Lines(Mutex::default()),
        }
    }

    fn show(&self, progress: &Progress) {
        let total = progress.total.max(progress.done).max(1);
        match self {
            Self::Json => output::note(
                &json!({
                    "step": progress.step,
                    "done": progress.done,
                    "total": total,
                    "carried": progress.counts.carried,
                    "units": progress.counts.units,
                })
                .to_string(),
            ),
            Self::Drawn(bar) => {
                bar.set_length(total);
                bar.set_position(progress.done);
                bar.set_message(progress.step);
            }
            Self::Lines(last) => {
                let percent = progress.done * 100 / total;
                let line = Some((progress.step, percent / 10));
                let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
                if std::mem::replace(&mut *last, line) != line {
                    output::note(&format!("{}: {percent}% ({} of {total})", progress.step, progress.done));
                }
            }
        }
    }

    fn end(&self) {
        match self {
            Self::Drawn(bar) => bar.finish_and_clear(),
            Self::Lines(_) | Self::Json => {}
        }
    }
}
