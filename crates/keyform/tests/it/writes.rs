//! Bound writes on a database: effects, refusals, and updates of indexes and sentinels.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use keyform::operation::{Scan, TransactWriteItems};
use keyform::{AttributeValue, Attributes, Database, ErrorCode};
use keyform_check::Checked;
use keyform_language::bind::{self, BoundWrite, CurrentItem, Demand, Fresh, Inputs, WriteOperation};

const MODEL: &str = r#"
model people

caller userId: ulid

table People "people" {
  key    pk, sk
  index  gsi1 (gsi1pk, gsi1sk)
  tag    kind
}

entity User in People {
  key   "USER#{userId}", "PROFILE"
  gsi1  "EMAIL#{email}", "USER#{userId}"

  userId:   ulid = ulid()
  team:     string(1..20)
  email:    email unique
  nickname: string(1..20) unique per team
  logins:   int = 0
}

entity Day in People {
  key   "DAY#{day}", "DAY"

  day:    date
  visits: int = 0
  since:  timestamp created
}

write signUp(email, team, nickname) -> User {
  allow public
  create User {} else Taken
}

write moveTo(userId, email) -> User {
  allow system
  update User(userId) { email = email } else UnknownUser
}

write leave(userId) {
  allow system
  delete User(userId) if exists else UnknownUser
}

write visit(userId) {
  allow system
  update User(userId) { logins += 1 } else UnknownUser
    if logins < 2 else TooOften
  upsert Day(today()) { visits += 1 }
}
"#;

/// Sequential ids.
#[derive(Default)]
struct Counted(AtomicU64);

impl Fresh for Counted {
    fn ulid(&self) -> String {
        format!("01KKP2T8SN{:016}", self.0.fetch_add(1, Ordering::Relaxed) + 1)
    }
    fn uuid(&self) -> String {
        self.ulid()
    }
    fn code(&self, _: usize) -> String {
        self.ulid()
    }
    fn token(&self, _: usize) -> String {
        self.ulid()
    }
}

struct World {
    checked: Checked,
    database: Database,
    fresh: Counted,
}

impl World {
    fn new() -> Self {
        let checked = Checked::read(MODEL);
        assert!(!checked.has_errors(), "{:#?}", checked.diagnostics);
        Self::of(checked)
    }

    fn of(checked: Checked) -> Self {
        let world = Self { checked, database: Database::in_memory(), fresh: Counted::default() };
        for table in &world.checked.model.tables {
            let create = bind::create_table(table, &world.inputs(&[]));
            world.database.call_blocking(create).expect("the table can be made");
        }
        world
    }

    fn inputs(&self, arguments: &[(&str, &str)]) -> Inputs<'_> {
        Inputs {
            arguments: Cow::Owned(
                arguments.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect(),
            ),
            caller: Cow::default(),
            lets: Vec::new(),
            current: Vec::new(),
            variables: BTreeMap::new(),
            start: None,
            token: None,
            now_millis: 1_773_480_413_589,
            fresh: &self.fresh,
            sealing: None,
        }
    }

    fn bound(&self, name: &str, arguments: &[(&str, &str)]) -> BoundWrite {
        let model = &self.checked.model;
        let number = model.writes.iter().position(|write| write.name == name).expect("there is such a write");
        let mut inputs = self.inputs(arguments);
        for get in bind::read_first(model, &model.writes[number], &inputs).expect("the arguments fit") {
            let (table, key) = (get.table.clone(), get.key.clone());
            let Ok(output) = self.database.call_blocking(get) else { panic!("an item can be read") };
            let item = output.item.map(|item| item.to_attributes());
            inputs.current.push(CurrentItem { table, key, item });
        }
        let plan = self.checked.plans.writes[number].as_ref().expect("it has a plan");
        bind::write(model, &model.writes[number], plan, &inputs).expect("the arguments fit")
    }

    /// Runs a write; returns the outcome of the first failed condition.
    fn run(&self, name: &str, arguments: &[(&str, &str)]) -> Result<(), String> {
        let bound = self.bound(name, arguments);
        let operation = bound.operation.clone().expect("there is something to do");
        match self.database.execute_blocking(operation.clone().into()) {
            Ok(_) => Ok(()),
            Err(error) => {
                assert!([ErrorCode::ConditionalCheckFailed, ErrorCode::TransactionCanceled].contains(&error.code()));
                Err(self.outcome(&bound, &operation))
            }
        }
    }

    /// Returns the condition that fails for the current items.
    fn outcome(&self, bound: &BoundWrite, operation: &WriteOperation) -> String {
        let WriteOperation::Transact(TransactWriteItems { actions, .. }) = operation else {
            return bound.actions[0].demands[0].refusal.outcome.clone();
        };
        let items = self.items();
        for (action, planned) in actions.iter().zip(&bound.actions) {
            let key = match action {
                keyform::operation::TransactAction::Put { item, .. } => item,
                keyform::operation::TransactAction::Update { key, .. }
                | keyform::operation::TransactAction::Delete { key, .. }
                | keyform::operation::TransactAction::Check { key, .. } => key,
            };
            let there = items.iter().find(|item| item["pk"] == key["pk"] && item["sk"] == key["sk"]);
            let there = there.map(keyform::Item::from);
            let failed = planned.demands.iter().find(|demand| !demand.condition.holds(there.as_ref()));
            if let Some(Demand { refusal, .. }) = failed {
                return refusal.outcome.clone();
            }
        }
        panic!("some condition did not hold")
    }

    fn items(&self) -> Vec<Attributes> {
        let scan = Scan { consistent: true, ..Scan::of("people") };
        let Ok(page) = self.database.call_blocking(scan) else { panic!("a table can be scanned") };
        page.items.unwrap_or_default().iter().map(keyform::Item::to_attributes).collect()
    }

    fn keys(&self) -> Vec<String> {
        let text =
            |value: &AttributeValue| if let AttributeValue::S(text) = value { text.clone() } else { String::new() };
        let mut keys: Vec<String> = self.items().iter().map(|item| text(&item["pk"])).collect();
        keys.sort();
        keys
    }
}

const ADA: &str = "01KKP2T8SN0000000000000001";

#[test]
fn a_unique_value_is_taken_once() {
    let world = World::new();
    let ada = [("email", " Ada@Example.com"), ("team", "a#b"), ("nickname", "ada")];
    assert_eq!(world.run("signUp", &ada), Ok(()));
    let same_address = [("email", "ada@example.com"), ("team", "a"), ("nickname", "other")];
    assert_eq!(world.run("signUp", &same_address), Err("Taken".to_owned()));
    let same_name = [("email", "grace@example.com"), ("team", "a#b"), ("nickname", "ada")];
    assert_eq!(world.run("signUp", &same_name), Err("Taken".to_owned()));
    let another_team = [("email", "grace@example.com"), ("team", "a"), ("nickname", "b#ada")];
    assert_eq!(world.run("signUp", &another_team), Ok(()));
}

#[test]
fn a_changed_value_moves_its_sentinel_and_its_index_key() {
    let world = World::new();
    world.run("signUp", &[("email", "ada@example.com"), ("team", "a"), ("nickname", "ada")]).expect("it is free");
    world.run("signUp", &[("email", "grace@example.com"), ("team", "a"), ("nickname", "grace")]).expect("it is free");
    assert_eq!(world.run("moveTo", &[("userId", ADA), ("email", "grace@example.com")]), Err("EmailTaken".to_owned()));
    assert_eq!(world.run("moveTo", &[("userId", ADA), ("email", "lovelace@example.com")]), Ok(()));
    assert_eq!(world.run("moveTo", &[("userId", ADA), ("email", "Lovelace@example.com")]), Ok(()), "it stays");
    let moved = world.items().into_iter().find(|item| item.get("userId") == Some(&ADA.into())).expect("Ada is there");
    assert_eq!(moved["gsi1pk"], "EMAIL#lovelace@example.com".into());
    world.run("signUp", &[("email", "ada@example.com"), ("team", "a"), ("nickname", "new")]).expect("it is free again");
}

#[test]
fn a_deleted_item_takes_its_sentinels_along() {
    let world = World::new();
    world.run("signUp", &[("email", "ada@example.com"), ("team", "a"), ("nickname", "ada")]).expect("it is free");
    assert_eq!(world.keys().len(), 3);
    assert_eq!(world.run("leave", &[("userId", ADA)]), Ok(()));
    assert_eq!(world.keys(), Vec::<String>::new());
    assert_eq!(world.run("leave", &[("userId", ADA)]), Err("UnknownUser".to_owned()));
}

#[test]
fn a_transaction_counts_all_or_nothing() {
    let world = World::new();
    assert_eq!(world.run("visit", &[("userId", ADA)]), Err("UnknownUser".to_owned()));
    assert_eq!(world.keys(), Vec::<String>::new());
    world.run("signUp", &[("email", "ada@example.com"), ("team", "a"), ("nickname", "ada")]).expect("it is free");
    assert_eq!(world.run("visit", &[("userId", ADA)]), Ok(()));
    assert_eq!(world.run("visit", &[("userId", ADA)]), Ok(()));
    assert_eq!(world.run("visit", &[("userId", ADA)]), Err("TooOften".to_owned()));
    let day = world.items().into_iter().find(|item| item["pk"] == "DAY#2026-03-14".into()).expect("the day is made");
    assert_eq!((&day["visits"], &day["kind"], &day["day"]), (&2.into(), &"Day".into(), &"2026-03-14".into()));
    assert_eq!(day["since"], "2026-03-14T09:26:53.589Z".into());
}

/// The checker rejects a put of an entity with unique values (W05). If such a model is bound anyway, its sentinels must
/// be right.
#[test]
fn a_put_item_keeps_moves_and_frees_its_unique_values() {
    let put = "write replace(userId, email, team, nickname) -> User {\n  allow system\n  put User {}\n}\n";
    let world = World::of(Checked::read(&format!("{MODEL}\n{put}")));
    let user = |id, email, nickname| [("userId", id), ("email", email), ("team", "a"), ("nickname", nickname)];
    const BOB: &str = "01KKP2T8SN0000000000000002";
    assert_eq!(world.run("replace", &user(ADA, "ada@example.com", "ada")), Ok(()));
    assert_eq!(world.run("replace", &user(ADA, "ada@example.com", "ada")), Ok(()), "its values stay its own");
    assert_eq!(world.run("replace", &user(BOB, "ada@example.com", "bob")), Err("EmailTaken".to_owned()));
    assert_eq!(world.run("replace", &user(ADA, "lovelace@example.com", "ada")), Ok(()));
    assert_eq!(world.run("replace", &user(BOB, "ada@example.com", "bob")), Ok(()), "it is free again");
    assert_eq!(world.keys().len(), 6, "two people, and two sentinels of each");
}
