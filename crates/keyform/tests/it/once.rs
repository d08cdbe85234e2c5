//! Writes with an idempotency key: applied once and answered the same, also after a lost response.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use keyform::SystemWorld;
use keyform::execute::BoxFuture;
use keyform::operation::Scan;
use keyform::runtime::run::{Call, Caller, Found, RunError, RunSettings, Runner};
use keyform::{AttributeValue, Attributes, Database, Error, Execute, Operation, Output};
use keyform_check::Checked;
use keyform_language::bookkeeping::ANSWERS;

const MODEL: &str = r#"model shop

caller userId: slug(1..20)

table Shop {
  key pk
  tag kind
}

entity Account in Shop {
  key "ACCOUNT#{name}"
  name:    slug(1..20)
  email:   email unique
  balance: int = 0
  pin:     string(4) secret
}

entity Order in Shop {
  key "ORDER#{orderId}"
  orderId: ulid = ulid()
  name:    slug(1..20)
}

read account(name) -> Account?  allow public
  unscoped Account "test data is for every caller"

write open(name, email, pin) -> Account {
  allow public
  create Account {} else NameTaken
}

write pay(name, amount: int(1..100)) -> Account {
  allow public
  unscoped Account "test data is for every caller"
  update Account(name) { balance += amount } else UnknownAccount
}

write close(name) -> Account {
  allow public
  unscoped Account "test data is for every caller"
  delete Account(name)
}

write order(name) -> Order {
  allow public
  unscoped Account "test data is for every caller"
  update Account(name) { balance -= 1 } else UnknownAccount
  create Order {}
}

write forget(name) {
  allow public
  unscoped Account "test data is for every caller"
  delete Account(name)
}

write import(names: list<slug(1..20)>(..20)) batch {
  allow system
  for name in names max 20 { put Order { name = name } }
}
"#;

/// Store that can lose the responses of transactions after applying them.
struct Losing {
    database: Database,
    loses: Arc<AtomicBool>,
}

impl Execute for Losing {
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>> {
        Box::pin(async move {
            let loses = matches!(operation, Operation::TransactWriteItems(_)) && self.loses.load(Ordering::Relaxed);
            let answer = Execute::execute(&self.database, operation).await;
            if loses { Err(Error::internal("the answer is lost")) } else { answer }
        })
    }
}

/// Shop whose process can restart.
struct Shop {
    database: Database,
    loses: Arc<AtomicBool>,
}

impl Shop {
    async fn new() -> Self {
        let shop = Self { database: Database::in_memory(), loses: Arc::default() };
        let runner = shop.runner(false);
        runner.create_tables().await.unwrap();
        assert!(runner.create_answer_table().await.unwrap());
        assert!(!runner.create_answer_table().await.unwrap(), "it is there");
        shop
    }

    /// Starts a new process on the same store.
    fn runner(&self, without_transactions: bool) -> Runner {
        let checked = Checked::read(MODEL);
        assert!(!checked.has_errors(), "{:?}", checked.diagnostics);
        let store = Losing { database: self.database.clone(), loses: self.loses.clone() };
        let settings = RunSettings { without_transactions, ..RunSettings::default() };
        Runner::new(Arc::new(checked), Arc::new(store), Arc::new(SystemWorld), settings).unwrap()
    }

    async fn call(
        &self,
        name: &str,
        arguments: &[(&str, AttributeValue)],
        key: &str,
    ) -> Result<Option<Found>, RunError> {
        self.runner(false).write_once(name, &call("ada", arguments), key).await
    }

    /// Calls while responses get lost, then in a new process; both must count as one call.
    async fn lost(&self, name: &str, arguments: &[(&str, AttributeValue)], key: &str) -> Option<Found> {
        self.loses.store(true, Ordering::Relaxed);
        let lost = self.call(name, arguments, key).await;
        self.loses.store(false, Ordering::Relaxed);
        // The runner checks the record as soon as the store fails, so even the first call may have its answer.
        let again = self.call(name, arguments, key).await.unwrap();
        assert!(lost.is_err() || lost == Ok(again.clone()), "{lost:?}");
        again
    }

    async fn balance(&self) -> i64 {
        let read = self.runner(false).read("account", &call("ada", &[("name", "ada".into())])).await.unwrap();
        match read {
            keyform::runtime::run::Answer::One(Some(found)) => match &found.fields["balance"] {
                AttributeValue::N(number) => number.to_string().parse().unwrap(),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }

    fn records(&self) -> String {
        let scan = Scan::of(ANSWERS);
        let page = self.database.call_blocking(scan).unwrap();
        format!("{:?}", page.items.unwrap().iter().map(|item| item.to_attributes()).collect::<Vec<_>>())
    }
}

fn call(user: &str, arguments: &[(&str, AttributeValue)]) -> Call {
    let pairs = |pairs: &[(&str, AttributeValue)]| -> Attributes {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
    };
    Call { arguments: pairs(arguments), caller: Caller::Claims(pairs(&[("userId", user.into())])), ..Call::default() }
}

fn account(name: &str) -> Vec<(&'static str, AttributeValue)> {
    vec![("name", name.into()), ("email", format!("{name}@example.com").into()), ("pin", "1234".into())]
}

#[tokio::test]
async fn a_write_whose_answer_was_lost_is_applied_once_and_answered_by_the_next_process() {
    let shop = Shop::new().await;
    let opened = shop.lost("open", &account("ada"), "k1").await.unwrap();
    assert_eq!(opened.fields["name"], "ada".into());

    let pay = [("name", "ada".into()), ("amount", 5.into())];
    let paid = shop.lost("pay", &pay, "k2").await.unwrap();
    assert_eq!((paid.fields["balance"].clone(), shop.balance().await), (5.into(), 5));

    let order = [("name", "ada".into())];
    let ordered = shop.lost("order", &order, "k3").await.unwrap();
    assert_eq!(shop.call("order", &order, "k3").await.unwrap().unwrap(), ordered, "also its fresh id");
    assert_eq!(shop.balance().await, 4);

    let closed = shop.lost("close", &order, "k4").await.unwrap();
    assert_eq!(closed.fields["balance"], 4.into(), "what was deleted is answered too");
    assert_eq!(shop.lost("forget", &order, "k5").await, None);
    shop.call("open", &account("ada"), "k6").await.unwrap();
    assert_eq!(shop.call("close", &order, "k4").await.unwrap().unwrap(), closed);
    assert_eq!(shop.balance().await, 0, "a key that was used deletes nothing again");
    assert!(!shop.records().contains("1234"), "no secret is kept");
}

#[tokio::test]
async fn an_answer_stays_as_it_was_given() {
    let shop = Shop::new().await;
    shop.call("open", &account("ada"), "k1").await.unwrap();
    let pay = [("name", "ada".into()), ("amount", 5.into())];
    let first = shop.call("pay", &pay, "k2").await.unwrap();
    shop.call("pay", &pay, "k3").await.unwrap();
    assert_eq!(shop.call("pay", &pay, "k2").await.unwrap(), first);
    assert_eq!(shop.balance().await, 10);
}

#[tokio::test]
async fn a_key_belongs_to_its_caller_its_pattern_and_its_arguments() {
    let shop = Shop::new().await;
    shop.call("open", &account("ada"), "k").await.unwrap();
    assert_eq!(shop.call("open", &account("grace"), "k").await, Err(RunError::KeyReused));
    let pay = [("name", "ada".into()), ("amount", 5.into())];
    shop.call("pay", &pay, "k").await.unwrap();
    shop.runner(false).write_once("pay", &call("grace", &pay), "k").await.unwrap();
    assert_eq!(shop.balance().await, 10);
}

#[tokio::test]
async fn a_refusal_leaves_no_record_and_is_looked_at_anew() {
    let shop = Shop::new().await;
    let pay = [("name", "ada".into()), ("amount", 5.into())];
    let refused = shop.call("pay", &pay, "k").await.unwrap_err();
    assert!(matches!(&refused, RunError::Refused { outcome, .. } if outcome == "UnknownAccount"), "{refused:?}");
    shop.call("open", &account("ada"), "k").await.unwrap();
    shop.call("pay", &pay, "k").await.unwrap();
    shop.call("pay", &pay, "k").await.unwrap();
    assert_eq!(shop.balance().await, 5);
}

#[tokio::test]
async fn calls_at_once_under_one_key_are_one() {
    let shop = Shop::new().await;
    shop.call("open", &account("ada"), "k").await.unwrap();
    let order = [("name", "ada".into())];
    let calls = (0..8).map(|_| shop.call("order", &order, "k"));
    let mut answers = Vec::new();
    for call in calls {
        answers.push(call.await.unwrap().unwrap());
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    assert_eq!(shop.balance().await, -1);
}

#[tokio::test]
async fn what_cannot_be_applied_once_is_refused_before_anything_is_sent() {
    let shop = Shop::new().await;
    let refused = |result: Result<Option<Found>, RunError>| match result {
        Err(RunError::NotRunnable(why)) => why,
        other => panic!("{other:?}"),
    };
    let names = AttributeValue::L(vec!["a".into()]);
    let import = Call { caller: Caller::System, ..call("", &[("names", names)]) };
    let batch = shop.runner(false).write_once("import", &import, "k").await;
    assert!(refused(batch).contains("it is a batch"));
    let without = shop.runner(true);
    let pay = call("ada", &[("name", "ada".into()), ("amount", 5.into())]);
    assert!(refused(without.write_once("pay", &pay, "k").await).contains("this store does not support transactions"));
    let bare = Shop { database: Database::in_memory(), loses: Arc::default() };
    bare.runner(false).create_tables().await.unwrap();
    assert!(refused(bare.call("open", &account("ada"), "k").await).contains("keyform-answers"));
}
