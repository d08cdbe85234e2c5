//! `keyform import --to`: loads items from files into a table.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Arg, ArgAction, ArgMatches, value_parser};
use keyform::SystemWorld;
use keyform::operation::CreateTable;
use keyform::table::{KeySchema, ScalarType};
use keyform::{ErrorCode, Execute, ExecuteExt};
use keyform_runtime::deploy::{self, Patience};
use keyform_transfer::{Format, Import, import};

use crate::failure::Failure;
use crate::open_store::{self, OpenStore};
use crate::output;

use super::progress::Line;
use super::text;

pub(crate) const MORE: &str = "With --to STORE and --table, FILE contains items: a folder of DynamoDB's export to S3 \
    (checksums are verified first), lines of DynamoDB JSON, or CSV whose first row names the attributes. A missing \
    table is created if --key gives its key: --key pk:S,sk:N.";

/// Returns the arguments for importing items.
pub(crate) fn arguments() -> Vec<Arg> {
    let of_items = |name: &'static str| Arg::new(name).long(name).requires("to");
    let own = [
        Arg::new("to")
            .long("to")
            .value_name("STORE")
            .requires("table")
            .conflicts_with("name")
            .help("Store to write items to: data:DIR, dynamodb:REGION or http://HOST:PORT"),
        of_items("table").value_name("TABLE").help("Table to import items into"),
        of_items("format")
            .value_name("FORMAT")
            .value_parser(["s3", "jsonl", "csv"])
            .help("Format of the file [default: from its name]"),
        of_items("key").value_name("NAME:TYPE,…").help("Key of the table; creates the table if it is missing"),
        of_items("overwrite").action(ArgAction::SetTrue).help("Write to a table that is not empty"),
        of_items("write-units")
            .value_name("N")
            .value_parser(value_parser!(u64).range(1..))
            .help("Maximum write units per second"),
        Arg::new("checkpoint")
            .long("checkpoint")
            .value_name("FILE")
            .default_value("keyform-import.json")
            .help("Checkpoint file; the same command resumes from it"),
    ];
    own.into_iter().chain(open_store::timeouts()).collect()
}

pub(crate) fn run(path: &str, store: &str, arguments: &ArgMatches) -> Result<ExitCode, Failure> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(read(path, store, arguments))
}

async fn read(path: &str, store: &str, arguments: &ArgMatches) -> Result<ExitCode, Failure> {
    let place = OpenStore::named(store, open_store::config(arguments)?.store_timeouts()).await?;
    let table = text(arguments, "table");
    if let Some(key) = arguments.get_one::<String>("key") {
        make(&*place.store(), table, key).await?;
    }
    let line = Arc::new(Line::default());
    let (told, shown) = (line.clone(), table.to_owned());
    let imported = import(&Import {
        store: place.store(),
        table,
        from: Path::new(path),
        format: arguments.get_one::<String>("format").and_then(|name| Format::named(name)),
        overwrite: arguments.get_flag("overwrite"),
        write_units: arguments.get_one::<u64>("write-units").copied(),
        checkpoint: Some(Path::new(text(arguments, "checkpoint"))),
        world: Arc::new(SystemWorld),
        progress: Arc::new(move |items| told.count(&shown, items)),
    })
    .await;
    line.end();
    place.close()?;
    output::note(&format!("{} items written to {table}", imported?));
    Ok(ExitCode::SUCCESS)
}

/// Creates the table unless it exists.
async fn make(store: &dyn Execute, table: &str, key: &str) -> Result<(), Failure> {
    let wrong =
        || Failure::new(format!("invalid key `{key}`: write NAME:S, or NAME:S,NAME:N with a sort key (types S, N, B)"));
    let mut attributes = Vec::new();
    for part in key.split(',') {
        let (name, kind) = part.split_once(':').ok_or_else(wrong)?;
        attributes.push((name.to_owned(), ScalarType::from_name(kind).ok_or_else(wrong)?));
    }
    let (partition, sort) = match attributes.as_slice() {
        [(partition, _)] => (vec![partition.clone()], Vec::new()),
        [(partition, _), (sort, _)] => (vec![partition.clone()], vec![sort.clone()]),
        _ => return Err(wrong()),
    };
    let create = CreateTable {
        attributes: attributes.into_iter().collect(),
        key: KeySchema { partition, sort },
        ..CreateTable::named(table)
    };
    match store.call(create).await {
        Err(error) if error.code() != ErrorCode::ResourceInUse => return Err(error.into()),
        _ => {}
    }
    Ok(deploy::ready(store, &SystemWorld, table, Patience::default()).await?)
}
