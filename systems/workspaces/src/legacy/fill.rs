//! Fills a table with data of the old form through the old model, so that the writes are those of the old application.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use keyform::execute::BoxFuture;
use keyform::{CallError, Execute, ModelOptions, SystemWorld, World};

use super::data::{self, Amount};
use super::model::{
    AddMemberError, ItemHash, ItemStatus, MemberUserId, SaveItemError, SetItemStatusError, SetSettingError,
    SettingName, WorkspacesV1,
};

/// Number of concurrent writes.
const AT_ONCE: usize = 16;

/// Number of written records, without those that already existed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filled {
    /// Number of new items.
    pub items: usize,
    /// Number of settings; they are overwritten each time.
    pub settings: usize,
    /// Number of new members.
    pub members: usize,
}

/// Clock that is set to the time of each record.
#[derive(Debug)]
struct Past(Arc<AtomicI64>);

impl World for Past {
    fn now_millis(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }

    fn monotonic(&self) -> Duration {
        SystemWorld.monotonic()
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        SystemWorld.sleep(time)
    }

    fn fill(&self, bytes: &mut [u8]) {
        SystemWorld.fill(bytes);
    }

    fn ulid(&self) -> String {
        SystemWorld.ulid()
    }
}

/// Old application with a settable clock.
struct Then {
    model: WorkspacesV1,
    moment: Arc<AtomicI64>,
}

impl Then {
    fn new(store: &Arc<dyn Execute>, options: &ModelOptions) -> Result<Self, CallError> {
        let moment = Arc::new(AtomicI64::new(0));
        let options = options.clone().in_world(Past(Arc::clone(&moment)));
        Ok(Self { model: WorkspacesV1::on(Arc::clone(store), options)?, moment })
    }

    fn at(&self, millis: i64) -> &WorkspacesV1 {
        self.moment.store(millis, Ordering::SeqCst);
        &self.model
    }
}

/// Writes the records into an existing table. A second run finds them, and completes an interrupted one.
///
/// # Errors
/// The store fails, or the options lack a variable.
pub async fn fill(store: &Arc<dyn Execute>, options: &ModelOptions, amount: Amount) -> Result<Filled, CallError> {
    let workers = AT_ONCE.min(amount.items.max(1));
    let counts: Vec<usize> = stream::iter(0..workers)
        .map(|worker| async move { items(&Then::new(store, options)?, amount, worker, workers).await })
        .buffer_unordered(AT_ONCE)
        .try_collect()
        .await?;
    let then = Then::new(store, options)?;
    Ok(Filled {
        items: counts.iter().sum(),
        settings: settings(&then, amount).await?,
        members: members(&then, amount).await?,
    })
}

/// Writes every `step`-th item.
async fn items(then: &Then, amount: Amount, first: usize, step: usize) -> Result<usize, CallError> {
    let mut saved = 0;
    for number in (first..amount.items).step_by(step) {
        let item = data::item(amount.seed, number, amount.items);
        let hash = ItemHash::new(item.hash.clone()).map_err(|wrong| CallError::Arguments(wrong.to_string()))?;
        match then.at(item.saved_millis).save_item(&hash, &item.title, &item.content).await {
            Ok(_) => saved += 1,
            Err(SaveItemError::AlreadySaved) => {}
            Err(SaveItemError::Conflict(_)) => return Err(CallError::Busy),
            Err(SaveItemError::Failed(error)) => return Err(error),
        }
        if let Some(done) = item.done_millis {
            finish(then.at(done), &hash).await?;
        }
    }
    Ok(saved)
}

async fn finish(model: &WorkspacesV1, hash: &ItemHash) -> Result<(), CallError> {
    if model.item_by_hash(hash).await?.is_none_or(|item| item.status == ItemStatus::Done) {
        return Ok(());
    }
    match model.set_item_status(hash, ItemStatus::Done).await {
        // The item may have been deleted meanwhile.
        Ok(_) | Err(SetItemStatusError::UnknownItem) => Ok(()),
        Err(SetItemStatusError::Conflict(_)) => Err(CallError::Busy),
        Err(SetItemStatusError::Failed(error)) => Err(error),
    }
}

async fn settings(then: &Then, amount: Amount) -> Result<usize, CallError> {
    for number in 0..amount.settings {
        let setting = data::setting(amount.seed, number);
        let name = SettingName::new(setting.name).map_err(|wrong| CallError::Arguments(wrong.to_string()))?;
        match then.at(setting.set_millis).set_setting(&name, &setting.value).await {
            Ok(_) => {}
            Err(SetSettingError::Conflict(_)) => return Err(CallError::Busy),
            Err(SetSettingError::Failed(error)) => return Err(error),
        }
    }
    Ok(amount.settings)
}

async fn members(then: &Then, amount: Amount) -> Result<usize, CallError> {
    let mut added = 0;
    for number in 0..amount.members {
        let member = data::member(amount.seed, number);
        match then.at(member.added_millis).add_member(&MemberUserId::from(member.user_id)).await {
            Ok(_) => added += 1,
            Err(AddMemberError::AlreadyMember) => {}
            Err(AddMemberError::Conflict(_)) => return Err(CallError::Busy),
            Err(AddMemberError::Failed(error)) => return Err(error),
        }
    }
    Ok(added)
}
