//! Life cycle of items, on a dedicated model: versions, timestamps, unique values that move, renew and expire with
//! their item, index keys after partial updates, and expired items that the store still has.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use keyform::execute::BoxFuture;
use keyform::operation::{GetItem, Scan};
use keyform::runtime::run::{Answer, Call, Caller, Found, RunError, RunSettings, Runner};
use keyform::{AttributeValue, Attributes, Database, Options};
use keyform_check::Checked;

const MODEL: &str = r#"
model lobby

caller userId: slug(1..20)

table Lobby {
  key   pk, sk
  index byState (statePk, stateSk)
  tag   kind
  ttl   expires
}

entity Guest in Lobby {
  key     "GUEST#{guestId}", "META"
  byState "ROOM#{room}#{state}", "{name}"

  guestId:   slug(1..20)
  room:      slug(1..20)
  name:      slug(1..20)
  state:     "in" | "out"
  badge:     slug(1..20)? unique
  seat:      slug(1..20)? unique per room
  visits:    int = 0
  version:   int version
  createdAt: timestamp created
  updatedAt: timestamp updated
  expires:   epoch?
}

guard present(guestId) = exists Guest(guestId)

read guest(guestId) -> Guest? strong                        allow public
  unscoped Guest "test data is for every caller"
read secretOf(guestId) -> Guest? strong                     allow present(guestId)
  unscoped Guest "test data is for every caller"
read guests(guestId in ids) -> [Guest]                      allow public
  unscoped Guest "test data is for every caller"
read inRoom(room, state) -> [Guest] via byState page 10     allow public
  unscoped Guest "test data is for every caller"
read countIn(room, state) -> count Guest via byState        allow public
  unscoped Guest "test data is for every caller"

write enter(guestId, room, name, state, badge, seat, expires) -> Guest {
  allow public
  create Guest {} else AlreadyIn
}
write setState(guestId, state) -> Guest {
  allow public
  unscoped Guest "test data is for every caller"
  let now = guest(guestId) else NotIn
  update Guest(guestId) { state = state, room = now.room, name = now.name } else NotIn
}
write changeBadge(guestId, badge) -> Guest {
  allow public
  unscoped Guest "test data is for every caller"
  update Guest(guestId) { badge = badge } else NotIn
}
write dropBadge(guestId) -> Guest {
  allow public
  unscoped Guest "test data is for every caller"
  update Guest(guestId) { remove badge } else NotIn
}
write extend(guestId, expires) -> Guest {
  allow public
  unscoped Guest "test data is for every caller"
  update Guest(guestId) { expires = expires } else NotIn
}
write visit(guestId) -> Guest {
  allow public
  unscoped Guest "test data is for every caller"
  update Guest(guestId) { visits += 1 } else NotIn
}
write note(guestId, room, name, state, expires) -> Guest {
  allow public
  unscoped Guest "test data is for every caller"
  upsert Guest(guestId) { room = room, name = name, state = state, expires = expires, visits += 1 }
}
write leave(guestId) {
  allow public
  unscoped Guest "test data is for every caller"
  delete Guest(guestId)
}
write follow(guestId, other: slug(1..20)) -> Guest {
  allow public
  unscoped Guest "test data is for every caller"
  check Guest(other) exists else NobodyThere
  update Guest(guestId) { visits += 1 } else NotIn
}
"#;

const START: i64 = 1_773_480_413;

struct World {
    seconds: AtomicI64,
    count: AtomicU64,
}

impl keyform::World for World {
    fn now_millis(&self) -> i64 {
        self.seconds.load(Ordering::Relaxed) * 1000
    }
    fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
        Box::pin(async {})
    }
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(0);
    }
    fn ulid(&self) -> String {
        format!("01KKP2T8SN{:016}", self.count.fetch_add(1, Ordering::Relaxed))
    }
    fn uuid(&self) -> String {
        format!("{:036}", self.count.fetch_add(1, Ordering::Relaxed))
    }
    fn code(&self, length: usize) -> String {
        format!("{:0>length$}", self.count.fetch_add(1, Ordering::Relaxed))
    }
    fn token(&self, bytes: usize) -> String {
        self.code(bytes)
    }
    fn jitter(&self) -> f64 {
        0.0
    }
}

struct Lobby {
    database: Database,
    runner: Runner,
    world: Arc<World>,
}

type Pairs<'a> = &'a [(&'a str, &'a str)];

fn call(pairs: Pairs<'_>) -> Call {
    let value = |name: &str, text: &str| match name {
        "expires" => AttributeValue::N(text.parse().unwrap()),
        _ => text.into(),
    };
    Call {
        arguments: pairs.iter().map(|(name, text)| ((*name).to_owned(), value(name, text))).collect(),
        ..Call::default()
    }
}

impl Lobby {
    async fn open() -> Self {
        // No sweep, so that expired items stay in the store.
        let options = Options { sweep_interval: None, ..Options::default() };
        let database = Database::in_memory_with(options);
        let checked = Checked::read(MODEL);
        assert!(!checked.has_errors(), "{:?}", checked.diagnostics);
        let world = Arc::new(World { seconds: AtomicI64::new(START), count: AtomicU64::new(0) });
        let runner =
            Runner::new(Arc::new(checked), Arc::new(database.clone()), world.clone(), RunSettings::default()).unwrap();
        runner.create_tables().await.unwrap();
        Self { database, runner, world }
    }

    fn pass(&self, seconds: i64) {
        self.world.seconds.fetch_add(seconds, Ordering::Relaxed);
    }

    async fn write(&self, name: &str, pairs: Pairs<'_>) -> Result<Option<Found>, RunError> {
        self.runner.write(name, &call(pairs)).await
    }

    async fn enter(&self, guest: &str, badge: &str, ends: i64) -> Result<Option<Found>, RunError> {
        let ends = (START + ends).to_string();
        let pairs: Vec<(&str, &str)> = vec![
            ("guestId", guest),
            ("room", "r1"),
            ("name", guest),
            ("state", "in"),
            ("badge", badge),
            ("expires", &ends),
        ];
        self.write("enter", &pairs).await
    }

    async fn guest(&self, guest: &str) -> Option<Found> {
        match self.runner.read("guest", &call(&[("guestId", guest)])).await.unwrap() {
            Answer::One(found) => found,
            other => panic!("{other:?}"),
        }
    }

    fn raw(&self, pk: &str, sk: &str) -> Option<Attributes> {
        let key: Attributes = [("pk".to_owned(), pk.into()), ("sk".to_owned(), sk.into())].into();
        let get = GetItem { table: "Lobby".to_owned(), key, consistent: true, ..GetItem::default() };
        let output = self.database.call_blocking(get).unwrap();
        output.item.map(|item| item.to_attributes())
    }

    fn sentinel(&self, badge: &str) -> Option<Attributes> {
        self.raw(&format!("UNIQUE#Guest.badge#{badge}"), "UNIQUE")
    }

    fn items(&self) -> usize {
        let scan = Scan { consistent: true, ..Scan::of("Lobby") };
        let page = self.database.call_blocking(scan).unwrap();
        page.count
    }
}

fn refusal(answer: Result<Option<Found>, RunError>) -> String {
    match answer {
        Err(RunError::Refused { outcome, .. }) => outcome,
        other => panic!("{other:?}"),
    }
}

fn end(item: Option<Attributes>) -> Option<AttributeValue> {
    item.unwrap().get("expires").cloned()
}

#[tokio::test]
async fn unique_values_are_claimed_moved_renewed_and_released() {
    let lobby = Lobby::open().await;
    lobby.enter("ada", "b1", 100).await.unwrap();
    assert_eq!(refusal(lobby.enter("bob", "b1", 100).await), "AlreadyIn");
    lobby.enter("bob", "b2", 100).await.unwrap();
    assert_eq!(end(lobby.sentinel("b1")), Some((START + 100).into()), "it ends with its item");

    // Moved, and expires with its item.
    lobby.write("changeBadge", &[("guestId", "ada"), ("badge", "b3")]).await.unwrap();
    assert_eq!(lobby.sentinel("b1"), None);
    assert_eq!(end(lobby.sentinel("b3")), Some((START + 100).into()));
    assert_eq!(refusal(lobby.write("changeBadge", &[("guestId", "bob"), ("badge", "b3")]).await), "BadgeTaken");

    // Renewed with its item.
    let later = (START + 500).to_string();
    lobby.write("extend", &[("guestId", "ada"), ("expires", &later)]).await.unwrap();
    assert_eq!(end(lobby.sentinel("b3")), Some((START + 500).into()));

    // Removed and available again.
    lobby.write("dropBadge", &[("guestId", "ada")]).await.unwrap();
    assert_eq!(lobby.sentinel("b3"), None);
    lobby.write("changeBadge", &[("guestId", "bob"), ("badge", "b3")]).await.unwrap();
    assert_eq!(lobby.sentinel("b2"), None);
    lobby.write("leave", &[("guestId", "bob")]).await.unwrap();
    lobby.write("leave", &[("guestId", "ada")]).await.unwrap();
    assert_eq!(lobby.items(), 0, "nothing is left behind");
}

#[tokio::test]
async fn what_is_over_is_not_there_for_reads_guards_checks_and_conditions() {
    let lobby = Lobby::open().await;
    lobby.enter("ada", "b1", 10).await.unwrap();
    lobby.enter("eve", "b9", 1000).await.unwrap();
    lobby.pass(10);
    assert!(lobby.guest("ada").await.is_some(), "it lives through the second that it names");
    lobby.pass(1);
    assert!(lobby.raw("GUEST#ada", "META").is_some(), "the store still has it");

    assert_eq!(lobby.guest("ada").await, None);
    let ids = AttributeValue::L(vec!["ada".into(), "eve".into()]);
    let several = Call { arguments: [("ids".to_owned(), ids)].into(), ..Call::default() };
    let Answer::Page { items, .. } = lobby.runner.read("guests", &several).await.unwrap() else { panic!("a page") };
    assert_eq!(items.len(), 1);
    let room = call(&[("room", "r1"), ("state", "in")]);
    let Answer::Page { items, .. } = lobby.runner.read("inRoom", &room).await.unwrap() else { panic!("a page") };
    assert_eq!(items.len(), 1);
    assert_eq!(lobby.runner.read("countIn", &room).await, Ok(Answer::Count(1)));
    let caller = Caller::Claims([("userId".to_owned(), "eve".into())].into());
    let guarded = |guest| Call { caller: caller.clone(), ..call(&[("guestId", guest)]) };
    assert_eq!(lobby.runner.read("secretOf", &guarded("ada")).await, Err(RunError::Forbidden));
    assert!(lobby.runner.read("secretOf", &guarded("eve")).await.is_ok());

    for write in ["visit", "dropBadge"] {
        let refused = lobby.write(write, &[("guestId", "ada")]).await;
        assert_eq!(refused, Err(RunError::Refused { outcome: "NotIn".to_owned(), item: None }), "{write}");
    }
    assert_eq!(refusal(lobby.write("setState", &[("guestId", "ada"), ("state", "out")]).await), "NotIn");
    assert_eq!(refusal(lobby.write("follow", &[("guestId", "eve"), ("other", "ada")]).await), "NobodyThere");
}

#[tokio::test]
async fn what_is_over_makes_room() {
    let lobby = Lobby::open().await;
    lobby.enter("ada", "b1", 10).await.unwrap();
    lobby.pass(11);
    // Another guest takes the value of the expired item, and keeps it when that item is finally deleted.
    lobby.enter("bob", "b1", 1000).await.unwrap();
    lobby.write("leave", &[("guestId", "ada")]).await.unwrap();
    assert!(lobby.sentinel("b1").is_some(), "it is another's now");
    assert_eq!(refusal(lobby.enter("eve", "b1", 1000).await), "AlreadyIn");
    // The same key can be created again.
    lobby.enter("cy", "b2", 20).await.unwrap();
    lobby.pass(11);
    let again = lobby.enter("cy", "b2", 1000).await.unwrap().unwrap();
    assert_eq!((&again.fields["visits"], &again.fields["version"]), (&0.into(), &1.into()));
}

#[tokio::test]
async fn an_upsert_does_not_go_on_with_what_is_over() {
    let lobby = Lobby::open().await;
    let note = |ends: &str| -> Vec<(String, String)> {
        [("guestId", "ada"), ("room", "r1"), ("name", "ada"), ("state", "in"), ("expires", ends)]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec()
    };
    let send = async |ends: i64| {
        let pairs = note(&(START + ends).to_string());
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        lobby.write("note", &pairs).await.unwrap().unwrap()
    };
    assert_eq!(send(10).await.fields["visits"], 1.into());
    assert_eq!(send(10).await.fields["visits"], 2.into());
    lobby.pass(11);
    let anew = send(100).await;
    assert_eq!((&anew.fields["visits"], &anew.fields["version"]), (&1.into(), &1.into()));
    assert_eq!(anew.fields["createdAt"], anew.fields["updatedAt"]);
}

#[tokio::test]
async fn versions_stamps_and_index_keys_follow_every_write() {
    let lobby = Lobby::open().await;
    let made = lobby.enter("ada", "b1", 1000).await.unwrap().unwrap();
    assert_eq!((&made.fields["version"], &made.fields["createdAt"]), (&1.into(), &made.fields["updatedAt"]));
    lobby.pass(1);
    let counted = lobby.write("visit", &[("guestId", "ada")]).await.unwrap().unwrap();
    assert_eq!((&counted.fields["version"], &counted.fields["visits"]), (&2.into(), &1.into()));
    assert!(
        counted.fields["createdAt"] == made.fields["createdAt"]
            && counted.fields["updatedAt"] != made.fields["updatedAt"]
    );
    let moved = lobby.write("setState", &[("guestId", "ada"), ("state", "out")]).await.unwrap().unwrap();
    assert_eq!(moved.fields["version"], 3.into());
    let raw = lobby.raw("GUEST#ada", "META").unwrap();
    assert_eq!((&raw["statePk"], &raw["stateSk"]), (&"ROOM#r1#out".into(), &"ada".into()));
    let gone = call(&[("room", "r1"), ("state", "in")]);
    assert_eq!(lobby.runner.read("countIn", &gone).await, Ok(Answer::Count(0)));
}
