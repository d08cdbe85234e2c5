//! `keyform check`: checks models and reports diagnostics.

use std::io::IsTerminal as _;
use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};
use keyform_check::catalogue;
use keyform_check::check::Target;
use keyform_check::samples::Samples;
use keyform_check::{Checked, Options};
use keyform_language::diagnostic::{json, render, sarif};
use keyform_language::{Diagnostic, Severity};

use crate::failure::Failure;
use crate::{open_store, output};

use super::{items, source};

const MORE: &str = "\
Without FILES, checks every .kf file below ./systems or, if there is no such folder, below the current directory.

With --samples or --store, also lists the items that reads would reject: items of no entity, keys that match no \
template, fields without a value of their type. Values beyond their bounds are warnings.

Exit codes: 0 if there are no errors, 1 if there are (or warnings, with --deny warnings), 2 if a file cannot be read.";

pub(super) fn command() -> Command {
    let files = Arg::new("files").value_name("FILES").num_args(0..).help("Models (.kf files); - reads standard input");
    let format = Arg::new("format").long("format").value_name("FORMAT").value_parser(["text", "json", "sarif"]);
    let deny = Arg::new("deny").long("deny").value_name("WHAT").value_parser(["warnings"]).action(ArgAction::Append);
    let target = Arg::new("target").long("target").value_name("STORE").value_parser(["dynamodb", "alternator"]);
    Command::new("check")
        .about("Check models: keys, indexes, reads, writes, expiry, evolution, cost")
        .arg(files)
        .arg(format.default_value("text").help("Output format of the findings"))
        .arg(deny.help("Fail on this severity too"))
        .arg(target.default_value("dynamodb").help("Store to check the model for"))
        .arg(
            Arg::new("against")
                .long("against")
                .value_name("OLD.kf")
                .help("Also check the change from an older version of the model"),
        )
        .arg(
            Arg::new("samples")
                .long("samples")
                .value_name("ITEMS.jsonl")
                .help("File of real items to check against the model: JSON lines, plain or in DynamoDB JSON"),
        )
        .arg(
            Arg::new("stored-items").long("store").value_name("STORE").help(
                "Check all items of the model's tables in a store: data:DIR, dynamodb:REGION or http://HOST:PORT",
            ),
        )
        .args(open_store::timeouts())
        .arg(open_store::variable())
        .arg(
            Arg::new("explain")
                .long("explain")
                .value_name("CODE")
                .help("Print the documentation of a rule, such as K11"),
        )
        .after_help(MORE)
}

pub(super) fn run(arguments: &ArgMatches) -> Result<ExitCode, Failure> {
    if let Some(code) = arguments.get_one::<String>("explain") {
        return explain(code);
    }
    let before = arguments.get_one::<String>("against").map(|old| source::read(old)).transpose()?;
    let before = before.map(|text| Checked::read(&text).model);
    let target = match arguments.get_one::<String>("target").map(String::as_str) {
        Some("alternator") => Target::Alternator,
        _ => Target::DynamoDb,
    };
    let samples = arguments.get_one::<String>("samples").map(|file| samples(file)).transpose()?;
    let stored = items::Source::of(arguments)?;
    let options = Options { target, before: before.as_ref(), samples: samples.as_ref() };
    let checked = paths(arguments)?.into_iter().map(|path| model(path, options)).collect::<Result<Vec<_>, _>>()?;
    let reports = stored.compare(checked.iter().map(|model| &model.checked))?;
    match arguments.get_one::<String>("format").map(String::as_str) {
        Some("json") => output::line(&items::json(&json::text(&files(&checked))?, &reports)?)?,
        Some("sarif") => {
            let log = sarif::log(&files(&checked), &catalogue::all(), env!("CARGO_PKG_VERSION"));
            output::line(&serde_json::to_string_pretty(&log)?)?;
        }
        _ => text(&checked, &reports)?,
    }
    let fails = |severity| match severity {
        Severity::Error => true,
        Severity::Warning => arguments.contains_id("deny"),
        Severity::Note => false,
    };
    let unfit = reports.iter().flat_map(items::Compared::severities);
    let failed = findings(&checked).map(|found| found.severity).chain(unfit).any(fails);
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Reads sample items of a real table from JSON lines.
fn samples(file: &str) -> Result<Samples, Failure> {
    Samples::read(&source::read(file)?).map_err(|error| Failure::new(format!("{file}: {error}")))
}

fn explain(code: &str) -> Result<ExitCode, Failure> {
    let Some(info) = catalogue::by_code(code) else {
        return Err(Failure::new(format!("unknown rule {code}; docs/rules lists all rules")));
    };
    output::line(info.page.trim_end())?;
    Ok(ExitCode::SUCCESS)
}

/// Checked model with the name that diagnostics use.
struct Model {
    name: String,
    checked: Checked,
}

impl Model {
    fn file(&self) -> json::File<'_> {
        json::File { name: &self.name, text: &self.checked.source, diagnostics: &self.checked.diagnostics }
    }
}

fn model(path: String, options: Options<'_>) -> Result<Model, Failure> {
    let checked = Checked::read_with(&source::read(&path)?, options);
    Ok(Model { name: if path == "-" { "standard input".into() } else { path }, checked })
}

fn paths(arguments: &ArgMatches) -> Result<Vec<String>, Failure> {
    let given: Vec<String> = arguments.get_many("files").into_iter().flatten().cloned().collect();
    if !given.is_empty() {
        return Ok(given);
    }
    let found = source::all()?;
    if found.is_empty() {
        return Err(Failure::new("no .kf file in this directory; pass one: keyform check FILE"));
    }
    Ok(found)
}

fn findings(models: &[Model]) -> impl Iterator<Item = &Diagnostic> {
    models.iter().flat_map(|model| &model.checked.diagnostics)
}

fn files(models: &[Model]) -> Vec<json::File<'_>> {
    models.iter().map(Model::file).collect()
}

/// Writes the diagnostics to standard output, with a summary as the last line.
fn text(models: &[Model], reports: &[items::Compared]) -> Result<(), Failure> {
    let color = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let mut parts: Vec<String> = Vec::new();
    for Model { name, checked } in models {
        let text = render::text(&checked.source, name, &checked.diagnostics, color);
        if !text.is_empty() {
            parts.push(text);
        }
    }
    parts.push(summary(models));
    parts.extend(reports.iter().map(items::Compared::text));
    output::line(&parts.join("\n"))
}

fn summary(models: &[Model]) -> String {
    let count = |severity| findings(models).filter(|found| found.severity == severity).count();
    let counted = |number: usize, what: &str| match number {
        1 => format!("1 {what}"),
        many => format!("{many} {what}s"),
    };
    let found =
        [(count(Severity::Error), "error"), (count(Severity::Warning), "warning"), (count(Severity::Note), "note")];
    let found: Vec<String> =
        found.into_iter().filter(|(number, _)| *number > 0).map(|(number, what)| counted(number, what)).collect();
    let found = if found.is_empty() { "nothing found".to_owned() } else { found.join(", ") };
    format!("{}: {found}", counted(models.len(), "model"))
}
