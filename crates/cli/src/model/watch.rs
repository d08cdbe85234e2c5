//! `keyform watch`: a read followed live over a server's WebSocket. What is there comes first, then every change, a line of JSON each.

use std::process::ExitCode;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::{HeaderName, HeaderValue};
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::failure::Failure;
use crate::output;
use crate::place::pairs;

use super::call::{Described, Server, model_name};
use super::run::text;

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// How often a connection that was lost is tried again before it is given up.
const TRIES_MAX: u32 = 6;

const MORE: &str = "\
Prints a line of JSON for each item that is there, then one for each change: {\"kind\": \"item\" | \"insert\" | \"modify\" | \"remove\", …}. A \
connection that is lost is made again, and goes on where it was: nothing is missed, nothing told twice. MODEL is the name under which the \
server has the model. It ends with Ctrl-C, or after --lines N. See docs/live.md.";

pub(super) fn command() -> Command {
    let text = |name: &'static str, value: &'static str| Arg::new(name).long(name).value_name(value);
    let lines = text("lines", "N").value_parser(value_parser!(u64)).help("End after so many lines");
    let claim = text("as", "CLAIM=VALUE").action(ArgAction::Append);
    Command::new("watch")
        .about("Follows a read live: what is there, then every change")
        .arg(
            Arg::new("file")
                .value_name("MODEL")
                .required(true)
                .help("The model, by the name that the server has for it"),
        )
        .arg(Arg::new("pattern").value_name("READ").required(true).help("The read"))
        .arg(Arg::new("arguments").value_name("NAME=VALUE").num_args(0..).help("Its arguments"))
        .arg(text("server", "URL").default_value("http://127.0.0.1:8000").help("The server"))
        .arg(text("token", "TOKEN").help("The caller's bearer token [env: KEYFORM_TOKEN]"))
        .arg(claim.help("For development: watch as someone with this claim"))
        .arg(lines)
        .after_help(MORE)
}

pub(super) fn run(arguments: &ArgMatches) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(follow(arguments)).map(|()| ExitCode::SUCCESS)
}

/// A read that is being followed.
struct Watch {
    subscribe: Value,
    left: Option<u64>,
}

/// How a connection ended.
enum Ended {
    /// Enough was seen.
    Enough,
    /// It can be made again.
    Lost(String),
}

async fn follow(arguments: &ArgMatches) -> Result<(), Failure> {
    let server = Server::new(text(arguments, "server"), arguments)?;
    let (model, pattern) = (model_name(text(arguments, "file"))?, text(arguments, "pattern"));
    let api = server.get(&format!("/v1/{model}/openapi.json")).await?;
    let described = Described::find(&api, &model, pattern)?;
    if !described.is_read {
        return Err(Failure::new(format!("`{pattern}` is no read: only reads can be followed")));
    }
    let given = pairs(arguments, "arguments")?;
    described.check(pattern, &given)?;
    let subscribe =
        json!({ "type": "subscribe", "id": "watch", "read": pattern, "arguments": described.body(&given)? });
    let mut watch = Watch { subscribe, left: arguments.get_one("lines").copied() };
    let mut tries = 0;
    loop {
        let why = match connect(&server, &model).await {
            Ok(socket) => {
                let before = watch.subscribe.get("token").cloned();
                match watch.listen(socket).await? {
                    Ended::Enough => return Ok(()),
                    Ended::Lost(why) => {
                        tries = if watch.subscribe.get("token") == before.as_ref() { tries } else { 0 };
                        why
                    }
                }
            }
            Err(failure) if watch.subscribe.get("token").is_none() => return Err(failure),
            Err(failure) => failure.to_string(),
        };
        tries += 1;
        if tries > TRIES_MAX {
            return Err(Failure::new(why));
        }
        output::note(&format!("{why}: connecting again"));
        tokio::time::sleep(Duration::from_millis(250) * 2u32.pow(tries - 1)).await;
    }
}

async fn connect(server: &Server, model: &str) -> Result<Socket, Failure> {
    let url = format!("ws{}/v1/{model}/live", server.url.trim_start_matches("http"));
    let mut request = url.into_client_request()?;
    let headers = request.headers_mut();
    headers.insert("sec-websocket-protocol", HeaderValue::from_static("keyform.live.v1"));
    for (name, value) in &server.headers {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_str(value)?);
    }
    match connect_async(request).await {
        Ok((socket, _)) => Ok(socket),
        Err(Error::Http(answer)) => {
            let body = answer.body().as_ref().and_then(|body| serde_json::from_slice::<Value>(body).ok());
            let said = body.and_then(|body| body["detail"].as_str().map(str::to_owned)).unwrap_or_default();
            Err(Failure::new(format!("the server answered {}: {said}", answer.status())))
        }
        Err(error) => {
            Err(Failure::new(format!("cannot reach {}: {error}: is `keyform serve` running there?", server.url)))
        }
    }
}

impl Watch {
    async fn listen(&mut self, mut socket: Socket) -> Result<Ended, Failure> {
        if let Err(error) = socket.send(Message::text(self.subscribe.to_string())).await {
            return Ok(Ended::Lost(error.to_string()));
        }
        while let Some(message) = socket.next().await {
            match message {
                Ok(Message::Text(text)) => {
                    if self.told(&serde_json::from_str(&text)?)? {
                        // Whether the server hears of it makes no difference.
                        socket.close(None).await.unwrap_or_default();
                        return Ok(Ended::Enough);
                    }
                }
                Ok(Message::Close(frame)) => return Ok(Ended::Lost(closed(frame.as_ref()))),
                Ok(_) => {}
                Err(error) => return Ok(Ended::Lost(error.to_string())),
            }
        }
        Ok(Ended::Lost("the connection ended".to_owned()))
    }

    /// Prints what a message says; whether that is enough.
    fn told(&mut self, message: &Value) -> Result<bool, Failure> {
        if let Some(token) = message.get("token") {
            self.subscribe["token"] = token.clone();
        }
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

/// An item of a page.
fn shown(item: &Value) -> Value {
    json!({ "kind": "item", "entity": item["entity"], "item": item["item"] })
}

/// A change. A removal has no item: its key says which one it was.
fn changed(change: &Value) -> Value {
    let mut line = json!({ "kind": change["kind"], "entity": change["entity"], "at": change["at"] });
    let name = if change.get("item").is_some() { "item" } else { "key" };
    line[name] = change[name].clone();
    line
}

fn closed(frame: Option<&CloseFrame>) -> String {
    match frame {
        Some(frame) => format!("the server closed the connection ({}): {}", u16::from(frame.code), frame.reason),
        None => "the server closed the connection".to_owned(),
    }
}
