//! Live reads over a real WebSocket: pages, changes, tokens, several reads per connection, guards, slow clients, and
//! errors.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::{SinkExt, StreamExt};
use hmac::{Hmac, KeyInit, Mac};
use keyform::flow::{Tables, TokenKeys};
use keyform::runtime::run::{Call, RunSettings, Runner};
use keyform::server::{Limits, Models, Running, Served, Server, ServerSettings};
use keyform::{AttributeValue, Database, SystemWorld, World as _};
use keyform_check::Checked;
use keyform_world::testing::ManualWorld;
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};

const MODEL: &str = include_str!("../live/tasks.kf");
const SECRET: &[u8] = b"0123456789abcdef0123456789abcdef";

struct Api {
    running: Running,
    runner: Runner,
}

impl Api {
    async fn start(settings: ServerSettings) -> Self {
        let checked = Checked::read(MODEL);
        assert!(!checked.has_errors(), "{:#?}", checked.diagnostics);
        let database = Database::in_memory();
        let variables = [("stage".to_owned(), "socket".to_owned())].into();
        let run = RunSettings { variables, ..Default::default() };
        let runner = Runner::new(Arc::new(checked), Arc::new(database.clone()), Arc::new(SystemWorld), run).unwrap();
        let models = Models::default();
        models.put(Served::new(runner.clone(), Tables::Made));
        let settings = ServerSettings { port: 0, workers: 2, models, ..settings };
        let running = keyform::serve(Server::bind(settings).unwrap(), &database).unwrap();
        runner.create_tables().await.unwrap();
        let api = Self { running, runner };
        api.write("join", &[("listId", "l1".into()), ("userId", "ada".into())]).await;
        api
    }

    async fn write(&self, name: &str, arguments: &[(&str, AttributeValue)]) {
        let arguments = arguments.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        self.runner.write(name, &Call { arguments, ..Call::default() }).await.unwrap();
    }

    async fn put(&self, task: &str, title: &str) {
        self.write(
            "put",
            &[
                ("listId", "l1".into()),
                ("taskId", task.into()),
                ("title", title.into()),
                ("state", "open".into()),
                ("weight", 5.into()),
            ],
        )
        .await;
    }

    async fn connect(&self, headers: &[(&'static str, &str)]) -> Result<Client, Error> {
        let address = self.running.address();
        let mut request = format!("ws://{address}/v1/tasks/live").into_client_request()?;
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        let stream = TcpStream::connect(address).await.unwrap();
        tokio_tungstenite::client_async(request, stream).await.map(|(socket, _)| Client(socket))
    }

    /// Returns the metrics page.
    async fn figures(&self) -> String {
        let address = self.running.url().replace("http://", "");
        let mut stream = TcpStream::connect(&address).await.unwrap();
        let request = format!("GET /metrics HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut page = String::new();
        stream.read_to_string(&mut page).await.unwrap();
        page
    }

    async fn ada(&self) -> Client {
        self.connect(&[("x-keyform-caller", "userId=ada")]).await.unwrap()
    }
}

struct Client(WebSocketStream<TcpStream>);

impl Client {
    async fn send(&mut self, message: Value) {
        if message.is_object() {
            schema::check("client", &message);
        }
        self.0.send(Message::text(message.to_string())).await.unwrap();
    }

    /// Returns the next message, or the server's close code.
    async fn next(&mut self) -> Result<Value, u16> {
        loop {
            let next = tokio::time::timeout(Duration::from_secs(30), self.0.next()).await.expect("an answer in time");
            match next {
                Some(Ok(Message::Text(text))) => {
                    let message = serde_json::from_str(&text).unwrap();
                    schema::check("server", &message);
                    return Ok(message);
                }
                Some(Ok(Message::Close(Some(frame)))) => return Err(frame.code.into()),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    async fn subscribe(&mut self, id: &str, token: Option<&Value>) {
        let list = json!({ "listId": "l1" });
        self.send(json!({ "type": "subscribe", "id": id, "read": "tasks", "arguments": list, "token": token })).await;
    }

    /// Returns the kinds and titles of the next changes.
    async fn changes(&mut self) -> Vec<(String, Value)> {
        let message = self.next().await.unwrap();
        assert_eq!(message["type"], "changes", "{message}");
        let change = |change: &Value| (change["kind"].as_str().unwrap().to_owned(), change["item"]["title"].clone());
        message["changes"].as_array().unwrap().iter().map(change).collect()
    }
}

/// Implements the part of JSON Schema that `docs/live.schema.json` uses. Every message of these tests must match it.
mod schema {
    use serde_json::Value;

    pub fn check(side: &str, message: &Value) {
        let schema: Value = serde_json::from_str(include_str!("../../../../docs/live.schema.json")).unwrap();
        assert!(fits(&schema, &schema["$defs"][side], message), "not in docs/live.schema.json: {message}");
    }

    fn fits(root: &Value, schema: &Value, value: &Value) -> bool {
        let known = ["$ref", "oneOf", "type", "const", "enum", "required", "additionalProperties", "properties"];
        let others = ["items", "minLength", "maxLength", "minimum", "description"];
        schema.as_object().unwrap().iter().all(|(word, rule)| match word.as_str() {
            "$ref" => fits(root, root.pointer(&rule.as_str().unwrap()[1..]).unwrap(), value),
            "oneOf" => rule.as_array().unwrap().iter().filter(|rule| fits(root, rule, value)).count() == 1,
            "type" => match rule {
                Value::Array(kinds) => kinds.iter().any(|kind| is_of(kind, value)),
                kind => is_of(kind, value),
            },
            "const" => rule == value,
            "enum" => rule.as_array().unwrap().contains(value),
            "required" => rule.as_array().unwrap().iter().all(|name| value.get(name.as_str().unwrap()).is_some()),
            "properties" => value
                .as_object()
                .unwrap()
                .iter()
                .all(|(name, value)| rule.get(name).is_some_and(|rule| fits(root, rule, value))),
            "items" => value.as_array().unwrap().iter().all(|value| fits(root, rule, value)),
            "minLength" => value.as_str().unwrap().len() as u64 >= rule.as_u64().unwrap(),
            "maxLength" => value.as_str().unwrap().len() as u64 <= rule.as_u64().unwrap(),
            "minimum" => value.as_i64().unwrap() >= rule.as_i64().unwrap(),
            word => known.contains(&word) || others.contains(&word),
        })
    }

    fn is_of(kind: &Value, value: &Value) -> bool {
        match kind.as_str().unwrap() {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "integer" => value.is_i64(),
            "null" => value.is_null(),
            other => panic!("{other}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_gets_a_page_then_changes_and_resumes() {
    let api = Api::start(ServerSettings::default()).await;
    api.put("t1", "one").await;
    let mut client = api.ada().await;
    client.subscribe("a", None).await;
    let page = client.next().await.unwrap();
    assert_eq!((&page["type"], &page["id"], &page["cursor"]), (&json!("page"), &json!("a"), &Value::Null), "{page}");
    let item = &page["items"][0];
    assert_eq!((&item["entity"], &item["item"]["title"]), (&json!("Task"), &json!("one")));
    api.put("t1", "uno").await;
    assert_eq!(client.changes().await, [("modify".to_owned(), json!("uno"))]);
    api.put("t2", "two").await;
    let change = client.next().await.unwrap();
    assert_eq!((&change["changes"][0]["kind"], &change["id"]), (&json!("insert"), &json!("a")));
    drop(client);
    api.write("drop", &[("listId", "l1".into()), ("taskId", "t1".into())]).await;
    api.put("t3", "three").await;
    let mut client = api.ada().await;
    client.subscribe("b", Some(&change["token"])).await;
    assert_eq!(client.next().await.unwrap()["type"], "resumed");
    let changes = client.changes().await;
    assert_eq!(changes, [("remove".to_owned(), Value::Null), ("insert".to_owned(), json!("three"))]);
    client.send(json!({ "type": "ping" })).await;
    assert_eq!(client.next().await.unwrap()["type"], "pong");
    client.send(json!({ "type": "unsubscribe", "id": "b" })).await;
    assert_eq!(client.next().await.unwrap(), json!({ "type": "unsubscribed", "id": "b" }));
    api.put("t4", "four").await;
    client.subscribe("c", None).await;
    let page = client.next().await.unwrap();
    assert_eq!((&page["id"], page["items"].as_array().unwrap().len()), (&json!("c"), 3), "nothing of b in between");
    let stopped = tokio::task::spawn_blocking(move || api.running.stop());
    assert_eq!(client.next().await, Err(1001), "the server says that it stops");
    drop(client);
    stopped.await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_is_said_and_the_connection_stays() {
    let limits = Limits { live_subscriptions_max: 2, ..Limits::default() };
    let api = Api::start(ServerSettings { limits, ..ServerSettings::default() }).await;
    let mut client = api.ada().await;
    let mut check = async |message: Value, id: Option<&str>, code: &str, detail: &str| {
        client.send(message.clone()).await;
        let answer = client.next().await.unwrap();
        assert_eq!((&answer["type"], &answer["code"]), (&json!("error"), &json!(code)), "{message}: {answer}");
        assert_eq!(answer.get("id").and_then(Value::as_str), id, "{answer}");
        assert!(answer["detail"].as_str().unwrap().contains(detail), "{answer}");
    };
    let subscribe =
        |read: &str, arguments: Value| json!({ "type": "subscribe", "id": "x", "read": read, "arguments": arguments });
    check(json!([]), None, "message", "JSON object").await;
    check(subscribe("nothing", json!({})), Some("x"), "unknown-path", "no such read").await;
    check(subscribe("put", json!({})), Some("x"), "unknown-path", "no such read").await;
    check(subscribe("heavy", json!({})), Some("x"), "forbidden", "for code").await;
    check(subscribe("tasks", json!({})), Some("x"), "arguments", "`listId` is missing").await;
    check(subscribe("tasks", json!({ "listId": "l2" })), Some("x"), "forbidden", "may not").await;
    check(json!({ "type": "unsubscribe", "id": "x" }), Some("x"), "arguments", "no such subscription").await;
    let token =
        json!({ "type": "subscribe", "id": "x", "read": "tasks", "arguments": { "listId": "l1" }, "token": "zzz" });
    check(token, Some("x"), "token", "Subscribe without it").await;
    for id in ["1", "2"] {
        client.subscribe(id, None).await;
        assert_eq!(client.next().await.unwrap()["type"], "page");
    }
    let mut check = async |id: &str, code: &str| {
        client.subscribe(id, None).await;
        assert_eq!(client.next().await.unwrap()["code"], code);
    };
    check("2", "arguments").await;
    check("3", "too-many").await;
    client.0.send(Message::binary(vec![1])).await.unwrap();
    assert_eq!(client.next().await, Err(1003));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_may_no_longer_read_is_told_so() {
    let api = Api::start(ServerSettings::default()).await;
    let mut client = api.connect(&[]).await.unwrap();
    client.subscribe("a", None).await;
    assert_eq!(client.next().await.unwrap()["code"], "unauthenticated");
    client.send(json!({ "type": "authenticate", "token": "userId=ada" })).await;
    assert_eq!(client.next().await.unwrap()["type"], "authenticated");
    client.subscribe("a", None).await;
    assert_eq!(client.next().await.unwrap()["type"], "page");
    api.write("leave", &[("listId", "l1".into()), ("userId", "ada".into())]).await;
    api.put("t9", "not for ada").await;
    let ended = client.next().await.unwrap();
    assert_eq!((&ended["type"], &ended["id"], &ended["code"]), (&json!("ended"), &json!("a"), &json!("forbidden")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_of_a_stranger_cannot_speak_for_a_developer() {
    let api = Api::start(ServerSettings::default()).await;
    let refused = api.connect(&[("origin", "https://stranger.example")]).await;
    assert!(matches!(refused, Err(Error::Http(answer)) if answer.status() == 403));
    assert!(api.connect(&[("origin", "http://localhost:3000")]).await.is_ok());
}

/// A token that ends `secs` seconds after the time of `world`.
fn token(world: &ManualWorld, secs: i64) -> String {
    let now = world.now_millis() / 1000;
    let part = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let claims = json!({ "userId": "ada", "exp": now + secs });
    let signed = format!("{}.{}", part(json!({ "alg": "HS256" })), part(claims));
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET).unwrap();
    mac.update(signed.as_bytes());
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_brings_its_token_as_a_subprotocol_and_leaves_when_it_ends() {
    let token_keys = TokenKeys::secret(SECRET).unwrap();
    let world = ManualWorld::at_ms(u64::try_from(SystemWorld.now_millis()).unwrap());
    let settings = ServerSettings { token_keys, world: Arc::new(world.clone()), ..ServerSettings::default() };
    let api = Api::start(settings).await;
    let protocols = format!("keyform.live.v1, keyform.token.{}", token(&world, 60));
    let mut client = api.connect(&[("sec-websocket-protocol", &protocols)]).await.unwrap();
    client.subscribe("a", None).await;
    assert_eq!(client.next().await.unwrap()["type"], "page");
    client.send(json!({ "type": "authenticate", "token": token(&world, 60) })).await;
    assert_eq!(client.next().await.unwrap()["type"], "authenticated");
    // Clocks may differ by 30 seconds, so the token lasts so much longer.
    world.advance(Duration::from_secs(91));
    assert_eq!(client.next().await, Err(4001));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_does_not_read_is_closed_as_slow() {
    let limits = Limits { live_buffer_bytes: 16 * 1024, ..Limits::default() };
    let api = Api::start(ServerSettings { limits, ..ServerSettings::default() }).await;
    let mut client = api.ada().await;
    client.subscribe("a", None).await;
    let page = client.next().await.unwrap();
    let title = "x".repeat(3900);
    // Enough to fill the buffers of both sockets as well.
    for number in 0..4000 {
        api.put(&format!("t{}", number % 50), &format!("{title}{number}")).await;
    }
    let mut last = page["token"].clone();
    let code = loop {
        match client.next().await {
            Ok(message) => last = message["token"].clone(),
            Err(code) => break code,
        }
    };
    assert_eq!(code, 4008);
    let mut client = api.ada().await;
    client.subscribe("again", Some(&last)).await;
    assert_eq!(client.next().await.unwrap()["type"], "resumed");
    assert_eq!(client.next().await.unwrap()["type"], "changes");
    let figures = api.figures().await;
    for line in [
        "keyform_live_closes_total{code=\"4008\"} 1",
        "keyform_live_ended_total{reason=\"slow\"} 1",
        "keyform_live_connections_total 2",
        "keyform_live_subscriptions_total 2",
        "keyform_live_pages_total 1",
        "keyform_live_resumes_total 1",
    ] {
        assert!(figures.lines().any(|known| known == line), "{line} is not in\n{figures}");
    }
    assert!(figures.contains("keyform_live_feed_lag_seconds{table="), "{figures}");
}
