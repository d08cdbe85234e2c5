//! All answers are the same before, during and after a migration, and after the cut-over.

use std::sync::Arc;

use keyform::{AttributeValue, Attributes, Execute, World};
use keyform_runtime::evolve::{Carried, Class, carry};
use keyform_runtime::run::{Answer, RunError, RunSettings, Runner};
use keyform_runtime::seal::{FieldKey, Keyring};

use super::support::*;
use keyform_scenario::Store;
use keyform_scenario::fault::Mortal;

/// Calls with their arguments.
type Calls = &'static [(&'static str, &'static [(&'static str, &'static str)])];

struct Case {
    before: &'static str,
    after: &'static str,
    writes: Calls,
    reads: Calls,
}

/// Returns all answers of the reads with all their pages; a single item is a page of one.
async fn answers(runner: &Runner, reads: Calls) -> Vec<(String, Vec<Attributes>)> {
    let mut answers = Vec::new();
    for (name, arguments) in reads {
        let mut call = call(arguments);
        // Commas separate the values of a list.
        for (_, value) in call.arguments.iter_mut() {
            if let AttributeValue::S(text) = value
                && text.contains(',')
            {
                *value = AttributeValue::L(text.split(',').map(Into::into).collect());
            }
        }
        let mut found = Vec::new();
        loop {
            let mut next = None;
            match runner.read(name, &call).await {
                Ok(Answer::One(item)) => found.extend(item.map(|item| item.fields.into())),
                Ok(Answer::Page { items, cursor, .. }) => {
                    found.extend(items.into_iter().map(|item| item.fields.into()));
                    next = cursor;
                }
                Ok(Answer::Count(count)) => {
                    found.push([("count".to_owned(), i64::try_from(count).unwrap().into())].into());
                }
                Ok(Answer::Collection { parts, .. }) => {
                    found.extend(parts.into_iter().flat_map(|(_, items)| items).map(|item| item.fields.into()));
                }
                Err(RunError::NotFound(_)) => {}
                Err(error) => panic!("{name}: {error}"),
            }
            match next {
                Some(cursor) => call.cursor = Some(cursor),
                None => break,
            }
        }
        if name.ends_with("In") {
            found.sort_by_key(|item| format!("{item:?}"));
        }
        answers.push((format!("{name} {arguments:?}"), found));
    }
    answers
}

async fn check(case: Case) {
    for store in Store::all().await {
        let clock = Clock::new();
        let v1 = runner(case.before, &store.execute, &clock);
        v1.create_tables().await.unwrap();
        for (name, arguments) in case.writes {
            write(&v1, name, arguments).await.unwrap_or_else(|error| panic!("{name} {arguments:?}: {error}"));
        }
        let v2 = runner(case.after, &store.execute, &clock);
        let migration = migration(case.after, &store.execute, &clock);
        migration.prepare().await.unwrap();
        let before = answers(&v2, case.reads).await;
        carry_half(&store.execute, &migration, &clock).await;
        let halfway = answers(&v2, case.reads).await;
        let ran = migration.run(&pace("one"), &quiet).await.unwrap();
        assert!(ran.stuck.is_empty(), "{:?}", ran.stuck);
        let filled = answers(&v2, case.reads).await;
        assert!(migration.verify(&quiet).await.unwrap().is_complete());
        migration.cut_over(&pace("one"), &quiet).await.unwrap();
        clock.advance(20_000);
        let closed = answers(&v2, case.reads).await;
        assert_eq!(before, closed, "before anything has moved, {}", store.name);
        assert_eq!(halfway, closed, "halfway, {}", store.name);
        assert_eq!(filled, closed, "after the run, {}", store.name);
        assert!(closed.iter().any(|(_, items)| items.len() > 1), "the reads find something: {closed:?}");
        store.stop();
    }
}

/// Migrates every second old item.
async fn carry_half(store: &Arc<dyn Execute>, migration: &keyform_runtime::evolve::Migration, clock: &Clock) {
    for form in migration.forms() {
        let names: Vec<&str> = form.old.table.key_names().collect();
        let items = dump(store, &form.old.name, &names).await;
        let old = items.values().filter(|item| form.class(item) == Class::Old);
        for item in old.step_by(2) {
            let now = World::now_millis(clock);
            assert_eq!(carry(&**store, form, item, now).await.unwrap().0, Carried::Moved);
        }
    }
}

#[tokio::test]
async fn a_key_is_split_and_an_index_moves_with_it() {
    check(Case {
        before: r#"
            model notes
            table Notes "notes-{stage}" { key pk, sk  index gsi1 (gsi1pk, gsi1sk) }
            entity Note in Notes {
              key  "NOTES", "NOTE#{noteId}"
              gsi1 "ALL", "{day}"
              noteId: slug(1..20)
              userId: slug(1..20)
              day: date
              words: string
            }
            write add(noteId, userId, day, words) -> Note { create Note {} else Taken }
        "#,
        after: r#"
            model notes
            table Notes "notes-{stage}" { key pk, sk  tag kind  index gsi1 (gsi1pk, gsi1sk) }
            entity Note in Notes {
              key  "USER#{userId}", "NOTE#{noteId}"
              gsi1 "DAY#{day}", "{noteId}"
              noteId: slug(1..20)
              userId: slug(1..20)
              day: date
              text: string
              plan: "free" | "paid"
            }
            evolve Note {
              from   key "NOTES", "NOTE#{noteId}"
              from   gsi1 "ALL", "{day}"
              rename words -> text
              set    plan = "free"
            }
            read note(userId, noteId) -> Note?
            read notesIn(userId, noteId in noteIds) -> [Note]
            read notes(userId) -> [Note] page 2
            read latest(userId) -> [Note] ordered by noteId descending, page 2
            read free(userId) -> [Note] where plan = "free" and text != "two", page 2
            read onDay(day) -> [Note] via gsi1, page 1
            read onDayFrom(day, noteId >= from) -> [Note] via gsi1, ordered by noteId descending, page 2
            read howMany(userId) -> count Note
            read texts(userId) -> [Note] select (noteId, text), all
        "#,
        writes: &[
            ("add", &[("noteId", "a"), ("userId", "u"), ("day", "2026-01-01"), ("words", "one")]),
            ("add", &[("noteId", "b"), ("userId", "u"), ("day", "2026-01-02"), ("words", "two")]),
            ("add", &[("noteId", "c"), ("userId", "v"), ("day", "2026-01-01"), ("words", "three")]),
            ("add", &[("noteId", "d"), ("userId", "u"), ("day", "2026-01-01"), ("words", "four")]),
            ("add", &[("noteId", "e"), ("userId", "u"), ("day", "2026-01-01"), ("words", "five")]),
        ],
        reads: &[
            ("note", &[("userId", "u"), ("noteId", "a")]),
            ("note", &[("userId", "v"), ("noteId", "a")]),
            ("note", &[("userId", "u"), ("noteId", "b")]),
            ("notesIn", &[("userId", "u"), ("noteIds", "a,b,c,d")]),
            ("notes", &[("userId", "u")]),
            ("latest", &[("userId", "u")]),
            ("free", &[("userId", "u")]),
            ("onDay", &[("day", "2026-01-01")]),
            ("onDayFrom", &[("day", "2026-01-01"), ("from", "b")]),
            ("howMany", &[("userId", "u")]),
            ("texts", &[("userId", "u")]),
        ],
    })
    .await;
}

#[tokio::test]
async fn items_stay_where_they_are_and_get_an_index_a_name_and_a_field() {
    check(Case {
        before: r#"
            model shop
            table Orders "orders-{stage}" { key pk, sk }
            entity Order in Orders {
              key "CUSTOMER#{customerId}", "ORDER#{orderId}"
              customerId: slug(1..20)
              orderId: slug(1..20)
              state: string
              total: string
            }
            write place(customerId, orderId, state, total) -> Order { create Order {} else Taken }
        "#,
        after: r#"
            model shop
            table Orders "orders-{stage}" { key pk, sk  index byStatus (gsi1pk, gsi1sk) project (total, orderId, currency) }
            entity Order in Orders {
              key      "CUSTOMER#{customerId}", "ORDER#{orderId}"
              byStatus "STATUS#{status}", "{orderId}"
              customerId: slug(1..20)
              orderId: slug(1..20)
              status: "open" | "shipped"
              total: string
              currency: string(3)
            }
            evolve Order {
              rename state -> status
              set    status = "open"
              set    currency = "EUR"
            }
            read order(customerId, orderId) -> Order
            read orders(customerId) -> [Order] page 2
            read inEuro(customerId) -> [Order] where currency = "EUR" and status = "shipped", page 2
            read byStatus(status) -> [Order] via byStatus, select (orderId, total), where currency = "EUR", page 2
            read howMany(customerId) -> count Order
            read ordersIn(customerId, orderId in orderIds) -> [Order]
        "#,
        writes: &[
            ("place", &[("customerId", "c"), ("orderId", "a"), ("state", "open"), ("total", "1")]),
            ("place", &[("customerId", "c"), ("orderId", "b"), ("state", "shipped"), ("total", "2")]),
            ("place", &[("customerId", "d"), ("orderId", "e"), ("state", "open"), ("total", "3")]),
            // Values that the new type does not allow become the value of `set`.
            ("place", &[("customerId", "c"), ("orderId", "f"), ("state", "lost"), ("total", "4")]),
            ("place", &[("customerId", "c"), ("orderId", "g"), ("state", "shipped"), ("total", "5")]),
        ],
        reads: &[
            ("order", &[("customerId", "c"), ("orderId", "f")]),
            ("order", &[("customerId", "d"), ("orderId", "a")]),
            ("orders", &[("customerId", "c")]),
            ("inEuro", &[("customerId", "c")]),
            ("byStatus", &[("status", "open")]),
            ("byStatus", &[("status", "shipped")]),
            ("howMany", &[("customerId", "c")]),
            ("ordersIn", &[("customerId", "c"), ("orderIds", "a,f,g")]),
        ],
    })
    .await;
}

const USERS_BEFORE: &str = r#"
    model users
    table Old "old-users-{stage}" { key id }
    entity User in Old {
      key "{name}"
      name: slug(1..20)
      email: email
      version: int version
    }
    write signUp(name, email) -> User { create User {} else Taken }
    write mend(name, email) -> User { update User(name) { email = email } else Unknown }
"#;
const USERS_AFTER: &str = r#"
    model users
    table Old "old-users-{stage}" { key id }
    table Users "users-{stage}" { key pk, sk  tag kind }
    entity User in Users {
      key "USER#{name}", "PROFILE"
      name: slug(1..20)
      email: email unique
      version: int version
    }
    evolve User {
      from table Old
      from key "{name}"
    }
    read user(name) -> User
    read everybody() -> [User] scan, all
    write signUp(name, email) -> User { create User {} else Taken }
    write move(name, email) -> User { update User(name) { email = email } else Unknown }
    write leave(name) { delete User(name) if exists else Unknown }
"#;

async fn users(store: &Arc<dyn Execute>, clock: &Arc<Clock>) {
    let v1 = runner(USERS_BEFORE, store, clock);
    v1.create_tables().await.unwrap();
    for name in ["ada", "bob", "cy"] {
        write(&v1, "signUp", &[("name", name), ("email", &format!("{name}@example.com"))]).await.unwrap();
    }
}

#[tokio::test]
async fn items_move_to_another_table_with_their_unique_values_and_versions() {
    for store in Store::all().await {
        let clock = Clock::new();
        users(&store.execute, &clock).await;
        let v2 = runner(USERS_AFTER, &store.execute, &clock);
        let migration = migration(USERS_AFTER, &store.execute, &clock);
        migration.prepare().await.unwrap();
        assert_eq!(items(read(&v2, "everybody", &[]).await).len(), 3);
        let taken = write(&v2, "signUp", &[("name", "ada"), ("email", "other@example.com")]).await;
        assert!(matches!(taken, Err(RunError::Refused { .. })), "she is there in the old form: {taken:?}");
        let moved = write(&v2, "move", &[("name", "ada"), ("email", "ada@home.example")]).await.unwrap().unwrap();
        assert_eq!(moved.fields["version"], 2.into());
        write(&v2, "leave", &[("name", "bob")]).await.unwrap();
        // Bob's address and Ada's old one are available again; Ada's new one is not.
        write(&v2, "signUp", &[("name", "dan"), ("email", "bob@example.com")]).await.unwrap();
        write(&v2, "signUp", &[("name", "eve"), ("email", "ada@example.com")]).await.unwrap();
        let taken = write(&v2, "signUp", &[("name", "fay"), ("email", "ada@home.example")]).await;
        assert!(matches!(taken, Err(RunError::Refused { .. })), "{taken:?}");
        migration.run(&pace("one"), &quiet).await.unwrap();
        let taken = write(&v2, "signUp", &[("name", "fay"), ("email", "cy@example.com")]).await;
        assert!(matches!(taken, Err(RunError::Refused { .. })), "{taken:?}");
        migration.cut_over(&pace("one"), &quiet).await.unwrap();
        clock.advance(20_000);
        assert_eq!(items(read(&v2, "everybody", &[]).await).len(), 4);
        assert!(dump(&store.execute, &format!("old-users-{}", clock.stage), &["id"]).await.is_empty());
        store.stop();
    }
}

#[tokio::test]
async fn an_item_that_cannot_move_is_named_and_keeps_the_cut_over_away() {
    let store = Store::embedded();
    let clock = Clock::new();
    users(&store.execute, &clock).await;
    let v1 = runner(USERS_BEFORE, &store.execute, &clock);
    write(&v1, "signUp", &[("name", "zoe"), ("email", "ada@example.com")]).await.unwrap();
    let migration = migration(USERS_AFTER, &store.execute, &clock);
    let ran = migration.run(&pace("one"), &quiet).await.unwrap();
    assert_eq!(ran.stuck.len(), 1, "{:?}", ran.stuck);
    assert!(ran.stuck[0].contains("another item has the same `email`"), "{:?}", ran.stuck);
    assert!(migration.cut_over(&pace("one"), &quiet).await.is_err());
    // After the data is corrected, the migration completes.
    let name = if ran.stuck[0].contains("zoe") { "zoe" } else { "ada" };
    let v1 = runner(USERS_BEFORE, &store.execute, &clock);
    write(&v1, "mend", &[("name", name), ("email", "mended@example.com")]).await.unwrap();
    clock.advance(61_000);
    assert!(migration.run(&pace("one"), &quiet).await.unwrap().stuck.is_empty());
    migration.cut_over(&pace("one"), &quiet).await.unwrap();
}

#[tokio::test]
async fn a_unique_value_that_the_old_application_changes_moves_with_its_item() {
    let store = Store::embedded();
    let clock = Clock::new();
    users(&store.execute, &clock).await;
    let migration = migration(USERS_AFTER, &store.execute, &clock);
    migration.run(&pace("one"), &quiet).await.unwrap();
    let v1 = runner(USERS_BEFORE, &store.execute, &clock);
    let v2 = runner(USERS_AFTER, &store.execute, &clock);
    write(&v1, "mend", &[("name", "ada"), ("email", "ada@home.example")]).await.unwrap();
    clock.advance(61_000);
    assert!(migration.run(&pace("one"), &quiet).await.unwrap().stuck.is_empty());
    let taken = write(&v2, "signUp", &[("name", "eve"), ("email", "ada@home.example")]).await;
    assert!(matches!(taken, Err(RunError::Refused { .. })), "the new address is claimed: {taken:?}");
    write(&v2, "signUp", &[("name", "eve"), ("email", "ada@example.com")]).await.unwrap();
    // An address that another item of the new form has.
    write(&v1, "mend", &[("name", "cy"), ("email", "ada@example.com")]).await.unwrap();
    clock.advance(61_000);
    let stuck = migration.run(&pace("one"), &quiet).await.unwrap().stuck;
    assert!(matches!(stuck.as_slice(), [why] if why.contains("another item has the same `email`")), "{stuck:?}");
}

#[tokio::test]
async fn a_change_after_a_conversion_in_place_is_not_overwritten() {
    let before = r#"
        model shop
        table Orders "orders-{stage}" { key pk }
        entity Order in Orders {
          key "ORDER#{orderId}"
          orderId: slug(1..20)
          total: string
        }
        write place(orderId, total) -> Order { create Order {} else Taken }
    "#;
    let after = r#"
        model shop
        table Orders "orders-{stage}" { key pk }
        entity Order in Orders {
          key "ORDER#{orderId}"
          orderId: slug(1..20)
          total: string
          currency: string(3)
        }
        evolve Order { set currency = "EUR" }
        read order(orderId) -> Order
        write change(orderId, currency) -> Order { update Order(orderId) { currency = currency } else Unknown }
    "#;
    for store in Store::all().await {
        let clock = Clock::new();
        let v1 = runner(before, &store.execute, &clock);
        v1.create_tables().await.unwrap();
        write(&v1, "place", &[("orderId", "a"), ("total", "1")]).await.unwrap();
        let migration = migration(after, &store.execute, &clock);
        migration.prepare().await.unwrap();
        let form = &migration.forms()[0];
        let read_before = dump(&store.execute, &form.old.name, &["pk"]).await.into_values().next().unwrap();
        let v2 = runner(after, &store.execute, &clock);
        write(&v2, "change", &[("orderId", "a"), ("currency", "USD")]).await.unwrap();
        let now = World::now_millis(&*clock);
        let carried = carry(&*store.execute, form, &read_before, now).await.unwrap().0;
        assert_eq!(carried, Carried::Already, "{}", store.name);
        assert_eq!(text(&one(read(&v2, "order", &[("orderId", "a")]).await).unwrap(), "currency"), "USD");
        store.stop();
    }
}

#[tokio::test]
async fn a_writer_that_dies_between_its_requests_leaves_one_item() {
    let mut done = false;
    for requests in 0..40 {
        let store = Store::embedded();
        let clock = Clock::new();
        users(&store.execute, &clock).await;
        let migration = migration(USERS_AFTER, &store.execute, &clock);
        migration.prepare().await.unwrap();
        let mortal: Arc<dyn Execute> = Arc::new(Mortal::new(Arc::clone(&store.execute), requests));
        let dying = runner(USERS_AFTER, &mortal, &clock);
        done = write(&dying, "leave", &[("name", "ada")]).await.is_ok();
        let v2 = runner(USERS_AFTER, &store.execute, &clock);
        let here = v2.read("user", &call(&[("name", "ada")])).await.is_ok();
        assert!(!(done && here), "deleted is deleted");
        migration.run(&pace("one"), &quiet).await.unwrap();
        assert_eq!(
            v2.read("user", &call(&[("name", "ada")])).await.is_ok(),
            here,
            "a run changes nothing that is seen"
        );
        if done {
            break;
        }
    }
    assert!(done);
}

#[tokio::test]
async fn a_sealed_field_is_sealed_anew_for_its_new_place() {
    const BEFORE: &str = r#"
        model vault
        table Vault "vault-{stage}" { key pk, sk }
        entity Secret in Vault {
          key "SECRETS", "{name}"
          name: slug(1..20)
          word: string encrypted
        }
        write keep(name, word) -> Secret { create Secret {} else Taken }
        read secret(name) -> Secret?
    "#;
    const AFTER: &str = r#"
        model vault
        table Vault "vault-{stage}" { key pk, sk }
        entity Secret in Vault {
          key "SECRET#{name}", "SECRET"
          name: slug(1..20)
          phrase: string encrypted
        }
        evolve Secret {
          from   key "SECRETS", "{name}"
          rename word -> phrase
        }
        read secret(name) -> Secret?
        write change(name, phrase) -> Secret { update Secret(name) { phrase = phrase } else Unknown }
    "#;
    let store = Store::embedded();
    let clock = Clock::new();
    let keys = Arc::new(Keyring::of(FieldKey::new([7; 32])));
    let open = |text: &str| {
        let settings =
            RunSettings { variables: variables(&clock), field_keys: Some(Arc::clone(&keys)), ..RunSettings::default() };
        let clock: Arc<dyn World> = clock.clone();
        Runner::new(checked(text), Arc::clone(&store.execute), clock, settings).unwrap()
    };
    let (v1, v2) = (open(BEFORE), open(AFTER));
    v1.create_tables().await.unwrap();
    for name in ["a", "b"] {
        write(&v1, "keep", &[("name", name), ("word", "open sesame")]).await.unwrap();
    }
    let phrase = async |name: &str| text(&one(read(&v2, "secret", &[("name", name)]).await).unwrap(), "phrase");
    assert_eq!(phrase("a").await, "open sesame");
    write(&v2, "change", &[("name", "b"), ("phrase", "close")]).await.unwrap();
    let without = migration(AFTER, &store.execute, &clock);
    assert!(without.run(&pace("one"), &quiet).await.unwrap().stuck[0].contains("the key of `Secret.word` is missing"));
    let migration = without.with_keys(Some(&keys));
    assert!(migration.run(&pace("one"), &quiet).await.unwrap().stuck.is_empty());
    assert!(migration.verify(&quiet).await.unwrap().is_complete());
    assert_eq!((phrase("a").await.as_str(), phrase("b").await.as_str()), ("open sesame", "close"));
    migration.without_waiting().roll_back(&pace("one"), &quiet).await.unwrap();
    let back = one(read(&v1, "secret", &[("name", "b")]).await).unwrap();
    assert_eq!(text(&back, "word"), "close");
    migration.run(&pace("one"), &quiet).await.unwrap();
    migration.cut_over(&pace("one"), &quiet).await.unwrap();
    assert_eq!((phrase("a").await.as_str(), phrase("b").await.as_str()), ("open sesame", "close"));
}
