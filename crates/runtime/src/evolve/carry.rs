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
use keyform_core::expression::{Condition, Path, SetAction, SetValue, Update, UpdateOperand};
use keyform_core::operation::{PutItem, TransactAction, TransactWriteItems, UpdateItem, WriteOptions};
use keyform_core::{Attributes, Error, ErrorCode, Execute, ExecuteExt};

use keyform_language::bind::evolve::claims;

use super::find::get;
use super::form::{Class, Form};
use super::mark::{MARK, Mark, sum};
use super::unchanged::unchanged;
use crate::contention::{first_failed_condition, is_contention};

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
pub(crate) async fn follow(
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
    let mark = Mark::carried(&form.new, &written, now_millis);
    let (following, marking) = match (Following::of(form, &current, &written), marking(form, old, &mark)) {
        (Ok(following), Ok(marking)) => (following, marking),
        (Err(why), _) | (_, Err(why)) => return Ok((Carried::Stuck(why), 0.0)),
    };
    let Following { actions, claimed } = following;
    let first_claim = actions.len() - claimed.len();
    match store.call(transaction([actions, vec![marking]].concat())).await {
        Ok(output) => Ok((Carried::Moved, spent(&output.capacity))),
        Err(error) => {
            let failed = first_failed_condition(&error).and_then(|failed| failed.action.checked_sub(first_claim));
            match failed.and_then(|failed| claimed.get(failed)) {
                Some(name) => Ok((Carried::Stuck(taken(name)), 0.0)),
                None if error.code() == ErrorCode::TransactionCanceled || is_contention(&error) => {
                    Ok((Carried::Busy, 0.0))
                }
                None => Err(error),
            }
        }
    }
}

fn taken(field: &str) -> String {
    format!("another item has the same `{field}`")
}

/// Actions that replace the new item and move the sentinels of its unique values.
struct Following {
    actions: Vec<TransactAction>,
    /// Fields of the claims, which are the last actions.
    claimed: Vec<String>,
}

impl Following {
    fn of(form: &Form, current: &Attributes, written: &Attributes) -> Result<Self, String> {
        let mut actions = vec![TransactAction::Put {
            table: form.new.name.clone(),
            item: written.clone(),
            condition: Some(unchanged(form, current)?),
            return_item_on_failure: false,
        }];
        let claims_of = |item| claims(&form.new.table, &form.new.name, &form.new.entity, item);
        let before = claims_of(current).map_err(|error| error.to_string())?;
        let after = claims_of(written).map_err(|error| error.to_string())?;
        let key = |claim: &TransactAction| match claim {
            TransactAction::Put { item, .. } => Some(form.new.key_of(item)),
            TransactAction::Update { .. } | TransactAction::Delete { .. } | TransactAction::Check { .. } => None,
        };
        let is_among = |claims: &[(String, TransactAction)], claim: &TransactAction| {
            claims.iter().any(|(_, one)| key(one) == key(claim))
        };
        // In one table the old application has released the value itself, and another item may have claimed it since.
        let released = before.iter().filter(|(_, claim)| form.old.name != form.new.name && !is_among(&after, claim));
        actions.extend(released.filter_map(|(_, claim)| {
            let table = form.new.name.clone();
            Some(TransactAction::Delete { table, key: key(claim)?, condition: None, return_item_on_failure: false })
        }));
        let (claimed, claims): (Vec<String>, Vec<TransactAction>) =
            after.into_iter().filter(|(_, claim)| !is_among(&before, claim)).unzip();
        actions.extend(claims.into_iter().map(|claim| keep_own(form, claim)));
        Ok(Self { actions, claimed })
    }
}

fn transaction(actions: Vec<TransactAction>) -> TransactWriteItems {
    TransactWriteItems { actions, return_capacity: ReturnConsumedCapacity::Total, ..TransactWriteItems::default() }
}

/// In place: replaces the item by its new form if it is unchanged; `None` to read it again.
async fn convert(
    store: &dyn Execute,
    form: &Form,
    old: &Attributes,
    new: Attributes,
) -> Result<(Option<Carried>, f64), Error> {
    let condition = match unchanged(form, old) {
        Ok(condition) => Some(condition),
        Err(why) => return Ok((Some(Carried::Stuck(why)), 0.0)),
    };
    let put = PutItem {
        table: form.old.name.clone(),
        item: new,
        options: WriteOptions { return_capacity: ReturnConsumedCapacity::Total, ..WriteOptions::from(condition) },
    };
    match store.call(put).await {
        Ok(output) => Ok((Some(Carried::Moved), spent(&output.capacity))),
        Err(error) => match error.code() {
            ErrorCode::ConditionalCheckFailed => Ok((None, 0.0)),
            _ if is_contention(&error) => Ok((Some(Carried::Busy), 0.0)),
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
    let marking = match marking(form, old, &Mark::carried(&form.new, new, now_millis)) {
        Ok(marking) => marking,
        Err(why) => return Ok((Some(Carried::Stuck(why)), 0.0)),
    };
    let put = TransactAction::Put {
        table: form.new.name.clone(),
        item: new.clone(),
        condition: Some(absent(form)),
        return_item_on_failure: false,
    };
    let mut actions = vec![put, marking];
    let unique = match claims(&form.new.table, &form.new.name, &form.new.entity, new) {
        Ok(unique) => unique,
        Err(error) => return Ok((Some(Carried::Stuck(error.to_string())), 0.0)),
    };
    let names: Vec<String> = unique.iter().map(|(name, _)| name.clone()).collect();
    actions.extend(unique.into_iter().map(|(_, claim)| keep_own(form, claim)));
    match store.call(transaction(actions)).await {
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
    if is_contention(&error) {
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
            return Ok((Some(Carried::Stuck(taken(name))), 0.0));
        }
    }
    match (0..reasons.len()).find_map(code) {
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
    let condition = match unchanged(form, old) {
        Ok(condition) => Some(condition),
        Err(why) => return Ok((Some(Carried::Stuck(why)), 0.0)),
    };
    let update = UpdateItem {
        table: form.old.name.clone(),
        key: form.old.key_of(old),
        update: Some(set_mark(&Mark::superseded(&form.new, new, now_millis))),
        options: WriteOptions { return_capacity: ReturnConsumedCapacity::Total, ..WriteOptions::from(condition) },
    };
    match store.call(update).await {
        Ok(output) => Ok((Some(Carried::Superseded), spent(&output.capacity))),
        Err(error) if error.code() == ErrorCode::ConditionalCheckFailed => Ok((None, 0.0)),
        Err(error) if is_contention(&error) => Ok((Some(Carried::Busy), 0.0)),
        Err(error) => Err(error),
    }
}

/// Returns the action that marks an old item, on the condition that it is unchanged.
fn marking(form: &Form, old: &Attributes, mark: &Mark) -> Result<TransactAction, String> {
    Ok(TransactAction::Update {
        table: form.old.name.clone(),
        key: form.old.key_of(old),
        update: set_mark(mark),
        condition: Some(unchanged(form, old)?),
        return_item_on_failure: false,
    })
}

fn set_mark(mark: &Mark) -> Update {
    let value = SetValue::Operand(UpdateOperand::Value(mark.value().into()));
    Update { set: vec![SetAction { path: Path::attribute(MARK), value }], ..Update::default() }
}

fn absent(form: &Form) -> Condition {
    let key = form.new.table.partition.as_ref().map_or("", |key| key.name.as_str());
    Condition::AttributeNotExists(Path::attribute(key))
}

/// Returns the write units that the capacity reports of a response add up to.
pub(super) fn spent<'a>(capacity: impl IntoIterator<Item = &'a ConsumedCapacity>) -> f64 {
    capacity.into_iter().map(|capacity| capacity.total).sum()
}
