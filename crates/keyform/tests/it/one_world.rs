//! A served application in a world whose clock only the test moves: deadlines, rate limits, idle connections, keep-alive
//! of live reads, expiry and jobs follow that clock, and nothing waits in real time.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use keyform::Calls;
use keyform::application::{Application, RunningApplication};
use keyform::flow::{Attempts, Flow, FlowCall, Host, Job, Rate};
use keyform::operation::GetItem;
use keyform::runtime::run::{Call, Runner};
use keyform::serde_json::{Value, from_str, json};
use keyform::server::{Models, Running, Server, ServerSettings, Timeouts};
use keyform::{AttributeValue, Database, ModelOptions, Options, World as _};
use keyform_world::testing::ManualWorld;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

const MODEL: &str = include_str!("../live/tasks.kf");
const START_MS: u64 = 1_794_700_000_000;

/// Timers of the server. Each has a length of its own, by which a test finds it among the sleepers.
const FLOW: Duration = Duration::from_secs(31);
const PING: Duration = Duration::from_secs(23);
const IDLE: Duration = Duration::from_secs(61);
/// Wait of the server for the client's close frame.
const FAREWELL: Duration = Duration::from_secs(5);
/// Pause of a feed between two reads.
const BREATH: Duration = Duration::from_millis(1);
/// Period of the job, and of attempts at the limited read.
const HOUR: Duration = Duration::from_secs(3600);

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

struct Site {
    world: ManualWorld,
    database: Database,
    runner: Runner,
    running: Running,
    /// Receives a message with each run of the job.
    job_runs: UnboundedReceiver<()>,
    _at_work: RunningApplication,
}

impl Site {
    async fn start() -> Self {
        let world = ManualWorld::at_ms(START_MS);
        let database = Database::in_memory_with(Options { world: Arc::new(world.clone()), ..Options::default() });
        let options = ModelOptions::new().variable("stage", "world").in_world(world.clone());
        let host = Host::on(database.clone()).with_options(options);
        let calls = Calls::new(MODEL, host.store(), host.options()).unwrap();
        let (ran, job_runs) = unbounded_channel();
        let job = Job::every(HOUR, "counted", move || {
            let told = ran.send(());
            async move { told.map(|()| String::new()) }
        });
        let waiting = Flow::new("waiting", "Waits without end.", |_: FlowCall<Nothing>| async {
            std::future::pending::<()>().await;
            Ok(())
        });
        let per_client = Rate::new(2, HOUR);
        let few = Attempts { kind: "tasks", per_client, per_account: None, per_account_and_client: None };
        let application = Application::new(&host, &calls).flow(waiting.public()).limit("tasks", few).job(job);
        let at_work = application.start().await.unwrap();
        let models = Models::default();
        models.put(application.served());
        let timeouts = Timeouts { flow: FLOW, live_ping: PING, idle: IDLE, ..Timeouts::default() };
        let settings = ServerSettings {
            port: 0,
            workers: 1,
            models,
            timeouts,
            world: Arc::new(world.clone()),
            ..ServerSettings::default()
        };
        let running = keyform::serve(Server::bind(settings).unwrap(), &database).unwrap();
        let site = Self { world, database, runner: calls.runner().clone(), running, job_runs, _at_work: at_work };
        site.write("join", &[("listId", "l1".into()), ("userId", "ada".into())]).await;
        site
    }

    async fn write(&self, name: &str, arguments: &[(&str, AttributeValue)]) {
        let arguments = arguments.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        self.runner.write(name, &Call { arguments, ..Call::default() }).await.unwrap();
    }

    /// Writes a task that expires after `time`.
    async fn lend(&self, time: Duration) {
        let expires = self.world.now_millis() / 1000 + i64::try_from(time.as_secs()).unwrap();
        let task = [("listId", "l1".into()), ("taskId", "t1".into()), ("title", "for a while".into())];
        let rest = [("state", "open".into()), ("weight", 1.into()), ("expires", expires.into())];
        self.write("lend", &[&task[..], &rest[..]].concat()).await;
    }

    async fn has_task(&self) -> bool {
        let key = [("pk".to_owned(), "LIST#l1".into()), ("sk".to_owned(), "TASK#t1".into())].into();
        let get = GetItem { table: "work-world".to_owned(), key, consistent: true, ..GetItem::default() };
        self.database.call(get).await.unwrap().item.is_some()
    }

    /// Waits until a task sleeps for exactly this time.
    async fn until_asleep(&self, time: Duration) {
        until(async || self.world.asleep().contains(&time)).await;
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.running.address()).await.unwrap()
    }

    /// Sends a request as ada; returns the status and the body.
    async fn send(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let mut stream = self.connect().await;
        let head = format!(
            "{method} /v1/tasks/{path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nx-keyform-caller: userId=ada\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), from_str(body).unwrap())
    }

    async fn live(&self) -> WebSocketStream<TcpStream> {
        let address = self.running.address();
        let mut request = format!("ws://{address}/v1/tasks/live").into_client_request().unwrap();
        request.headers_mut().insert("x-keyform-caller", "userId=ada".parse().unwrap());
        let (mut socket, _) = tokio_tungstenite::client_async(request, self.connect().await).await.unwrap();
        let subscribe = json!({ "type": "subscribe", "id": "a", "read": "tasks", "arguments": { "listId": "l1" } });
        socket.send(Message::text(subscribe.to_string())).await.unwrap();
        assert_eq!(told(&mut socket).await["type"], "page");
        socket
    }
}

/// Repeats `check` until it is true. The harness ends a test that never gets there.
async fn until(check: impl AsyncFn() -> bool) {
    while !check().await {
        tokio::task::yield_now().await;
    }
}

/// Returns the next message of the server.
async fn told(socket: &mut WebSocketStream<TcpStream>) -> Value {
    loop {
        match socket.next().await {
            Some(Ok(Message::Text(text))) => return from_str(&text).unwrap(),
            Some(Ok(Message::Ping(_))) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flow_ends_at_its_deadline() {
    let site = Site::start().await;
    let time_passes = async {
        site.until_asleep(FLOW).await;
        site.world.advance(FLOW - Duration::from_millis(1));
        site.until_asleep(Duration::from_millis(1)).await;
        site.world.advance_ms(1);
    };
    let ((status, problem), ()) = tokio::join!(site.send("POST", "waiting", "{}"), time_passes);
    assert_eq!((status, &problem["type"]), (504, &json!("urn:keyform:problem:deadline")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn attempts_come_back_with_time() {
    let site = Site::start().await;
    let read = async || site.send("GET", "tasks?listId=l1", "").await.0;
    assert_eq!([read().await, read().await, read().await], [200, 200, 429]);
    site.world.advance(HOUR - Duration::from_millis(1));
    assert_eq!(read().await, 429);
    site.world.advance_ms(1);
    assert_eq!([read().await, read().await], [200, 429]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idle_connection_is_closed() {
    let site = Site::start().await;
    let mut stream = site.connect().await;
    site.until_asleep(IDLE).await;
    site.world.advance(IDLE);
    assert_eq!(stream.read(&mut [0]).await.unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_live_client_that_does_not_answer_a_ping_is_closed() {
    let site = Site::start().await;
    let mut socket = site.live().await;
    for _ in 0..2 {
        site.until_asleep(PING).await;
        site.world.advance(PING);
    }
    // Reading answers the ping, so the client reads only when the server has given up and waits for its farewell.
    site.until_asleep(FAREWELL).await;
    assert!(matches!(socket.next().await, Some(Ok(Message::Ping(_)))));
    match socket.next().await {
        Some(Ok(Message::Close(Some(frame)))) => assert_eq!(u16::from(frame.code), 4009),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_expires_for_live_readers_and_in_the_store() {
    let site = Site::start().await;
    let mut socket = site.live().await;
    site.lend(Duration::from_secs(60)).await;
    site.until_asleep(BREATH).await;
    site.world.advance(BREATH);
    assert_eq!(told(&mut socket).await["changes"][0]["kind"], "insert");
    assert!(site.has_task().await);
    site.until_asleep(BREATH).await;
    site.world.advance(Duration::from_secs(62));
    assert_eq!(told(&mut socket).await["changes"][0]["kind"], "remove");
    until(async || !site.has_task().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_runs_at_the_start_and_then_once_per_period() {
    let mut site = Site::start().await;
    site.job_runs.recv().await.unwrap();
    for _ in 0..3 {
        site.until_asleep(HOUR).await;
        site.world.advance(HOUR - Duration::from_millis(1));
        assert!(site.job_runs.try_recv().is_err());
        site.world.advance_ms(1);
        site.job_runs.recv().await.unwrap();
    }
}
