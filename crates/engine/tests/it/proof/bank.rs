//! Workload with an auditable outcome: accounts, transfers between them, tickets, counters, notes.
//!
//! ```text
//! bank    pk = account#n   balance, branch, version     transfers keep the sum; moves change the index key
//!         pk = counter#w   count                        one for each writer, and a hot one for all
//!         pk = ticket#…                                 put if absent, later deleted if present
//!         pk = note#w#n    generation                   written in batches
//! audit   pk = writer, sk = number                      one record for each transfer, in the same transaction
//! ```
//!
//! Whatever happens in between, [`audit`] must find that the balances match the audit records, that all acknowledged
//! writes are present, and that indexes, counts and the replayed stream match the items.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use keyform_core::expression::{Comparator, Condition, Operand, Path, SetAction, SetValue, Update, UpdateOperand};
use keyform_core::operation::{
    BatchWriteItem, CreateTable, DeleteItem, DescribeTable, GetItem, GlobalIndexChange, PutItem, Request, ReturnValues,
    Scan, TransactAction, TransactWriteItems, UpdateItem, UpdateTable, WriteOptions, WriteRequest,
};
use keyform_core::table::{
    AttributeDefinitions, GlobalIndex, KeySchema, LocalIndex, Projection, ScalarType, Status, StreamView,
    TableDescription,
};
use keyform_core::{AttributeValue, Attributes, Error, ErrorCode, Item, Value};
use keyform_engine::Database;

use crate::proof::compare::{contents, whole_scan};
use crate::proof::random::Random;
use crate::proof::streams::{records_of, streams_of};
use crate::proof::subject::block_on;

pub const ACCOUNTS: usize = 8;
const OPENING_BALANCE: i64 = 1000;
const BRANCHES: [&str; 3] = ["north", "south", "west"];
const NOTES: usize = 3;
const HOT: &str = "counter#hot";

/// Acknowledged write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ack {
    /// Transfer with this writer and number.
    Transfer(String, u64),
    /// Put of the ticket with this name.
    Ticket(String),
    /// Deletion of the ticket with this name.
    TicketUsed(String),
    /// Increment of the counter with this name.
    Counted(String),
    /// Notes of this writer have at least this generation.
    Noted(String, u64),
    /// Move of an account to another branch.
    Moved,
}

impl Ack {
    /// Formats a line of a log.
    pub fn to_line(&self) -> String {
        match self {
            Self::Transfer(writer, number) => format!("ack transfer {writer} {number}"),
            Self::Ticket(name) => format!("ack ticket {name}"),
            Self::TicketUsed(name) => format!("ack used {name}"),
            Self::Counted(name) => format!("ack counted {name}"),
            Self::Noted(writer, generation) => format!("ack noted {writer} {generation}"),
            Self::Moved => "ack moved".to_owned(),
        }
    }

    /// Parses a line of a log; returns `None` for other lines.
    pub fn from_line(line: &str) -> Option<Self> {
        match *line.strip_prefix("ack ")?.split(' ').collect::<Vec<_>>().as_slice() {
            ["transfer", writer, number] => Some(Self::Transfer(writer.to_owned(), number.parse().ok()?)),
            ["ticket", name] => Some(Self::Ticket(name.to_owned())),
            ["used", name] => Some(Self::TicketUsed(name.to_owned())),
            ["counted", name] => Some(Self::Counted(name.to_owned())),
            ["noted", writer, generation] => Some(Self::Noted(writer.to_owned(), generation.parse().ok()?)),
            ["moved"] => Some(Self::Moved),
            _ => None,
        }
    }
}

/// Creates the tables and the accounts if they are missing.
pub fn found(database: &Database) -> Result<(), Error> {
    let audit = create("audit", Some("sk"), Vec::new(), audit_locals());
    let bank = create("bank", None, vec![by_branch(), by_version()], Vec::new());
    for table in [audit, bank] {
        match database.call_blocking(table) {
            Err(error) if error.code() != ErrorCode::ResourceInUse => return Err(error),
            Ok(_) | Err(_) => database.sweep()?,
        }
    }
    for number in 0..ACCOUNTS {
        let account = item(&[
            ("pk", account(number).into()),
            ("balance", OPENING_BALANCE.into()),
            ("branch", BRANCHES[number % BRANCHES.len()].into()),
            ("version", 0.into()),
        ]);
        let put = PutItem { table: "bank".to_owned(), item: account, options: absent().into() };
        match database.call_blocking(put) {
            Err(error) if error.code() != ErrorCode::ConditionalCheckFailed => return Err(error),
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}

fn described(database: &Database, table: &str) -> Box<TableDescription> {
    database.call_blocking(DescribeTable { table: table.to_owned() }).unwrap()
}

/// Removes the index if it exists, or else adds it, including the background work for that.
pub fn toggle_index(database: &Database, name: &str) {
    let description = described(database, "bank");
    match description.global_indexes.iter().find(|index| index.index.name == name).map(|index| index.status) {
        Some(Status::Active) => drop_index(database, name),
        Some(_) => {}
        None => add_index(database, name),
    }
    database.sweep().unwrap();
}

/// Adds the index again; the background fills it.
pub fn add_index(database: &Database, name: &str) {
    let index = if name == "by-branch" { by_branch() } else { by_version() };
    let attributes = [("branch", ScalarType::S), ("balance", ScalarType::N), ("version", ScalarType::N)];
    let attributes = attributes.into_iter().filter(|(name, _)| index.key.contains(name));
    let attributes = attributes.map(|(name, kind)| (name.to_owned(), kind)).chain([("pk".to_owned(), ScalarType::S)]);
    change_index(database, attributes.collect(), GlobalIndexChange::Create(index));
}

/// Deletes the index; the background removes it.
pub fn drop_index(database: &Database, name: &str) {
    change_index(database, AttributeDefinitions::new(), GlobalIndexChange::Delete { name: name.to_owned() });
}

fn change_index(database: &Database, attributes: AttributeDefinitions, change: GlobalIndexChange) {
    let table = "bank".to_owned();
    let request = UpdateTable { table, attributes, indexes: vec![change], ..UpdateTable::default() };
    database.call_blocking(request).unwrap();
}

fn create(table: &str, sort: Option<&str>, global: Vec<GlobalIndex>, local: Vec<LocalIndex>) -> CreateTable {
    let mut attributes = AttributeDefinitions::from([("pk".to_owned(), ScalarType::S)]);
    attributes.extend(sort.map(|name| (name.to_owned(), ScalarType::N)));
    for name in
        global.iter().flat_map(|index| index.key.attributes()).chain(local.iter().flat_map(|index| &index.key.sort))
    {
        attributes.insert(name.clone(), if name == "branch" { ScalarType::S } else { ScalarType::N });
    }
    CreateTable {
        attributes,
        global_indexes: global,
        local_indexes: local,
        stream: Some(StreamView::NewAndOldImages),
        ..self::table(table, schema("pk", sort))
    }
}

/// Returns a table with that key; the caller adds the attribute types.
pub fn table(name: &str, key: KeySchema) -> CreateTable {
    CreateTable { key, ..CreateTable::named(name) }
}

fn schema(partition: &str, sort: Option<&str>) -> KeySchema {
    KeySchema { partition: vec![partition.to_owned()], sort: sort.iter().map(|name| (*name).to_owned()).collect() }
}

fn by_branch() -> GlobalIndex {
    global_index("by-branch", schema("branch", Some("balance")), Projection::All)
}

fn by_version() -> GlobalIndex {
    global_index("by-version", schema("version", None), Projection::KeysOnly)
}

fn global_index(name: &str, key: KeySchema, projection: Projection) -> GlobalIndex {
    GlobalIndex { name: name.to_owned(), key, projection, throughput: None, on_demand: None, warm: None }
}

fn audit_locals() -> Vec<LocalIndex> {
    vec![LocalIndex { name: "by-amount".to_owned(), key: schema("pk", Some("amount")), projection: Projection::All }]
}

fn account(number: usize) -> String {
    format!("account#{number}")
}

fn item(attributes: &[(&str, AttributeValue)]) -> Attributes {
    attributes.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

fn key(pk: &str) -> Attributes {
    item(&[("pk", pk.into())])
}

fn absent() -> Condition {
    Condition::AttributeNotExists(Path::attribute("pk"))
}

fn present() -> Condition {
    Condition::AttributeExists(Path::attribute("pk"))
}

/// Asks other threads to stop on drop, so also when a test fails.
pub struct EndOnDrop<'a>(pub &'a AtomicBool);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Writer that executes random operations and reports acknowledged ones.
pub struct Writer {
    /// Name in the keys that only this writer writes.
    pub name: String,
    random: Random,
    number: u64,
    /// Number of conflicts with other transactions.
    pub conflicts: u64,
}

impl Writer {
    pub fn new(name: String, seed: u64) -> Self {
        Self { name, random: Random::new(seed), number: 0, conflicts: 0 }
    }

    /// Executes the next operation and returns its acknowledgement. `None` means that nothing was written: the balance
    /// was too low, or the operation conflicted with a transaction.
    pub fn step(&mut self, database: &Database) -> Result<Option<Ack>, Error> {
        self.number += 1;
        let outcome = match self.random.below(10) {
            0..4 => self.transfer(database),
            4 => self.ticket(database),
            5 => self.use_ticket(database),
            6 => self.count(database, HOT.to_owned()),
            7 => self.count(database, format!("counter#{}", self.name)),
            8 => self.move_account(database),
            _ => self.note(database),
        };
        match outcome {
            Ok(ack) => Ok(Some(ack)),
            Err(error) if is_conflict(&error) => {
                self.conflicts += 1;
                Ok(None)
            }
            Err(error) if is_condition(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn transfer(&mut self, database: &Database) -> Result<Ack, Error> {
        let from = self.random.below(ACCOUNTS);
        let to = (from + self.random.between(1, ACCOUNTS - 1)) % ACCOUNTS;
        let amount = self.random.between(1, 50) as i64;
        self.call(database, transfer(&self.name, self.number, (from, to, amount)))?;
        Ok(Ack::Transfer(self.name.clone(), self.number))
    }

    fn ticket(&mut self, database: &Database) -> Result<Ack, Error> {
        let name = format!("ticket#{}#{}", self.name, self.number / 20);
        self.call(database, put_if_absent(&name))?;
        Ok(Ack::Ticket(name))
    }

    fn use_ticket(&mut self, database: &Database) -> Result<Ack, Error> {
        let name = format!("ticket#{}#{}", self.name, self.random.below(self.number as usize / 20 + 1));
        let (table, key) = ("bank".to_owned(), key(&name));
        let delete = DeleteItem { table, key, options: present().into() };
        self.call(database, delete)?;
        Ok(Ack::TicketUsed(name))
    }

    fn count(&mut self, database: &Database, name: String) -> Result<Ack, Error> {
        add_one(database, &name)?;
        Ok(Ack::Counted(name))
    }

    /// Reads an account and moves it to another branch if it has not changed in between.
    fn move_account(&mut self, database: &Database) -> Result<Ack, Error> {
        let key = key(&account(self.random.below(ACCOUNTS)));
        let get = GetItem { table: "bank".to_owned(), key: key.clone(), ..GetItem::default() };
        let found = self.call(database, get)?;
        let version = number(&found.item.expect("accounts are never deleted").to_attributes(), "version");
        let update = Update {
            set: vec![set("branch", (*self.random.pick(&BRANCHES)).into()), set("version", (version + 1).into())],
            ..Update::default()
        };
        let unchanged = Condition::Compare {
            left: Operand::Path(Path::attribute("version")),
            comparator: Comparator::Equal,
            right: Operand::Value(Value::from(AttributeValue::from(version))),
        };
        let request = UpdateItem { table: "bank".to_owned(), key, update: Some(update), options: unchanged.into() };
        self.call(database, request)?;
        Ok(Ack::Moved)
    }

    fn note(&mut self, database: &Database) -> Result<Ack, Error> {
        let notes = (0..NOTES).map(|place| {
            WriteRequest::Put(item(&[
                ("pk", format!("note#{}#{place}", self.name).into()),
                ("generation", (self.number as i64).into()),
                ("text", "x".repeat(self.random.below(300)).into()),
            ]))
        });
        let tables = vec![("bank".to_owned(), notes.collect())];
        let request = BatchWriteItem { tables, ..BatchWriteItem::default() };
        let output = self.call(database, request)?;
        assert!(output.unprocessed.is_empty(), "no other task writes these notes");
        Ok(Ack::Noted(self.name.clone(), self.number))
    }

    /// Polls every other write, as a server does, instead of waiting for it, so that the journal thread writes it.
    fn call<R: Request>(&self, database: &Database, request: R) -> Result<R::Output, Error> {
        if self.number.is_multiple_of(2) { database.call_blocking(request) } else { block_on(database.call(request)) }
    }
}

/// Returns a put that succeeds only if the item does not exist.
pub fn put_if_absent(name: &str) -> PutItem {
    let item = item(&[("pk", name.into()), ("version", (name.len() as i64).into())]);
    PutItem { table: "bank".to_owned(), item, options: absent().into() }
}

/// Increments a counter and returns its value.
pub fn add_one(database: &Database, name: &str) -> Result<i64, Error> {
    let update =
        Update { add: vec![(Path::attribute("count"), Value::from(AttributeValue::from(1)))], ..Update::default() };
    let request = UpdateItem {
        table: "bank".to_owned(),
        key: key(name),
        update: Some(update),
        options: WriteOptions { return_values: ReturnValues::UpdatedNew, ..WriteOptions::default() },
    };
    let output = database.call_blocking(request)?;
    Ok(number(&output.attributes.expect("the counter was updated").to_attributes(), "count"))
}

/// Returns the value of a counter as a reader sees it.
pub fn count(database: &Database, name: &str) -> i64 {
    let get = GetItem { table: "bank".to_owned(), key: key(name), ..GetItem::default() };
    let found = database.call_blocking(get).unwrap();
    found.item.map_or(0, |item| number(&item.to_attributes(), "count"))
}

/// Returns a transfer between two accounts with its audit record, as one transaction.
pub fn transfer(writer: &str, transfer: u64, (from, to, amount): (usize, usize, i64)) -> TransactWriteItems {
    let enough = Condition::Compare {
        left: Operand::Path(Path::attribute("balance")),
        comparator: Comparator::GreaterOrEqual,
        right: Operand::Value(Value::from(AttributeValue::from(amount))),
    };
    let change = |place: usize, by: i64, condition: Option<Condition>| TransactAction::Update {
        table: "bank".to_owned(),
        key: key(&account(place)),
        update: Update {
            add: vec![(Path::attribute("balance"), Value::from(AttributeValue::from(by)))],
            ..Update::default()
        },
        condition,
        return_item_on_failure: false,
    };
    let record = item(&[
        ("pk", writer.into()),
        ("sk", (transfer as i64).into()),
        ("from", (from as i64).into()),
        ("to", (to as i64).into()),
        ("amount", amount.into()),
    ]);
    let put = TransactAction::Put {
        table: "audit".to_owned(),
        item: record,
        condition: Some(absent()),
        return_item_on_failure: false,
    };
    let actions = vec![change(from, -amount, Some(enough)), change(to, amount, None), put];
    TransactWriteItems { actions, ..TransactWriteItems::default() }
}

/// Adds an idempotency token to a transaction.
pub fn with_token(request: TransactWriteItems, token: &str) -> TransactWriteItems {
    TransactWriteItems { token: Some(token.to_owned()), ..request }
}

/// Returns the keys of all items of the bank, read in pages of `limit`.
pub fn names_in_pages(database: &Database, limit: usize) -> Vec<String> {
    let mut scan = Scan { limit: Some(limit), ..whole_scan("bank", None) };
    let mut names = Vec::new();
    loop {
        let page = database.call_blocking(scan.clone()).unwrap();
        names.extend(page.items.iter().flatten().map(|item| place(&item.to_attributes(), false).0));
        match page.last_key {
            Some(last) => scan.start = Some(last.to_attributes()),
            None => return names,
        }
    }
}

/// Reads all accounts in one transaction and returns the sum of their balances.
pub fn sum_at_one_moment(database: &Database) -> i64 {
    let gets = (0..ACCOUNTS).map(|number| keyform_core::operation::TransactGet {
        table: "bank".to_owned(),
        key: key(&account(number)),
        projection: None,
    });
    let request = keyform_core::operation::TransactGetItems { gets: gets.collect(), ..Default::default() };
    let output = database.call_blocking(request).unwrap();
    output.responses.iter().flatten().map(|item| number(&item.to_attributes(), "balance")).sum()
}

/// Sum of all balances, which transfers keep.
pub const SUM: i64 = ACCOUNTS as i64 * OPENING_BALANCE;

/// Returns whether the error is a conflict with another transaction.
pub fn is_conflict(error: &Error) -> bool {
    error.code() == ErrorCode::TransactionConflict || error.message().contains("TransactionConflict")
}

fn is_condition(error: &Error) -> bool {
    error.code() == ErrorCode::ConditionalCheckFailed || error.code() == ErrorCode::TransactionCanceled
}

fn set(name: &str, value: AttributeValue) -> SetAction {
    SetAction { path: Path::attribute(name), value: SetValue::Operand(UpdateOperand::Value(Value::from(value))) }
}

fn number(item: &Attributes, name: &str) -> i64 {
    match item.get(name) {
        Some(AttributeValue::N(number)) => number.to_i64().expect("whole numbers were written"),
        _ => 0,
    }
}

/// Upper limits of writes that were applied but not acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unknown {
    /// Total of all writers.
    pub total: u64,
    /// Limit per writer.
    pub each: u64,
}

/// Checks all invariants. `acks` are all acknowledgements so far. Runs the background first, because only then the
/// counts of items are exact.
pub fn audit(database: &Database, acks: &[Ack], unknown: Unknown) {
    database.sweep().unwrap();
    let bank = by_key(contents(database, "bank", None), false);
    let audit = by_key(contents(database, "audit", None), true);
    check_balances(&bank, &audit);
    check_acks(&bank, &audit, acks, unknown);
    check_derived(database, "bank", &bank, &[("by-branch", &["branch", "balance"]), ("by-version", &["version"])]);
    check_derived(database, "audit", &audit, &[("by-amount", &["amount"])]);
}

type Contents = BTreeMap<(String, i64), Attributes>;

fn by_key(items: Vec<Item>, sorted: bool) -> Contents {
    let items = items.iter().map(Item::to_attributes);
    items.map(|item| (place(&item, sorted), item)).collect()
}

fn place(item: &Attributes, sorted: bool) -> (String, i64) {
    let Some(AttributeValue::S(pk)) = item.get("pk") else { panic!("every item has a key: {item:?}") };
    (pk.clone(), if sorted { number(item, "sk") } else { 0 })
}

/// Checks that transfers are applied completely or not at all.
fn check_balances(bank: &Contents, audit: &Contents) {
    let mut expected = [OPENING_BALANCE; ACCOUNTS];
    for record in audit.values() {
        expected[number(record, "from") as usize] -= number(record, "amount");
        expected[number(record, "to") as usize] += number(record, "amount");
    }
    for (place, expected) in expected.into_iter().enumerate() {
        let found = bank.get(&(account(place), 0)).map(|item| number(item, "balance"));
        assert_eq!(found, Some(expected), "the balance of account {place} is what the audit records say");
    }
}

fn check_acks(bank: &Contents, audit: &Contents, acks: &[Ack], unknown: Unknown) {
    let has = |name: &str| bank.contains_key(&(name.to_owned(), 0));
    let mut counted: BTreeMap<&str, u64> = BTreeMap::new();
    let mut tickets: BTreeMap<&str, bool> = BTreeMap::new();
    for ack in acks {
        match ack {
            Ack::Transfer(writer, number) => {
                assert!(audit.contains_key(&(writer.clone(), *number as i64)), "{ack:?} was acknowledged");
            }
            Ack::Ticket(name) => drop(tickets.insert(name, true)),
            Ack::TicketUsed(name) => drop(tickets.insert(name, false)),
            Ack::Counted(name) => *counted.entry(name).or_default() += 1,
            Ack::Noted(writer, generation) => {
                for place in 0..NOTES {
                    let note = bank.get(&(format!("note#{writer}#{place}"), 0));
                    let found = note.map_or(-1, |note| number(note, "generation"));
                    assert!(found >= *generation as i64, "{ack:?} was acknowledged, note {place} is of {found}");
                }
            }
            Ack::Moved => {}
        }
    }
    let mut wrong: BTreeMap<&str, u64> = BTreeMap::new();
    for (name, _) in tickets.iter().filter(|(name, expected)| has(name) != **expected) {
        *wrong.entry(name.split('#').nth(1).unwrap_or_default()).or_default() += 1;
    }
    let within = wrong.values().all(|count| *count <= unknown.each) && wrong.values().sum::<u64>() <= unknown.total;
    assert!(within, "tickets are not as they were acknowledged: {wrong:?}, of which {unknown:?} may be");
    for (name, expected) in counted {
        let found = bank.get(&(name.to_owned(), 0)).map_or(0, |item| number(item, "count")) as u64;
        let more = if name == HOT { unknown.total } else { unknown.each };
        assert!(found >= expected, "{name} lost counts: {found} of {expected}");
        assert!(found <= expected + more, "{name} counted too much: {found} for {expected}");
    }
}

/// Checks that indexes, counts and the replayed stream match the items.
fn check_derived(database: &Database, table: &str, items: &Contents, indexes: &[(&str, &[&str])]) {
    let sorted = table == "audit";
    let description = described(database, table);
    let has = |name: &str| {
        let global = description.global_indexes.iter().any(|index| index.index.name == name);
        global || description.local_indexes.iter().any(|index| index.index.name == name)
    };
    for (index, attributes) in indexes.iter().filter(|(name, _)| has(name)) {
        let entries = by_key(contents(database, table, Some((*index).to_owned())), sorted);
        let expected = items.iter().filter(|(_, item)| attributes.iter().all(|name| item.contains_key(*name)));
        let expected: Contents = expected.map(|(place, item)| (place.clone(), projected(index, item))).collect();
        assert_eq!(entries, expected, "the index {index} is the items");
    }
    assert_eq!(description.item_count, items.len() as u64, "the items of {table} are counted");
    for index in &description.global_indexes {
        let (_, attributes) =
            indexes.iter().find(|(name, _)| *name == index.index.name).expect("no other index was made");
        let entries = items.values().filter(|item| attributes.iter().all(|name| item.contains_key(*name))).count();
        assert_eq!(index.item_count, entries as u64, "the entries of {} are counted", index.index.name);
    }
    assert_eq!(&folded(database, table, sorted), items, "the stream of {table}, folded, is its items");
}

fn projected(index: &str, item: &Attributes) -> Attributes {
    let mut entry = item.clone();
    if index == "by-version" {
        entry.retain(|name, _| name == "pk" || name == "version");
    }
    entry
}

/// Replays all records of the stream into items; each record must match the state before it.
fn folded(database: &Database, table: &str, sorted: bool) -> Contents {
    let mut items = Contents::new();
    for stream in streams_of(database, table).unwrap() {
        for record in records_of(database, &stream).unwrap() {
            let place = place(&record.keys.to_attributes(), sorted);
            let before = items.get(&place).map(Item::from);
            assert_eq!(before, record.old, "a record's old image is what the records before it made");
            match record.new {
                Some(new) => drop(items.insert(place, new.to_attributes())),
                None => drop(items.remove(&place)),
            }
        }
    }
    items
}
