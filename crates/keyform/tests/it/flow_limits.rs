//! Flows end at their deadline and, if interruptible, when the caller disconnects. Rate limits count guesses of a
//! secret.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use keyform::flow::{Attempts, Flow, FlowCall, FlowError, Host, Rate, Tables, Throttle};
use keyform::operation::ListTables;
use keyform::runtime::run::{RunSettings, Runner};
use keyform::serde_json::{Value, from_str, json};
use keyform::server::{Models, Running, Served, Server, ServerSettings, Timeouts};
use keyform::{Database, ExecuteExt};
use keyform_check::Checked;
use keyform_world::testing::ManualWorld;
use tokio::sync::Semaphore;

const CODES: &str = r#"
model codes

table Codes { key pk }

entity Code in Codes {
  key "CODE#{code}"

  code: slug(1..40)
}

read code(code) -> Code?  allow public
write take(code) -> Code {
  allow public
  update Code(code) {} else Unknown
}
"#;

const DEADLINE: Duration = Duration::from_secs(31);
/// Interval at which the server looks for a client that has sent more than one request.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Events of a flow.
#[derive(Debug, PartialEq, Eq)]
enum Seen {
    Begun,
    Done,
    Dropped,
}

/// Reports the events of a flow, including that it was dropped.
struct Witness(Sender<Seen>, bool);

impl Witness {
    fn begin(seen: &Sender<Seen>) -> Self {
        seen.send(Seen::Begun).unwrap();
        Self(seen.clone(), false)
    }

    fn done(mut self) {
        self.1 = true;
        self.0.send(Seen::Done).unwrap();
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        if !self.1 {
            // The test may have ended.
            drop(self.0.send(Seen::Dropped));
        }
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

struct Api {
    world: ManualWorld,
    running: Running,
    seen: Mutex<Receiver<Seen>>,
    /// Permits that the waiting flows need.
    gate: Arc<Semaphore>,
}

impl Api {
    fn start() -> Self {
        let world = ManualWorld::default();
        let database = Database::in_memory();
        let checked = Arc::new(Checked::read(CODES));
        assert!(!checked.has_errors(), "{:?}", checked.diagnostics);
        let store = Host::on(database.clone()).store();
        let runner = Runner::new(checked, store.clone(), Arc::new(world.clone()), RunSettings::default()).unwrap();
        let ((tell, seen), gate) = (channel(), Arc::new(Semaphore::new(0)));
        let waiting = |name| {
            let (tell, gate) = (tell.clone(), gate.clone());
            Flow::new(name, "Waits at a gate.", move |_: FlowCall<Nothing>| {
                let (witness, gate) = (Witness::begin(&tell), gate.clone());
                async move {
                    gate.acquire().await.unwrap().forget();
                    witness.done();
                    Ok(())
                }
            })
            .public()
        };
        let endless = {
            let tell = tell.clone();
            // Every operation of an in-memory store completes immediately.
            Flow::new("endless", "Reads without end.", move |_: FlowCall<Nothing>| {
                let (witness, store) = (Witness::begin(&tell), store.clone());
                async move {
                    let _dropped_with_the_flow = witness;
                    loop {
                        store.call(ListTables::default()).await.map_err(|_| broken())?;
                    }
                    #[expect(unreachable_code, reason = "the flow never ends by itself")]
                    Ok(())
                }
            })
            .public()
        };
        let crowded = Flow::new("crowded", "Is too much.", |_: FlowCall<Nothing>| async {
            Err::<(), _>(FlowError::Overloaded { retry_after_secs: 7 })
        })
        .public();
        let flows = vec![waiting("waiting"), waiting("leaving").interruptible(), endless, crowded];
        let few = Rate::new(3, Duration::from_secs(3600));
        let limit = Attempts { kind: "code", per_client: few, per_account: None, per_account_and_client: None };
        let limits = BTreeMap::from([("code", limit), ("take", limit)]);
        let (models, throttle) = (Models::default(), Throttle::in_world(Arc::new(world.clone())));
        models.put(Served::new(runner, Tables::Made).with_flows(flows).with_limits(throttle, limits));
        let timeouts = Timeouts { flow: DEADLINE, drain: Duration::ZERO, ..Timeouts::default() };
        let settings = ServerSettings {
            port: 0,
            workers: 1,
            models,
            timeouts,
            world: Arc::new(world.clone()),
            ..ServerSettings::default()
        };
        let running = keyform::serve(Server::bind(settings).unwrap(), &database).unwrap();
        Self { world, running, seen: Mutex::new(seen), gate }
    }

    fn begin(&self, method: &str, path: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.running.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let head = format!(
            "{method} /v1/codes/{path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream
    }

    /// Sends a request; returns status, `Retry-After` and body.
    fn send(&self, method: &str, path: &str, body: &str) -> (u16, Option<u64>, Value) {
        answer(self.begin(method, path, body))
    }

    /// Waits until a task of the server sleeps for exactly this time.
    fn until_asleep(&self, time: Duration) {
        while !self.world.asleep().contains(&time) {
            std::thread::yield_now();
        }
    }

    fn next(&self) -> Seen {
        self.seen.lock().unwrap().recv_timeout(Duration::from_secs(30)).unwrap()
    }
}

fn broken() -> FlowError {
    FlowError::Broken("the store failed".to_owned())
}

fn answer(mut stream: TcpStream) -> (u16, Option<u64>, Value) {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let retry = head.lines().find_map(|line| line.strip_prefix("retry-after: ")).map(|secs| secs.parse().unwrap());
    (status, retry, if body.is_empty() { Value::Null } else { from_str(body).unwrap() })
}

#[test]
fn a_flow_that_waits_or_works_without_end_stops_at_its_deadline() {
    let api = Api::start();
    for name in ["waiting", "endless"] {
        let stream = api.begin("POST", name, "{}");
        api.until_asleep(DEADLINE);
        api.world.advance(DEADLINE);
        let (status, _, problem) = answer(stream);
        assert_eq!((status, &problem["type"]), (504, &json!("urn:keyform:problem:deadline")), "{name}");
        assert_eq!((api.next(), api.next()), (Seen::Begun, Seen::Dropped), "{name}");
    }
}

#[test]
fn an_endless_flow_leaves_its_thread_to_others() {
    let api = Api::start();
    let _endless = api.begin("POST", "endless", "{}");
    assert_eq!(api.next(), Seen::Begun);
    assert_eq!(api.send("GET", "code?code=one", "").0, 200, "the only worker serves others meanwhile");
    api.running.stop();
}

#[test]
fn an_interruptible_flow_stops_when_its_caller_leaves() {
    let api = Api::start();
    let stream = api.begin("POST", "leaving", "{}");
    assert_eq!(api.next(), Seen::Begun);
    drop(stream);
    assert_eq!(api.next(), Seen::Dropped);
    // A client that disconnects after sending its next request is detected too.
    let mut stream = api.begin("POST", "leaving", "{}");
    assert_eq!(api.next(), Seen::Begun);
    stream.write_all(b"GET / HTTP/1.1\r\n").unwrap();
    drop(stream);
    // If the second request hides the end of the stream, the server looks again later.
    let seen = loop {
        if api.world.asleep().contains(&LOOK_EVERY) {
            api.world.advance(LOOK_EVERY);
        }
        match api.seen.lock().unwrap().try_recv() {
            Ok(seen) => break seen,
            Err(_) => std::thread::yield_now(),
        }
    };
    assert_eq!(seen, Seen::Dropped);
    // A client that stays connected gets its answer.
    let stream = api.begin("POST", "leaving", "{}");
    assert_eq!(api.next(), Seen::Begun);
    api.gate.add_permits(1);
    assert_eq!(answer(stream).0, 200);
    assert_eq!(api.next(), Seen::Done);
}

#[test]
fn another_flow_goes_on_when_its_caller_leaves() {
    let api = Api::start();
    let stream = api.begin("POST", "waiting", "{}");
    assert_eq!(api.next(), Seen::Begun);
    drop(stream);
    assert_eq!(api.send("GET", "code?code=one", "").0, 200);
    api.gate.add_permits(1);
    assert_eq!(api.next(), Seen::Done);
}

#[test]
fn patterns_that_guess_are_counted_and_say_when_to_try_again() {
    let api = Api::start();
    assert_eq!(api.send("GET", "code?code=guess", "").0, 200);
    assert_eq!(api.send("POST", "take", r#"{"code":"guess"}"#).0, 409);
    assert_eq!(api.send("GET", "code?code=guess", "").0, 200);
    for (method, path, body) in [("GET", "code?code=guess", ""), ("POST", "take", r#"{"code":"guess"}"#)] {
        let (status, retry, problem) = api.send(method, path, body);
        assert_eq!((status, &problem["type"]), (429, &json!("urn:keyform:problem:throttled")), "{path}");
        assert_eq!(retry, Some(3600));
    }
    api.world.advance(Duration::from_secs(3600));
    assert_eq!(api.send("GET", "code?code=guess", "").0, 200);
    let document = api.send("GET", "openapi.json", "").2;
    for (path, method) in [("code", "get"), ("take", "post"), ("waiting", "post")] {
        let answers = &document["paths"][format!("/v1/codes/{path}")][method]["responses"];
        assert!(answers["429"]["headers"]["Retry-After"].is_object(), "{path}: {answers}");
    }
}

#[test]
fn an_overloaded_flow_says_when_to_try_again() {
    let api = Api::start();
    let (status, retry, problem) = api.send("POST", "crowded", "{}");
    assert_eq!((status, retry, &problem["type"]), (503, Some(7), &json!("urn:keyform:problem:overloaded")));
}
