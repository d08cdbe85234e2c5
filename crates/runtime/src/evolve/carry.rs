//! Migrates one item: writes the new item and marks the old one, or does nothing (ADR 0015).
//!
//! ```text
//! Put    new           if absent
//! Update old  SET mark if unchanged and unmarked
//! Put    sentinels     of unique values
//! ```
//!
//! The first writer migrates the item; every other finds the mark. An existing item with the new key is never
//! overwritten: then the old item is only marked.

use keyform_core::capacity::{ConsumedCapacity, ReturnConsumedCapacity};
use keyform_core::error::Detail;
use keyform_core::expression::{Comparator, Condition, Operand, Path, SetAction, SetValue, Update, UpdateOperand};
use keyform_core::operation::{PutItem, TransactAction, TransactWriteItems, UpdateItem, WriteOptions};
use keyform_core::{Attributes, Error, ErrorCode, Execute, ExecuteExt};

use keyform_language::bind::evolve::claims;

use super::find::get;
use super::form::{Class, Form};
use super::mark::{MARK, Mark, sum};

/// Attributes that a condition compares; more would exceed the length limit of an expression.
const COMPARED_MAX: usize = 60;
/// Immediate retries of an item that changes concurrently.
const TRIES_MAX: u32 = 5;

/// Result of migrating an item.
#[derive(Clone, Debug, PartialEq)]
pub enum Carried {
    /// The new item was written.
    Moved,
    /// An item with the new key already existed; the old one is marked.
    Superseded,
    /// Another process migrated it first, or it no longer exists.
    Already,
    /// It cannot be converted; the text is the reason.
    Stuck(String),
    /// Every attempt lost against concurrent writers: retry later.
    Busy,
}

/// Migrates an old item; returns the result and the write units consumed.
///
/// # Errors
///
/// Returns an error if the store fails.
pub async fn carry(
    store: &dyn Execute,
    form: &Form,
    old: &Attributes,
    now_millis: i64,
) -> Result<(Carried, f64), Error> {
    let mut image = old.clone();
    let mut units = 0.0;
    for _ in 0..TRIES_MAX {
        let new = match form.converted(&image, now_millis) {
            Ok(new) => new,
            Err(error) => return Ok((Carried::Stuck(error.to_string()), units)),
        };
        let (done, spent) = if form.in_place {
            convert(store, form, &image, new).await?
        } else {
            transfer(store, form, &image, &new, now_millis).await?
        };
        units += spent;
        match done {
            Some(done) => return Ok((done, units)),
            None => match get(store, &form.old.name, form.old.key_of(&image)).await? {
                Some(current) if form.class(&current) == Class::Old => image = current,
                _ => return Ok((Carried::Already, units)),
            },
        }
    }
    Ok((Carried::Busy, units))
}

/// Propagates a change that an old application made after the item was migrated, unless the new item was changed or
/// deleted since: then the new form wins.
///
/// # Errors
///
/// Returns an error if the store fails.
pub async fn follow(
    store: &dyn Execute,
    form: &Form,
    old: &Attributes,
    mark: &Mark,
    now_millis: i64,
) -> Result<(Carried, f64), Error> {
    let written = match form.converted(old, mark.at_millis) {
        Ok(new) if mark.sum.is_empty() || sum(&new) == mark.sum => return Ok((Carried::Already, 0.0)),
        Ok(new) => new,
        Err(error) => return Ok((Carried::Stuck(error.to_string()), 0.0)),
    };
    let current = get(store, &form.new.name, mark.to.clone()).await?;
    let same_place = form.new.key_of(&written) == mark.to;
    let Some(current) = current.filter(|current| same_place && sum(current) == mark.sum) else {
        let (done, units) = supersede(store, form, old, &written, now_millis).await?;
        return Ok((done.unwrap_or(Carried::Busy), units));
    };
    let actions = vec![
        TransactAction::Put {
            table: form.new.name.clone(),
            item: written.clone(),
            condition: Some(unchanged(&current)),
            return_item_on_failure: false,
        },
        self::mark(form, old, &Mark::carried(&form.new, &written, now_millis)),
    ];
    let transaction = TransactWriteItems {
        actions,
        token: None,
        return_capacity: ReturnConsumedCapacity::Total,
        return_metrics: Default::default(),
    };
    match store.call(transaction).await {
        Ok(output) => Ok((Carried::Moved, spent(&output.capacity))),
        Err(error) if error.code() == ErrorCode::TransactionCanceled || is_busy(&error) => Ok((Carried::Busy, 0.0)),
        Err(error) => Err(error),
    }
}

/// In place: replaces the item by its new form if it is unchanged; `None` to read it again.
async fn convert(
    store: &dyn Execute,
    form: &Form,
    old: &Attributes,
    new: Attributes,
) -> Result<(Option<Carried>, f64), Error> {
    let put = PutItem {
        table: form.old.name.clone(),
        item: new,
        options: WriteOptions { return_capacity: ReturnConsumedCapacity::Total, ..unchanged(old).into() },
    };
    match store.call(put).await {
        Ok(output) => Ok((Some(Carried::Moved), spent(&output.capacity))),
        Err(error) => match error.code() {
            ErrorCode::ConditionalCheckFailed => Ok((None, 0.0)),
            _ if is_busy(&error) => Ok((Some(Carried::Busy), 0.0)),
            _ => Err(error),
        },
    }
}

async fn transfer(
    store: &dyn Execute,
    form: &Form,
    old: &Attributes,
    new: &Attributes,
    now_millis: i64,
) -> Result<(Option<Carried>, f64), Error> {
    let mut actions = vec![
        TransactAction::Put {
            table: form.new.name.clone(),
            item: new.clone(),
            condition: Some(absent(form)),
            return_item_on_failure: false,
        },
        mark(form, old, &Mark::carried(&form.new, new, now_millis)),
    ];
    let unique = match claims(&form.new.table, &form.new.name, &form.new.entity, new) {
        Ok(unique) => unique,
        Err(error) => return Ok((Some(Carried::Stuck(error.to_string())), 0.0)),
    };
    let names: Vec<String> = unique.iter().map(|(name, _)| name.clone()).collect();
    actions.extend(unique.into_iter().map(|(_, claim)| keep_own(form, claim)));
    let transaction = TransactWriteItems {
        actions,
        token: None,
        return_capacity: ReturnConsumedCapacity::Total,
        return_metrics: Default::default(),
    };
    match store.call(transaction).await {
        Ok(output) => Ok((Some(Carried::Moved), spent(&output.capacity))),
        Err(error) => refused(store, form, old, new, &names, error, now_millis).await,
    }
}

/// Within one table the old form uses the same sentinels: an existing one belongs to the item itself.
fn keep_own(form: &Form, claim: TransactAction) -> TransactAction {
    match claim {
        TransactAction::Put { table, item, .. } if form.old.name == form.new.name => {
            TransactAction::Put { table, item, condition: None, return_item_on_failure: false }
        }
        claim => claim,
    }
}

async fn refused(
    store: &dyn Execute,
    form: &Form,
    old: &Attributes,
    new: &Attributes,
    unique: &[String],
    error: Error,
    now_millis: i64,
) -> Result<(Option<Carried>, f64), Error> {
    if is_busy(&error) {
        return Ok((Some(Carried::Busy), 0.0));
    }
    let Detail::Cancellation(reasons) = error.detail() else { return Err(error) };
    let code = |number: usize| reasons.get(number).and_then(|reason| reason.cause.as_ref()).map(|cause| cause.code);
    if code(1) == Some("ConditionalCheckFailed") {
        return Ok((None, 0.0));
    }
    if code(0) == Some("ConditionalCheckFailed") {
        return supersede(store, form, old, new, now_millis).await;
    }
    for (number, name) in unique.iter().enumerate() {
        if code(number + 2) == Some("ConditionalCheckFailed") {
            return Ok((Some(Carried::Stuck(format!("another item has the same `{name}`"))), 0.0));
        }
    }
    match (0..reasons.len()).find_map(code) {
        Some("TransactionConflict" | "ProvisionedThroughputExceeded" | "ThrottlingError") => {
            Ok((Some(Carried::Busy), 0.0))
        }
        Some("ValidationError" | "ItemCollectionSizeLimitExceeded") => {
            let message = reasons.iter().find_map(|reason| reason.cause.as_ref()).map(|cause| cause.message.clone());
            Ok((Some(Carried::Stuck(message.unwrap_or_default())), 0.0))
        }
        _ => Err(error),
    }
}

/// The new key is taken: writes only the mark.
async fn supersede(
    store: &dyn Execute,
    form: &Form,
    old: &Attributes,
    new: &Attributes,
    now_millis: i64,
) -> Result<(Option<Carried>, f64), Error> {
    let TransactAction::Update { table, key, update, condition, .. } =
        mark(form, old, &Mark::superseded(&form.new, new, now_millis))
    else {
        return Ok((None, 0.0));
    };
    let update = UpdateItem {
        table,
        key,
        update: Some(update),
        options: WriteOptions { return_capacity: ReturnConsumedCapacity::Total, ..condition.into() },
    };
    match store.call(update).await {
        Ok(output) => Ok((Some(Carried::Superseded), spent(&output.capacity))),
        Err(error) if error.code() == ErrorCode::ConditionalCheckFailed => Ok((None, 0.0)),
        Err(error) if is_busy(&error) => Ok((Some(Carried::Busy), 0.0)),
        Err(error) => Err(error),
    }
}

fn mark(form: &Form, old: &Attributes, mark: &Mark) -> TransactAction {
    let set =
        SetAction { path: Path::attribute(MARK), value: SetValue::Operand(UpdateOperand::Value(mark.value().into())) };
    TransactAction::Update {
        table: form.old.name.clone(),
        key: form.old.key_of(old),
        update: Update { set: vec![set], ..Update::default() },
        condition: Some(unchanged(old)),
        return_item_on_failure: false,
    }
}

/// Condition that the item, including its mark, is as it was read.
pub(super) fn unchanged(old: &Attributes) -> Condition {
    let mut tests = match old.get(MARK) {
        Some(mark) => vec![equal(MARK, mark)],
        None => vec![Condition::AttributeNotExists(Path::attribute(MARK))],
    };
    let compared = old.iter().filter(|(name, _)| *name != MARK).take(COMPARED_MAX);
    tests.extend(compared.map(|(name, value)| equal(name, value)));
    Condition::And(tests)
}

fn equal(name: &str, value: &keyform_core::AttributeValue) -> Condition {
    Condition::Compare {
        left: Operand::Path(Path::attribute(name)),
        comparator: Comparator::Equal,
        right: Operand::Value(value.clone().into()),
    }
}

fn absent(form: &Form) -> Condition {
    let key = form.new.table.partition.as_ref().map_or("", |key| key.name.as_str());
    Condition::AttributeNotExists(Path::attribute(key))
}

pub(super) fn is_busy(error: &Error) -> bool {
    matches!(
        error.code(),
        ErrorCode::TransactionConflict
            | ErrorCode::TransactionInProgress
            | ErrorCode::Throttling
            | ErrorCode::ProvisionedThroughputExceeded
            | ErrorCode::RequestLimitExceeded
    )
}

/// Returns the write units that the capacity reports of a response add up to.
pub(super) fn spent<'a>(capacity: impl IntoIterator<Item = &'a ConsumedCapacity>) -> f64 {
    capacity.into_iter().map(|capacity| capacity.total).sum()
}
