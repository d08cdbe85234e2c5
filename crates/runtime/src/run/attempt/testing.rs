//! Support for tests of single steps: a model, a store that answers from a script, and an attempt in any state.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use keyform_check::Checked;
use keyform_core::error::{CancellationReason, item, remote, transaction};
use keyform_core::execute::BoxFuture;
use keyform_core::operation::{GetItemOutput, PageOutput, TransactWriteItemsOutput, WriteItemOutput};
use keyform_core::{AttributeValue, Attributes, Error, Execute, Item, Operation, Output, World};
use keyform_language::schema::WriteId;

use super::fixed::Fixed;
use super::idempotency::Once;
use super::state::{Attempt, Bound, Read, Sent, WriteCall};
use crate::run::{Call, Caller, RunSettings, Runner};

pub(super) const NOW_MILLIS: i64 = 1_700_000_000_000;

const MODEL: &str = r#"
model tests

caller userId: slug(1..40)

table Main {
  key pk, sk
  tag kind
  ttl ends
}

entity Account in Main {
  key "ACCOUNT#{name}", "META"

  name:    slug(1..20)
  owner:   slug(1..40)
  balance: int = 0
  pin:     string(4) secret
}

entity User in Main {
  key "USER#{name}", "META"

  name:  slug(1..20)
  email: email unique
}

entity Shelf in Main {
  key "SHELF#{shelf}", "META"

  shelf: slug(1..40)
}

entity Jar in Main {
  key "SHELF#{shelf}", "JAR#{jar}"

  shelf: ref Shelf cascade
  jar:   slug(1..40)
}

entity Room in Main {
  key "ROOM#{room}", "META"

  room: slug(1..40)
}

entity Lease in Main {
  key "ROOM#{room}", "LEASE#{lease}"

  room:  ref Room restrict
  lease: slug(1..40)
}

entity Session in Main {
  key "SESSION#{session}", "META"

  session: slug(1..40)
  hits:    int = 0
  ends:    epoch
}

guard ownsAccount(name) = exists Account(name) where owner = caller.userId

read account(name) -> Account? strong  allow public
  unscoped Account "test data is for every caller"

write open(name, owner, pin) -> Account {
  allow system
  create Account {} else Taken
}
write pay(name, amount: int(1..100)) -> Account {
  allow system
  update Account(name) { balance += amount } else UnknownAccount
}
write close(name) -> Account {
  allow system
  delete Account(name)
}
write spend(name) -> Account {
  allow ownsAccount(name)
  update Account(name) { balance -= 1 } else UnknownAccount
}
write copy(name, to: slug(1..20)) {
  allow system
  let source = account(name) else UnknownAccount
  create Account { name = to, owner = source.owner, pin = source.pin } else Taken
}
write move(name, to: slug(1..20)) -> Account idempotent {
  allow system
  update Account(name) { balance -= 1 } else UnknownAccount
  update Account(to) { balance += 1 } else UnknownTarget
}
write import(names: list<slug(1..20)>) batch {
  allow system
  for name in names { put Account { name = name, owner = "all", pin = "0000" } }
}
write changeEmail(name, email) -> User {
  allow system
  update User(name) { email = email } else UnknownUser
}
write keep(shelf) {
  allow system
  create Shelf {} else keep
}
write clear(shelf) {
  allow system
  delete Shelf(shelf) if exists else NoShelf
}
write clearAll(shelves: list<slug(1..40)>) batch {
  allow system
  for shelf in shelves max 25 { delete Shelf(shelf) }
}
write leave(room) {
  allow system
  delete Room(room)
}
write touch(session, ends) -> Session {
  allow system
  upsert Session(session) { hits += 1, ends = ends }
}
"#;

/// A call of one write of the model, on a scripted store.
pub(super) struct Rig {
    runner: Runner,
    store: Arc<Scripted>,
    world: Arc<Still>,
    write: WriteId,
    call: Call,
    once: Option<Once>,
}

impl Rig {
    /// Returns a call by application code.
    pub(super) fn new(write: &str, arguments: &[(&str, AttributeValue)]) -> Self {
        Self::of(MODEL, write, arguments, RunSettings::default())
    }

    pub(super) fn of(model: &str, write: &str, arguments: &[(&str, AttributeValue)], settings: RunSettings) -> Self {
        let checked = Checked::read(model);
        assert!(!checked.has_errors(), "{:?}", checked.diagnostics);
        let (store, world) = (Arc::new(Scripted::default()), Arc::new(Still::default()));
        let runner = Runner::new(Arc::new(checked), store.clone(), world.clone(), settings).unwrap();
        let (write, _) = runner.find_write(write).unwrap();
        let arguments = arguments.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        Self { runner, store, world, write, call: Call { arguments, ..Call::default() }, once: None }
    }

    /// Returns the same call on a store without transactions.
    pub(super) fn without_transactions(write: &str, arguments: &[(&str, AttributeValue)]) -> Self {
        Self::of(MODEL, write, arguments, RunSettings { without_transactions: true, ..RunSettings::default() })
    }

    /// Makes the call one of an external caller.
    pub(super) fn called_by(mut self, user: &str) -> Self {
        self.call.caller = Caller::Claims([("userId".to_owned(), user.into())].into());
        self
    }

    /// Gives the call an idempotency key.
    pub(super) fn under_key(mut self, key: &str) -> Self {
        let write = &self.runner.checked.model.writes[self.write.0];
        self.once = Some(self.runner.once(write, &self.call, key));
        self
    }

    /// Appends answers of the store.
    pub(super) fn answers(self, answers: impl IntoIterator<Item = Result<Output, Error>>) -> Self {
        self.store.answers.lock().unwrap().extend(answers);
        self
    }

    pub(super) fn write_call(&self) -> WriteCall<'_> {
        let checked = &self.runner.checked;
        WriteCall {
            runner: &self.runner,
            write: &checked.model.writes[self.write.0],
            plan: checked.plans.writes[self.write.0].as_ref().unwrap(),
            call: &self.call,
            once: self.once.as_ref(),
        }
    }

    pub(super) fn fixed(&self) -> Fixed<'_> {
        Fixed::of(&self.write_call())
    }

    /// Returns an attempt before its reads.
    pub(super) fn reading<'a>(&'a self, fixed: &'a Fixed<'a>) -> Attempt<'a, Read<'a>> {
        Attempt::begin(self.write_call(), fixed, 0)
    }

    /// Returns an attempt whose request is bound without the items that its reads would have found.
    pub(super) fn bound<'a>(&'a self, fixed: &'a Fixed<'a>) -> Attempt<'a, Bound> {
        match self.reading(fixed).bind() {
            ControlFlow::Continue(bound) => bound,
            ControlFlow::Break(decided) => panic!("decided while binding: {:?}", decided.state.written),
        }
    }

    /// Returns an attempt whose request got the next answer of the script.
    pub(super) fn sent<'a>(&'a self, fixed: &'a Fixed<'a>) -> Attempt<'a, Sent> {
        now(self.bound(fixed).send())
    }

    /// Returns the requests so far.
    pub(super) fn requests(&self) -> Vec<Operation> {
        self.store.requests.lock().unwrap().clone()
    }

    /// Returns the pauses so far.
    pub(super) fn pauses(&self) -> Vec<Duration> {
        self.world.slept.lock().unwrap().clone()
    }
}

/// Store that answers from a script and records the requests.
#[derive(Default)]
struct Scripted {
    answers: Mutex<VecDeque<Result<Output, Error>>>,
    requests: Mutex<Vec<Operation>>,
}

/// Returns the output as the variant of its operation: [`written`] and [`page`] do not know which one they answer.
fn answering(operation: &Operation, output: Output) -> Output {
    match (operation, output) {
        (Operation::UpdateItem(_), Output::PutItem(written)) => Output::UpdateItem(written),
        (Operation::DeleteItem(_), Output::PutItem(written)) => Output::DeleteItem(written),
        (Operation::Scan(_), Output::Query(page)) => Output::Scan(page),
        (_, output) => output,
    }
}

impl Execute for Scripted {
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>> {
        let answer = self.answers.lock().unwrap().pop_front();
        let answer = answer.unwrap_or_else(|| panic!("no answer for {operation:?}"));
        let answer = answer.map(|output| answering(&operation, output));
        self.requests.lock().unwrap().push(operation);
        Box::pin(std::future::ready(answer))
    }

    fn indexes_keep_up(&self) -> bool {
        true
    }
}

/// World in which no time passes.
#[derive(Default)]
struct Still {
    slept: Mutex<Vec<Duration>>,
    drawn: Mutex<u32>,
}

impl Still {
    fn draw(&self) -> String {
        let mut drawn = self.drawn.lock().unwrap();
        *drawn += 1;
        format!("fresh{drawn}")
    }
}

impl World for Still {
    fn now_millis(&self) -> i64 {
        NOW_MILLIS
    }

    fn jitter(&self) -> f64 {
        1.0
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        self.slept.lock().unwrap().push(time);
        Box::pin(std::future::ready(()))
    }

    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(0);
    }

    fn ulid(&self) -> String {
        self.draw()
    }

    fn uuid(&self) -> String {
        self.draw()
    }

    fn code(&self, _length: usize) -> String {
        self.draw()
    }

    fn token(&self, _bytes: usize) -> String {
        self.draw()
    }
}

/// Returns the output of a future that never waits.
pub(super) fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("the scripted store answers at once"),
    }
}

/// Returns an item of these attributes.
pub(super) fn attributes(values: &[(&str, AttributeValue)]) -> Attributes {
    values.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

/// Returns an account as the store holds it.
pub(super) fn account(name: &str, owner: &str) -> Attributes {
    attributes(&[
        ("pk", format!("ACCOUNT#{name}").into()),
        ("sk", "META".into()),
        ("kind", "Account".into()),
        ("name", name.into()),
        ("owner", owner.into()),
        ("balance", 5.into()),
        ("pin", "1234".into()),
    ])
}

/// Answer of a GetItem.
pub(super) fn got(item: Option<&Attributes>) -> Result<Output, Error> {
    Ok(Output::GetItem(GetItemOutput { item: item.map(Item::from), capacity: None }))
}

/// Answer of a Query or Scan.
pub(super) fn page(items: &[Attributes]) -> Result<Output, Error> {
    let items: Vec<Item> = items.iter().map(Item::from).collect();
    Ok(Output::Query(PageOutput {
        count: items.len(),
        scanned: items.len(),
        items: Some(items),
        ..PageOutput::default()
    }))
}

/// Answer of a PutItem, UpdateItem or DeleteItem.
pub(super) fn written(attributes: Option<&Attributes>) -> Result<Output, Error> {
    let attributes = attributes.map(Item::from);
    Ok(Output::PutItem(WriteItemOutput { attributes, ..WriteItemOutput::default() }))
}

/// Answer of a TransactWriteItems.
pub(super) fn transacted() -> Result<Output, Error> {
    Ok(Output::TransactWriteItems(TransactWriteItemsOutput::default()))
}

/// Failed condition of a request of one item.
pub(super) fn condition_failed(item: Option<&Attributes>) -> Result<Output, Error> {
    Err(item::condition_failed(item.map(Item::from)))
}

/// Cancelled transaction with these reason codes, `None` for an action that did not fail.
pub(super) fn cancelled(codes: &[&str]) -> Result<Output, Error> {
    let reasons: Vec<CancellationReason> = codes.iter().map(|code| remote::reason(code, "", None)).collect();
    Err(transaction::cancelled(reasons))
}
