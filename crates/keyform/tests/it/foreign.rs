//! Items that another program or an older model wrote: they are read, found and changed like our own, and what does not
//! fit breaks only its own item.

use std::sync::Arc;

use keyform::operation::PutItem;
use keyform::runtime::run::{Answer, Call, Found, RunError, RunSettings, Runner};
use keyform::{AttributeValue, Attributes, Database, SystemWorld};
use keyform_check::Checked;
use keyform_runtime::run::json;
use serde_json::{Value, json};

const MODEL: &str = r#"
model shelf

table Shelf {
  key   pk, sk
  index byState (state, sk) sparse
}

entity Book in Shelf {
  key "SHELF#{shelfId}", "BOOK#{bookId}"

  shelfId: slug(1..20)
  bookId:  slug(1..20)
  title:   string(1..50)
  pages:   int(0..)
  addedAt: timestamp
  tags:    set<slug(1..20)>?
  hidden:  bool = false
  hits:    int = 0
  most:    int = 3
  note:    string(1..50)?
  state:   string(1..20)?
  version: int version
}

read book(shelfId, bookId) -> Book? strong
read needed(shelfId, bookId) -> Book strong
read books(shelfId) -> [Book] page 10
read titles(shelfId) -> [Book] select (bookId, title, hits), page 10
read visible(shelfId) -> [Book] where hidden = false, page 10
read hiddenOnes(shelfId) -> [Book] where hidden != false, page 10
read visibleCount(shelfId) -> count Book where not hidden
read quiet(shelfId) -> [Book] where hits in (0, 1), page 10
read open(shelfId) -> [Book] where hits < most, page 10
read unnoted(shelfId) -> [Book] where note is none, page 10
read noted(shelfId) -> [Book] where note is some, page 10

write hit(shelfId, bookId) -> Book {
  update Book(shelfId, bookId) { hits += 1 } else Unknown
    if hidden = false else Hidden
    if hits < most    else Full
}
write retitle(shelfId, bookId, title) -> Book {
  let before = needed(shelfId, bookId)
  update Book(shelfId, bookId) { title = title, most = hits } else Unknown
}
write throwAway(shelfId, bookId) {
  delete Book(shelfId, bookId) if hidden = false else Hidden
}
write clear(shelfId) {
  let all = books(shelfId)
  for one in all max 10 {
    delete Book(shelfId, one.bookId)
  }
}
"#;

struct Shelf {
    runner: Runner,
    database: Database,
}

fn item(text: &Value) -> Attributes {
    match keyform_runtime::run::json::from_json(text, &keyform_language::schema::Type::Json) {
        Some(AttributeValue::M(item)) => item,
        other => panic!("{other:?}"),
    }
}

impl Shelf {
    async fn with(items: &[Value]) -> Self {
        let checked = Checked::read(MODEL);
        assert!(!checked.has_errors(), "{:?}", checked.diagnostics);
        let database = Database::in_memory();
        let store = Arc::new(database.clone());
        let runner = Runner::new(Arc::new(checked), store, Arc::new(SystemWorld), RunSettings::default()).unwrap();
        runner.create_tables().await.unwrap();
        let shelf = Self { runner, database };
        for one in items {
            shelf.put(one).await;
        }
        shelf
    }

    async fn put(&self, one: &Value) {
        let put = PutItem { table: "Shelf".to_owned(), item: item(one), ..PutItem::default() };
        self.database.call(put).await.unwrap();
    }

    fn call(arguments: &[(&str, &str)]) -> Call {
        let arguments = arguments.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
        Call { arguments, ..Call::default() }
    }

    async fn read(&self, name: &str) -> Value {
        let answer = self.runner.read(name, &Self::call(&[("shelfId", "s")])).await.unwrap();
        json::answer(&self.runner.checked().model, &answer)
    }

    async fn ids(&self, name: &str) -> Vec<String> {
        let answer = self.read(name).await;
        answer["items"].as_array().unwrap().iter().map(|one| one["bookId"].as_str().unwrap().to_owned()).collect()
    }

    async fn write(&self, name: &str, book: &str) -> Result<Option<Found>, RunError> {
        self.runner.write(name, &Self::call(&[("shelfId", "s"), ("bookId", book), ("title", "New")])).await
    }

    async fn outcome(&self, name: &str, book: &str) -> String {
        match self.write(name, book).await {
            Ok(_) => "applied".to_owned(),
            Err(RunError::Refused { outcome, .. }) => outcome,
            Err(other) => format!("{other:?}"),
        }
    }
}

/// A book as another program writes it: ids only in the key, a number as text, a time with an offset, a list for a set,
/// NULL for absent, and none of the later fields.
fn old(id: &str) -> Value {
    json!({
        "pk": "SHELF#s", "sk": format!("BOOK#{id}"), "title": "Emma", "pages": "474",
        "addedAt": "2026-10-31T09:08:09.123456+02:00", "tags": ["novel", "novel"], "note": null, "other": 1,
    })
}

fn new(id: &str, more: Value) -> Value {
    let mut book = old(id);
    let own = json!({ "shelfId": "s", "bookId": id, "hidden": false, "hits": 1, "most": 3, "version": 4 });
    for (name, value) in own.as_object().unwrap().iter().chain(more.as_object().unwrap()) {
        book[name] = value.clone();
    }
    book
}

#[tokio::test]
async fn an_item_in_another_form_is_returned_in_the_form_of_the_model() {
    let shelf = Shelf::with(&[old("emma")]).await;
    let expected = json!({
        "shelfId": "s", "bookId": "emma", "title": "Emma", "pages": 474, "addedAt": "2026-10-31T07:08:09.123Z",
        "tags": ["novel"], "hidden": false, "hits": 0, "most": 3, "version": 0,
    });
    assert_eq!(shelf.read("books").await, json!({ "items": [expected], "cursor": null }));
    let titles = json!({ "items": [{ "bookId": "emma", "title": "Emma", "hits": 0 }], "cursor": null });
    assert_eq!(shelf.read("titles").await["items"][0]["bookId"], titles["items"][0]["bookId"]);
    assert_eq!(shelf.read("titles").await["items"][0]["hits"], 0);
}

#[tokio::test]
async fn an_absent_attribute_means_the_default_in_filters_and_counts() {
    let items = [old("a"), new("b", json!({})), new("c", json!({ "hidden": true, "hits": 9, "note": "n" }))];
    let shelf = Shelf::with(&items).await;
    assert_eq!(shelf.ids("visible").await, ["a", "b"]);
    assert_eq!(shelf.ids("hiddenOnes").await, ["c"]);
    assert_eq!(shelf.read("visibleCount").await, json!({ "count": 2 }));
    assert_eq!(shelf.ids("quiet").await, ["a", "b"]);
    assert_eq!(shelf.ids("open").await, ["a", "b"]);
    assert_eq!(shelf.ids("unnoted").await, ["a", "b"], "NULL counts as absent");
    assert_eq!(shelf.ids("noted").await, ["c"]);
}

#[tokio::test]
async fn live_reads_decide_as_the_filter_does() {
    let shelf = Shelf::with(&[]).await;
    for (read, expected) in [("visible", true), ("hiddenOnes", false), ("quiet", true), ("noted", false)] {
        let live = shelf.runner.live_read(read, &Shelf::call(&[("shelfId", "s")])).unwrap();
        let found = live.found(shelf.runner.checked(), &keyform::Item::from(&item(&old("a")))).unwrap();
        assert_eq!(found.is_some(), expected, "{read}");
        assert!(found.is_none_or(|found| found.fields["hits"] == 0.into() && found.fields["bookId"] == "a".into()));
    }
    let titles = shelf.runner.live_read("titles", &Shelf::call(&[("shelfId", "s")])).unwrap();
    let found = titles.found(shelf.runner.checked(), &keyform::Item::from(&item(&old("a")))).unwrap().unwrap();
    assert_eq!((found.fields.get("bookId"), found.fields.get("most")), (Some(&"a".into()), None));
}

#[tokio::test]
async fn an_absent_attribute_means_the_default_in_conditions_and_sums() {
    let shelf = Shelf::with(&[old("a"), new("b", json!({ "hidden": true }))]).await;
    for hits in 1..=3 {
        let hit = shelf.write("hit", "a").await.unwrap().unwrap();
        assert_eq!((&hit.fields["hits"], &hit.fields["version"]), (&hits.into(), &hits.into()));
    }
    assert_eq!(shelf.outcome("hit", "a").await, "Full");
    assert_eq!(shelf.outcome("hit", "b").await, "Hidden");
    assert_eq!(shelf.outcome("hit", "none").await, "Unknown");
    assert_eq!(shelf.outcome("throwAway", "none").await, "Hidden", "an item that does not exist has no default");
    assert_eq!(shelf.outcome("throwAway", "a").await, "applied");
}

#[tokio::test]
async fn the_version_of_an_older_item_is_checked_and_incremented() {
    let shelf = Shelf::with(&[old("a")]).await;
    let renamed = shelf.write("retitle", "a").await.unwrap().unwrap();
    let fields: Vec<&AttributeValue> = ["title", "most", "version"].iter().map(|name| &renamed.fields[name]).collect();
    assert_eq!(fields, [&"New".into(), &0.into(), &1.into()]);
}

#[tokio::test]
async fn a_broken_item_breaks_only_itself() {
    let broken = [new("b", json!({ "pages": "many" })), new("c", json!({ "addedAt": null }))];
    let shelf = Shelf::with(&[vec![old("a")], broken.to_vec(), vec![old("d")]].concat()).await;
    let books = shelf.read("books").await;
    assert_eq!((shelf.ids("books").await, &books["broken"]), (vec!["a".to_owned(), "d".to_owned()], &2.into()));
    assert_eq!(shelf.read("visibleCount").await, json!({ "count": 4 }), "a count counts stored items");
    let one = shelf.runner.read("book", &Shelf::call(&[("shelfId", "s"), ("bookId", "b")])).await;
    let Err(RunError::Broken(broken)) = one else { panic!("{one:?}") };
    assert_eq!((broken.table.as_str(), broken.entity.as_str(), broken.field.as_str()), ("Shelf", "Book", "pages"));
    assert_eq!(broken.key["sk"], "BOOK#b".into());
    assert_eq!(
        broken.to_string(),
        "the stored Book does not fit the model: `pages` is not a whole number of at least 0"
    );
    let counted: Vec<(&str, u64)> = shelf.runner.broken_items().collect();
    assert_eq!(counted, [("Book", 5)]);
    // Only the broken field matters: a list that does not select it is complete.
    let Answer::Page { items, broken, .. } =
        shelf.runner.read("titles", &Shelf::call(&[("shelfId", "s")])).await.unwrap()
    else {
        panic!("no page")
    };
    assert_eq!((items.len(), broken.len()), (4, 0));
}

#[tokio::test]
async fn a_write_does_not_work_on_a_list_without_its_broken_items() {
    let shelf = Shelf::with(&[old("a"), new("b", json!({ "pages": "many" }))]).await;
    assert!(matches!(shelf.write("clear", "").await, Err(RunError::Broken(_))));
    assert_eq!(shelf.ids("books").await, ["a"], "nothing was deleted");
    // A refusal stays a refusal.
    shelf.put(&new("c", json!({ "pages": "many", "hidden": true }))).await;
    assert_eq!(shelf.outcome("hit", "c").await, "Hidden");
}
