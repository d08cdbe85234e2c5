//! Every stored value keeps the type and the bounds of its field, whichever change makes it.

use std::sync::Arc;

use keyform::SystemWorld;
use keyform::operation::{GetItem, PutItem, Scan};
use keyform::{AttributeValue, Attributes, Database, ExecuteExt};
use keyform_check::Checked;
use keyform_check::surface::Pattern;
use keyform_runtime::run::{Call, RunError, RunSettings, Runner, fits};

const MODEL: &str = r#"
model bounds

table Things {
  key pk
  tag kind
}

entity Thing in Things {
  key "THING#{id}"

  id:      slug(1..20)
  stock:   int(0..) = 10
  stars:   int(0..5) = 0
  late:    int(0..9) = 4
  tags:    list<string(1..5)>(..2) = []
  people:  set<slug(1..9)>(..3)?
  crew:    set<slug(1..9)>(2..4)?
  prices:  map<int(0..100)>(..2) = {}
  extras:  map<int>(..9)? = {}
  note:    json? = {}
  address: { home: { city: string(1..9), zip: string(5)? }? } = {}
  state:   "new" | "old" = "new"
  counts:  { hits: int(0..9) = 1 } = {}
  name:    string(1..5)?
  open:    bool = false
}

entity Page in Things {
  key "PAGE#{pageId}"

  pageId:  slug(1..20)
  author:  slug(1..20) immutable
  text:    string(..100)
  madeAt:  timestamp created
  version: int version
}

read page(pageId) -> Page? strong

write publish(pageId, author, text) -> Page { put Page {} }
write reprint(pageId, author, text) -> Page { replace Page {} }
write draft(pageId, author, text) -> Page { upsert Page(pageId) { author = author, text = text } }

read thing(id) -> Thing? strong

write add(id) -> Thing { create Thing {} else Taken }
write give(id, crew: set<slug(1..9)>) -> Thing { create Thing {} else Taken }
write sell(id, n: int) -> Thing { update Thing(id) { stock -= n } else Unknown }
write praise(id, n: int) -> Thing { update Thing(id) { stars = stars + n } else Unknown }
write delay(id, n: int) -> Thing { update Thing(id) { late += n } else Unknown }
write tag(id, text: string(1..5)) -> Thing { update Thing(id) { append tags text } else Unknown }
write tagBoth(id, one: string, other: string) -> Thing { update Thing(id) { append tags [one, other] } else Unknown }
write invite(id, person: slug(1..9)) -> Thing { update Thing(id) { add people person } else Unknown }
write inviteAll(id, group: set<slug(1..9)>) -> Thing { update Thing(id) { add people group } else Unknown }
write sign(id, person: slug(1..9)) -> Thing { update Thing(id) { add crew person } else Unknown }
write fire(id, person: slug(1..9)) -> Thing { update Thing(id) { remove crew person } else Unknown }
write price(id, size: string, amount: int) -> Thing { update Thing(id) { prices[size] = amount } else Unknown }
write raise(id, size: string, amount: int) -> Thing { update Thing(id) { prices[size] += amount } else Unknown }
write extra(id, size: string) -> Thing { update Thing(id) { extras[size] = 1 } else Unknown }
write note(id, text: string) -> Thing { update Thing(id) { note.text = text } else Unknown }
write annotate(id, note) -> Thing { update Thing(id) { note = note } else Unknown }
write clear(id) -> Thing { update Thing(id) { remove extras, remove note } else Unknown }
write house(id, address) -> Thing { update Thing(id) { address = address } else Unknown }
write move(id, city: string) -> Thing { update Thing(id) { address.home.city = city } else Unknown }
write hit(id, n: int) -> Thing { update Thing(id) { counts.hits += n } else Unknown }
write hits(id, n: int) -> Thing { update Thing(id) { counts.hits = n } else Unknown }
write turn(id, word: string) -> Thing { update Thing(id) { state = word } else Unknown }
write rename(id, text: string) -> Thing { update Thing(id) { name = text } else Unknown }
write addNamed(id, text: string) -> Thing { create Thing { name = text } else Taken }
write lock(id) -> Thing { update Thing(id) { open = true } else Unknown if open = false else Open }
"#;

struct World {
    runner: Runner,
    store: Arc<Database>,
}

fn value(text: &str) -> AttributeValue {
    match (text.parse::<i64>(), text.split_once(',')) {
        (Ok(number), _) => number.into(),
        (_, Some(_)) => AttributeValue::Ss(text.split(',').map(str::to_owned).collect()),
        (Err(_), None) => text.into(),
    }
}

impl World {
    async fn new() -> Self {
        let checked = Checked::read(MODEL);
        assert!(!checked.has_errors(), "{:#?}", checked.diagnostics);
        let store = Arc::new(Database::in_memory());
        let runner =
            Runner::new(Arc::new(checked), store.clone(), Arc::new(SystemWorld), RunSettings::default()).unwrap();
        runner.create_tables().await.unwrap();
        let world = Self { runner, store };
        world.write("add", &[]).await.unwrap();
        world
    }

    async fn write(&self, name: &str, arguments: &[(&str, AttributeValue)]) -> Result<Option<Attributes>, RunError> {
        let mut given: Attributes = arguments.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        given.entry("id".to_owned()).or_insert_with(|| "a".into());
        let found = self.runner.write(name, &Call { arguments: given, ..Call::default() }).await;
        self.every_item_fits().await;
        found.map(|found| found.map(|found| found.fields.into()))
    }

    async fn every_item_fits(&self) {
        let items = self.store.call(Scan { consistent: true, ..Scan::of("Things") }).await.unwrap().items;
        for item in items.unwrap_or_default().iter().map(|item| item.to_attributes()) {
            let mut entities = self.runner.checked().model.entities.iter();
            let entity = entities.find(|entity| item["kind"] == AttributeValue::from(entity.name.as_str())).unwrap();
            for field in &entity.fields {
                let fits = item.get(&field.name).is_none_or(|value| fits(value, &field.kind));
                assert!(fits, "{} is {:?}", field.name, item.get(&field.name));
            }
        }
    }
}

async fn check(world: &World, write: &str, arguments: &[(&str, &str)], expected: &str) {
    let arguments: Vec<(&str, AttributeValue)> = arguments.iter().map(|(name, text)| (*name, value(text))).collect();
    let told = match world.write(write, &arguments).await {
        Ok(_) => "done".to_owned(),
        Err(RunError::Refused { outcome, .. }) => outcome,
        Err(RunError::Arguments(_)) => "argument".to_owned(),
        Err(other) => panic!("{write}: {other}"),
    };
    assert_eq!(told, expected, "{write}{arguments:?}");
    if let Some(outcome) = Some(expected).filter(|expected| !["done", "argument"].contains(expected)) {
        let writes = &world.runner.checked().model.writes;
        let pattern = Pattern::Write(writes.iter().find(|other| other.name == write).unwrap());
        assert!(pattern.outcomes(world.runner.checked()).iter().any(|name| name == outcome), "{write}: {outcome}");
    }
}

#[tokio::test]
async fn numbers_stay_within_their_bounds() {
    let world = World::new().await;
    check(&world, "sell", &[("n", "12")], "StockOutOfBounds").await;
    check(&world, "sell", &[("n", "10")], "done").await;
    check(&world, "sell", &[("n", "1")], "StockOutOfBounds").await;
    check(&world, "sell", &[("n", "-3")], "done").await;
    check(&world, "praise", &[("n", "106")], "StarsOutOfBounds").await;
    check(&world, "praise", &[("n", "-1")], "StarsOutOfBounds").await;
    check(&world, "praise", &[("n", "5")], "done").await;
    check(&world, "price", &[("size", "s"), ("amount", "99")], "done").await;
    check(&world, "raise", &[("size", "s"), ("amount", "2")], "PricesOutOfBounds").await;
    check(&world, "raise", &[("size", "s"), ("amount", "1")], "done").await;
    check(&world, "price", &[("size", "s"), ("amount", "101")], "argument").await;
}

#[tokio::test]
async fn collections_stay_within_their_bounds() {
    let world = World::new().await;
    check(&world, "tagBoth", &[("one", "x"), ("other", "too long")], "argument").await;
    check(&world, "tag", &[("text", "one")], "done").await;
    check(&world, "tagBoth", &[("one", "x"), ("other", "y")], "TagsOutOfBounds").await;
    check(&world, "tag", &[("text", "two")], "done").await;
    check(&world, "tag", &[("text", "three")], "TagsOutOfBounds").await;
    check(&world, "inviteAll", &[("group", "a,b,c,d")], "PeopleOutOfBounds").await;
    check(&world, "inviteAll", &[("group", "a,b")], "done").await;
    check(&world, "inviteAll", &[("group", "a,b,c")], "done").await;
    check(&world, "inviteAll", &[("group", "c,d")], "PeopleOutOfBounds").await;
    check(&world, "invite", &[("person", "a")], "done").await;
    check(&world, "invite", &[("person", "d")], "PeopleOutOfBounds").await;
    check(&world, "price", &[("size", "s"), ("amount", "1")], "done").await;
    check(&world, "price", &[("size", "m"), ("amount", "1")], "done").await;
    check(&world, "price", &[("size", "m"), ("amount", "2")], "done").await;
    check(&world, "price", &[("size", "l"), ("amount", "1")], "PricesOutOfBounds").await;
    check(&world, "raise", &[("size", "l"), ("amount", "1")], "PricesOutOfBounds").await;
    check(&world, "price", &[("size", ""), ("amount", "1")], "argument").await;
}

#[tokio::test]
async fn a_set_with_a_minimum_keeps_it() {
    let world = World::new().await;
    check(&world, "sign", &[("person", "a")], "CrewOutOfBounds").await;
    check(&world, "give", &[("id", "b"), ("crew", "a,b")], "done").await;
    check(&world, "fire", &[("id", "b"), ("person", "z")], "done").await;
    check(&world, "fire", &[("id", "b"), ("person", "a")], "CrewOutOfBounds").await;
    check(&world, "sign", &[("id", "b"), ("person", "c")], "done").await;
    check(&world, "fire", &[("id", "b"), ("person", "a")], "done").await;
}

#[tokio::test]
async fn a_path_into_an_absent_value_is_refused_by_name() {
    let world = World::new().await;
    check(&world, "extra", &[("size", "s")], "done").await;
    check(&world, "note", &[("text", "t")], "done").await;
    check(&world, "clear", &[], "done").await;
    check(&world, "extra", &[("size", "s")], "ExtrasMissing").await;
    check(&world, "note", &[("text", "t")], "NoteMissing").await;
    check(&world, "annotate", &[("note", "no map")], "done").await;
    check(&world, "note", &[("text", "t")], "NoteMissing").await;
    check(&world, "move", &[("city", "Rome")], "AddressHomeMissing").await;
    let rome = AttributeValue::M([("city".to_owned(), "Rome".into())].into());
    world.write("house", &[("address", AttributeValue::M([("home".to_owned(), rome)].into()))]).await.unwrap();
    check(&world, "move", &[("city", "Bern")], "done").await;
    check(&world, "move", &[("city", "Santiago de Chile")], "argument").await;
}

#[tokio::test]
async fn an_argument_takes_the_type_of_the_field() {
    let world = World::new().await;
    check(&world, "turn", &[("word", "zzz")], "argument").await;
    check(&world, "turn", &[("word", "old")], "done").await;
    check(&world, "rename", &[("text", "too long")], "argument").await;
    check(&world, "addNamed", &[("id", "n"), ("text", "too long")], "argument").await;
    check(&world, "addNamed", &[("id", "n"), ("text", "short")], "done").await;
}

#[tokio::test]
async fn an_absent_attribute_has_its_literal_default() {
    let world = World::new().await;
    let item = [("pk", "THING#old"), ("kind", "Thing"), ("id", "old")];
    let item: Attributes = item.into_iter().map(|(name, text)| (name.to_owned(), text.into())).collect();
    world.store.call(PutItem { table: "Things".to_owned(), item, ..PutItem::default() }).await.unwrap();
    check(&world, "delay", &[("id", "old"), ("n", "6")], "LateOutOfBounds").await;
    check(&world, "delay", &[("id", "old"), ("n", "-5")], "LateOutOfBounds").await;
    check(&world, "delay", &[("id", "old"), ("n", "5")], "done").await;
    check(&world, "sell", &[("id", "old"), ("n", "10")], "done").await;
    check(&world, "tag", &[("id", "old"), ("text", "one")], "done").await;
    check(&world, "lock", &[("id", "old")], "done").await;
    check(&world, "lock", &[("id", "old")], "Open").await;
    check(&world, "lock", &[("id", "gone")], "Unknown").await;
}

#[tokio::test]
async fn a_change_inside_an_absent_value_applies_to_its_default() {
    let world = World::new().await;
    let item = [("pk", "THING#old"), ("kind", "Thing"), ("id", "old")];
    let item: Attributes = item.into_iter().map(|(name, text)| (name.to_owned(), text.into())).collect();
    for write in ["hit", "hits", "price", "raise"] {
        let put = PutItem { table: "Things".to_owned(), item: item.clone(), ..PutItem::default() };
        world.store.call(put).await.unwrap();
        let arguments = match write {
            "hit" | "hits" => [("id", value("old")), ("n", value("4"))].to_vec(),
            _ => [("id", value("old")), ("size", value("s")), ("amount", value("4"))].to_vec(),
        };
        let thing = world.write(write, &arguments).await.unwrap().unwrap();
        let expected = match write {
            "hit" => ("counts", "hits", 5),
            "hits" => ("counts", "hits", 4),
            _ => ("prices", "s", 4),
        };
        let inside = AttributeValue::M([(expected.1.to_owned(), expected.2.into())].into());
        assert_eq!(thing[expected.0], inside, "{write}");
    }
    world.store.call(PutItem { table: "Things".to_owned(), item, ..PutItem::default() }).await.unwrap();
    check(&world, "hit", &[("id", "old"), ("n", "9")], "CountsHitsOutOfBounds").await;
    check(&world, "move", &[("id", "old"), ("city", "Rome")], "AddressHomeMissing").await;
    check(&world, "hit", &[("id", "gone"), ("n", "1")], "Unknown").await;
    check(&world, "price", &[("id", "old"), ("size", "a"), ("amount", "1")], "done").await;
    check(&world, "price", &[("id", "old"), ("size", "b"), ("amount", "1")], "done").await;
    check(&world, "price", &[("id", "old"), ("size", "c"), ("amount", "1")], "PricesOutOfBounds").await;
}

#[tokio::test]
async fn a_part_that_does_not_fit_is_named() {
    let world = World::new().await;
    let told = |given: AttributeValue| {
        let world = &world;
        async move { world.write("house", &[("address", given)]).await.unwrap_err().to_string() }
    };
    let record = |name: &str, value: AttributeValue| AttributeValue::M([(name.to_owned(), value)].into());
    let home = |name: &str, value: AttributeValue| record("home", record(name, value));
    assert!(told(record("street", "x".into())).await.starts_with("`address.street` is not a field of the object"));
    assert!(
        told(home("city", "a city that is too long".into())).await.starts_with("`address.home.city` is not a text")
    );
}

#[tokio::test]
async fn a_replaced_item_keeps_what_never_changes() {
    for write in ["publish", "draft"] {
        let world = World::new().await;
        let page = |author: &str| vec![("pageId", value("p")), ("author", value(author)), ("text", value("hello"))];
        let first = world.write(write, &page("ada")).await.unwrap().unwrap();
        check(&world, write, &[("pageId", "p"), ("author", "eve"), ("text", "mine")], "AuthorChanged").await;
        let second = world.write(write, &page("ada")).await.unwrap().unwrap();
        assert_eq!(first["madeAt"], second["madeAt"], "{write}");
        assert_eq!((&first["version"], &second["version"]), (&1.into(), &2.into()), "{write}");
    }
}

#[tokio::test]
async fn replace_sets_a_new_time_of_creation() {
    let world = World::new().await;
    let page = vec![("pageId", value("p")), ("author", value("ada")), ("text", value("hello"))];
    world.write("publish", &page).await.unwrap();
    let key = [("pk".to_owned(), AttributeValue::from("PAGE#p"))].into();
    let made = world.store.call(GetItem { table: "Things".to_owned(), key, ..GetItem::default() }).await.unwrap();
    let mut item = made.item.unwrap().to_attributes();
    item.insert("madeAt".to_owned(), "2001-02-03T04:05:06.000Z".into());
    world.store.call(PutItem { table: "Things".to_owned(), item, ..PutItem::default() }).await.unwrap();
    let kept = world.write("publish", &page).await.unwrap().unwrap();
    assert_eq!(kept["madeAt"], "2001-02-03T04:05:06.000Z".into());
    check(&world, "reprint", &[("pageId", "p"), ("author", "eve"), ("text", "mine")], "AuthorChanged").await;
    let anew = world.write("reprint", &page).await.unwrap().unwrap();
    assert_ne!(anew["madeAt"], kept["madeAt"]);
    assert_eq!((&kept["version"], &anew["version"]), (&2.into(), &3.into()));
}
