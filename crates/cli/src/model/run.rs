//! `keyform run`: calls a pattern of a model against a data directory, a DynamoDB endpoint, or a server.

use std::process::ExitCode;
use std::sync::Arc;

use clap::{Arg, ArgAction, ArgMatches, Command};
use keyform::SystemWorld;
use keyform::{AttributeValue, Attributes};
use keyform_check::Checked;
use keyform_language::schema::{Parameter, Type};
use keyform_runtime::run::{Call, Caller, RunError, Runner, fits, in_words, json, misfit};
use serde_json::Value;

use crate::failure::Failure;
use crate::open_store::{self, OpenStore, pairs};
use crate::output;

use super::printed::Printer;
use super::{call, source};

const MORE: &str = "Pass arguments by name: `keyform run discord messages channelId=01KKP2T8SN…`. MODEL is a .kf \
    file, - for standard input, or the name of an example system. In a data directory, missing tables are created; \
    with `--store dynamodb` only if you pass `--create-tables`, and the region and the credentials come from the AWS \
    environment variables and profiles. With `--server`, MODEL is the name of a model that the server serves, and \
    the call is made as a caller: pass --token or, in development mode, --as. Exit code 1: the model refused the \
    call, and the name of the outcome is printed.";

pub(super) fn command() -> Command {
    let format = Arg::new("format").long("format").value_name("FORMAT").value_parser(["table", "json", "jsonl"]);
    let text = |name: &'static str, value: &'static str| Arg::new(name).long(name).value_name(value);
    Command::new("run")
        .about("Call one pattern on a data directory, a server or DynamoDB")
        .arg(
            Arg::new("file")
                .value_name("MODEL")
                .required(true)
                .help("Model: a .kf file or the name of an example system"),
        )
        .arg(Arg::new("pattern").value_name("PATTERN").required(true).help("Name of the read or write"))
        .arg(Arg::new("arguments").value_name("NAME=VALUE").num_args(0..).help("Arguments of the pattern"))
        .args(open_store::arguments())
        .arg(open_store::create_tables())
        .arg(open_store::accept_breaking_model())
        .arg(
            text("as", "CLAIM=VALUE")
                .action(ArgAction::Append)
                .help("Claim of the caller; without claims, the call runs as the system"),
        )
        .arg(text("cursor", "CURSOR").help("Cursor of the next page"))
        .arg(Arg::new("all").long("all").action(ArgAction::SetTrue).help("Read all pages"))
        .arg(
            text("server", "URL")
                .conflicts_with_all(["data", "store"])
                .help("Call a running server instead of a store"),
        )
        .arg(
            text("token", "TOKEN")
                .requires("server")
                .help("Bearer token of the caller, with --server [env: KEYFORM_TOKEN]"),
        )
        .arg(format.default_value("table").help("Output format"))
        .after_help(MORE)
}

/// Result of a call.
pub(super) enum Answered {
    /// Value of a successful call.
    Value(Value),
    /// Outcome name of a refusal.
    Refused(String),
}

pub(super) fn run(arguments: &ArgMatches) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut printer = Printer::new(text(arguments, "format"));
    let refused = match arguments.get_one::<String>("server") {
        Some(server) => runtime.block_on(call::run(server, arguments, &mut printer))?,
        None => runtime.block_on(here(arguments, &mut printer))?,
    };
    match refused {
        Some(outcome) => {
            output::line(&outcome)?;
            Ok(ExitCode::from(1))
        }
        None => {
            printer.end()?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

pub(super) fn text<'a>(arguments: &'a ArgMatches, name: &str) -> &'a str {
    arguments.get_one::<String>(name).map_or("", String::as_str)
}

/// Runs the pattern in this process. Returns the outcome name of a refusal.
async fn here(arguments: &ArgMatches, printer: &mut Printer) -> Result<Option<String>, Failure> {
    let path = text(arguments, "file");
    let checked = Checked::read(&source::read(path)?);
    if checked.has_errors() {
        return Err(Failure::new(format!("{path} has errors: see `keyform check {path}`")));
    }
    let call = local_call(&checked, arguments)?;
    let store = OpenStore::open(arguments).await?;
    let answered = match runner(&store, checked, arguments).await {
        Ok(runner) => follow(&runner, arguments, call, printer).await,
        Err(failure) => Err(failure),
    };
    store.close()?;
    answered
}

async fn runner(store: &OpenStore, checked: Checked, arguments: &ArgMatches) -> Result<Runner, Failure> {
    let config = open_store::config(arguments)?;
    let is_read = checked.model.reads.iter().any(|read| read.name == text(arguments, "pattern"));
    let cursor_key = if is_read { config.cursor_key()? } else { Default::default() };
    let mut settings = open_store::run_settings(&config, open_store::variables(arguments)?, cursor_key);
    settings.accept_breaking = arguments.get_flag("accept-breaking-model");
    if checked.model.entities.iter().any(|entity| entity.encrypted_fields().next().is_some()) {
        settings.field_keys = config.field_keys()?;
    }
    if let Some(table) = keyform_language::bind::unnamed_table(&checked.model, &settings.variables) {
        return Err(Failure::new(format!(
            "the table name {table} has a variable without a value: pass --set NAME=VALUE"
        )));
    }
    let runner = Runner::new(Arc::new(checked), store.store(), Arc::new(SystemWorld), settings)?;
    if store.is_embedded() || arguments.get_flag("create-tables") {
        for table in runner.create_tables().await? {
            output::note(&format!("created table {table}"));
        }
    }
    if store.is_embedded() {
        for index in runner.add_indexes().await? {
            output::note(&format!("added index {index}"));
        }
    }
    Ok(runner)
}

/// Executes one call or, with `--all`, one per page.
async fn follow(
    runner: &Runner,
    arguments: &ArgMatches,
    mut call: Call,
    printer: &mut Printer,
) -> Result<Option<String>, Failure> {
    loop {
        match answer(runner, text(arguments, "pattern"), &call).await? {
            Answered::Refused(outcome) => return Ok(Some(outcome)),
            Answered::Value(value) => match printer.page(value, arguments.get_flag("all"))? {
                Some(cursor) => call.cursor = Some(cursor),
                None => return Ok(None),
            },
        }
    }
}

async fn answer(runner: &Runner, pattern: &str, call: &Call) -> Result<Answered, Failure> {
    let model = &runner.checked().model;
    let answered = if model.writes.iter().any(|write| write.name == pattern) {
        let written = runner.write(pattern, call).await;
        written.map(|found| found.map_or(Value::Null, |found| json::found(model, &found)))
    } else {
        runner.read(pattern, call).await.map(|answer| json::answer(model, &answer))
    };
    match answered {
        Ok(value) => Ok(Answered::Value(value)),
        Err(RunError::Refused { outcome, .. }) => Ok(Answered::Refused(outcome)),
        Err(error) => Err(error.into()),
    }
}

fn local_call(checked: &Checked, arguments: &ArgMatches) -> Result<Call, Failure> {
    let pattern = text(arguments, "pattern");
    let parameters = parameters(checked, pattern)?;
    let mut given = Attributes::new();
    for (name, value) in pairs(arguments, "arguments")? {
        let kind = argument_type(parameters, &name).ok_or_else(|| {
            let known: Vec<&str> =
                parameters.iter().flat_map(|parameter| &parameter.arguments).map(String::as_str).collect();
            unknown_argument(pattern, &name, &known)
        })?;
        let value = typed_argument(&name, &value, &kind)?;
        given.insert(name, value);
    }
    let claims = pairs(arguments, "as")?;
    let caller = if claims.is_empty() { Caller::System } else { Caller::Claims(typed_claims(checked, claims)?) };
    let cursor = arguments.get_one::<String>("cursor").cloned();
    Ok(Call { arguments: given, caller, cursor, ..Call::default() })
}

/// Parses an argument as its type. For JSON values the error locates the mismatch; strings are exempt, because they may
/// look like JSON.
fn typed_argument(name: &str, text: &str, kind: &Type) -> Result<AttributeValue, Failure> {
    let written = if kind.is_text() { None } else { serde_json::from_str(text).ok() };
    let within = match written {
        Some(written @ (Value::Array(_) | Value::Object(_))) => misfit(name, &written, kind),
        _ => None,
    };
    let typed = json::from_text(text, kind).filter(|_| within.is_none());
    typed.ok_or_else(|| Failure::new(within.unwrap_or_else(|| format!("`{name}` is not {}", in_words(kind)))))
}

/// Parses the given claims as the model's types.
pub(super) fn typed_claims(checked: &Checked, given: Vec<(String, String)>) -> Result<Attributes, Failure> {
    let fields = checked.model.caller.as_ref().map_or(&[][..], |caller| &caller.fields);
    let mut claims = Attributes::new();
    for (name, value) in given {
        let Some(field) = fields.iter().find(|field| field.name == name) else {
            let known: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
            let known = if known.is_empty() { "nothing".to_owned() } else { known.join(", ") };
            return Err(Failure::new(format!("unknown claim `{name}`; this model's caller has: {known}")));
        };
        let typed = json::from_text(&value, &field.kind).filter(|value| fits(value, &field.kind));
        let wrong = || Failure::new(format!("`{name}` of the caller is not {}", in_words(&field.kind)));
        let typed = typed.ok_or_else(wrong)?;
        claims.insert(name, typed);
    }
    match fields.iter().find(|field| !field.optional && !claims.contains_key(&field.name)) {
        Some(field) => Err(Failure::new(format!("the caller has no claim `{0}`: add --as {0}=…", field.name))),
        None => Ok(claims),
    }
}

fn parameters<'a>(checked: &'a Checked, pattern: &str) -> Result<&'a [Parameter], Failure> {
    let model = &checked.model;
    let read = model.reads.iter().find(|read| read.name == pattern).map(|read| read.parameters.as_slice());
    let write = || model.writes.iter().find(|write| write.name == pattern).map(|write| write.parameters.as_slice());
    read.or_else(write).ok_or_else(|| {
        let names = model.reads.iter().map(|read| &read.name).chain(model.writes.iter().map(|write| &write.name));
        unknown_pattern(pattern, names.map(String::as_str))
    })
}

pub(super) fn unknown_argument(pattern: &str, name: &str, known: &[&str]) -> Failure {
    let takes = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Failure::new(format!("unknown argument `{name}`; `{pattern}` takes {takes}"))
}

pub(super) fn unknown_pattern<'a>(pattern: &str, names: impl Iterator<Item = &'a str>) -> Failure {
    let near = names.max_by(|one, other| strsim::jaro(one, pattern).total_cmp(&strsim::jaro(other, pattern)));
    let hint = near.map(|near| format!(" Did you mean `{near}`?")).unwrap_or_default();
    Failure::new(format!("unknown pattern `{pattern}`.{hint}"))
}

/// Returns the type of an argument; for an `in` test, a list of the parameter's type.
fn argument_type(parameters: &[Parameter], name: &str) -> Option<Type> {
    let parameter = parameters.iter().find(|parameter| parameter.arguments.iter().any(|argument| argument == name))?;
    Some(match parameter.test {
        keyform_language::schema::Test::In => Type::List(Box::new(parameter.kind.clone()), Default::default()),
        _ => parameter.kind.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: &str = "model shop
caller userId: ulid, level: int?
table Shop { key pk }
entity Order in Shop {
  key \"{id}\"
  id:    slug
  note:  string(..9)
  lines: list<int(1..9)>
}
write order(id, note, lines) { put Order {} allow system }
";

    #[test]
    fn what_a_caller_proves_is_in_its_type() {
        let checked = Checked::read(MODEL);
        let claims = |pairs: &[(&str, &str)]| {
            let given = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            typed_claims(&checked, given).map_err(|failure| failure.to_string())
        };
        let user = ("userId", "01KKP2T8SN0000000000000001");
        assert_eq!(claims(&[user, ("level", "3")]).map(|claims| claims["level"].clone()), Ok(3.into()));
        assert_eq!(claims(&[("userId", "ada")]), Err("`userId` of the caller is not a ULID".to_owned()));
        assert_eq!(claims(&[("level", "3")]), Err("the caller has no claim `userId`: add --as userId=…".to_owned()));
        assert_eq!(
            claims(&[("name", "x")]),
            Err("unknown claim `name`; this model's caller has: userId, level".to_owned())
        );
    }

    #[test]
    fn a_text_may_look_like_json_and_json_is_told_what_is_wrong_in_it() {
        let checked = Checked::read(MODEL);
        let typed = |name: &str, text: &str| {
            let kind = argument_type(&checked.model.writes[0].parameters, name).expect("an argument");
            typed_argument(name, text, &kind).map_err(|failure| failure.to_string())
        };
        assert_eq!(typed("note", "{}"), Ok("{}".into()));
        assert_eq!(typed("lines", "[1, 2]"), Ok(AttributeValue::L(vec![1.into(), 2.into()])));
        assert_eq!(typed("lines", "[1, 10]"), Err("`lines[1]` is not a whole number from 1 to 9".to_owned()));
        assert!(typed("lines", "[1").is_err());
    }
}
