//! HTTP: sign-in with a mailed token, and calls with the token that the server issued.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use keyform::flow::{Host, Throttle, TokenKeys};
use keyform::runtime::seal::Keyring;
use keyform::server::{Models, Running, Server, ServerSettings};
use keyform::{Database, ModelOptions};
use keyform_helpmaton::notify::{Notice, Recorded};
use keyform_helpmaton::secrets::Hashing;
use keyform_helpmaton::{Settings, application_with};
use keyform_scenario::ManualWorld;
use serde_json::{Value, json};

struct Api {
    running: Running,
    told: Recorded,
}

impl Api {
    fn start() -> Self {
        let told = Recorded::default();
        let database = Database::in_memory();
        let token_keys = TokenKeys::secret(b"0123456789abcdef0123456789abcdef").unwrap();
        let options = ModelOptions::new().field_keys(Keyring::generate(&keyform::SystemWorld));
        // Attempts are counted on a fixed clock, however long a test takes.
        let throttle = Throttle::in_world(Arc::new(ManualWorld::default()));
        let host = Host::on(database.clone())
            .with_options(options)
            .with_token_keys(token_keys.clone())
            .with_throttle(throttle);
        let settings =
            Settings { hashing: Hashing::with_log_n(2), notifier: Arc::new(told.clone()), ..Settings::default() };
        let models = Models::default();
        models.put(application_with(&host, settings).unwrap().served());
        let settings = ServerSettings { port: 0, workers: 1, models, token_keys, ..ServerSettings::default() };
        Self { running: keyform::serve(Server::bind(settings).unwrap(), &database).unwrap(), told }
    }

    fn post(&self, token: Option<&str>, flow: &str, body: &Value) -> (u16, Value) {
        let mut stream = TcpStream::connect(self.running.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let token = token.map(|token| format!("authorization: Bearer {token}\r\n")).unwrap_or_default();
        let body = body.to_string();
        let head = format!(
            "POST /v1/helpmaton/{flow} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n{token}content-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        (status, serde_json::from_str(body).unwrap())
    }

    fn mailed(&self, email: &str) -> String {
        match self.told.told(email).pop().unwrap() {
            Notice::SignIn { token } | Notice::Invited { token, .. } => token.reveal().to_owned(),
            other => panic!("{other:?}"),
        }
    }

    fn sign_in(&self, email: &str) -> Value {
        assert_eq!(self.post(None, "requestSignIn", &json!({ "email": email })).0, 200);
        let (status, session) = self.post(None, "signIn", &json!({ "email": email, "token": self.mailed(email) }));
        assert_eq!(status, 200, "{session}");
        session
    }
}

#[test]
fn a_newcomer_signs_in_opens_a_workspace_and_refreshes() {
    let api = Api::start();
    let session = api.sign_in("ada@example.com");
    let token = session["accessToken"].as_str();
    assert_eq!(session["expiresIn"], 3600);
    let (status, workspace) = api.post(token, "openWorkspace", &json!({ "name": "Engines", "currency": "gbp" }));
    assert_eq!((status, &workspace["currency"]), (200, &json!("gbp")), "{workspace}");
    let (_, mine) = api.post(token, "myWorkspaces", &json!({}));
    assert_eq!(mine["items"][0]["workspaceId"], workspace["workspaceId"]);
    let (status, refused) = api.post(token, "openWorkspace", &json!({ "name": "More" }));
    assert_eq!((status, &refused["outcome"]), (409, &json!("WorkspaceLimitReached")), "{refused}");
    assert_eq!(api.post(None, "myWorkspaces", &json!({})).0, 401);
    let eve = api.sign_in("eve@example.com");
    let members = json!({ "workspaceId": workspace["workspaceId"] });
    assert_eq!(api.post(eve["accessToken"].as_str(), "members", &members).0, 403);

    let refresh = json!({ "refreshToken": session["refreshToken"] });
    let (status, next) = api.post(None, "refresh", &refresh);
    assert_eq!(status, 200, "{next}");
    assert_eq!(api.post(next["accessToken"].as_str(), "mySubscription", &json!({})).1["plan"], "free");
    assert_eq!(api.post(None, "refresh", &refresh).1["outcome"], "TokenReused");

    let (_, key) = api.post(token, "makeApiKey", &json!({ "name": "scripts" }));
    let (status, access) = api.post(None, "tokenForApiKey", &json!({ "apiKey": key["key"] }));
    assert_eq!(status, 200, "{access}");
    assert_eq!(api.post(access["accessToken"].as_str(), "myWorkspaces", &json!({})).0, 200);
    api.running.stop();
}

#[test]
fn an_address_is_mailed_five_times_however_it_is_spelled() {
    let api = Api::start();
    let ask = |email: &str| api.post(None, "requestSignIn", &json!({ "email": email })).0;
    let statuses: Vec<u16> =
        (0..50).map(|number| ask(["ada@example.com", "ADA@example.com", " ada@Example.com"][number % 3])).collect();
    assert_eq!(statuses, [vec![200; 5], vec![429; 45]].concat());
    assert_eq!(api.told.told("ada@example.com").len(), 5);
    assert_eq!(ask("grace@example.com"), 200);
    let sign_in = |token: &str| api.post(None, "signIn", &json!({ "email": "ada@example.com", "token": token }));
    let guesses: Vec<u16> = (0..20).map(|number| sign_in(&format!("guess {number}")).0).collect();
    assert_eq!(guesses, [vec![409; 10], vec![429; 10]].concat());
    let (status, problem) = sign_in("one more guess");
    assert_eq!((status, &problem["type"]), (429, &json!("urn:keyform:problem:throttled")));
    api.running.stop();
}

#[test]
fn tokens_of_invitations_are_guessed_within_limits() {
    let api = Api::start();
    let look = |number: usize| api.post(None, "invitation", &json!({ "token": format!("guess {number}") })).0;
    let statuses: Vec<u16> = (0..120).map(look).collect();
    assert_eq!(statuses, [vec![409; 100], vec![429; 20]].concat());
    api.running.stop();
}
