//! HTTP client of the chat server, and the link to its live reads.

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE};
use hyper::{Request, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use keyform_discord::chat::{Link, Trouble};
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use crate::failure::Failure;
use crate::live::{Ask, Heard, Socket};

/// Connection to the chat server.
pub(super) struct Remote {
    url: String,
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    token: Option<String>,
    socket: mpsc::UnboundedSender<Ask>,
}

impl Remote {
    /// Creates the client, and the receiver of live events after a log-in.
    pub(super) fn new(url: &str) -> Result<(Self, mpsc::UnboundedReceiver<Heard>), Failure> {
        let url = url.trim_end_matches('/');
        if !url.starts_with("http://") && !url.starts_with("https://") {
            return Err(Failure::new(format!("{url} is not a server URL: it must start with http:// or https://")));
        }
        let connector = HttpsConnectorBuilder::new().with_native_roots()?.https_or_http().enable_http1().build();
        let client = Client::builder(TokioExecutor::new()).build(connector);
        let (socket, heard) = Socket::start(url, "discord");
        Ok((Self { url: url.to_owned(), client, token: None, socket }, heard))
    }

    /// Checks that a server answers and serves the chat.
    pub(super) async fn check(&self) -> Result<(), Failure> {
        let served = self.send("GET", "", None).await.map_err(|trouble| match trouble {
            Unsent::Unreachable(why) => Failure::new(format!(
                "no server answers at {} ({why}): start one in another terminal with `keyform serve --in-memory --demo`, then run this again",
                self.url
            )),
            Unsent::Told(trouble) => Failure::new(format!("{} does not serve discord: {trouble}", self.url)),
        })?;
        let mut flows = served["flows"].as_array().into_iter().flatten();
        if flows.any(|flow| flow["name"] == "register") {
            return Ok(());
        }
        let why = "serves the discord model but not its application: start `keyform serve` without a file";
        Err(Failure::new(format!("{} {why}", self.url)))
    }

    async fn send(&self, method: &str, path: &str, body: Option<Value>) -> Result<Value, Unsent> {
        let unreachable = |error: &dyn std::error::Error| Unsent::Unreachable(cause(error));
        let url: Uri = format!("{}/v1/discord{path}", self.url)
            .parse()
            .map_err(|_| Unsent::Told(Trouble::new("invalid address")))?;
        let mut request = Request::builder().method(method).uri(url);
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        if body.is_some() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        let request = request.body(Full::new(Bytes::from(body))).map_err(|error| unreachable(&error))?;
        let answer = self.client.request(request).await.map_err(|error| unreachable(&error))?;
        let status = answer.status().as_u16();
        let body = answer.into_body().collect().await.map_err(|error| unreachable(&error))?.to_bytes();
        answered(status, &body).map_err(Unsent::Told)
    }
}

/// Reason for a missing answer.
enum Unsent {
    /// No server is reachable.
    Unreachable(String),
    /// The server returned an error.
    Told(Trouble),
}

impl From<Unsent> for Trouble {
    fn from(unsent: Unsent) -> Self {
        match unsent {
            Unsent::Unreachable(why) => Self::new(format!("the server does not answer: {why}")),
            Unsent::Told(trouble) => trouble,
        }
    }
}

/// Returns the root cause of an error.
fn cause(error: &dyn std::error::Error) -> String {
    let mut deepest = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    deepest.to_string()
}

fn answered(status: u16, body: &[u8]) -> Result<Value, Trouble> {
    let strange = || Trouble::new(format!("the server answered {status} with a body that is not JSON"));
    let value = if body.is_empty() { Value::Null } else { serde_json::from_slice(body).map_err(|_| strange())? };
    if status < 300 {
        return Ok(value);
    }
    let said = ["detail", "title"].iter().find_map(|name| value[*name].as_str()).unwrap_or("without a reason");
    let outcome = value["outcome"].as_str().map(str::to_owned);
    let detail = match &outcome {
        // A refusal of the model has only a name and no message.
        Some(outcome) if said.contains(outcome.as_str()) => format!("refused: {}", in_words(outcome)),
        _ => said.to_owned(),
    };
    Err(Trouble { outcome, detail })
}

/// Converts `InviteUsedUp` to `invite used up`.
fn in_words(name: &str) -> String {
    let mut words = String::new();
    for character in name.chars() {
        if character.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(character.to_lowercase());
    }
    words
}

/// Encodes arguments as a query string.
fn query(arguments: Value) -> String {
    let Value::Object(arguments) = arguments else { return String::new() };
    let pairs = |(name, value): (&String, &Value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("{name}={}", encoded(&text))
    };
    let pairs: Vec<String> = Map::iter(&arguments).map(pairs).collect();
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
}

fn encoded(text: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(byte);
    text.bytes().map(|byte| if plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

impl Link for Remote {
    async fn get(&self, read: &str, arguments: Value) -> Result<Value, Trouble> {
        Ok(self.send("GET", &format!("/{read}{}", query(arguments)), None).await?)
    }

    async fn post(&self, name: &str, arguments: Value) -> Result<Value, Trouble> {
        Ok(self.send("POST", &format!("/{name}"), Some(arguments)).await?)
    }

    fn authenticate(&mut self, token: &str) {
        self.token = Some(token.to_owned());
        self.ask(Ask::Authenticate(vec![("authorization", format!("Bearer {token}"))]));
    }

    fn follow(&mut self, id: &str, read: &str, arguments: Value) {
        self.ask(Ask::Follow { id: id.to_owned(), read: read.to_owned(), arguments });
    }

    fn unfollow(&mut self, id: &str) {
        self.ask(Ask::Unfollow(id.to_owned()));
    }
}

impl Remote {
    fn ask(&self, ask: Ask) {
        // A closed socket has already reported its end, so the error can be ignored.
        self.socket.send(ask).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn queries_and_refusals_can_be_read() {
        assert_eq!(query(json!({ "inviteCode": "a b&c" })), "?inviteCode=a%20b%26c");
        let refused = json!({ "outcome": "InviteUsedUp", "detail": "refused: InviteUsedUp" }).to_string();
        let trouble = answered(409, refused.as_bytes()).expect_err("it is refused");
        assert_eq!((trouble.is("InviteUsedUp"), trouble.detail.as_str()), (true, "refused: invite used up"));
        let weak = json!({ "outcome": "WeakPassword", "detail": "a password has more" }).to_string();
        assert_eq!(answered(409, weak.as_bytes()).expect_err("it is refused").detail, "a password has more");
        assert_eq!(answered(204, b""), Ok(Value::Null));
    }
}
