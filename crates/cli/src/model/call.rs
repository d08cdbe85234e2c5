//! Calls a pattern on a server over HTTP. The server's OpenAPI document describes the arguments.

use bytes::Bytes;
use clap::ArgMatches;
use http_body_util::{BodyExt as _, Full};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE};
use hyper::{Request, Uri};
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use keyform_check::Checked;
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::open_store::pairs;

use super::printed::Printer;
use super::run::{Answered, text, unknown_argument, unknown_pattern};
use super::source;

/// Calls the pattern, with `--all` page by page. Returns the outcome name of a refusal.
pub(super) async fn run(
    server: &str,
    arguments: &ArgMatches,
    printer: &mut Printer,
) -> Result<Option<String>, Failure> {
    let server = Server::new(server, arguments)?;
    let model = model_name(text(arguments, "file"))?;
    let pattern = text(arguments, "pattern");
    let api = server.get(&format!("/v1/{model}/openapi.json")).await?;
    let described = Described::find(&api, &model, pattern)?;
    let given = pairs(arguments, "arguments")?;
    described.check(pattern, &given)?;
    let mut cursor = arguments.get_one::<String>("cursor").cloned();
    loop {
        let answered = match described.is_read {
            true => server.read(&described.path, &given, cursor.as_deref()).await?,
            false => server.write(&described.path, &described.body(&given)?).await?,
        };
        match answered {
            Answered::Refused(outcome) => return Ok(Some(outcome)),
            Answered::Value(value) => cursor = printer.page(value, arguments.get_flag("all"))?,
        }
        if cursor.is_none() {
            return Ok(None);
        }
    }
}

/// Returns the name of the model on the server: the model name of a file, otherwise the argument itself.
pub(super) fn model_name(given: &str) -> Result<String, Failure> {
    if given == "-" || std::path::Path::new(given).is_file() {
        return Ok(Checked::read(&source::read(given)?).model.name);
    }
    Ok(given.to_owned())
}

/// Pattern as described by OpenAPI.
pub(super) struct Described<'a> {
    path: String,
    pub(super) is_read: bool,
    arguments: Vec<(&'a str, &'a Value)>,
}

impl<'a> Described<'a> {
    pub(super) fn find(api: &'a Value, model: &str, pattern: &str) -> Result<Self, Failure> {
        let path = format!("/v1/{model}/{pattern}");
        let paths = api["paths"].as_object().ok_or_else(|| Failure::new("the server's description has no paths"))?;
        let prefix = format!("/v1/{model}/");
        // Paths may be relative to the base URL of the API.
        let found = paths.iter().find(|(name, _)| name.trim_start_matches('/').rsplit('/').next() == Some(pattern));
        let Some((_, methods)) = found else {
            let names = paths.keys().map(|name| name.strip_prefix(&prefix).unwrap_or(name).trim_start_matches('/'));
            return Err(unknown_pattern(pattern, names));
        };
        if let Some(get) = methods.get("get") {
            let parameters = get["parameters"].as_array().map_or(&[][..], Vec::as_slice);
            let named = parameters.iter().map(|parameter| (resolved(api, parameter), parameter));
            let arguments =
                named.filter_map(|(parameter, _)| Some((parameter["name"].as_str()?, &parameter["schema"])));
            return Ok(Self { path, is_read: true, arguments: arguments.collect() });
        }
        let schema = resolved(api, &methods["post"]["requestBody"]["content"]["application/json"]["schema"]);
        let properties = schema["properties"].as_object();
        let arguments = properties.into_iter().flatten().map(|(name, schema)| (name.as_str(), resolved(api, schema)));
        Ok(Self { path, is_read: false, arguments: arguments.collect() })
    }

    fn names(&self) -> Vec<&'a str> {
        self.arguments.iter().map(|(name, _)| *name).collect()
    }

    fn schema(&self, name: &str) -> Option<&'a Value> {
        self.arguments.iter().find(|(argument, _)| *argument == name).map(|(_, schema)| *schema)
    }

    /// Rejects an argument that the pattern does not have.
    pub(super) fn check(&self, pattern: &str, given: &[(String, String)]) -> Result<(), Failure> {
        match given.iter().find(|(name, _)| self.schema(name).is_none()) {
            Some((name, _)) => Err(unknown_argument(pattern, name, &self.names())),
            None => Ok(()),
        }
    }

    /// Converts arguments to JSON: strings as they are, other types parsed as JSON.
    pub(super) fn body(&self, given: &[(String, String)]) -> Result<Value, Failure> {
        let mut body = Map::new();
        for (name, text) in given {
            let is_text = self.schema(name).is_none_or(|schema| has_type(schema, "string"));
            let json = || {
                serde_json::from_str(text)
                    .map_err(|_| Failure::new(format!("`{text}` is not a valid value for `{name}`")))
            };
            body.insert(name.clone(), if is_text { Value::String(text.clone()) } else { json()? });
        }
        Ok(Value::Object(body))
    }
}

/// Returns whether a schema accepts a type.
fn has_type(schema: &Value, name: &str) -> bool {
    match &schema["type"] {
        Value::String(kind) => kind == name,
        Value::Array(kinds) => kinds.iter().any(|kind| kind == name),
        _ => schema.get("enum").is_some(),
    }
}

/// Resolves a `$ref` within the document.
fn resolved<'a>(api: &'a Value, schema: &'a Value) -> &'a Value {
    let place = schema["$ref"].as_str().and_then(|place| place.strip_prefix('#'));
    place.and_then(|place| api.pointer(place)).unwrap_or(schema)
}

/// Server and caller headers.
pub(super) struct Server {
    pub(super) url: String,
    pub(super) headers: Vec<(&'static str, String)>,
}

impl Server {
    pub(super) fn new(url: &str, arguments: &ArgMatches) -> Result<Self, Failure> {
        if !url.starts_with("http://") && !url.starts_with("https://") {
            return Err(Failure::new(format!("{url} is not a server URL: it must start with http:// or https://")));
        }
        let mut headers = Vec::new();
        let token = arguments.get_one::<String>("token").cloned().or_else(|| std::env::var("KEYFORM_TOKEN").ok());
        if let Some(token) = token {
            headers.push((AUTHORIZATION.as_str(), format!("Bearer {token}")));
        }
        let claims = pairs(arguments, "as")?;
        if !claims.is_empty() {
            let claims: Vec<String> = claims.iter().map(|(name, value)| format!("{name}={value}")).collect();
            headers.push(("x-keyform-caller", claims.join("; ")));
        }
        Ok(Self { url: url.trim_end_matches('/').to_owned(), headers })
    }

    async fn read(&self, path: &str, given: &[(String, String)], cursor: Option<&str>) -> Result<Answered, Failure> {
        let cursor = cursor.map(|cursor| ("cursor", cursor));
        let pairs = given.iter().map(|(name, value)| (name.as_str(), value.as_str())).chain(cursor);
        let query: Vec<String> = pairs.map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
        let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
        answered(self.send("GET", &format!("{path}{query}"), None).await?)
    }

    async fn write(&self, path: &str, body: &Value) -> Result<Answered, Failure> {
        answered(self.send("POST", path, Some(body.to_string())).await?)
    }

    pub(super) async fn get(&self, path: &str) -> Result<Value, Failure> {
        match answered(self.send("GET", path, None).await?)? {
            Answered::Value(value) => Ok(value),
            Answered::Refused(outcome) => Err(Failure::new(outcome)),
        }
    }

    async fn send(&self, method: &str, path: &str, body: Option<String>) -> Result<(u16, Bytes), Failure> {
        let url: Uri = format!("{}{path}", self.url).parse()?;
        let mut request = Request::builder().method(method).uri(&url);
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        if body.is_some() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        let request = request.body(Full::new(Bytes::from(body.unwrap_or_default())))?;
        let sent = if url.scheme_str() == Some("https") {
            let connector = HttpsConnectorBuilder::new().with_native_roots()?.https_only().enable_http1().build();
            Client::builder(TokioExecutor::new()).build(connector).request(request).await
        } else {
            Client::builder(TokioExecutor::new()).build(HttpConnector::new()).request(request).await
        };
        let unreachable = |error: &dyn std::error::Error| {
            let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
            Failure::new(format!("cannot reach {}{cause}: is `keyform serve` running there?", self.url))
        };
        let answer = sent.map_err(|error| unreachable(&error))?;
        let status = answer.status().as_u16();
        Ok((status, answer.into_body().collect().await?.to_bytes()))
    }
}

/// Parses a response: a value, a refusal, or an error.
fn answered((status, body): (u16, Bytes)) -> Result<Answered, Failure> {
    if body.is_empty() && status < 300 {
        return Ok(Answered::Value(Value::Null));
    }
    let value: Value = serde_json::from_slice(&body)
        .map_err(|_| Failure::new(format!("the server answered {status} with a body that is not JSON")))?;
    if status < 300 {
        return Ok(Answered::Value(value));
    }
    if value["type"] == "urn:keyform:problem:refused"
        && let Some(outcome) = value["outcome"].as_str()
    {
        return Ok(Answered::Refused(outcome.to_owned()));
    }
    let said = ["detail", "title", "message"].iter().find_map(|name| value[*name].as_str()).unwrap_or("nothing more");
    Err(Failure::new(format!("the server answered {status}: {said}")))
}

/// Percent-encodes text for a query.
fn encoded(text: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(byte);
    text.bytes().map(|byte| if plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}
