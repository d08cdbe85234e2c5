//! Edge cases of values: absent, NULL, empty sets, parts of records, lists that name an item twice, and values beyond a
//! store's limits.

use std::sync::Arc;

use keyform::Database;
use keyform::SystemWorld;
use keyform_check::Checked;
use keyform_check::surface::Pattern;
use keyform_runtime::run::{Call, Caller, RunError, Runner, json};
use serde_json::{Value, json};

const MODEL: &str = r#"
model edges

caller userId: slug(1..20), teamId: slug(1..20)?, scopes: set<string>

table Edges {
  key   pk, sk
  tag   kind
}

entity Thing in Edges {
  key "THING#{thingId}", "THING"

  thingId: slug(1..20)
  team:    slug(1..20)?
  note:    string(..20) | null
  code:    slug(1..20)? unique
  tags:    set<string>(..5)?
  mails:   set<email>(..5)?
  people:  list<{ mail: email, name: string(1..20)?, nick: string(..20) | null }>(..5) = []
  events:  map<{ at: epoch, what: string(..20)? }>(..5) = {}
  log:     list<{ at: epoch_ms, what: string(..20)? }>(..5) = []
  any:     json?
  count:   int = 0
}

entity Part in Edges {
  key "THING#{thingId}", "PART#{number:pad(3)}"

  thingId: ref Thing keep
  number:  int(0..999)
  team:    slug(1..20)
}

read thing(thingId) -> Thing?  allow public
  unscoped Thing "test data is for every caller"
read parts(thingId) -> [Part] page 50  allow public
  unscoped Part "test data is for every caller"

write make(thingId, note, code, tags, mails, people, any) -> Thing {
  allow public
  create Thing {} else ThingExists
}

write annotate(thingId, note) -> Thing {
  allow public
  unscoped Thing "test data is for every caller"
  update Thing(thingId) { note = note } else UnknownThing
}

write happen(thingId, name: slug(1..9), what: string(..20)?) -> Thing idempotent {
  allow public
  unscoped Thing "test data is for every caller"
  update Thing(thingId) { events[name] = { at: now(), what: what }, append log { at: now(), what: what } } else UnknownThing
}

write tag(thingId, more: set<string>) -> Thing {
  allow public
  unscoped Thing "test data is for every caller"
  update Thing(thingId) { add tags more } else UnknownThing
}

write addParts(thingId, team, parts: list<{ number: int(0..999) }>) {
  allow public
  unscoped Part "test data is for every caller"
  for part in parts max 3 { create Part { number = part.number } else PartExists }
}

write numbered(thingId, team, numbers: set<number>(..9)) {
  allow public
  unscoped Part "test data is for every caller"
  for one in numbers max 9 { create Part { number = one } else PartExists }
}

write both(one: slug(1..20), other: slug(1..20)) -> Thing idempotent {
  allow public
  unscoped Thing "test data is for every caller"
  update Thing(one) { count += 1 } else UnknownThing
  update Thing(other) { count -= 1 } else UnknownThing
}

write makeTwo(code) -> Thing {
  allow public
  create Thing { thingId = "a" } else Taken
  create Thing { thingId = "b" } else Taken
}

write partOfTeam(thingId, number) -> Part {
  allow public
  unscoped Thing "test data is for every caller"
  check Thing(thingId) exists else UnknownThing
  create Part { team = caller.teamId } else PartExists
}

write moveTeam(thingId, number) -> Part {
  allow public
  unscoped Part "test data is for every caller"
  update Part(thingId, number) { team = caller.teamId } else UnknownPart
}

write scoped(thingId) -> Thing {
  allow caller.scopes contains "write"
  create Thing {} else ThingExists
}
"#;

struct World {
    checked: Arc<Checked>,
    runner: Runner,
    runtime: tokio::runtime::Runtime,
}

impl World {
    fn new() -> Self {
        Self::of(MODEL)
    }

    fn of(model: &str) -> Self {
        let checked = Arc::new(Checked::read(model));
        assert!(!checked.has_errors(), "{:#?}", checked.diagnostics);
        let store = Arc::new(Database::in_memory());
        let runner = Runner::new(checked.clone(), store, Arc::new(SystemWorld), Default::default()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(runner.create_tables()).unwrap();
        Self { checked, runner, runtime }
    }

    /// Calls a pattern as the HTTP API does: with JSON, where null is the same as an absent argument.
    fn call(&self, pattern: &str, arguments: Value) -> Result<Value, RunError> {
        let model = &self.checked.model;
        let found = Pattern::find(model, pattern).unwrap();
        let mut call = Call { caller: self.caller(json!([])), ..Call::default() };
        for argument in found.arguments(model) {
            match &arguments[argument.name] {
                Value::Null => assert!(!argument.required, "{pattern} is said to need {}", argument.name),
                value => {
                    let value = json::from_json(value, &argument.kind).expect("a value of its type");
                    call.arguments.insert(argument.name.to_owned(), value);
                }
            }
        }
        self.run(found, call)
    }

    fn run(&self, pattern: Pattern<'_>, call: Call) -> Result<Value, RunError> {
        let model = &self.checked.model;
        self.runtime.block_on(async {
            match pattern {
                Pattern::Read(read) => Ok(json::answer(model, &self.runner.read(&read.name, &call).await?)),
                Pattern::Write(write) => {
                    let found = self.runner.write(&write.name, &call).await?;
                    Ok(found.map_or(Value::Null, |found| json::found(model, &found)))
                }
            }
        })
    }

    fn caller(&self, scopes: Value) -> Caller {
        let fields = &self.checked.model.caller.as_ref().unwrap().fields;
        let claim = |name: &str, value: Value| {
            let kind = &fields.iter().find(|field| field.name == name).unwrap().kind;
            (name.to_owned(), json::from_json(&value, kind).expect("a claim of its type"))
        };
        Caller::Claims([claim("userId", json!("ada")), claim("scopes", scopes)].into())
    }

    fn refusal(&self, pattern: &str, arguments: Value) -> String {
        self.call(pattern, arguments).expect_err("it is refused").to_string()
    }
}

#[test]
fn what_may_be_null_is_null_where_nothing_is_said() {
    let world = World::new();
    let made = world.call("make", json!({"thingId": "a"})).unwrap();
    assert!(made.as_object().unwrap().contains_key("note"), "{made}");
    let noted = world.call("annotate", json!({"thingId": "a", "note": "x"})).unwrap();
    assert_eq!(noted["note"], "x");
    let cleared = world.call("annotate", json!({"thingId": "a"})).unwrap();
    assert!(cleared.as_object().unwrap().get("note").is_some_and(Value::is_null), "{cleared}");
}

#[test]
fn values_within_values_are_of_their_types() {
    let world = World::new();
    let people = json!([{"mail": " Ada@Example.com", "name": null}, {"mail": "b@x.de", "nick": "b"}]);
    let made = world.call("make", json!({"thingId": "a", "mails": ["A@x.de", "a@x.de "], "people": people})).unwrap();
    assert_eq!(made["mails"], json!(["a@x.de"]));
    assert_eq!(made["people"], json!([{"mail": "ada@example.com", "nick": null}, {"mail": "b@x.de", "nick": "b"}]));
    let happened = world.call("happen", json!({"thingId": "a", "name": "first"})).unwrap();
    let (event, log) = (&happened["events"]["first"], &happened["log"][0]);
    assert!(event["at"].is_i64() && log["at"].is_i64(), "{happened}");
    assert_eq!((event.get("what"), log.get("what")), (None, None));
}

#[test]
fn an_empty_set_is_nothing() {
    let world = World::new();
    let made = world.call("make", json!({"thingId": "a", "tags": []})).unwrap();
    assert_eq!(made.get("tags"), None);
    world.call("tag", json!({"thingId": "a", "more": ["x"]})).unwrap();
    assert_eq!(world.call("tag", json!({"thingId": "a", "more": []})).unwrap()["tags"], json!(["x"]));
    let scoped = |scopes: Value| {
        let call = Call {
            arguments: [("thingId".to_owned(), "s".into())].into(),
            caller: world.caller(scopes),
            ..Call::default()
        };
        world.run(Pattern::find(&world.checked.model, "scoped").unwrap(), call)
    };
    assert_eq!(scoped(json!([])), Err(RunError::Forbidden));
    assert!(scoped(json!(["write"])).is_ok());
}

#[test]
fn one_item_named_twice_is_refused_by_name_or_said() {
    let world = World::new();
    world.call("make", json!({"thingId": "a"})).unwrap();
    let twice = json!({"thingId": "a", "team": "t", "parts": [{"number": 1}, {"number": 2}, {"number": 1}]});
    assert_eq!(world.refusal("addParts", twice), "refused: PartExists");
    assert_eq!(world.call("parts", json!({"thingId": "a"})).unwrap()["items"], json!([]));
    let same = world.refusal("both", json!({"one": "a", "other": "a"}));
    assert_eq!(same, "the same Thing is named twice; one write can contain each item only once");
    // Two items with the same unique value.
    let other = World::new();
    assert_eq!(other.refusal("makeTwo", json!({"code": "x"})), "refused: Taken");
    assert_eq!(other.call("makeTwo", json!({})).unwrap()["thingId"], "a");
}

#[test]
fn no_element_of_an_argument_is_left_out_silently() {
    let world = World::new();
    let parts: Vec<Value> = (0..4).map(|number| json!({"number": number})).collect();
    let refused = world.refusal("addParts", json!({"thingId": "a", "team": "t", "parts": parts}));
    assert_eq!(refused, "`parts` has more than 3 elements, the maximum of this write");
    world.call("numbered", json!({"thingId": "a", "team": "t", "numbers": [7, 8]})).unwrap();
    assert_eq!(world.call("parts", json!({"thingId": "a"})).unwrap()["items"].as_array().unwrap().len(), 2);
}

#[test]
fn an_item_never_lacks_what_it_must_have() {
    let world = World::new();
    world.call("make", json!({"thingId": "a"})).unwrap();
    let expected = "the caller's claim for `team` is missing";
    assert_eq!(world.refusal("partOfTeam", json!({"thingId": "a", "number": 1})), expected);
    world.call("numbered", json!({"thingId": "a", "team": "t", "numbers": [1]})).unwrap();
    assert_eq!(world.refusal("moveTeam", json!({"thingId": "a", "number": 1})), expected);
    assert_eq!(world.call("parts", json!({"thingId": "a"})).unwrap()["items"][0]["team"], "t");
}

#[test]
fn what_is_too_much_for_a_store_is_said_of_the_arguments() {
    let world = World::new();
    let large = "x".repeat(500_000);
    let refused = world.refusal("make", json!({"thingId": "a", "any": large}));
    assert_eq!(refused, "an item would exceed 400 KB, the maximum of the store");
    let deep = (0..40).fold(json!(1), |inner, _| json!([inner]));
    let refused = "`any` is not JSON with at most 31 levels and names of 1 to 65,535 bytes";
    assert_eq!(world.refusal("make", json!({"thingId": "a", "any": deep})), refused);
    assert_eq!(world.refusal("make", json!({"thingId": "a", "any": [{"": 1}]})), refused);
}

const UNTAGGED: &str = r#"
model untagged

table People { key person }

entity Person in People {
  person: string(1..40)
  name:   string(1..20) unique
}

read person(person) -> Person?
read people() -> [Person] scan, page 50
read howMany() -> count Person scan

write join(person, name) -> Person {
  create Person {} else Taken
}
"#;

#[test]
fn what_keeps_values_unique_is_nobodys_item() {
    let world = World::of(UNTAGGED);
    let call = |pattern: &str, arguments: &[(&str, &str)]| {
        let arguments = arguments.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
        world.run(Pattern::find(&world.checked.model, pattern).unwrap(), Call { arguments, ..Call::default() })
    };
    call("join", &[("person", "a"), ("name", "Ada")]).unwrap();
    assert_eq!(call("people", &[]).unwrap()["items"], json!([{"person": "a", "name": "Ada"}]));
    assert_eq!(call("person", &[("person", "UNIQUE#Person.name#Ada")]).unwrap(), Value::Null);
    let refused = call("join", &[("person", "b"), ("name", "Ada")]).unwrap_err();
    assert_eq!(refused, RunError::Refused { outcome: "Taken".to_owned(), item: None });
    assert_eq!(call("howMany", &[]).unwrap(), json!({"count": 1}));
}
