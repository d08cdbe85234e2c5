//! `keyform demo legacy`: writes data in the format before workspaces, to try a migration.

use std::process::ExitCode;
use std::sync::Arc;

use clap::{Arg, ArgMatches, Command, value_parser};
use keyform::ModelOptions;
use keyform::SystemWorld;
use keyform::runtime::run::Runner;
use keyform_check::Checked;
use keyform_workspaces::legacy::MODEL;
use keyform_workspaces::legacy::data::Amount;
use keyform_workspaces::legacy::fill::{Filled, fill};

use crate::failure::Failure;
use crate::open_store::{self, OpenStore};
use crate::output;

const MORE: &str = "Writes records like those of an application that used the old format for two years. They depend \
    only on the seed: a second run finds them in place. List them with `keyform run workspaces-v1 items`, and migrate \
    them with `keyform migrate run workspaces`.";

pub(super) fn command() -> Command {
    let amount = Amount::default();
    let count = |name: &'static str, most: u64, default: usize| {
        Arg::new(name)
            .long(name)
            .value_name("N")
            .value_parser(value_parser!(u64).range(..=most))
            .default_value(default.to_string())
    };
    let seed = Arg::new("seed").long("seed").value_name("N").value_parser(value_parser!(u64));
    Command::new("legacy")
        .about("Fill a table with data in the old key format, to try a migration")
        .arg(count("items", 10_000_000, amount.items).help("Number of saved items"))
        .arg(count("settings", 10_000, amount.settings).help("Number of settings"))
        .arg(count("members", 100_000, amount.members).help("Number of members"))
        .arg(seed.default_value(amount.seed.to_string()).help("Seed of the generated records"))
        .args(open_store::arguments())
        .arg(open_store::create_tables())
        .after_help(MORE)
}

pub(super) fn run(arguments: &ArgMatches) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let store = OpenStore::open(arguments).await?;
        let written = write(&store, arguments).await;
        store.close()?;
        let (filled, table) = written?;
        output::line(&format!(
            "{} items, {} settings and {} members written to {table}",
            filled.items, filled.settings, filled.members
        ))?;
        Ok(ExitCode::SUCCESS)
    })
}

async fn write(store: &OpenStore, arguments: &ArgMatches) -> Result<(Filled, String), Failure> {
    let config = open_store::config(arguments)?;
    let settings = open_store::run_settings(&config, open_store::variables(arguments)?, Default::default());
    let checked = Arc::new(Checked::read(MODEL));
    if let Some(table) = keyform_language::bind::unnamed_table(&checked.model, &settings.variables) {
        return Err(Failure::new(format!(
            "the table name {table} has a variable without a value: pass --set NAME=VALUE"
        )));
    }
    let runner = Runner::new(checked, store.store(), Arc::new(SystemWorld), settings.clone())?;
    if store.is_embedded() || arguments.get_flag("create-tables") {
        for table in runner.create_tables().await? {
            output::note(&format!("created table {table}"));
        }
    }
    let stage = settings.variables.get("stage").cloned().unwrap_or_default();
    let filled = fill(&store.store(), &ModelOptions::from(settings), amount(arguments)).await?;
    Ok((filled, format!("workspaces-{stage}")))
}

fn amount(arguments: &ArgMatches) -> Amount {
    let number = |name: &str| arguments.get_one::<u64>(name).copied().unwrap_or_default();
    let count = |name: &str| usize::try_from(number(name)).unwrap_or(usize::MAX);
    Amount { items: count("items"), settings: count("settings"), members: count("members"), seed: number("seed") }
}
