//! `keyform run`: any pattern of a model, called against a data directory or a DynamoDB endpoint.

use std::process::ExitCode;
use std::sync::Arc;

use clap::{Arg, ArgAction, ArgMatches, Command};
use keyform::model::Checked;
use keyform::model::run::{Answer, Call, Caller, RunError, Runner, Settings, json};
use keyform::model::schema::{Parameter, Type};
use keyform::surroundings::System;
use keyform::{Attributes, Execute};
use serde_json::Value;

use crate::failure::Failure;
use crate::output;
use crate::place::{self, Place, pairs};

use super::{file, source};

const MORE: &str = "\
Arguments are given by name: `keyform run chat.kf messages channelId=01KKP2T8SN…`. In a data directory, tables that are not there yet are made; with \
`--store dynamodb` only if `--create-tables` is given, and the region and the credentials are those of the AWS environment variables and profiles. Exit code 1: the model refused, and the \
outcome's name is printed.";

pub(super) fn command() -> Command {
    let format = Arg::new("format").long("format").value_name("FORMAT").value_parser(["table", "json", "jsonl"]);
    Command::new("run")
        .about("Calls a pattern of a model against a data directory or DynamoDB")
        .arg(file())
        .arg(Arg::new("pattern").value_name("PATTERN").required(true).help("The read or write"))
        .arg(Arg::new("arguments").value_name("NAME=VALUE").num_args(0..).help("Its arguments"))
        .args(place::arguments())
        .arg(
            Arg::new("create-tables")
                .long("create-tables")
                .conflicts_with("data")
                .action(ArgAction::SetTrue)
                .help("With --store dynamodb: make the tables that are not there yet"),
        )
        .arg(
            Arg::new("as")
                .long("as")
                .value_name("CLAIM=VALUE")
                .action(ArgAction::Append)
                .help("Call as someone with this claim, not as the system"),
        )
        .arg(Arg::new("cursor").long("cursor").value_name("CURSOR").help("Where the last page ended"))
        .arg(format.default_value("table").help("How to print the answer"))
        .after_help(MORE)
}

pub(super) fn run(arguments: &ArgMatches) -> Result<ExitCode, Failure> {
    let path = text(arguments, "file");
    let checked = Checked::read(&source::read(path)?);
    if checked.has_errors() {
        return Err(Failure::new(format!("{path} has errors: see `keyform check {path}`")));
    }
    let call = call(&checked, arguments)?;
    let pattern = text(arguments, "pattern");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let answered = runtime.block_on(answer(Arc::new(checked), arguments, pattern, &call))?;
    match answered {
        Ok(value) => print(&value, text(arguments, "format")),
        Err(RunError::Refused { outcome, .. }) => {
            output::line(&outcome)?;
            Ok(ExitCode::from(1))
        }
        Err(error) => Err(error.into()),
    }
}

fn text<'a>(arguments: &'a ArgMatches, name: &str) -> &'a str {
    arguments.get_one::<String>(name).map_or("", String::as_str)
}

async fn answer(
    checked: Arc<Checked>,
    arguments: &ArgMatches,
    pattern: &str,
    call: &Call,
) -> Result<Result<Value, RunError>, Failure> {
    let place = Place::open(arguments).await?;
    let create_tables = place.is_embedded() || arguments.get_flag("create-tables");
    let answered = answer_on(place.store(), create_tables, checked, arguments, pattern, call).await?;
    place.close()?;
    Ok(answered)
}

async fn answer_on(
    store: Arc<dyn Execute>,
    create_tables: bool,
    checked: Arc<Checked>,
    arguments: &ArgMatches,
    pattern: &str,
    call: &Call,
) -> Result<Result<Value, RunError>, Failure> {
    let settings = Settings { variables: place::variables(arguments)?, ..Settings::default() };
    let runner = Runner::new(Arc::clone(&checked), store, Arc::new(System), settings)?;
    if create_tables {
        for table in runner.create_tables().await? {
            output::note(&format!("made table {table}"));
        }
    }
    let is_write = checked.model.writes.iter().any(|write| write.name == pattern);
    Ok(if is_write {
        let written = runner.write(pattern, call).await;
        written.map(|found| found.map_or(Value::Null, |found| json::found(&checked.model, &found)))
    } else {
        let read: Result<Answer, RunError> = runner.read(pattern, call).await;
        read.map(|answer| json::answer(&checked.model, &answer))
    })
}

fn call(checked: &Checked, arguments: &ArgMatches) -> Result<Call, Failure> {
    let pattern = text(arguments, "pattern");
    let parameters = parameters(checked, pattern)?;
    let mut given = Attributes::new();
    for (name, value) in pairs(arguments, "arguments")? {
        let kind = argument_type(parameters, &name).ok_or_else(|| {
            let known: Vec<&str> =
                parameters.iter().flat_map(|parameter| &parameter.arguments).map(String::as_str).collect();
            Failure::new(format!("`{pattern}` has no argument `{name}`; it takes {}", known.join(", ")))
        })?;
        let value = json::from_text(&value, &kind)
            .ok_or_else(|| Failure::new(format!("`{value}` is no value for `{name}`")))?;
        given.insert(name, value);
    }
    let claims = pairs(arguments, "as")?;
    let caller = if claims.is_empty() {
        Caller::System
    } else {
        Caller::Claims(claims.into_iter().map(|(name, value)| (name, value.as_str().into())).collect())
    };
    Ok(Call { arguments: given, caller, cursor: arguments.get_one::<String>("cursor").cloned(), token: None })
}

fn parameters<'a>(checked: &'a Checked, pattern: &str) -> Result<&'a [Parameter], Failure> {
    let model = &checked.model;
    let read = model.reads.iter().find(|read| read.name == pattern).map(|read| read.parameters.as_slice());
    let write = || model.writes.iter().find(|write| write.name == pattern).map(|write| write.parameters.as_slice());
    read.or_else(write).ok_or_else(|| {
        let names = model.reads.iter().map(|read| &read.name).chain(model.writes.iter().map(|write| &write.name));
        let near = names.max_by(|one, other| strsim::jaro(one, pattern).total_cmp(&strsim::jaro(other, pattern)));
        let hint = near.map(|near| format!(" Did you mean `{near}`?")).unwrap_or_default();
        Failure::new(format!("the model has no pattern `{pattern}`.{hint}"))
    })
}

/// The type of an argument; of a list of values, a list of them.
fn argument_type(parameters: &[Parameter], name: &str) -> Option<Type> {
    let parameter = parameters.iter().find(|parameter| parameter.arguments.iter().any(|argument| argument == name))?;
    Some(match parameter.test {
        keyform::model::schema::Test::In => Type::List(Box::new(parameter.kind.clone()), Default::default()),
        _ => parameter.kind.clone(),
    })
}

fn print(value: &Value, format: &str) -> Result<ExitCode, Failure> {
    let items = match value {
        Value::Object(page) if page.contains_key("items") => page["items"].as_array().cloned().unwrap_or_default(),
        Value::Null => Vec::new(),
        value => vec![value.clone()],
    };
    match format {
        "json" => output::line(&serde_json::to_string_pretty(value)?)?,
        "jsonl" => items.iter().try_for_each(|item| output::line(&item.to_string()))?,
        _ => output::line(table(&items).trim_end())?,
    }
    if let Some(cursor) = value.get("cursor").and_then(Value::as_str).filter(|_| format != "json") {
        output::note(&format!("more with --cursor {cursor}"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Columns of all fields, one line for each item.
fn table(items: &[Value]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in items.iter().filter_map(Value::as_object).flat_map(|item| item.keys()) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let cell = |item: &Value, name: &str| match item.get(name) {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    let rows: Vec<Vec<String>> = items.iter().map(|item| names.iter().map(|name| cell(item, name)).collect()).collect();
    let head: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let width = |column: usize| rows.iter().chain([&head]).map(|row| row[column].chars().count()).max().unwrap_or(0);
    let line = |row: &Vec<String>| {
        let cells = row.iter().enumerate().map(|(column, text)| format!("{text:<width$}", width = width(column)));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    if names.is_empty() { "nothing\n".to_owned() } else { [&head].into_iter().chain(&rows).map(line).collect() }
}
