//! `keyform copy`: copies tables between stores.

pub(crate) mod export;
pub(crate) mod import;
mod progress;

use std::process::ExitCode;
use std::sync::Arc;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use keyform::operation::ListTables;
use keyform::{Execute, ExecuteExt, SystemWorld};
use keyform_transfer::{Checkpoint, Copier, CopySettings, Follow};
use tokio::sync::watch;

use crate::failure::Failure;
use crate::open_store::{self, NAMES, OpenStore};
use crate::output;

use progress::Line;

const MORE: &str = "\
Creates missing tables like those of the source: keys, indexes, billing, class, stream and expiry; `keyform deploy` does the rest. Refuses a table that has \
items, unless you pass --overwrite. Compares both sides at the end, by count and by a checksum of all items.

After an interruption, the same command resumes from its checkpoint.

With --follow, it then copies changes through the source's stream, until Ctrl-C or --until-idle: stop writing to the source, wait until the copy has \
caught up, end it, and write to the target.";

pub(crate) fn command() -> Command {
    let store = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name("STORE").required(true).help(help)
    };
    let table = Arg::new("table").long("table").short('t').value_name("TABLE[=NAME]").action(ArgAction::Append);
    let number =
        |name: &'static str| Arg::new(name).long(name).value_name("N").value_parser(value_parser!(u64).range(1..));
    let flag = |name: &'static str, help: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue).help(help);
    let checkpoint = Arg::new("checkpoint").long("checkpoint").value_name("FILE").default_value("keyform-copy.json");
    Command::new("copy")
        .about("Copy tables between stores; resumes an interrupted copy")
        .arg(store("from", "Source store"))
        .arg(store("to", "Target store"))
        .arg(table.help("Table to copy, with an optional new name in the target [default: all tables]"))
        .arg(number("segments").default_value("8").help("Number of segments to read in parallel"))
        .arg(number("write-units").help("Maximum write units per second"))
        .arg(number("page-items").hide(true))
        .arg(flag("overwrite", "Write to tables that are not empty"))
        .arg(flag("no-verify", "Do not compare both sides at the end"))
        .arg(flag("follow", "After the copy, apply changes of the source from its stream"))
        .arg(
            number("until-idle")
                .value_name("SECONDS")
                .requires("follow")
                .help("With --follow, stop after this time without a change"),
        )
        .arg(checkpoint.help("Checkpoint file"))
        .args(open_store::timeouts())
        .after_help(format!("{NAMES}\n\n{MORE}"))
}

pub(crate) fn run(arguments: &ArgMatches) -> Result<ExitCode, Failure> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(copy(arguments))
}

pub(crate) fn text<'a>(arguments: &'a ArgMatches, name: &str) -> &'a str {
    arguments.get_one::<String>(name).map_or("", String::as_str)
}

async fn copy(arguments: &ArgMatches) -> Result<ExitCode, Failure> {
    let (from, to) = (text(arguments, "from"), text(arguments, "to"));
    if from == to {
        return Err(Failure::new("source and target are the same store"));
    }
    let timeouts = open_store::config(arguments)?.store_timeouts();
    let (source, target) = (OpenStore::named(from, timeouts).await?, OpenStore::named(to, timeouts).await?);
    let checkpoint = Arc::new(Checkpoint::open(text(arguments, "checkpoint"))?);
    let (stop, stopped) = watch::channel(false);
    let settings = settings(arguments, stopped);
    if settings.follow.is_some() {
        tokio::spawn(stop_on_signal(stop));
    }
    let line = Arc::new(Line::default());
    let told = line.clone();
    let copier = Copier {
        from: source.store(),
        to: target.store(),
        world: Arc::new(SystemWorld),
        settings,
        checkpoint: checkpoint.clone(),
        progress: Arc::new(move |progress| told.show(progress)),
    };
    let copied = tables(&copier, arguments, &line).await;
    line.end();
    source.close()?;
    target.close()?;
    copied?;
    checkpoint.remove()?;
    Ok(ExitCode::SUCCESS)
}

fn settings(arguments: &ArgMatches, stop: watch::Receiver<bool>) -> CopySettings {
    let number = |name: &str| arguments.get_one::<u64>(name).copied();
    let idle_millis = number("until-idle").map(|secs| i64::try_from(secs * 1000).unwrap_or(i64::MAX));
    CopySettings {
        segments: number("segments").and_then(|segments| u32::try_from(segments).ok()).unwrap_or(8),
        write_units: number("write-units"),
        page_items: number("page-items").and_then(|items| usize::try_from(items).ok()),
        overwrite: arguments.get_flag("overwrite"),
        verify: !arguments.get_flag("no-verify"),
        follow: arguments.get_flag("follow").then_some(Follow { stop, idle_millis }),
    }
}

/// Ctrl-C ends the follow phase after it has caught up; a second one ends the process.
async fn stop_on_signal(stop: watch::Sender<bool>) {
    if tokio::signal::ctrl_c().await.is_ok() {
        output::note("\nstopping after all changes until now");
        stop.send_replace(true);
        // Exiting immediately is safe, because the checkpoint lets the copy resume.
        if tokio::signal::ctrl_c().await.is_ok() {
            std::process::exit(130);
        }
    }
}

/// Copies tables one after the other. In follow mode it copies all concurrently, because each runs until it is stopped.
async fn tables(copier: &Copier, arguments: &ArgMatches, line: &Arc<Line>) -> Result<(), Failure> {
    let pairs = pairs(&*copier.from, arguments).await?;
    if pairs.is_empty() {
        return Err(Failure::new("the source has no table to copy"));
    }
    if copier.settings.follow.is_none() {
        for (from, to) in &pairs {
            one(copier, from, to, line).await?;
        }
        return Ok(());
    }
    let mut all = tokio::task::JoinSet::new();
    for (from, to) in pairs {
        let (copier, line) = (copier.clone(), line.clone());
        all.spawn(async move { one(&copier, &from, &to, &line).await });
    }
    while let Some(done) = all.join_next().await {
        done??;
    }
    Ok(())
}

async fn one(copier: &Copier, from: &str, to: &str, line: &Line) -> Result<(), Failure> {
    if copier.checkpoint.is_done(from) {
        line.say(&format!("{from}: already copied"));
        return Ok(());
    }
    let report = copier.table(from, to).await?;
    let made = if report.made { ", created" } else { "" };
    let changes =
        if copier.settings.follow.is_some() { format!(", {} changes", report.changes) } else { String::new() };
    let verified = report.verified.map(|both| format!("; both sides have {both}")).unwrap_or_default();
    line.say(&format!("{from} → {to}{made}: {} items, {} bytes{changes}{verified}", report.items, report.bytes));
    Ok(())
}

/// Returns pairs of source and target table.
async fn pairs(store: &dyn Execute, arguments: &ArgMatches) -> Result<Vec<(String, String)>, Failure> {
    let given: Vec<&String> = arguments.get_many::<String>("table").into_iter().flatten().collect();
    if given.is_empty() {
        return Ok(all_tables(store).await?.into_iter().map(|table| (table.clone(), table)).collect());
    }
    let pair = |text: &&String| match text.split_once('=') {
        Some((from, to)) => (from.to_owned(), to.to_owned()),
        None => ((*text).clone(), (*text).clone()),
    };
    Ok(given.iter().map(pair).collect())
}

async fn all_tables(store: &dyn Execute) -> Result<Vec<String>, Failure> {
    let (mut tables, mut start) = (Vec::new(), None);
    loop {
        let list = ListTables { start: start.take(), limit: None };
        let page = store.call(list).await?;
        tables.extend(page.tables);
        match page.last {
            Some(last) => start = Some(last),
            None => return Ok(tables),
        }
    }
}
