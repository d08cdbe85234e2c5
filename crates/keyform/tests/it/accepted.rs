//! The store keeps the accepted model: a version that does not find its items is refused, on every store, and instances
//! with incompatible versions do not serve at the same time.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use keyform::operation::{GetItem, Scan};
use keyform::runtime::run::{Answer, Call, RunError, RunSettings, Runner};
use keyform::server::{Server, ServerSettings};
use keyform::{AttributeValue, Attributes, Database, Execute, ExecuteExt, ModelFileError, ModelFiles, Reload};
use keyform_check::Checked;
use keyform_language::bookkeeping::MODELS;
use keyform_runtime::accept::{Accepted, Reason};
use keyform_runtime::evolve::{Migration, Pace, Progress};
use keyform_scenario::{Store, on_every_store, stage};
use keyform_world::testing::ManualWorld;

const USERS: &str = "model users\n\ntable Users \"users-{stage}\" { key pk }\n\nentity User in Users {\n  key \"USER#{id}\"\n  id: slug(1..20)\n  name: string(1..50)?\n}\n\nread user(id) -> User?  allow public\n\nwrite join(id) -> User { allow public  create User {} else Taken }\n";

fn breaking() -> String {
    USERS.replace("USER#{id}", "U#{id}")
}

fn evolved() -> String {
    breaking() + "\nevolve User {\n  from key \"USER#{id}\"\n}\n"
}

fn settings(stage: &str) -> RunSettings {
    RunSettings { variables: [("stage".to_owned(), stage.to_owned())].into(), ..RunSettings::default() }
}

fn runner(model: &str, store: &Arc<dyn Execute>, world: &ManualWorld, settings: RunSettings) -> Runner {
    let checked = Checked::read(model);
    assert!(!checked.has_errors(), "{:?}", checked.diagnostics);
    Runner::new(Arc::new(checked), store.clone(), Arc::new(world.clone()), settings).unwrap()
}

fn of(id: &str) -> Call {
    Call { arguments: [("id".to_owned(), id.into())].into(), ..Call::default() }
}

async fn finds(runner: &Runner, id: &str) -> Result<bool, RunError> {
    Ok(matches!(runner.read("user", &of(id)).await?, Answer::One(Some(_))))
}

fn codes(error: &RunError) -> Vec<&'static str> {
    match error {
        RunError::NotAccepted(why) => match &why.reason {
            Reason::Breaking(findings) => findings.iter().map(|finding| finding.code.0).collect(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_breaking_model_is_refused_and_a_compatible_one_recorded_on_every_store() {
    on_every_store(async |scene| {
        let (store, world, stage) = (scene.host.store(), ManualWorld::default(), stage());
        let on = |model: &str| runner(model, &store, &world, settings(&stage));
        let first = on(USERS);
        first.create_tables().await.unwrap();
        first.write("join", &of("ada")).await.unwrap();
        assert_eq!(on(USERS).accept().await, Ok(Accepted::Same));

        let refused = on(&breaking());
        assert_eq!(codes(&refused.read("user", &of("ada")).await.unwrap_err()), ["M01"]);
        assert_eq!(codes(&refused.write("join", &of("bob")).await.unwrap_err()), ["M01"]);
        assert_eq!(codes(&refused.create_tables().await.unwrap_err()), ["M01"]);

        let wider = USERS.replace("(1..50)", "(1..60)");
        assert_eq!(on(&wider).accept().await, Ok(Accepted::Compatible));
        assert_eq!(on(USERS).accept().await, Ok(Accepted::Older), "it may still run");
        assert_eq!(on(&format!("// A comment.\n{wider}")).accept().await, Ok(Accepted::Same));

        let evolving = on(&evolved().replace("(1..50)", "(1..60)"));
        assert_eq!(evolving.accept().await, Ok(Accepted::Compatible), "its `evolve` describes the change");
        assert_eq!(finds(&evolving, "ada").await, Ok(true));

        // Another stage has tables of its own.
        let elsewhere = runner(&breaking(), &store, &world, settings(&format!("{stage}x")));
        assert_eq!(elsewhere.accept().await, Ok(Accepted::First));
    });
}

#[tokio::test]
async fn an_evolve_is_removed_only_after_its_cut_over_and_older_versions_end_with_it() {
    let (store, world) = (Store::embedded().execute, ManualWorld::default());
    let on = |model: &str| runner(model, &store, &world, settings("dev"));
    let old = on(USERS);
    old.create_tables().await.unwrap();
    old.write("join", &of("ada")).await.unwrap();
    on(&evolved()).accept().await.unwrap();
    let error = on(&breaking()).accept().await.unwrap_err();
    assert!(matches!(&error, RunError::NotAccepted(why) if why.reason == Reason::Unfinished("User".to_owned())));

    let checked = Arc::new(Checked::read(&evolved()));
    let variables = settings("dev").variables;
    let migration = Migration::new(checked, store.clone(), Arc::new(world.clone()), variables).unwrap();
    let quiet = |_: &Progress| {};
    migration.run(&Pace::default(), &quiet).await.unwrap();
    world.advance(Duration::from_secs(6));
    assert_eq!(finds(&old, "ada").await, Ok(true), "until the cut-over");
    migration.cut_over(&Pace::default(), &quiet).await.unwrap();
    world.advance(Duration::from_secs(6));
    let error = finds(&old, "ada").await.unwrap_err();
    assert!(matches!(&error, RunError::NotAccepted(why) if why.reason == Reason::Superseded), "{error}");
    let without = on(&breaking());
    assert_eq!(without.accept().await, Ok(Accepted::Compatible));
    assert_eq!(finds(&without, "ada").await, Ok(true));
}

#[tokio::test]
async fn an_instance_stops_when_an_incompatible_version_was_accepted_and_not_before() {
    let (store, world) = (Store::embedded().execute, ManualWorld::default());
    let on = |model: &str, accept_breaking| {
        runner(model, &store, &world, RunSettings { accept_breaking, ..settings("dev") })
    };
    let old = on(USERS, false);
    old.create_tables().await.unwrap();
    on(&USERS.replace("(1..50)", "(1..60)"), false).accept().await.unwrap();
    world.advance(Duration::from_secs(6));
    assert_eq!(finds(&old, "ada").await, Ok(false), "a compatible version does not disturb it");

    let new = on(&breaking(), true);
    assert_eq!(new.accept().await, Ok(Accepted::Breaking));
    assert_eq!(finds(&old, "ada").await, Ok(false), "within the interval");
    world.advance(Duration::from_secs(6));
    assert!(matches!(finds(&old, "ada").await, Err(RunError::NotAccepted(why)) if why.reason == Reason::Superseded));
    // An instance that was accepted is never offered again, so the two do not replace each other.
    world.advance(Duration::from_secs(6));
    assert!(finds(&old, "ada").await.is_err() && finds(&new, "ada").await.is_ok());
}

#[tokio::test]
async fn concurrent_first_models_agree_on_one() {
    let (store, world) = (Store::embedded().execute, ManualWorld::default());
    runner(USERS, &store, &world, settings("other")).create_model_table().await.unwrap();
    let (one, two) =
        (runner(USERS, &store, &world, settings("dev")), runner(&breaking(), &store, &world, settings("dev")));
    let (one, two) = tokio::join!(one.accept(), two.accept());
    assert_eq!([&one, &two].iter().filter(|accepted| accepted.is_ok()).count(), 1, "{one:?} {two:?}");
}

#[tokio::test]
async fn a_large_model_is_compressed_and_kept_within_one_item() {
    let (store, world) = (Store::embedded().execute, ManualWorld::default());
    let fields: String = (0..3000).map(|number| format!("  f{number}: string(..10)?\n")).collect();
    let large = USERS.replace("  name:", &format!("{fields}  name:"));
    let first = runner(&large, &store, &world, settings("dev"));
    first.create_tables().await.unwrap();
    let key: Attributes = [("id".to_owned(), AttributeValue::from("model users stage=dev"))].into();
    let get = GetItem { table: MODELS.to_owned(), key, ..GetItem::default() };
    let item = store.call(get).await.unwrap().item.expect("a record").to_attributes();
    assert!(matches!(&item["json"], AttributeValue::B(bytes) if bytes.len() < 100_000));
    let narrower = large.replace("f7: string(..10)", "f7: string(..5)");
    let error = runner(&narrower, &store, &world, settings("dev")).accept().await.unwrap_err();
    assert_eq!(codes(&error), ["M03"]);
    assert_eq!(store.call(Scan::of(MODELS)).await.unwrap().items.unwrap().len(), 1);
}

fn write_model(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("users.kf");
    std::fs::write(&file, text).unwrap();
    (folder, file)
}

fn get(url: &str, path: &str) -> (u16, String) {
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
    let mut answer = String::new();
    std::io::Read::read_to_string(&mut stream, &mut answer).unwrap();
    (answer[9..12].parse().unwrap(), answer)
}

#[test]
fn a_reload_of_a_breaking_model_is_refused_with_the_finding() {
    let (_folder, file) = write_model(USERS);
    let database = Database::in_memory();
    let variables = settings("dev").variables;
    let mut files = ModelFiles::open(std::slice::from_ref(&file), &database, variables.clone()).unwrap();
    let settings = ServerSettings { port: 0, workers: 1, models: files.models(), ..ServerSettings::default() };
    let running = keyform::serve(Server::bind(settings).unwrap(), &database).unwrap();
    let runner = files.runners().next().unwrap().clone();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        runner.create_tables().await.unwrap();
        runner.write("join", &of("ada")).await.unwrap();
    });
    std::fs::write(&file, breaking()).unwrap();
    match files.reload().as_slice() {
        [Reload::Kept { error: error @ ModelFileError::NotAccepted(..), .. }] => {
            let text = error.to_string();
            assert!(text.contains("M01") && text.contains("evolve User { from key"), "{text}");
        }
        other => panic!("{other:?}"),
    }
    let (status, answer) = get(&running.url(), "/v1/users/user?id=ada");
    assert!(status == 200 && answer.ends_with(r#"{"id":"ada"}"#), "the older version still finds the item: {answer}");
    // A restart with the breaking version is refused as well.
    let refused = ModelFiles::open(&[file], &database, variables);
    assert!(matches!(refused, Err(ModelFileError::NotAccepted(..))));
}

#[test]
fn a_server_with_a_replaced_model_is_not_ready_and_says_so() {
    let (_folder, file) = write_model(USERS);
    let database = Database::in_memory();
    let files = ModelFiles::open(&[file], &database, settings("dev").variables).unwrap();
    let world = ManualWorld::default();
    let runner = files.runners().next().unwrap();
    let settings_of_server = ServerSettings {
        port: 0,
        workers: 1,
        models: files.models(),
        world: Arc::new(world.clone()),
        ..ServerSettings::default()
    };
    let running = keyform::serve(Server::bind(settings_of_server).unwrap(), &database).unwrap();
    assert_eq!(get(&running.url(), "/readyz").0, 200);
    let store: Arc<dyn Execute> = Arc::new(database.clone());
    let newer = self::runner(&breaking(), &store, &world, RunSettings { accept_breaking: true, ..settings("dev") });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    assert_eq!(runtime.block_on(newer.accept()), Ok(Accepted::Breaking));
    // The model runs by the real clock, the server's timer by the manual one.
    let since = std::time::Instant::now();
    while get(&running.url(), "/readyz").0 == 200 {
        assert!(since.elapsed() < Duration::from_secs(60), "it never notices");
        world.advance(Duration::from_secs(6));
        std::thread::sleep(Duration::from_millis(200));
    }
    assert!(get(&running.url(), "/readyz").1.contains("has accepted a version of the model `users`"));
    let (status, answer) = get(&running.url(), "/v1/users/user?id=ada");
    assert!(status == 503 && answer.contains("urn:keyform:problem:model-not-accepted"), "{answer}");
    assert!(runtime.block_on(runner.ensure_accepted()).is_err());
}
