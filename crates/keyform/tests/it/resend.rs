//! A connection breaks after the request was delivered: a counter is incremented once, or the outcome is reported as
//! unknown; it is never incremented twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use keyform::SystemWorld;
use keyform::error::Detail;
use keyform::operation::GetItem;
use keyform::runtime::run::{Call, RunError, RunSettings, Runner};
use keyform::server::{self, Server};
use keyform::{AttributeValue, Attributes, Database, Execute, ExecuteExt};
use keyform_check::Checked;
use keyform_scenario::connect;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const MODEL: &str = r#"
model counters

table Counters {
  key pk
}

entity Counter in Counters {
  key "COUNTER#{name}"

  name:  slug(1..40)
  hits:  int = 0
  label: string(..40)?
}

entity Seen in Counters {
  key "SEEN#{name}"

  name: slug(1..40)
}

read counter(name) -> Counter? strong

write start(name) -> Counter {
  create Counter {} else Exists
}
write hit(name) -> Counter {
  update Counter(name) { hits += 1 }
}
write hitOnce(name) -> Counter idempotent {
  update Counter(name) { hits += 1 }
}
write hitTwo(name) -> Counter {
  update Counter(name) { hits += 1 }
  put Seen {}
}
write label(name, label) -> Counter {
  update Counter(name) { label = label }
}
"#;

/// Proxy that cuts the connection at the response while `cuts` remain: the request is delivered, the response is lost.
struct Flaky {
    url: String,
    cuts: Arc<AtomicUsize>,
    requests: Arc<AtomicUsize>,
}

impl Flaky {
    async fn before(address: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (cuts, requests) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let shared = (cuts.clone(), requests.clone());
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(pass(client, address.clone(), shared.clone()));
            }
        });
        Self { url, cuts, requests }
    }

    fn cut(&self, answers: usize) {
        self.cuts.store(answers, Ordering::SeqCst);
        self.requests.store(0, Ordering::SeqCst);
    }
}

async fn pass(client: TcpStream, address: String, (cuts, requests): (Arc<AtomicUsize>, Arc<AtomicUsize>)) {
    let Ok(server) = TcpStream::connect(address).await else { return };
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let up = tokio::spawn(async move {
        let mut bytes = vec![0; 64 * 1024];
        while let Ok(count @ 1..) = from_client.read(&mut bytes).await {
            if to_server.write_all(&bytes[..count]).await.is_err() {
                break;
            }
        }
    });
    let mut bytes = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = from_server.read(&mut bytes).await {
        requests.fetch_add(1, Ordering::SeqCst);
        let is_cut = cuts.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |cuts| cuts.checked_sub(1)).is_ok();
        if is_cut || to_client.write_all(&bytes[..count]).await.is_err() {
            break;
        }
    }
    up.abort();
}

struct World {
    flaky: Flaky,
    runner: Runner,
    remote: Arc<dyn Execute>,
    database: Database,
    _server: server::Running,
}

fn call(pairs: &[(&str, &str)]) -> Call {
    let arguments = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
    Call { arguments, ..Call::default() }
}

impl World {
    async fn new() -> Self {
        let database = Database::in_memory();
        let server = Server::bind(server::ServerSettings { port: 0, ..server::ServerSettings::default() }).unwrap();
        let running = keyform::serve(server, &database).unwrap();
        let flaky = Flaky::before(running.url().trim_start_matches("http://").to_owned()).await;
        let remote: Arc<dyn Execute> = Arc::new(connect(flaky.url.clone()).await);
        let checked = Checked::read(MODEL);
        assert!(!checked.has_errors(), "{:?}", checked.diagnostics);
        let runner =
            Runner::new(Arc::new(checked), remote.clone(), Arc::new(SystemWorld), RunSettings::default()).unwrap();
        runner.create_tables().await.unwrap();
        Self { flaky, runner, remote, database, _server: running }
    }

    async fn write(&self, name: &str, pairs: &[(&str, &str)]) -> Result<(), RunError> {
        self.runner.write(name, &call(pairs)).await.map(|_| ())
    }

    /// Returns the value in the store, bypassing the proxy.
    fn hits(&self, name: &str) -> Option<AttributeValue> {
        let key: Attributes = [("pk".to_owned(), format!("COUNTER#{name}").into())].into();
        let get = GetItem { table: "Counters".to_owned(), key, consistent: true, ..GetItem::default() };
        let output = self.database.call_blocking(get).unwrap();
        output.item.and_then(|item| Some(item.get("hits")?.to_tree()))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_counter_whose_answer_is_lost_is_raised_once_and_its_outcome_is_unknown() {
    let world = World::new().await;
    world.write("start", &[("name", "a")]).await.unwrap();
    world.flaky.cut(1);
    let lost = world.write("hit", &[("name", "a")]).await;
    assert!(matches!(&lost, Err(RunError::Unknown(_))), "{lost:?}");
    assert!(lost.unwrap_err().to_string().contains("idempotent"));
    assert_eq!(world.hits("a"), Some(1.into()));
    assert_eq!(world.flaky.requests.load(Ordering::SeqCst), 1, "it is not sent again");
    world.write("hit", &[("name", "a")]).await.unwrap();
    assert_eq!(world.hits("a"), Some(2.into()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_create_whose_answer_is_lost_is_not_taken_for_a_refusal() {
    let world = World::new().await;
    world.flaky.cut(1);
    let lost = world.write("start", &[("name", "a")]).await;
    assert!(matches!(&lost, Err(RunError::Unknown(_))), "{lost:?}");
    assert_eq!(world.hits("a"), Some(0.into()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transactions_are_sent_again_under_their_token_and_apply_once() {
    let world = World::new().await;
    world.write("start", &[("name", "a")]).await.unwrap();
    for (number, write) in ["hitOnce", "hitTwo"].into_iter().enumerate() {
        world.flaky.cut(1);
        world.write(write, &[("name", "a")]).await.unwrap();
        assert_eq!(world.hits("a"), Some((number as i64 + 1).into()), "{write}");
        assert!(world.flaky.requests.load(Ordering::SeqCst) >= 2, "{write} is sent again");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_does_the_same_when_done_twice_is_sent_again() {
    let world = World::new().await;
    world.write("start", &[("name", "a")]).await.unwrap();
    world.flaky.cut(1);
    world.write("label", &[("name", "a"), ("label", "x")]).await.unwrap();
    world.flaky.cut(1);
    let put = keyform::operation::PutItem {
        table: "Counters".to_owned(),
        item: [("pk".to_owned(), "PLAIN".into())].into(),
        ..Default::default()
    };
    world.remote.call(put).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_never_answers_leaves_a_write_unknown_and_one_that_is_not_there_does_not() {
    let world = World::new().await;
    world.flaky.cut(usize::MAX);
    let put = |condition: Option<keyform::expression::Condition>| keyform::operation::PutItem {
        table: "Counters".to_owned(),
        item: [("pk".to_owned(), "PLAIN".into())].into(),
        options: condition.into(),
    };
    let error = world.remote.call(put(None)).await.unwrap_err();
    assert_eq!(error.detail(), &Detail::OutcomeUnknown);
    let nowhere = connect("http://127.0.0.1:1".to_owned()).await;
    let error = nowhere.call(put(None)).await.unwrap_err();
    assert_eq!(error.detail(), &Detail::NoAnswer, "{error}");
}
