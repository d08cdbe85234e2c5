//! Chat over HTTP: accounts, tokens issued by the server, invites, and receiving a message.

use crate::support;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use keyform::Database;
use keyform::flow::{Host, Throttle};
use keyform::server::{Models, Running, Server, ServerSettings};
use keyform_discord::application_with;
use keyform_scenario::ManualWorld;
use serde_json::{Value, json};

/// Running server with the chat.
struct Served {
    running: Running,
}

impl Served {
    fn start() -> Self {
        Self::counting(Throttle::new())
    }

    fn counting(throttle: Throttle) -> Self {
        let database = Database::in_memory();
        let host = Host::on(database.clone()).variable("stage", "test").with_throttle(throttle);
        let application = application_with(&host, support::settings()).unwrap();
        let models = Models::default();
        models.put(application.served());
        let token_keys = host.token_keys().clone();
        let settings = ServerSettings { port: 0, workers: 2, models, token_keys, ..ServerSettings::default() };
        Self { running: keyform::serve(Server::bind(settings).unwrap(), &database).unwrap() }
    }

    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &Value) -> (u16, Value) {
        let mut stream = TcpStream::connect(self.running.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let head = format!(
            "{method} /v1/discord/{path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n{headers}\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let mut status = String::new();
        reader.read_line(&mut status).unwrap();
        let mut rest = String::new();
        reader.read_to_string(&mut rest).unwrap();
        let body = rest.split("\r\n\r\n").nth(1).unwrap_or_default();
        let value = if body.is_empty() { Value::Null } else { serde_json::from_str(body).unwrap() };
        (status.split(' ').nth(1).unwrap().parse().unwrap(), value)
    }

    fn post(&self, token: &str, name: &str, body: &Value) -> (u16, Value) {
        self.send("POST", name, &[("authorization", &format!("Bearer {token}"))], body)
    }

    fn get(&self, token: &str, path: &str) -> (u16, Value) {
        self.send("GET", path, &[("authorization", &format!("Bearer {token}"))], &Value::Null)
    }

    /// Sends a call that must succeed; returns the answer.
    fn done(&self, token: &str, name: &str, body: &Value) -> Value {
        let (status, answer) = self.post(token, name, body);
        assert!((200..300).contains(&status), "{name}: {status} {answer}");
        answer
    }

    fn register(&self, name: &str) -> String {
        let who = json!({ "email": format!("{name}@example.com"), "username": name, "password": support::PASSWORD });
        let (status, session) = self.send("POST", "register", &[], &who);
        assert_eq!(status, 200, "{session}");
        session["token"].as_str().unwrap().to_owned()
    }
}

#[test]
fn people_register_log_in_join_and_hear_each_other() {
    let served = Served::start();
    let ada = served.register("ada");
    let who = json!({ "email": "ADA@example.com", "password": support::PASSWORD });
    let (status, session) = served.send("POST", "logIn", &[], &who);
    assert_eq!((status, &session["user"]["username"]), (200, &json!("ada")));
    assert!(session["user"].get("passwordHash").is_none());
    let me = served.done(&ada, "me", &json!({}));
    assert_eq!(me["email"], "ada@example.com");

    let server = served.done(&ada, "createServer", &json!({ "name": "Engines" }));
    let invite = served.done(&ada, "createInvite", &json!({ "serverId": server["serverId"], "maxUses": 1 }));
    let grace = served.register("grace");
    served.done(&grace, "joinByInvite", &json!({ "inviteCode": invite["inviteCode"] }));
    let overview = served.done(&grace, "serverOverview", &json!({ "serverId": server["serverId"] }));
    let channel = &overview["channels"][0]["channelId"];

    let connection = served.done(&ada, "openConnection", &json!({ "channelId": channel }));
    served.done(&grace, "postMessage", &json!({ "channelId": channel, "content": "hello, Ada" }));
    let mut after = 0;
    let message = 'heard: loop {
        let hear = json!({ "connectionId": connection["connectionId"], "after": after, "waitSeconds": 20 });
        let heard = served.done(&ada, "nextEvents", &hear);
        for event in heard["events"].as_array().unwrap() {
            after = event["number"].as_u64().unwrap();
            if event["type"] == "messageCreated" {
                break 'heard event["message"].clone();
            }
        }
    };
    assert_eq!((&message["username"], &message["content"]), (&json!("grace"), &json!("hello, Ada")));
    let page = served.get(&ada, &format!("messages?channelId={}", channel.as_str().unwrap()));
    assert_eq!((page.0, &page.1["items"][0]), (200, &message));
    let badges = served.done(&ada, "unreadBadges", &json!({}));
    assert_eq!(badges[0]["unread"], 1);
}

#[test]
fn problems_have_names_and_tokens_are_looked_at() {
    let served = Served::start();
    let ada = served.register("ada");
    let wrong = |email: &str, password: &str| {
        let (status, problem) = served.send("POST", "logIn", &[], &json!({ "email": email, "password": password }));
        (status, problem["outcome"].clone(), problem["detail"].clone())
    };
    assert_eq!(wrong("ada@example.com", "a wrong password"), wrong("nobody@example.com", "a wrong password"));
    assert_eq!(wrong("ada@example.com", "a wrong password").0, 409);
    let weak = json!({ "email": "eve@example.com", "username": "eve", "password": "short" });
    let (status, problem) = served.send("POST", "register", &[], &weak);
    assert_eq!((status, &problem["outcome"]), (409, &json!("WeakPassword")));
    assert!(problem["detail"].as_str().unwrap().contains("at least 10"), "{problem}");
    let (status, _) = served.send("POST", "register", &[], &json!({ "email": "eve@example.com" }));
    assert_eq!(status, 400);
    assert_eq!(served.post("no.to.ken", "me", &json!({})).0, 401);
    assert_eq!(served.send("POST", "me", &[], &json!({})).0, 401);
    let forged = format!("{}x", &ada[..ada.len() - 1]);
    assert_eq!(served.post(&forged, "me", &json!({})).0, 401);
    // A repeated registration with the same key creates one account.
    let who = json!({ "email": "joan@example.com", "username": "joan", "password": support::PASSWORD });
    let key = [("idempotency-key", "one")];
    let (first, again) = (served.send("POST", "register", &key, &who), served.send("POST", "register", &key, &who));
    assert_eq!((first.0, &first.1["user"]), (200, &again.1["user"]));
}

/// Returns an attempt counter on a clock that the test advances.
fn on_a_clock() -> (ManualWorld, Throttle) {
    let world = ManualWorld::default();
    (world.clone(), Throttle::in_world(Arc::new(world)))
}

#[test]
fn passwords_are_guessed_ten_times_and_then_twice_a_minute() {
    let (clock, throttle) = on_a_clock();
    let served = Served::counting(throttle);
    served.register("ada");
    served.register("grace");
    let log_in = |name: &str, password: &str| {
        let who = json!({ "email": format!("{name}@example.com"), "password": password });
        served.send("POST", "logIn", &[], &who).0
    };
    let guesses: Vec<u16> = std::thread::scope(|scope| {
        let spellings = ["ada", "ADA", "Ada", " ada"];
        let threads: Vec<_> =
            (0..64).map(|number| scope.spawn(move || log_in(spellings[number % 4], "a wrong guess"))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(guesses.iter().filter(|status| **status == 409).count(), 10, "{guesses:?}");
    assert_eq!(guesses.iter().filter(|status| **status == 429).count(), 54, "{guesses:?}");
    assert_eq!(log_in("ada", support::PASSWORD), 429, "the right password is one guess among others");
    assert_eq!(log_in("grace", support::PASSWORD), 200, "another account has its own limit");
    clock.advance(Duration::from_secs(30));
    assert_eq!(
        (log_in("ada", support::PASSWORD), log_in("ada", "a wrong guess")),
        (200, 429),
        "a success resets nothing"
    );
}

#[test]
fn invite_codes_are_guessed_within_limits_over_every_path() {
    let (clock, throttle) = on_a_clock();
    let served = Served::counting(throttle);
    let ada = served.register("ada");
    let join = |code: usize| served.post(&ada, "joinByInvite", &json!({ "inviteCode": format!("guess{code:05}") })).0;
    let statuses: Vec<u16> = (0..30).map(join).collect();
    assert_eq!(statuses, [vec![409; 20], vec![429; 10]].concat());
    let look = |code: usize| served.send("GET", &format!("inviteByCode?inviteCode=guess{code:05}"), &[], &Value::Null);
    let (found, refused): (Vec<_>, Vec<_>) = (0..100).map(look).partition(|(status, _)| *status == 200);
    assert_eq!((found.len(), refused.len()), (80, 20), "without a caller, and after 20 guesses of the same client");
    assert_eq!(refused[0].1["type"], "urn:keyform:problem:throttled");
    clock.advance(Duration::from_secs(10));
    assert_eq!((join(1), join(2)), (409, 429));
}

#[test]
fn log_ins_and_password_changes_guess_in_one_count() {
    let (clock, throttle) = on_a_clock();
    let served = Served::counting(throttle);
    let ada = served.register("ada");
    let change = json!({ "password": "a wrong guess", "newPassword": "a bridge of many cards" });
    let who = json!({ "email": "ada@example.com", "password": "a wrong guess" });
    let mut statuses: Vec<u16> = (0..6).map(|_| served.post(&ada, "changeMyPassword", &change).0).collect();
    statuses.extend((0..6).map(|_| served.send("POST", "logIn", &[], &who).0));
    assert_eq!(statuses, [vec![409; 10], vec![429; 2]].concat());
    clock.advance(Duration::from_secs(30));
    assert_eq!(served.post(&ada, "changeMyPassword", &change).0, 409);
    assert_eq!(served.send("POST", "logIn", &[], &who).0, 429);
}

#[test]
fn an_address_has_one_spelling() {
    let served = Served::start();
    served.register("ada");
    for email in ["ada@example.com.", "ada\u{200b}@example.com", "\u{ff41}da@example.com", "ada@\u{ff45}xample.com"] {
        let who = json!({ "email": email, "password": support::PASSWORD });
        assert_eq!(served.send("POST", "logIn", &[], &who).0, 400, "{email}");
        let new = json!({ "email": email, "username": "ada", "password": support::PASSWORD });
        assert_eq!(served.send("POST", "register", &[], &new).0, 400, "{email}");
    }
}
