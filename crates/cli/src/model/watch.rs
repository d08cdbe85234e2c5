//! `keyform watch`: follows a read over a server's WebSocket. Prints the current items first, then every change, one
//! JSON line each.

use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::live::{Ask, Heard, Socket};
use crate::open_store::pairs;
use crate::output;

use super::call::{Described, Server, model_name};
use super::run::text;

const MORE: &str = "Prints a line of JSON for each current item, then one for each change: {\"kind\": \"item\" | \
    \"insert\" | \"modify\" | \"remove\", …}. A lost connection is opened again and resumes: no change is missed or \
    repeated. MODEL is the name of a model that the server serves. Ends with Ctrl-C, or after --lines N. See \
    docs/live.md.";

pub(super) fn command() -> Command {
    let text = |name: &'static str, value: &'static str| Arg::new(name).long(name).value_name(value);
    let lines = text("lines", "N").value_parser(value_parser!(u64)).help("Exit after this number of lines");
    let claim = text("as", "CLAIM=VALUE").action(ArgAction::Append);
    Command::new("watch")
        .about("Follow a read live: the current items, then each change")
        .arg(Arg::new("file").value_name("MODEL").required(true).help("Name of a model that the server serves"))
        .arg(Arg::new("pattern").value_name("READ").required(true).help("Name of the read"))
        .arg(Arg::new("arguments").value_name("NAME=VALUE").num_args(0..).help("Arguments of the pattern"))
        .arg(text("server", "URL").default_value("http://127.0.0.1:8000").help("URL of the server"))
        .arg(text("token", "TOKEN").help("Bearer token of the caller [env: KEYFORM_TOKEN]"))
        .arg(claim.help("Claim of the caller; development mode only"))
        .arg(lines)
        .after_help(MORE)
}

pub(super) fn run(arguments: &ArgMatches) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(follow(arguments)).map(|()| ExitCode::SUCCESS)
}

async fn follow(arguments: &ArgMatches) -> Result<(), Failure> {
    let server = Server::new(text(arguments, "server"), arguments)?;
    let (model, pattern) = (model_name(text(arguments, "file"))?, text(arguments, "pattern"));
    let api = server.get(&format!("/v1/{model}/openapi.json")).await?;
    let described = Described::find(&api, &model, pattern)?;
    if !described.is_read {
        return Err(Failure::new(format!("`{pattern}` is not a read; only reads can be followed")));
    }
    let given = pairs(arguments, "arguments")?;
    described.check(pattern, &given)?;
    let read = described.body(&given)?;
    let (asking, mut hearing) = Socket::start(&server.url, &model);
    let follow = Ask::Follow { id: "watch".to_owned(), read: pattern.to_owned(), arguments: read };
    for ask in [Ask::Authenticate(server.headers), follow] {
        asking.send(ask)?;
    }
    let mut watch = Watch { left: arguments.get_one("lines").copied() };
    while let Some(heard) = hearing.recv().await {
        if watch.hear(heard)? {
            break;
        }
    }
    // Close the connection before the program ends.
    drop(asking);
    while hearing.recv().await.is_some() {}
    Ok(())
}

/// Output state of a followed read.
struct Watch {
    /// Remaining lines to print, if limited.
    left: Option<u64>,
}

impl Watch {
    /// Prints an event; returns whether the limit is reached.
    fn hear(&mut self, heard: Heard) -> Result<bool, Failure> {
        match heard {
            Heard::Message(message) => return self.told(&message),
            Heard::Lost(why) => output::note(&format!("{why}: reconnecting")),
            Heard::Again => output::note("connected again"),
            Heard::End(why) => return Err(Failure::new(why)),
        }
        Ok(false)
    }

    fn told(&mut self, message: &Value) -> Result<bool, Failure> {
        match message["type"].as_str() {
            Some("page" | "changes") => self.lines(message),
            Some("ended" | "error") => {
                let said = |name: &str| message[name].as_str().unwrap_or_default().to_owned();
                Err(Failure::new(format!("{}: {}", said("code"), said("detail"))))
            }
            _ => Ok(false),
        }
    }

    fn lines(&mut self, message: &Value) -> Result<bool, Failure> {
        let count = message.get("count").map(|count| json!({ "kind": "count", "count": count }));
        let listed = |name: &str| message[name].as_array().into_iter().flatten();
        for line in count.into_iter().chain(listed("items").map(shown)).chain(listed("changes").map(changed)) {
            if self.left == Some(0) {
                break;
            }
            output::line(&line.to_string())?;
            self.left = self.left.map(|left| left - 1);
        }
        Ok(self.left == Some(0))
    }
}

/// Formats an item of a page.
fn shown(item: &Value) -> Value {
    json!({ "kind": "item", "entity": item["entity"], "item": item["item"] })
}

/// Formats a change. A removal has no item, only a key.
fn changed(change: &Value) -> Value {
    let mut line = json!({ "kind": change["kind"], "entity": change["entity"], "at": change["at"] });
    let name = if change.get("item").is_some() { "item" } else { "key" };
    line[name] = change[name].clone();
    line
}
