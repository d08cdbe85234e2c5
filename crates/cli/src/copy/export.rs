//! `keyform export`: writes a table's items to files.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Arg, ArgMatches, Command, value_parser};
use keyform::SystemWorld;
use keyform_transfer::{Export, Format, export};

use crate::failure::Failure;
use crate::open_store::{self, NAMES, OpenStore};
use crate::output;

use super::progress::Line;
use super::text;

const MORE: &str = "s3 is the layout of DynamoDB's export to S3, in a folder: manifests with checksums, and gzipped \
    lines. jsonl has one item in DynamoDB JSON per line. csv has a column for each attribute and type: the first row \
    names the type of everything that is not a string (count:N), and lists, maps and sets are DynamoDB JSON. \
    `keyform import --to` reads all three without loss. Files whose names end in .gz are gzipped.";

pub(crate) fn command() -> Command {
    let format = Arg::new("format").long("format").value_name("FORMAT").value_parser(["s3", "jsonl", "csv"]);
    let segments = Arg::new("segments").long("segments").value_name("N").value_parser(value_parser!(u32).range(1..));
    Command::new("export")
        .about("Export a table: DynamoDB's S3 layout, JSON lines or CSV")
        .arg(Arg::new("table").value_name("TABLE").required(true).help("Table to export"))
        .arg(
            Arg::new("from")
                .long("from")
                .value_name("STORE")
                .default_value("data:./keyform-data")
                .help("Store to export from"),
        )
        .arg(
            Arg::new("output")
                .short('o')
                .long("output")
                .value_name("PATH")
                .required(true)
                .help("Output file, or folder for s3; - writes to standard output"),
        )
        .arg(format.default_value("jsonl").help("Format of the items"))
        .arg(segments.default_value("4").help("Number of segments, and of files in the s3 format"))
        .args(open_store::timeouts())
        .after_help(format!("{NAMES}\n\n{MORE}"))
}

pub(crate) fn run(arguments: &ArgMatches) -> Result<ExitCode, Failure> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(write(arguments))
}

async fn write(arguments: &ArgMatches) -> Result<ExitCode, Failure> {
    let place = OpenStore::named(text(arguments, "from"), open_store::config(arguments)?.store_timeouts()).await?;
    let format = Format::named(text(arguments, "format")).ok_or_else(|| Failure::new("unknown format"))?;
    let line = Arc::new(Line::default());
    let (told, shown) = (line.clone(), text(arguments, "table").to_owned());
    let exported = export(&Export {
        store: place.store(),
        table: text(arguments, "table"),
        to: Path::new(text(arguments, "output")),
        format,
        segments: arguments.get_one::<u32>("segments").copied().unwrap_or(4),
        world: Arc::new(SystemWorld),
        progress: Arc::new(move |items| told.count(&shown, items)),
    })
    .await;
    line.end();
    place.close()?;
    let (items, path) = exported?;
    output::note(&format!("{items} items in {}", path.display()));
    Ok(ExitCode::SUCCESS)
}
