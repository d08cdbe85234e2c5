//! Statements of a model that must not be dropped, over HTTP: three-valued `allow`, cursors that belong to their caller,
//! repeated calls after a permission ended, handlers without code, and the events of `on … -> live`.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use keyform::execute::BoxFuture;
use keyform::flow::{Tables, TokenKeys};
use keyform::live::read::{Live, LiveEvent, LiveSettings, LiveStream};
use keyform::operation::DeleteItem;
use keyform::server::{Models, Running, Served, Server, ServerSettings};
use keyform::{
    AttributeValue, Attributes, Database, Error, Execute, ModelFileError, ModelFiles, Operation, Output, SystemWorld,
};
use keyform_check::Checked;
use keyform_runtime::run::{Answer as Read, Call, Caller, RunError, RunSettings, Runner};
use serde_json::{Value, json};

use crate::model_api::{Answer, send};

/// A served model, with its runner for calls that only code may make.
struct Api {
    running: Running,
    runner: Runner,
    model: &'static str,
}

impl Api {
    fn start(model: &'static str, text: &str) -> Self {
        let checked = Checked::read(text);
        assert!(!checked.has_errors(), "{:?}", checked.diagnostics);
        let database = Database::in_memory();
        let settings = RunSettings { cursor_key: [3; 32], ..RunSettings::default() };
        let runner =
            Runner::new(Arc::new(checked), Arc::new(database.clone()), Arc::new(SystemWorld), settings).unwrap();
        let models = Models::default();
        models.put(Served::new(runner.clone(), Tables::Made));
        let token_keys = TokenKeys::default();
        let settings = ServerSettings { port: 0, workers: 1, models, token_keys, ..ServerSettings::default() };
        let running = keyform::serve(Server::bind(settings).unwrap(), &database).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(runner.create_tables()).unwrap();
        Self { running, runner, model }
    }

    fn get(&self, caller: &str, pattern: &str) -> Answer {
        send(&self.running, "GET", &format!("/v1/{}/{pattern}", self.model), &[("x-keyform-caller", caller)], "")
    }

    fn post(&self, caller: &str, pattern: &str, key: Option<&str>, body: &Value) -> Answer {
        let mut headers = vec![("x-keyform-caller", caller), ("content-type", "application/json")];
        headers.extend(key.map(|key| ("idempotency-key", key)));
        send(&self.running, "POST", &format!("/v1/{}/{pattern}", self.model), &headers, &body.to_string())
    }

    /// Calls a write as code.
    fn write(&self, pattern: &str, arguments: &[(&str, AttributeValue)]) {
        let arguments = arguments.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let call = Call { arguments, ..Call::default() };
        runtime.block_on(self.runner.write(pattern, &call)).unwrap();
    }
}

const GATES: &str = r#"
model gates

caller userId: slug(1..20), org: slug(1..20)?, level: int?

table Gates { key pk, sk }

entity Doc in Gates {
  key "DOC#{docId}", "META"

  docId:   slug(1..20)
  org:     slug(1..20)?
  owner:   slug(1..20)?
  editors: set<slug(1..20)>
  level:   int?
}

entity Ban in Gates {
  key "BAN#{org}", "USER#{userId}"

  org:    slug(1..20)
  userId: slug(1..20)
  until:  int?
}

guard banned(org) = exists Ban(org, caller.userId)
guard long(org) = exists Ban(org, caller.userId) where until > 100

read doc(docId) -> Doc?
  allow system

read sameOrg(docId) -> Doc? allow doc(docId).org = caller.org
read otherOrg(docId) -> Doc? allow not (doc(docId).org = caller.org) unscoped Doc "the test is about the permission"
read notBanned(docId) -> Doc? allow not banned(caller.org) unscoped Doc "the test is about the permission"
read notLong(docId) -> Doc? allow not long(caller.org) unscoped Doc "the test is about the permission"
read editor(docId) -> Doc? allow doc(docId).editors contains caller.userId unscoped Doc "the test is about the permission"
read oneOf(docId) -> Doc? allow caller.userId in (doc(docId).owner, "root") unscoped Doc "the test is about the permission"
read ranked(docId) -> Doc? allow caller.level between 1 and doc(docId).level unscoped Doc "the test is about the permission"
read unowned(docId) -> Doc? allow doc(docId).owner is none unscoped Doc "the test is about the permission"
read owned(docId) -> Doc? allow doc(docId).owner is some unscoped Doc "the test is about the permission"
read known(docId) -> Doc? allow doc(docId) is some unscoped Doc "the test is about the permission"

write addDoc(docId, org: slug(1..20)?, owner: slug(1..20)?, editors, level: int?) {
  allow system
  create Doc {} else Exists
}

write touch(docId) {
  let mine = caller.org
  allow mine = "acme"
  unscoped Doc "the test is about the permission"
  update Doc(docId) { level = 5 } else Unknown
}

write ban(org, userId, until: int?) {
  allow system
  create Ban {} else Exists
}
"#;

#[test]
fn allow_holds_only_if_it_is_true() {
    let api = Api::start("gates", GATES);
    let editors = || AttributeValue::Ss(["ada".to_owned(), "eve".to_owned()].into());
    api.write("addDoc", &[("docId", "bare".into()), ("editors", editors())]);
    api.write(
        "addDoc",
        &[
            ("docId", "full".into()),
            ("org", "acme".into()),
            ("owner", "ada".into()),
            ("editors", editors()),
            ("level", 3.into()),
        ],
    );
    api.write("ban", &[("org", "acme".into()), ("userId", "eve".into())]);
    let check = |pattern: &str, doc: &str, caller: &str, expected: u16| {
        let answer = api.get(caller, &format!("{pattern}?docId={doc}"));
        assert_eq!(answer.status, expected, "{pattern} {doc} as {caller}: {}", answer.text);
    };
    // Both values absent: unknown, and so is the negation.
    check("sameOrg", "bare", "userId=ada", 403);
    check("otherOrg", "bare", "userId=ada", 403);
    check("otherOrg", "bare", "userId=ada; org=acme", 403);
    check("sameOrg", "full", "userId=ada; org=acme", 200);
    check("otherOrg", "full", "userId=ada; org=evil", 200);
    // A guard without its argument is unknown; one whose item is missing does not hold.
    check("notBanned", "full", "userId=ada", 403);
    check("notBanned", "full", "userId=ada; org=acme", 200);
    check("notBanned", "full", "userId=eve; org=acme", 403);
    // The item of the guard lacks the value that the guard compares.
    check("notLong", "full", "userId=eve; org=acme", 403);
    check("notLong", "full", "userId=ada; org=acme", 200);
    // Reads in every kind of test.
    check("editor", "full", "userId=eve", 200);
    check("editor", "full", "userId=bob", 403);
    check("editor", "none", "userId=eve", 403);
    check("oneOf", "full", "userId=ada", 200);
    check("oneOf", "bare", "userId=root", 200);
    check("oneOf", "bare", "userId=ada", 403);
    check("ranked", "full", "userId=ada; level=2", 200);
    check("ranked", "full", "userId=ada; level=4", 403);
    check("ranked", "bare", "userId=ada; level=2", 403);
    check("unowned", "bare", "userId=ada", 200);
    check("unowned", "full", "userId=ada", 403);
    check("owned", "full", "userId=ada", 200);
    check("owned", "bare", "userId=ada", 403);
    check("known", "full", "userId=ada", 200);
    check("known", "none", "userId=ada", 403);
    // A value of a `let` that is computed, not read.
    let touch = |caller: &str| api.post(caller, "touch", None, &json!({ "docId": "full" })).status;
    assert_eq!((touch("userId=ada; org=acme"), touch("userId=ada; org=evil"), touch("userId=ada")), (204, 403, 403));
}

const ROOMS: &str = r#"
model rooms

caller userId: slug(1..20)

table Rooms { key pk, sk }

entity Member in Rooms {
  key "ROOM#{roomId}", "MEMBER#{userId}"

  roomId: slug(1..20)
  userId: slug(1..20)
}

entity Note in Rooms {
  key "ROOM#{roomId}", "NOTE#{noteId}"

  roomId: slug(1..20)
  noteId: slug(1..20)
  text:   string(1..100)
}

guard member(roomId) = exists Member(roomId, caller.userId)

read notes(roomId) -> [Note] page 2
  allow member(roomId)

read openNotes(roomId) -> [Note] page 2
  allow public
  unscoped Note "notes are public"

write join(roomId, userId) {
  allow system
  create Member {} else Exists
}

write add(roomId, noteId, text) -> Note {
  allow member(roomId)
  create Note {} else Exists
}

write leave(roomId) -> Member {
  allow member(roomId)
  delete Member(roomId, caller.userId) if exists else NotThere
}
"#;

#[test]
fn a_cursor_is_encrypted_and_belongs_to_its_caller() {
    let api = Api::start("rooms", ROOMS);
    for user in ["ada", "bob"] {
        api.write("join", &[("roomId", "r".into()), ("userId", user.into())]);
    }
    for note in ["n1", "n2", "n3", "n4", "n5"] {
        let body = json!({ "roomId": "r", "noteId": note, "text": "hello" });
        assert_eq!(api.post("userId=ada", "add", None, &body).status, 200);
    }
    let page = api.get("userId=ada", "notes?roomId=r").json();
    let cursor = page["cursor"].as_str().unwrap();
    let raw = base64::Engine::decode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, &cursor[1..]).unwrap();
    for part in ["ROOM#", "NOTE#", "n2"] {
        assert!(!raw.windows(part.len()).any(|window| window == part.as_bytes()), "{part} is readable");
    }
    let next = |caller: &str, pattern: &str| api.get(caller, &format!("{pattern}?roomId=r&cursor={cursor}"));
    assert_eq!(next("userId=ada", "notes").json()["items"][0]["noteId"], "n3");
    let stolen = next("userId=bob", "notes");
    assert_eq!((stolen.status, stolen.json()["type"].as_str()), (400, Some("urn:keyform:problem:cursor")));
    // A public read depends on no claim, so its cursor can be passed on.
    let page = api.get("userId=ada", "openNotes?roomId=r").json();
    let cursor = page["cursor"].as_str().unwrap();
    let shared = api.get("userId=bob", &format!("openNotes?roomId=r&cursor={cursor}"));
    assert_eq!(shared.json()["items"][0]["noteId"], "n3");
}

#[test]
fn a_repeated_call_shows_its_item_only_while_the_caller_is_permitted() {
    let api = Api::start("rooms", ROOMS);
    api.write("join", &[("roomId", "r".into()), ("userId", "ada".into())]);
    let note = json!({ "roomId": "r", "noteId": "n", "text": "secret plan" });
    let add = || api.post("userId=ada", "add", Some("k1"), &note);
    assert_eq!(add().json()["text"], "secret plan");
    assert_eq!(add().json()["text"], "secret plan");
    let leave = || api.post("userId=ada", "leave", Some("k2"), &json!({ "roomId": "r" }));
    assert_eq!(leave().status, 200);
    let again = leave();
    assert!(again.status < 300, "the write was applied: {}", again.text);
    let replayed = add();
    assert_eq!((replayed.status, replayed.text.as_str()), (204, ""));
    // Without a key the caller is refused.
    assert_eq!(api.post("userId=ada", "add", None, &note).status, 403);
}

#[test]
fn a_model_file_with_a_handler_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.kf");
    let model = r#"model notes
        table Notes { key noteId  stream new_and_old }
        entity Note in Notes { noteId: slug(1..20) }
        on Note insert -> handler notify needs new
        write add(noteId) { create Note {} else Exists }"#;
    std::fs::write(&file, model).unwrap();
    let refused = ModelFiles::open(&[file], &Database::in_memory(), Default::default()).unwrap_err();
    assert!(matches!(&refused, ModelFileError::Handler(_, name) if name == "notify"), "{refused}");
    let text = refused.to_string();
    assert!(text.contains("`notify`") && text.contains("Application::handler"), "{text}");
}

const BOARD: &str = r#"
model board

caller userId: slug(1..20)

table Board {
  key    pk, sk
  tag    kind
  stream new_and_old
}

entity Team in Board {
  key "TEAM#{teamId}", "META"

  teamId: slug(1..20)
  status: "open" | "closed"
}

entity Member in Board {
  key "TEAM#{teamId}", "MEMBER#{userId}"

  teamId: slug(1..20)
  userId: slug(1..20)
  status: "active" | "gone"
}

read team(teamId) -> Team + [Member] all
  where Member.status = "active"
  allow public
  unscoped Team "teams are public"
  unscoped Member "teams are public"

read members(teamId) -> [Member] page 50
  allow public
  unscoped Member "teams are public"

on Member insert -> live members(teamId)

write found(teamId, status) {
  allow system
  create Team {} else Exists
}

write join(teamId, userId, status) {
  allow system
  put Member {}
}
"#;

fn join(api: &Api, user: &str, status: &str) {
    api.write("join", &[("teamId", "t".into()), ("userId", user.into()), ("status", status.into())]);
}

#[test]
fn a_filter_on_one_part_leaves_the_others() {
    let api = Api::start("board", BOARD);
    api.write("found", &[("teamId", "t".into()), ("status", "open".into())]);
    join(&api, "ada", "gone");
    let members = || {
        let team = api.get("userId=eve", "team?teamId=t");
        assert_eq!(team.status, 200, "{}", team.text);
        let team = team.json();
        assert_eq!(team["Team"][0]["status"], "open", "{team}");
        team["Member"].as_array().unwrap().iter().map(|member| member["userId"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(members(), Vec::<Value>::new());
    join(&api, "bob", "active");
    assert_eq!(members(), [json!("bob")]);
}

#[test]
fn a_filter_of_a_union_names_its_part() {
    let bare = BOARD.replace("where Member.status", "where status");
    let errors: Vec<String> = Checked::read(&bare).diagnostics.iter().map(|found| found.message.clone()).collect();
    assert!(errors.iter().any(|text| text.contains("must name that of `status`")), "{errors:?}");
    let mixed =
        BOARD.replace("where Member.status = \"active\"", "where Member.status = \"active\" or Team.status = \"open\"");
    let errors: Vec<String> = Checked::read(&mixed).diagnostics.iter().map(|found| found.message.clone()).collect();
    assert!(errors.iter().any(|text| text.contains("two parts of the result")), "{errors:?}");
    let both = BOARD
        .replace("where Member.status = \"active\"", "where Member.status = \"active\" and Team.status = \"open\"");
    assert!(!Checked::read(&both).has_errors());
    let untagged = BOARD.replace("tag    kind", "");
    let errors: Vec<String> = Checked::read(&untagged).diagnostics.iter().map(|found| found.message.clone()).collect();
    assert!(errors.iter().any(|text| text.contains("needs the tag of the table")), "{errors:?}");
}

#[test]
fn a_live_read_delivers_the_events_that_the_model_names_and_the_parts_that_pass() {
    let api = Api::start("board", BOARD);
    api.write("found", &[("teamId", "t".into()), ("status", "open".into())]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let live = Live::new(LiveSettings { poll: Duration::from_millis(20), ..LiveSettings::default() });
        let call = || Call { arguments: [("teamId".to_owned(), "t".into())].into(), ..Call::default() };
        let mut members = live.read(&api.runner, "members", call(), None).await.unwrap();
        let mut team = live.read(&api.runner, "team", call(), None).await.unwrap();
        let Some(LiveEvent::Page(page)) = team.next().await else { panic!("a page") };
        assert_eq!(page.items.len(), 1, "the team itself is not filtered");
        let join = async |user: &str, status: &str| {
            let arguments = [
                ("teamId".to_owned(), "t".into()),
                ("userId".to_owned(), user.into()),
                ("status".to_owned(), status.into()),
            ];
            api.runner.write("join", &Call { arguments: arguments.into(), ..Call::default() }).await.unwrap();
        };
        join("ada", "active").await;
        join("ada", "gone").await;
        join("bob", "active").await;
        assert_eq!(changes(&mut members, 2).await, [("insert", "ada".into()), ("insert", "bob".into())]);
        let told = changes(&mut team, 3).await;
        assert_eq!(told.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), ["insert", "remove", "insert"]);
    });
}

/// Waits for this many changes; returns their kinds and users.
async fn changes(stream: &mut LiveStream, count: usize) -> Vec<(&'static str, AttributeValue)> {
    let mut seen = Vec::new();
    while seen.len() < count {
        let event = tokio::time::timeout(Duration::from_secs(20), stream.next()).await;
        if let Some(LiveEvent::Changes(delivery)) = event.expect("a change in time") {
            let user = |found: &Option<keyform::runtime::run::Found>| {
                found.as_ref().and_then(|found| found.fields.get("userId").cloned()).unwrap_or(AttributeValue::Null)
            };
            seen.extend(delivery.changes.iter().map(|change| (change.kind.name(), user(&change.found))));
        }
    }
    seen
}

const CLUB: &str = r#"
model club

caller userId: slug(1..20)

table Club { key pk, sk }

entity Member in Club {
  key "CLUB#{clubId}", "MEMBER#{userId}"

  clubId: slug(1..20)
  userId: slug(1..20)
  role:   "owner" | "member"
}

entity Note in Club {
  key "CLUB#{clubId}", "NOTE#{noteId}"

  clubId: slug(1..20)
  noteId: slug(1..20)
}

guard owner(clubId) = exists Member(clubId, caller.userId) where role = "owner"
guard member(clubId) = exists Member(clubId, caller.userId)

read memberOf(clubId, userId) -> Member?
  allow system

write enrol(clubId, userId, role) {
  allow system
  put Member {}
}

write promote(clubId, userId) -> Member {
  allow owner(clubId)
  update Member(clubId, userId) { role = "owner" } else NoMember
}

write leave(clubId) {
  allow member(clubId)
  delete Member(clubId, caller.userId) if role = "member" else IsOwner
}

write note(clubId, noteId) {
  allow member(clubId)
  create Note {} else Exists
}

write noteHeld(clubId, noteId) {
  allow held member(clubId)
  create Note {} else Exists
}

write promoteLater(clubId, userId) -> Member {
  allow owner(clubId) before "the club confirms promotions by hand"
  update Member(clubId, userId) { role = "owner" } else NoMember
}
"#;

/// Store on which a permission ends between the read of its guard and the write.
struct Racing {
    store: Database,
    /// Deleted before the next write.
    ends: Mutex<Option<DeleteItem>>,
    /// Requests that write.
    writes: Mutex<Vec<Operation>>,
}

impl Execute for Racing {
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>> {
        let writes = !matches!(operation, Operation::GetItem(_) | Operation::Query(_));
        Box::pin(async move {
            if writes {
                let ends = self.ends.lock().unwrap().take();
                if let Some(delete) = ends {
                    self.store.execute(delete.into()).await?;
                }
                self.writes.lock().unwrap().push(operation.clone());
            }
            self.store.execute(operation).await
        })
    }
}

#[tokio::test]
async fn a_permission_that_ends_before_the_request_refuses_it() {
    let store = Arc::new(Racing { store: Database::in_memory(), ends: Mutex::default(), writes: Mutex::default() });
    let checked = Checked::read(CLUB);
    assert!(!checked.has_errors(), "{:?}", checked.diagnostics);
    let runner = Runner::new(Arc::new(checked), store.clone(), Arc::new(SystemWorld), RunSettings::default()).unwrap();
    runner.create_tables().await.unwrap();
    let given = |pairs: &[(&str, &str)]| -> Attributes {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect()
    };
    let enrol = async |user: &str, role: &str| {
        let arguments = given(&[("clubId", "c"), ("userId", user), ("role", role)]);
        runner.write("enrol", &Call { arguments, ..Call::default() }).await.unwrap();
    };
    let call = |user: &str, arguments: &[(&str, &str)]| Call {
        arguments: given(arguments),
        caller: Caller::Claims(given(&[("userId", user)])),
        ..Call::default()
    };
    let role = async |user: &str| {
        let arguments = given(&[("clubId", "c"), ("userId", user)]);
        match runner.read("memberOf", &Call { arguments, ..Call::default() }).await.unwrap() {
            Read::One(found) => found.map(|found| found.fields["role"].clone()),
            other => panic!("{other:?}"),
        }
    };
    let end = |user: &str| {
        let key = given(&[("pk", "CLUB#c"), ("sk", &format!("MEMBER#{user}"))]);
        *store.ends.lock().unwrap() = Some(DeleteItem { table: "Club".to_owned(), key, ..DeleteItem::default() });
    };
    enrol("ada", "owner").await;
    enrol("bob", "member").await;
    // Held by a ConditionCheck: the update becomes a transaction.
    end("ada");
    let promote = call("ada", &[("clubId", "c"), ("userId", "bob")]);
    assert_eq!(runner.write("promote", &promote).await, Err(RunError::Forbidden));
    assert_eq!(role("bob").await, Some("member".into()));
    let is_held = |sent: &Operation| matches!(sent, Operation::TransactWriteItems(sent) if sent.actions.len() == 2);
    assert!(is_held(store.writes.lock().unwrap().last().unwrap()));
    // Without the race the same request is applied, and returns the item.
    enrol("ada", "owner").await;
    let promoted = runner.write("promote", &promote).await.unwrap().unwrap();
    assert_eq!(promoted.fields["role"], "owner".into());
    // Held by a condition of the step, which stays a plain DeleteItem; the author's outcome keeps its name.
    enrol("bob", "member").await;
    end("bob");
    let leave = |user: &str| call(user, &[("clubId", "c")]);
    assert_eq!(runner.write("leave", &leave("bob")).await, Err(RunError::Forbidden));
    assert!(matches!(store.writes.lock().unwrap().last(), Some(Operation::DeleteItem(_))));
    let refused = runner.write("leave", &leave("ada")).await;
    assert!(matches!(&refused, Err(RunError::Refused { outcome, .. }) if outcome == "IsOwner"), "{refused:?}");
    // Any other write has a window, as `explain` says.
    enrol("bob", "member").await;
    end("bob");
    let note = call("bob", &[("clubId", "c"), ("noteId", "n")]);
    assert_eq!(runner.write("note", &note).await, Ok(None));
    let explained = |name: &str| keyform_check::explain::explain(runner.checked(), name)[0].plan.join("\n");
    assert!(explained("promote").contains("held in the request, by a ConditionCheck"), "{}", explained("promote"));
    assert!(explained("leave").contains("held in the request, by a condition of the step"));
    assert!(explained("note").contains("window"));
    // `allow held` strengthens any write, and `before` weakens one that would be held, with its reason.
    enrol("bob", "member").await;
    end("bob");
    let note = call("bob", &[("clubId", "c"), ("noteId", "m")]);
    assert_eq!(runner.write("noteHeld", &note).await, Err(RunError::Forbidden));
    assert!(is_held(store.writes.lock().unwrap().last().unwrap()));
    enrol("bob", "member").await;
    assert_eq!(runner.write("noteHeld", &note).await, Ok(None));
    end("ada");
    let promoted = runner.write("promoteLater", &promote).await.unwrap().unwrap();
    assert_eq!(promoted.fields["role"], "owner".into());
    assert!(explained("noteHeld").contains("held in the request, by a ConditionCheck"));
    assert!(explained("promoteLater").contains("window, as the model says (the club confirms promotions by hand)"));
}
