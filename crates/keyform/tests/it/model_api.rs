//! Model API over real HTTP: flows of discord, guards, cursors, idempotency keys, problems, tokens, and model reloads.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use keyform::flow::{Flow, FlowCall, FlowError, Tables, TokenKeys};
use keyform::server::{Models, Running, Served, Server, ServerSettings};
use keyform::{
    AttributeValue, Attributes, Database, ExecuteExt as _, ModelFileError, ModelFiles, Reload, SystemWorld, World as _,
};
use keyform_check::Checked;
use keyform_runtime::run::{Call, RunSettings, Runner, json as run_json};
use serde_json::{Value, json};
use sha2::Sha256;

const DISCORD: &str = include_str!("../../../../systems/discord/discord.kf");
const SECRET: &[u8] = b"0123456789abcdef0123456789abcdef";

pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) text: String,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// Returns the status, the type of the problem, and the outcome.
    fn problem(&self) -> (u16, String, Value) {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{}", self.text);
        let body = self.json();
        assert_eq!(body["status"], self.status);
        let kind = body["type"].as_str().unwrap().strip_prefix("urn:keyform:problem:").unwrap().to_owned();
        (self.status, kind, body["outcome"].clone())
    }
}

/// Served model, with its runner for calls that only code may make.
struct Api {
    running: Running,
    runner: Runner,
}

impl Api {
    fn start(model: &str, token_keys: TokenKeys) -> Self {
        Self::with_flows(model, token_keys, |_| Vec::new())
    }

    fn with_flows(model: &str, token_keys: TokenKeys, flows: impl Fn(&Runner) -> Vec<Flow>) -> Self {
        let checked = Checked::read(model);
        assert!(!checked.has_errors(), "{:?}", checked.diagnostics);
        let database = Database::in_memory();
        let settings =
            RunSettings { variables: [("stage".to_owned(), "test".to_owned())].into(), ..Default::default() };
        let runner =
            Runner::new(Arc::new(checked), Arc::new(database.clone()), Arc::new(SystemWorld), settings).unwrap();
        let models = Models::default();
        models.put(Served::new(runner.clone(), Tables::Made).with_flows(flows(&runner)));
        let settings = ServerSettings { port: 0, workers: 1, models, token_keys, ..ServerSettings::default() };
        let running = keyform::serve(Server::bind(settings).unwrap(), &database).unwrap();
        Self { running, runner }
    }

    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        send(&self.running, method, path, headers, body)
    }

    fn get(&self, user: &str, path: &str) -> Answer {
        self.send("GET", path, &[("x-keyform-caller", &format!("userId={user}"))], "")
    }

    fn post(&self, user: &str, pattern: &str, body: &Value) -> Answer {
        let caller = format!("userId={user}");
        let headers = [("x-keyform-caller", caller.as_str()), ("content-type", "application/json")];
        self.send("POST", &format!("/v1/discord/{pattern}"), &headers, &body.to_string())
    }

    /// Creates a user, as code.
    fn sign_up(&self, name: &str) -> String {
        let arguments: Attributes = [
            ("email".to_owned(), AttributeValue::from(format!("{name}@example.com"))),
            ("username".to_owned(), name.into()),
            ("passwordHash".to_owned(), "the hash".into()),
        ]
        .into();
        let call = Call { arguments, ..Call::default() };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let user = runtime.block_on(async {
            self.runner.create_tables().await.unwrap();
            self.runner.write("signUp", &call).await.unwrap().unwrap()
        });
        match &user.fields["userId"] {
            AttributeValue::S(id) => id.clone(),
            other => panic!("{other:?}"),
        }
    }

    fn make_server(&self, owner: &str) -> (String, String) {
        let server = self.post(owner, "createServer", &json!({ "name": "Engines" })).json();
        let server = server["serverId"].as_str().unwrap().to_owned();
        let channels = self.get(owner, &format!("/v1/discord/channelsOfServer?serverId={server}")).json();
        (server, channels["items"][0]["channelId"].as_str().unwrap().to_owned())
    }
}

pub(crate) fn send(running: &Running, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let mut stream = TcpStream::connect(running.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {}\r\n{headers}\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    read(&mut BufReader::new(stream))
}

fn read(stream: &mut BufReader<TcpStream>) -> Answer {
    let mut line = || {
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    };
    let status = line().split(' ').nth(1).unwrap().parse().unwrap();
    let mut headers = Vec::new();
    loop {
        let line = line();
        let Some((name, value)) = line.split_once(": ") else { break };
        headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    Answer { status, headers, text }
}

fn discord() -> Api {
    Api::start(DISCORD, TokenKeys::default())
}

fn problem(status: u16, kind: &str) -> (u16, String, Value) {
    (status, kind.to_owned(), Value::Null)
}

fn refused(outcome: &str) -> (u16, String, Value) {
    (409, "refused".to_owned(), outcome.into())
}

#[test]
fn people_meet_in_a_server_and_talk_and_strangers_stay_outside() {
    let api = discord();
    let (ada, grace) = (api.sign_up("ada"), api.sign_up("grace"));
    let (server, channel) = api.make_server(&ada);
    let channels = format!("/v1/discord/channelsOfServer?serverId={server}");
    assert_eq!(api.get(&grace, &channels).problem(), problem(403, "forbidden"));
    let message = json!({ "channelId": channel, "content": "Hello, \"world\"!" });
    assert_eq!(api.post(&grace, "postMessage", &message).problem(), problem(403, "forbidden"));
    assert_eq!(api.post(&ada, "postMessage", &message).status, 200);

    let invite = api.post(&ada, "createInvite", &json!({ "serverId": server, "maxUses": 1 })).json();
    assert_eq!(invite["maxUses"], 1);
    let code = json!({ "inviteCode": invite["inviteCode"] });
    let joined = api.post(&grace, "joinByInvite", &code);
    assert_eq!((joined.status, &joined.json()["role"]), (200, &json!("member")));
    assert_eq!(api.get(&grace, &channels).status, 200);
    let page = api.get(&grace, &format!("/v1/discord/messages?channelId={channel}")).json();
    assert_eq!(page["items"][0]["content"], "Hello, \"world\"!");
    assert_eq!(page["cursor"], Value::Null);

    let eve = api.sign_up("eve");
    let late = api.post(&eve, "joinByInvite", &code);
    assert_eq!(late.problem(), refused("InviteUsedUp"));
    assert_eq!(late.json()["item"]["uses"], 1);
    assert_eq!(api.post(&ada, "leaveServer", &json!({ "serverId": server })).problem(), refused("OwnerCannotLeave"));
    let left = api.post(&grace, "leaveServer", &json!({ "serverId": server }));
    assert_eq!((left.status, left.text.as_str()), (204, ""));
    assert_eq!(api.get(&grace, &channels).status, 403);
    let count = api.get(&ada, &format!("/v1/discord/channelCount?serverId={server}")).json();
    assert_eq!(count, json!({ "count": 1 }));
}

#[test]
fn pages_follow_each_other_by_cursors_that_cannot_be_made_up_or_moved() {
    let api = discord();
    let ada = api.sign_up("ada");
    let (_, channel) = api.make_server(&ada);
    for number in 0..70 {
        let message = json!({ "channelId": channel, "content": format!("message {number}") });
        assert_eq!(api.post(&ada, "postMessage", &message).status, 200);
    }
    let path = format!("/v1/discord/messages?channelId={channel}");
    let first = api.get(&ada, &path).json();
    assert_eq!(first["items"].as_array().unwrap().len(), 50);
    let cursor = first["cursor"].as_str().unwrap();
    let second = api.get(&ada, &format!("{path}&cursor={cursor}")).json();
    let items: Vec<&Value> = [&first, &second].iter().flat_map(|page| page["items"].as_array().unwrap()).collect();
    let times: Vec<&str> = items.iter().map(|item| item["createdAt"].as_str().unwrap()).collect();
    assert!(times.is_sorted_by(|newer, older| newer >= older), "{times:?}");
    // Messages of the same millisecond are ordered by their random ids, so check only that each one is present once.
    let contents: std::collections::BTreeSet<&str> =
        items.iter().map(|item| item["content"].as_str().unwrap()).collect();
    assert_eq!((items.len(), contents.len()), (70, 70));
    assert_eq!(second["cursor"], Value::Null);
    assert_eq!(api.get(&ada, &format!("{path}&cursor=forged")).problem(), problem(400, "cursor"));
    let (_, other) = api.make_server(&ada);
    let moved = api.get(&ada, &format!("/v1/discord/messages?channelId={other}&cursor={cursor}"));
    assert_eq!(moved.problem(), problem(400, "cursor"));
}

#[test]
fn a_write_sent_again_under_its_key_applies_once() {
    let api = discord();
    let (ada, grace) = (api.sign_up("ada"), api.sign_up("grace"));
    let create = |user: &str, key: &str, name: &str| {
        let caller = format!("userId={user}");
        let headers =
            [("x-keyform-caller", caller.as_str()), ("content-type", "application/json"), ("idempotency-key", key)];
        api.send("POST", "/v1/discord/createServer", &headers, &json!({ "name": name }).to_string())
    };
    let (once, again) = (create(&ada, "k1", "Engines"), create(&ada, "k1", "Engines"));
    assert_eq!((once.status, &once.text), (200, &again.text));
    assert_ne!(create(&ada, "k2", "Engines").text, once.text, "another key is another call");
    assert_ne!(create(&grace, "k1", "Engines").text, once.text, "another caller's key is another call");
    assert_eq!(create(&ada, "k1", "Boats").problem(), problem(422, "idempotency-key"));
    assert_eq!(create(&ada, "", "Boats").problem(), problem(400, "arguments"));
    let mine = api.get(&ada, &format!("/v1/discord/serversOfUser?userId={ada}")).json();
    assert_eq!(mine["items"].as_array().unwrap().len(), 2);
}

#[test]
fn arguments_are_checked_by_name_and_type() {
    let api = discord();
    let ada = api.sign_up("ada");
    let (server, _) = api.make_server(&ada);
    let arguments = problem(400, "arguments");
    let check = |answer: Answer, expected: &str| {
        assert_eq!(answer.problem(), arguments);
        assert_eq!(answer.json()["detail"], expected);
    };
    check(api.get(&ada, "/v1/discord/serverById"), "`serverId` is missing");
    check(api.get(&ada, "/v1/discord/serverById?serverId=x%23y"), "`serverId` is not a ULID");
    check(
        api.get(&ada, &format!("/v1/discord/serverById?serverId={server}&serverId={server}")),
        "`serverId` is not a ULID",
    );
    check(
        api.get(&ada, &format!("/v1/discord/serverById?serverId={server}&x=1")),
        "unknown argument `x`; `serverById` takes serverId",
    );
    check(
        api.post(&ada, "createServer", &json!({ "name": "x".repeat(101) })),
        "`name` is not a text of 1 to 100 characters",
    );
    check(api.post(&ada, "createServer", &json!({})), "`name` is missing");
    check(api.post(&ada, "createServer", &json!({ "name": null })), "`name` is missing");
    check(api.post(&ada, "createServer", &json!({ "name": 7 })), "`name` is not a text of 1 to 100 characters");
    assert_eq!(api.post(&ada, "createServer", &json!([])).problem(), problem(400, "body"));
    let caller = format!("userId={ada}");
    let plain = [("x-keyform-caller", caller.as_str()), ("content-type", "text/plain")];
    assert_eq!(api.send("POST", "/v1/discord/createServer", &plain, "{}").problem(), problem(415, "media-type"));
    let several = api.get(&ada, &format!("/v1/discord/usersById?userIds={ada}&userIds=01KKP2T8SN0000000000000000"));
    assert_eq!(several.json()["items"][0]["username"], "ada");
}

#[test]
fn paths_and_methods_that_are_not_there_are_told() {
    let api = discord();
    let ada = api.sign_up("ada");
    assert_eq!(api.get(&ada, "/v1/other/messages").problem(), problem(404, "unknown-path"));
    assert_eq!(api.get(&ada, "/v1/discord/nothing").problem(), problem(404, "unknown-path"));
    assert_eq!(api.get(&ada, "/v1/discord/a/b").problem(), problem(404, "unknown-path"));
    let wrong = api.get(&ada, "/v1/discord/createServer");
    assert_eq!((wrong.problem(), wrong.header("allow")), (problem(405, "method"), Some("POST")));
    assert_eq!(api.post(&ada, "messages", &json!({})).problem(), problem(405, "method"));
    assert_eq!(api.get(&ada, &format!("/v1/discord/credentials?userId={ada}")).problem(), problem(403, "forbidden"));
    assert_eq!(api.post(&ada, "signUp", &json!({})).problem(), problem(403, "forbidden"));
    let models = api.send("GET", "/v1", &[], "").json();
    assert_eq!(models["models"][0]["name"], "discord");
    let patterns = api.send("GET", "/v1/discord", &[], "").json();
    let names: Vec<&str> =
        patterns["patterns"].as_array().unwrap().iter().map(|pattern| pattern["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"messages") && !names.contains(&"signUp"), "{names:?}");
    let operation = [("x-amz-target", "DynamoDB_20120810.ListTables")];
    let tables = api.send("POST", "/", &operation, "{}").json();
    assert_eq!(tables["TableNames"][0], "discord-clone-test-DiscordTable", "the same port speaks DynamoDB");
}

const NOTES: &str = r#"model notes

caller userId: slug(1..20), admin: bool?

table Notes {
  key pk
}

entity Note in Notes {
  key "NOTE#{noteId}"
  noteId: slug(1..20)
  pin:    string(1..20) secret
  text:   string(1..100)
  owner:  slug(1..20)
}

read note(noteId) -> Note  allow public
  unscoped Note "test data is for every caller"

read hidden(noteId) -> Note?  allow system

write put(noteId, pin, text) -> Note {
  allow public
  create Note { owner = caller.userId } else NoteExists
}

write rename(noteId, text) -> Note {
  allow public
  update Note(noteId) { text = text } else UnknownNote
    if owner = caller.userId else NotYours
}
"#;

#[test]
fn secret_fields_never_leave() {
    let api = Api::start(NOTES, TokenKeys::default());
    let post = |user: &str, pattern: &str, body: Value| {
        let caller = format!("userId={user}");
        let headers = [("x-keyform-caller", caller.as_str()), ("content-type", "application/json")];
        api.send("POST", &format!("/v1/notes/{pattern}"), &headers, &body.to_string())
    };
    let note = json!({ "noteId": "n1", "pin": "SECRET-PIN", "text": "hello" });
    let made = post("ada", "put", note.clone());
    assert_eq!((made.status, made.json()), (200, json!({ "noteId": "n1", "text": "hello", "owner": "ada" })));
    let twice = post("ada", "put", note);
    assert_eq!(twice.problem(), refused("NoteExists"));
    let stolen = post("eve", "rename", json!({ "noteId": "n1", "text": "mine" }));
    assert_eq!(stolen.problem(), refused("NotYours"));
    let read = api.send("GET", "/v1/notes/note?noteId=n1", &[], "");
    assert_eq!(read.status, 200, "everybody may read, without saying who");
    for answer in [made, twice, stolen, read] {
        assert!(!answer.text.contains("SECRET-PIN"), "{}", answer.text);
    }
    assert_eq!(api.send("GET", "/v1/notes/note?noteId=n2", &[], "").problem(), problem(404, "not-found"));
    assert_eq!(api.get("ada", "/v1/notes/hidden?noteId=n1").problem(), problem(403, "forbidden"));
    let json_type = [("content-type", "application/json")];
    let nobody = api.send("POST", "/v1/notes/rename", &json_type, r#"{"noteId":"n1","text":"x"}"#);
    assert_eq!(nobody.problem(), problem(401, "unauthenticated"));
    let wrong = [("x-keyform-caller", "userId=no good"), ("content-type", "application/json")];
    let wrong = api.send("POST", "/v1/notes/rename", &wrong, r#"{"noteId":"n1","text":"x"}"#);
    assert_eq!(wrong.problem(), problem(401, "unauthenticated"));
}

fn token(secret: &[u8], head: &str, claims: &Value) -> String {
    let encoded = |text: &[u8]| URL_SAFE_NO_PAD.encode(text);
    let signed = format!("{}.{}", encoded(head.as_bytes()), encoded(claims.to_string().as_bytes()));
    let mut hmac = Hmac::<Sha256>::new_from_slice(secret).unwrap();
    hmac.update(signed.as_bytes());
    format!("{signed}.{}", encoded(&hmac.finalize().into_bytes()))
}

#[test]
fn with_a_key_only_its_tokens_count() {
    let api = Api::start(NOTES, TokenKeys::secret(SECRET).unwrap());
    let now = u64::try_from(SystemWorld.now_millis() / 1000).unwrap();
    let head = r#"{"alg":"HS256","typ":"JWT"}"#;
    let put = |header: (&str, &str), id: &str| {
        let body = json!({ "noteId": id, "pin": "1", "text": "hello" }).to_string();
        api.send("POST", "/v1/notes/put", &[header, ("content-type", "application/json")], &body)
    };
    let bearer = |claims: Value| format!("Bearer {}", token(SECRET, head, &claims));
    let good = bearer(json!({ "userId": "ada", "exp": now + 60 }));
    assert_eq!(put(("authorization", &good), "n1").json()["owner"], "ada");
    let unknown = problem(401, "unauthenticated");
    for (header, why) in [
        (("x-keyform-caller", "userId=ada".to_owned()), "the header for development counts no longer"),
        (("authorization", bearer(json!({ "userId": "ada", "exp": now - 60 }))), "expired"),
        (("authorization", bearer(json!({ "userId": "ada", "exp": now + 90, "nbf": now + 60 }))), "not yet"),
        (("authorization", bearer(json!({ "userId": "ada" }))), "endless"),
        (("authorization", bearer(json!({ "exp": now + 60 }))), "a claim is missing"),
        (("authorization", bearer(json!({ "userId": 7, "exp": now + 60 }))), "a claim of another type"),
        (("authorization", bearer(json!({ "userId": "a#b", "exp": now + 60 }))), "a claim of another form"),
        (
            ("authorization", bearer(json!({ "userId": "ada", "admin": "yes", "exp": now + 60 }))),
            "an optional claim too",
        ),
        (
            (
                "authorization",
                format!("Bearer {}", token(&[9; 32], head, &json!({ "userId": "ada", "exp": now + 60 }))),
            ),
            "another key",
        ),
        (("authorization", good.replacen("Bearer", "Basic", 1)), "another scheme"),
        (("authorization", "Bearer".to_owned()), "no token"),
    ] {
        let answer = put((header.0, &header.1), "n2");
        assert_eq!(answer.problem(), unknown, "{why}");
        assert!(answer.header("www-authenticate").unwrap().starts_with("Bearer"), "{why}");
    }
    let public = api.send("GET", "/v1/notes/note?noteId=n1", &[], "");
    assert_eq!(public.status, 200, "what everybody may read needs no token");
    let broken = api.send("GET", "/v1/notes/note?noteId=n1", &[("authorization", "Bearer x.y.z")], "");
    assert_eq!(broken.problem(), unknown, "a token that is wrong is refused all the same");
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct LogIn {
    name: String,
    password: String,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct LoggedIn {
    token: String,
}

/// Returns a flow that issues tokens, and one that calls a pattern on behalf of its caller.
fn flows(runner: &Runner, keys: &TokenKeys) -> Vec<Flow> {
    let keys = keys.clone();
    let log_in = move |call: FlowCall<LogIn>| {
        let keys = keys.clone();
        async move {
            if call.arguments.password != "open sesame" {
                return Err(FlowError::refused("WrongPassword", "name and password do not belong together"));
            }
            let Value::Object(claims) = json!({ "userId": call.arguments.name }) else { unreachable!() };
            let token = keys.issue(claims, Duration::from_secs(60), keyform_world::system().system_time()).unwrap();
            Ok(LoggedIn { token })
        }
    };
    let runner = runner.clone();
    let again = move |call: FlowCall<OneNote>| {
        let runner = runner.clone();
        async move {
            let arguments = [("noteId".to_owned(), AttributeValue::from(call.arguments.id))].into();
            let note = runner.read("note", &Call { arguments, caller: call.caller, ..Call::default() }).await?;
            Ok(run_json::answer(&runner.checked().model, &note))
        }
    };
    vec![
        Flow::new("logIn", "Gives a token for a password.", log_in).public().outcomes(&["WrongPassword"]),
        Flow::new("again", "Reads a note.", again),
    ]
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct OneNote {
    id: String,
}

#[test]
fn flows_run_code_beside_patterns_and_may_issue_tokens() {
    let keys = TokenKeys::made_up();
    let api = Api::with_flows(NOTES, keys.clone(), |runner| flows(runner, &keys));
    let post = |path: &str, headers: &[(&str, &str)], body: &str| {
        let headers: Vec<_> = headers.iter().copied().chain([("content-type", "application/json")]).collect();
        api.send("POST", path, &headers, body)
    };
    let token = post("/v1/notes/logIn", &[], r#"{"name":"ada","password":"open sesame"}"#).json();
    let bearer = format!("Bearer {}", token["token"].as_str().unwrap());
    let bearer = ("authorization", bearer.as_str());
    let put = post("/v1/notes/put", &[bearer], r#"{"noteId":"n1","pin":"1","text":"hello"}"#);
    assert_eq!(put.json()["owner"], "ada", "patterns take the token that a flow has issued");
    assert_eq!(post("/v1/notes/again", &[bearer], r#"{"id":"n1"}"#).json()["text"], "hello");
    let said = post("/v1/notes/again", &[("x-keyform-caller", "userId=ada")], r#"{"id":"n1"}"#);
    assert_eq!(said.status, 200, "a key that was not configured leaves the development header");
    assert_eq!(post("/v1/notes/again", &[], r#"{"id":"n1"}"#).problem(), problem(401, "unauthenticated"));
    assert_eq!(post("/v1/notes/again", &[bearer], r#"{"id":7}"#).problem(), problem(400, "arguments"));
    assert_eq!(post("/v1/notes/again", &[bearer], r#"{"id":"n1","more":1}"#).problem(), problem(400, "arguments"));
    assert_eq!(post("/v1/notes/again", &[bearer], r#"{"id":"n7"}"#).problem(), problem(404, "not-found"));
    let wrong = post("/v1/notes/logIn", &[], r#"{"name":"ada","password":"?"}"#);
    assert_eq!(wrong.problem(), refused("WrongPassword"));
    assert_eq!(api.send("GET", "/v1/notes/logIn", &[], "").problem(), problem(405, "method"));
    let document = api.send("GET", "/v1/notes/openapi.json", &[], "").json();
    check_openapi(&document);
    let operation = &document["paths"]["/v1/notes/logIn"]["post"];
    let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
    assert_eq!(schema["required"], json!(["name", "password"]));
}

#[test]
fn a_server_that_others_can_reach_wants_a_token_key() {
    let database = Database::in_memory();
    let (_folder, file) = write_model("notes", NOTES);
    let files = ModelFiles::open(&[file], &database, Default::default()).unwrap();
    let settings =
        ServerSettings { host: "0.0.0.0".to_owned(), port: 0, models: files.models(), ..ServerSettings::default() };
    let error = Server::bind(settings).unwrap_err().to_string();
    assert!(error.contains("no key to verify the tokens"), "{error}");
}

/// Writes a model file in a temporary folder; the returned folder keeps the file alive.
fn write_model(name: &str, text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(format!("{name}.kf"));
    std::fs::write(&file, text).unwrap();
    (folder, file)
}

#[test]
fn a_model_is_read_again_when_its_file_changes() {
    let (_folder, file) = write_model("notes", NOTES);
    let database = Database::in_memory();
    let mut files = ModelFiles::open(std::slice::from_ref(&file), &database, Default::default()).unwrap();
    let settings = ServerSettings { port: 0, workers: 1, models: files.models(), ..ServerSettings::default() };
    let running = keyform::serve(Server::bind(settings).unwrap(), &database).unwrap();
    let status = |path: &str| send(&running, "GET", path, &[("x-keyform-caller", "userId=ada")], "").status;
    assert_eq!(status("/v1/notes/maybe?noteId=n1"), 404);
    assert!(files.reload().is_empty());

    std::fs::write(
        &file,
        NOTES.to_owned()
            + "\nread maybe(noteId) -> Note?  allow public\n  unscoped Note \"test data is for every caller\"\n",
    )
    .unwrap();
    match files.reload().as_slice() {
        [Reload::Changed { model, difference, .. }] => {
            assert_eq!((model.as_str(), difference.to_string().as_str()), ("notes", "added maybe"));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(status("/v1/notes/maybe?noteId=n1"), 200);

    std::fs::write(&file, NOTES.to_owned() + "\nread maybe(noteId) -> Nothing?\n").unwrap();
    match files.reload().as_slice() {
        [Reload::Kept { error: ModelFileError::Findings(_, findings), .. }] => {
            assert!(findings.contains("Nothing"), "{findings}")
        }
        other => panic!("{other:?}"),
    }
    assert!(files.reload().is_empty(), "a broken version is reported once");
    assert_eq!(status("/v1/notes/maybe?noteId=n1"), 200, "the older version is still there");
}

#[test]
fn an_index_that_a_new_version_has_is_added_and_filled() {
    const SHELF: &str = "model shelf\n\ntable Shelf {\n  key pk\n}\n\nentity Book in Shelf {\n  key \"BOOK#{bookId}\"\n  bookId: slug(1..9)\n  author: slug(1..9)\n}\n\nwrite add(bookId, author) -> Book { create Book {} else BookExists }\n";
    let (_folder, file) = write_model("shelf", SHELF);
    let database = Database::in_memory();
    let mut files = ModelFiles::open(std::slice::from_ref(&file), &database, Default::default()).unwrap();
    let settings = ServerSettings { port: 0, workers: 1, models: files.models(), ..ServerSettings::default() };
    let running = keyform::serve(Server::bind(settings).unwrap(), &database).unwrap();
    let body = r#"{"bookId":"b1","author":"ada"}"#;
    let json = [("content-type", "application/json")];
    assert_eq!(send(&running, "POST", "/v1/shelf/add", &json, body).status, 200);

    let indexed = SHELF.replace("  key pk\n", "  key pk\n  index byAuthor (author)\n");
    std::fs::write(&file, indexed + "\nread booksOf(author) -> [Book] via byAuthor page 10, 1/s\n").unwrap();
    assert!(matches!(files.reload().as_slice(), [Reload::Changed { .. }]));
    let books = send(&running, "GET", "/v1/shelf/booksOf?author=ada", &[], "").json();
    assert_eq!(books["items"][0]["bookId"], "b1", "{books}");

    assert_eq!(send(&running, "POST", "/v1/shelf/add", &json, body).problem().2, "BookExists");
    assert_eq!(send(&running, "GET", "/v1/shelf/nothing", &[], "").status, 404);
    let metrics = send(&running, "GET", "/metrics", &[], "").text;
    for line in [
        r#"keyform_model_calls_total{model="shelf",pattern="add",outcome="BookExists"} 1"#,
        r#"keyform_model_calls_total{model="shelf",pattern="add",outcome="ok"} 1"#,
        r#"keyform_model_call_seconds_count{model="shelf",pattern="add"} 2"#,
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line} is not in {metrics}");
    }
    assert!(!metrics.contains("nothing"), "names that callers make up are not kept");
}

#[test]
fn models_that_cannot_be_served_are_refused_with_the_reason() {
    let database = Database::in_memory();
    let refusal = |text: &str| {
        let (_folder, file) = write_model("model", text);
        ModelFiles::open(&[file], &database, Default::default()).unwrap_err().to_string()
    };
    assert!(refusal("model x\n\nentity A in Nothing { key \"A\" }\n").contains("unknown table `Nothing`"));
    assert!(refusal(DISCORD).contains("has a variable without a value"));
}

#[test]
fn openapi_of_discord_is_as_written_and_holds_together() {
    let api = discord();
    let answer = api.send("GET", "/v1/discord/openapi.json", &[], "");
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")));
    let document = answer.json();
    let golden = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/discord.openapi.json");
    if std::env::var_os("KEYFORM_BLESS").is_some() {
        std::fs::write(&golden, serde_json::to_string_pretty(&document).unwrap() + "\n").unwrap();
    }
    let expected: Value = serde_json::from_str(&std::fs::read_to_string(&golden).unwrap()).unwrap();
    assert_eq!(document, expected, "KEYFORM_BLESS=1 rewrites it");
    assert!(!answer.text.contains("passwordHash"), "secrets are not described");
}

#[test]
fn openapi_of_every_system_is_sound() {
    let systems = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../systems");
    for name in ["agencies", "discord", "helpmaton", "t3nets", "workspaces"] {
        let text = std::fs::read_to_string(systems.join(name).join(format!("{name}.kf"))).unwrap();
        check_openapi(&keyform_server::openapi(&Checked::read(&text)));
    }
}

/// Checks an OpenAPI document like a validator: required parts, unique ids, resolvable references, and unique
/// parameters.
fn check_openapi(document: &Value) {
    assert_eq!(document["openapi"], "3.1.0");
    assert!(document["info"]["title"].is_string() && document["info"]["version"].is_string());
    let mut ids = std::collections::BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        assert!(path.starts_with("/v1/"));
        for (method, operation) in item.as_object().unwrap() {
            assert!(["get", "post"].contains(&method.as_str()));
            assert!(ids.insert(operation["operationId"].as_str().unwrap().to_owned()), "{path}");
            let responses = operation["responses"].as_object().unwrap();
            assert!(responses.contains_key("200") || responses.contains_key("204"), "{path}");
            assert!(responses.values().all(|response| response["description"].is_string()), "{path}");
            let parameters = operation["parameters"].as_array().unwrap();
            let names: std::collections::BTreeSet<&str> =
                parameters.iter().map(|parameter| parameter["name"].as_str().unwrap()).collect();
            assert_eq!(names.len(), parameters.len(), "{path}");
            assert!(parameters.iter().all(|parameter| parameter["schema"].is_object()), "{path}");
            assert_eq!(method == "post", operation["requestBody"].is_object(), "{path}");
            for requirement in operation["security"].as_array().unwrap() {
                for scheme in requirement.as_object().unwrap().keys() {
                    assert!(document["components"]["securitySchemes"][scheme].is_object());
                }
            }
        }
    }
    check_references(document, document);
}

fn check_references(document: &Value, part: &Value) {
    match part {
        Value::Object(parts) => {
            if let Some(Value::String(reference)) = parts.get("$ref") {
                let pointer = reference.strip_prefix('#').unwrap();
                assert!(document.pointer(pointer).is_some(), "{reference}");
            }
            parts.values().for_each(|part| check_references(document, part));
        }
        Value::Array(parts) => parts.iter().for_each(|part| check_references(document, part)),
        _ => {}
    }
}

/// A required field with a default was added to a model whose table has items, and one item is broken.
#[test]
fn older_items_are_served_with_the_default_and_broken_ones_are_named() {
    const SHOP: &str = r#"model shop
caller userId: slug(1..30)
table Shop { key pk }
entity Order in Shop {
  key "ORDER#{orderId}"
  orderId: slug(1..20)
  total:   int(0..)
  open:    bool = true
}
read order(orderId) -> Order?                 allow public unscoped Order "a shop of one"
read orders() -> [Order] scan, page 10        allow public unscoped Order "a shop of one"
write pay(orderId, total) -> Order {
  allow public
  unscoped Order "a shop of one"
  update Order(orderId) { total = total } else Unknown if open = true else Closed
}
"#;
    let api = Api::start(SHOP, TokenKeys::default());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        api.runner.create_tables().await.unwrap();
        for (id, total) in [("old", AttributeValue::from(5)), ("bad", "much".into())] {
            let item = [("pk".to_owned(), format!("ORDER#{id}").into()), ("total".to_owned(), total)].into();
            let put = keyform::operation::PutItem { table: "Shop".to_owned(), item, ..Default::default() };
            api.runner.store().call(put).await.unwrap();
        }
    });
    let old = json!({ "orderId": "old", "total": 5, "open": true });
    assert_eq!(api.get("ada", "/v1/shop/order?orderId=old").json(), old);
    assert_eq!(api.get("ada", "/v1/shop/orders").json(), json!({ "items": [old], "cursor": null, "broken": 1 }));
    let broken = api.get("ada", "/v1/shop/order?orderId=bad");
    assert_eq!(broken.problem(), problem(500, "broken-item"));
    let body = broken.json();
    assert_eq!(
        (&body["table"], &body["key"], &body["field"]),
        (&json!("Shop"), &json!({ "pk": "ORDER#bad" }), &json!("total"))
    );
    let headers = [("x-keyform-caller", "userId=ada"), ("content-type", "application/json")];
    let paid = api.send("POST", "/v1/shop/pay", &headers, r#"{"orderId": "old", "total": 7}"#);
    assert_eq!(paid.json(), json!({ "orderId": "old", "total": 7, "open": true }));
    let metrics = api.send("GET", "/metrics", &[], "").text;
    assert!(metrics.contains("keyform_broken_items_total{model=\"shop\",entity=\"Order\"} 2"), "{metrics}");
}
