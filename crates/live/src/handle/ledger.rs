//! Stores leases, checkpoints and dead letters in a table of the same store.
//!
//! | partition | sort | content |
//! |---|---|---|
//! | `SHARDS#{model}#{table}` | the shard's id | owner and expiry of the lease, fence, position |
//! | `DEAD#{model}#{handler}` | time and id of the change | a change that a handler could not process |

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use keyform_core::expression::{
    Comparator, Condition, KeyCondition, KeyPredicate, KeyTest, Operand, Path, SetAction, SetValue, Update,
    UpdateOperand,
};
use keyform_core::operation::{
    ChangeKind, ChangeRecord, CreateTable, DeleteItem, DescribeTable, PutItem, Query, ReturnValues, SequenceNumber,
    UpdateItem, UserIdentity, WriteOptions,
};
use keyform_core::table::{BillingMode, KeySchema, ScalarType, Status, StreamView};
use keyform_core::{AttributeValue, Attributes, Error, ErrorCode, Execute, ExecuteExt, Item, World};

use crate::feed::ShardOffset;

/// Space for the images in a dead letter; larger images are left out.
const IMAGES_BYTES_MAX: usize = 380_000;

/// Polls of a table that is being created; ten minutes in total.
const LOOKS_MAX: u32 = 1200;
const BETWEEN_LOOKS: Duration = Duration::from_millis(500);

#[derive(Clone)]
pub(super) struct Ledger {
    pub(super) store: Arc<dyn Execute>,
    pub(super) table: String,
    pub(super) model: String,
}

/// Lease on a shard, and the position of its reader.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Lease {
    pub(super) shard: String,
    pub(super) owner: String,
    pub(super) until_ms: i64,
    pub(super) fence: i64,
    pub(super) place: ShardOffset,
    pub(super) is_done: bool,
}

/// Change that a handler could not process.
#[derive(Clone, Debug, PartialEq)]
pub struct DeadLetter {
    /// Name of the handler.
    pub handler: String,
    /// Id of the change.
    pub change: String,
    /// Name of the table in the store.
    pub table: String,
    /// Error of the last attempt.
    pub error: String,
    /// Number of failed attempts.
    pub attempts: i64,
    /// Record of the change. An image that is too large for the letter is missing; the key is always present.
    pub record: ChangeRecord,
    /// Set if an operator requested a retry.
    pub is_wanted: bool,
    pub(super) sort: String,
}

impl Ledger {
    /// Creates the table if it does not exist, and waits until it is active.
    pub(super) async fn ensure(&self, world: &dyn World) -> Result<(), Error> {
        let create = CreateTable {
            key: KeySchema { partition: vec!["pk".to_owned()], sort: vec!["sk".to_owned()] },
            attributes: [("pk".to_owned(), ScalarType::S), ("sk".to_owned(), ScalarType::S)].into(),
            billing: BillingMode::PayPerRequest,
            ..CreateTable::named(self.table.clone())
        };
        match self.store.call(create).await {
            Ok(_) => {}
            Err(error) if error.code() == ErrorCode::ResourceInUse => {}
            Err(error) => return Err(error),
        }
        for _ in 0..LOOKS_MAX {
            match self.store.call(DescribeTable { table: self.table.clone() }).await {
                Ok(table) if table.status == Status::Active => return Ok(()),
                Err(error) if error.code() != ErrorCode::ResourceNotFound => return Err(error),
                _ => world.sleep(BETWEEN_LOOKS).await,
            }
        }
        Err(Error::internal(format!(
            "the table {} is still not active after ten minutes: check it in the store",
            self.table
        )))
    }

    fn shard_key(&self, table: &str, shard: &str) -> Attributes {
        key(format!("SHARDS#{}#{table}", self.model), shard.to_owned())
    }

    /// Returns all leases of a table.
    pub(super) async fn leases(&self, table: &str) -> Result<Vec<Lease>, Error> {
        let items = self.query(format!("SHARDS#{}#{table}", self.model)).await?;
        Ok(items.iter().filter_map(lease).collect())
    }

    /// Records the start position of a shard, unless it already has one. `None` marks the shard as done.
    pub(super) async fn begin(&self, table: &str, shard: &str, place: Option<ShardOffset>) -> Result<(), Error> {
        let mut item = self.shard_key(table, shard);
        item.extend([("until".to_owned(), 0.into()), ("fence".to_owned(), 0.into()), ("owner".to_owned(), "-".into())]);
        match place {
            Some(place) => item.insert("place".to_owned(), place_text(place).into()),
            None => item.insert("done".to_owned(), true.into()),
        };
        let condition = Condition::AttributeNotExists(Path::attribute("pk"));
        let put = PutItem { table: self.table.clone(), item, options: condition.into() };
        unless_refused(self.store.call(put).await).map(drop)
    }

    /// Claims a free shard; `None` if another instance was faster.
    pub(super) async fn claim(
        &self,
        table: &str,
        shard: &str,
        owner: &str,
        now_ms: i64,
        until_ms: i64,
    ) -> Result<Option<Lease>, Error> {
        let free = Condition::Or(vec![
            Condition::AttributeNotExists(Path::attribute("pk")),
            compare("until", Comparator::Less, now_ms.into()),
        ]);
        let condition = Condition::And(vec![free, Condition::AttributeNotExists(Path::attribute("done"))]);
        // A new fence invalidates the checkpoints of the previous owner, which may still be running.
        let fence = SetValue::Plus(
            UpdateOperand::IfNotExists(Path::attribute("fence"), Box::new(constant(0.into()))),
            constant(1.into()),
        );
        let place = SetValue::Operand(UpdateOperand::IfNotExists(
            Path::attribute("place"),
            Box::new(constant(place_text(ShardOffset::Start).into())),
        ));
        let mut set = vec![to("owner", owner.into()), to("until", until_ms.into())];
        set.push(SetAction { path: Path::attribute("fence"), value: fence });
        set.push(SetAction { path: Path::attribute("place"), value: place });
        let output = self.update(self.shard_key(table, shard), set, condition).await?;
        Ok(output.and_then(|item| lease(&item)))
    }

    /// Records the position in a shard and renews the lease; returns false if another instance holds it now.
    pub(super) async fn checkpoint(
        &self,
        table: &str,
        lease: &Lease,
        place: ShardOffset,
        until_ms: i64,
        is_done: bool,
    ) -> Result<bool, Error> {
        let mut set = vec![to("place", place_text(place).into()), to("until", until_ms.into())];
        if is_done {
            set.push(to("done", true.into()));
        }
        let condition = compare("fence", Comparator::Equal, lease.fence.into());
        self.update(self.shard_key(table, &lease.shard), set, condition).await.map(|item| item.is_some())
    }

    /// Extends a lease; returns false if another instance holds it now.
    pub(super) async fn renew(&self, table: &str, lease: &Lease, until_ms: i64) -> Result<bool, Error> {
        let condition = compare("fence", Comparator::Equal, lease.fence.into());
        let set = vec![to("until", until_ms.into())];
        self.update(self.shard_key(table, &lease.shard), set, condition).await.map(|item| item.is_some())
    }

    /// Deletes the lease of a trimmed shard.
    pub(super) async fn forget(&self, table: &str, shard: &str) -> Result<(), Error> {
        self.delete(self.shard_key(table, shard)).await
    }

    /// Stores a change that a handler could not process.
    pub(super) async fn bury(
        &self,
        handler: &str,
        table: &str,
        record: &ChangeRecord,
        error: &str,
        attempts: u32,
    ) -> Result<(), Error> {
        let sort = format!("{:013}#{}", record.at_ms, record.id);
        let mut item = key(format!("DEAD#{}#{handler}", self.model), sort);
        let error: String = error.chars().take(1000).collect();
        item.extend([
            ("table".to_owned(), table.into()),
            ("error".to_owned(), AttributeValue::S(error)),
            ("attempts".to_owned(), i64::from(attempts).into()),
            ("change".to_owned(), record.id.as_str().into()),
            ("kind".to_owned(), record.kind.name().into()),
            ("at".to_owned(), i64::try_from(record.at_ms).unwrap_or(i64::MAX).into()),
            ("sequence".to_owned(), AttributeValue::S(record.sequence.to_string())),
            ("view".to_owned(), record.view.name().into()),
            ("expired".to_owned(), record.identity.is_some().into()),
            ("keys".to_owned(), image(&record.keys)),
        ]);
        let mut room = IMAGES_BYTES_MAX;
        for (name, item_image) in [("new", &record.new), ("old", &record.old)] {
            let Some(found) = item_image.as_ref().filter(|found| found.as_bytes().len() <= room) else { continue };
            room -= found.as_bytes().len();
            item.insert(name.to_owned(), image(found));
        }
        let put = PutItem { table: self.table.clone(), item, ..PutItem::default() };
        self.store.call(put).await.map(drop)
    }

    /// Returns the dead letters of a handler, oldest first.
    pub(super) async fn letters(&self, handler: &str) -> Result<Vec<DeadLetter>, Error> {
        let items = self.query(format!("DEAD#{}#{handler}", self.model)).await?;
        Ok(items.iter().filter_map(|item| letter(handler, item)).collect())
    }

    fn letter_key(&self, letter: &DeadLetter) -> Attributes {
        key(format!("DEAD#{}#{}", self.model, letter.handler), letter.sort.clone())
    }

    /// Records the request to retry a letter; does nothing if the letter is gone.
    pub(super) async fn want(&self, letter: &DeadLetter) -> Result<(), Error> {
        let is_there = Condition::AttributeExists(Path::attribute("pk"));
        self.update(self.letter_key(letter), vec![to("wanted", true.into())], is_there).await.map(drop)
    }

    /// Takes over a retry request; returns false if another instance was faster.
    pub(super) async fn take_wanted(&self, letter: &DeadLetter) -> Result<bool, Error> {
        let update = UpdateItem {
            table: self.table.clone(),
            key: self.letter_key(letter),
            update: Some(Update { remove: vec![Path::attribute("wanted")], ..Update::default() }),
            options: Condition::AttributeExists(Path::attribute("wanted")).into(),
        };
        Ok(unless_refused(self.store.call(update).await)?.is_some())
    }

    /// Records the error of a retry.
    pub(super) async fn still_fails(&self, letter: &DeadLetter, error: &str) -> Result<(), Error> {
        let error: String = error.chars().take(1000).collect();
        let set = vec![to("error", AttributeValue::S(error)), to("attempts", (letter.attempts + 1).into())];
        let is_there = Condition::AttributeExists(Path::attribute("pk"));
        self.update(self.letter_key(letter), set, is_there).await.map(drop)
    }

    pub(super) async fn discard(&self, letter: &DeadLetter) -> Result<(), Error> {
        self.delete(self.letter_key(letter)).await
    }

    async fn delete(&self, key: Attributes) -> Result<(), Error> {
        let delete = DeleteItem { table: self.table.clone(), key, ..DeleteItem::default() };
        self.store.call(delete).await.map(drop)
    }

    /// Returns the item after an update; `None` if the condition failed.
    async fn update(&self, key: Attributes, set: Vec<SetAction>, condition: Condition) -> Result<Option<Item>, Error> {
        let update = UpdateItem {
            table: self.table.clone(),
            key,
            update: Some(Update { set, ..Update::default() }),
            options: WriteOptions { return_values: ReturnValues::AllNew, ..condition.into() },
        };
        Ok(unless_refused(self.store.call(update).await)?.and_then(|output| output.attributes))
    }

    async fn query(&self, partition: String) -> Result<Vec<Item>, Error> {
        let test = KeyTest::Compare(Comparator::Equal, AttributeValue::S(partition).into());
        let key = KeyCondition { predicates: vec![KeyPredicate { attribute: "pk".to_owned(), test }] };
        let mut items = Vec::new();
        let mut start = None;
        loop {
            let query = Query {
                table: self.table.clone(),
                index: None,
                key: key.clone(),
                filter: None,
                projection: None,
                select: None,
                limit: None,
                consistent: true,
                reverse: false,
                start: start.clone(),
                return_capacity: Default::default(),
            };
            let page = self.store.call(query).await?;
            page.ensure_progress(start.as_ref())?;
            items.extend(page.items.unwrap_or_default());
            match page.last_key {
                Some(last) => start = Some(last.to_attributes()),
                None => return Ok(items),
            }
        }
    }
}

fn unless_refused<T>(answer: Result<T, Error>) -> Result<Option<T>, Error> {
    match answer {
        Ok(output) => Ok(Some(output)),
        Err(error) if error.code() == ErrorCode::ConditionalCheckFailed => Ok(None),
        Err(error) => Err(error),
    }
}

fn key(partition: String, sort: String) -> Attributes {
    [("pk".to_owned(), AttributeValue::S(partition)), ("sk".to_owned(), AttributeValue::S(sort))].into()
}

fn compare(attribute: &str, comparator: Comparator, value: AttributeValue) -> Condition {
    Condition::Compare {
        left: Operand::Path(Path::attribute(attribute)),
        comparator,
        right: Operand::Value(value.into()),
    }
}

fn constant(value: AttributeValue) -> UpdateOperand {
    UpdateOperand::Value(value.into())
}

fn to(attribute: &str, value: AttributeValue) -> SetAction {
    SetAction { path: Path::attribute(attribute), value: SetValue::Operand(constant(value)) }
}

fn place_text(place: ShardOffset) -> String {
    match place {
        ShardOffset::Start => "start".to_owned(),
        ShardOffset::After(sequence) => format!("after {sequence}"),
        ShardOffset::Since(millis) => format!("since {millis}"),
    }
}

fn place(text: &str) -> Option<ShardOffset> {
    match text.split_once(' ') {
        Some(("after", sequence)) => sequence.parse().ok().map(ShardOffset::After),
        Some(("since", millis)) => millis.parse().ok().map(ShardOffset::Since),
        _ => (text == "start").then_some(ShardOffset::Start),
    }
}

fn text(item: &Item, name: &str) -> Option<String> {
    match item.get(name)?.to_tree() {
        AttributeValue::S(text) => Some(text),
        _ => None,
    }
}

fn number(item: &Item, name: &str) -> Option<i64> {
    match item.get(name)?.to_tree() {
        AttributeValue::N(number) => number.to_i64(),
        _ => None,
    }
}

fn lease(item: &Item) -> Option<Lease> {
    Some(Lease {
        shard: text(item, "sk")?,
        owner: text(item, "owner").unwrap_or_default(),
        until_ms: number(item, "until").unwrap_or_default(),
        fence: number(item, "fence").unwrap_or_default(),
        place: text(item, "place").and_then(|text| place(&text)).unwrap_or(ShardOffset::Start),
        is_done: item.get("done").is_some(),
    })
}

fn image(item: &Item) -> AttributeValue {
    AttributeValue::B(item.as_bytes().to_vec())
}

fn image_of(item: &Item, name: &str) -> Option<Item> {
    match item.get(name)?.to_tree() {
        AttributeValue::B(bytes) => Item::decode(Bytes::from(bytes)).ok(),
        _ => None,
    }
}

fn letter(handler: &str, item: &Item) -> Option<DeadLetter> {
    let kinds = [ChangeKind::Insert, ChangeKind::Modify, ChangeKind::Remove];
    let kind = text(item, "kind")?;
    let record = ChangeRecord {
        id: text(item, "change")?,
        kind: kinds.into_iter().find(|known| known.name() == kind)?,
        at_ms: number(item, "at").and_then(|at| u64::try_from(at).ok())?,
        keys: image_of(item, "keys")?,
        old: image_of(item, "old"),
        new: image_of(item, "new"),
        sequence: text(item, "sequence").and_then(|text| text.parse().ok()).unwrap_or(SequenceNumber(0)),
        size_bytes: 0,
        view: StreamView::from_name(&text(item, "view")?)?,
        identity: item
            .get("expired")
            .filter(|expired| expired.to_tree() == AttributeValue::Bool(true))
            .map(|_| UserIdentity::TimeToLive),
    };
    Some(DeadLetter {
        handler: handler.to_owned(),
        change: record.id.clone(),
        table: text(item, "table")?,
        error: text(item, "error").unwrap_or_default(),
        attempts: number(item, "attempts").unwrap_or_default(),
        record,
        is_wanted: item.get("wanted").is_some(),
        sort: text(item, "sk")?,
    })
}
