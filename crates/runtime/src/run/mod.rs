//! Executes the patterns of a model against a store.
//!
//! Steps of a call:
//!
//! 1. [`Runner::read`] or [`Runner::write`] looks up the pattern and its plan; `arguments` checks the type of each
//!    argument. `accepted` makes sure that the store accepts this version of the model.
//! 2. `permit` evaluates `allow` for the caller. Each guard is one consistent GetItem.
//! 3. `read` binds the arguments, sends the request, follows pages until the result page is full, and signs a
//!    [`cursor`].
//! 4. `attempt` runs a write through its ordered list of steps: it reads what the request needs, binds and sends it,
//!    and decides the result. The list describes idempotency keys, `restrict`, `cascade`, retries and refusals.
//!    `readable` decides, from the model's reads and from the reads that permitted the call (`known`), whether a
//!    refusal includes the item. `cascade` and `removal` delete the items that refer to a deleted one.
//! 5. `found` turns items into entities: fields without keys and tags, with encrypted fields decrypted. What does not
//!    fit is `broken`.
//!
//! Rarely used steps run in boxed futures, which keeps the future of a simple call small.
//!
//! While an evolution is open, `evolving` and `merged` read the new form and then the old one; a step of each write
//! migrates the items that it touches. `live` supports live reads. `sampling` compares stored items
//! with a model without running it. `tables` creates the store's tables, `reseal`
//! re-encrypts fields under a new key. Clock, randomness and sleeping come from a [`World`], so tests control
//! them.

mod accepted;
mod arguments;
mod attempt;
mod broken;
mod cascade;
mod children;
pub mod cursor;
mod error;
mod evolving;
mod fields;
mod found;
pub mod given;
pub mod json;
mod known;
mod live;
mod merged;
mod misfit;
mod permit;
mod read;
mod readable;
mod remembered;
mod removal;
mod reseal;
mod sampling;
mod tables;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use keyform_core::execute::BoxFuture;
use keyform_core::operation::Request;
use keyform_core::{Attributes, Error, Execute, ExecuteExt, Item, Operation, Output, World};

use crate::seal::{Keyring, SealError};
use keyform_check::Checked;
use keyform_language::bind::{self, Inputs};
use keyform_language::reading::Reader;
use keyform_language::schema::{Entity, EntityId, Model, Read, ReadId, Table, TableId, Write, WriteId};

use found::Extent;

pub use accepted::LOOK_INTERVAL;
pub(crate) use attempt::{ANSWERS_EXPIRE, answer_table};
pub use broken::BrokenItem;
pub use cascade::{Resumed, cascade_table};
pub use error::RunError;
pub use fields::Fields;
pub use found::{Answer, Found};
pub use keyform_language::schema::fits;
pub use keyform_language::schema::words::described as in_words;
pub use live::{LivePage, LiveRead, Passed, Reach, Seen};
pub use misfit::misfit;
pub use reseal::Resealed;
pub use sampling::{SamplePlace, SampleReport, Sampler, Unfit, item_of_line};

/// Runs the patterns of a model on a store.
#[derive(Clone)]
pub struct Runner {
    checked: Arc<Checked>,
    patterns: Arc<Patterns>,
    store: Arc<dyn Execute>,
    world: Arc<dyn World>,
    settings: Arc<RunSettings>,
    evolving: Option<Arc<evolving::Evolving>>,
    acceptance: Arc<accepted::Acceptance>,
}

/// Settings of a [`Runner`] that depend on the deployment, not on the model.
#[derive(Clone, Default)]
pub struct RunSettings {
    /// Values of the variables in table names, such as `stage`.
    pub variables: BTreeMap<String, String>,
    /// Key that encrypts cursors. All instances that serve the same clients need the same key.
    pub cursor_key: [u8; 32],
    /// Set if the store does not support transactions. Writes that need one are then refused.
    pub without_transactions: bool,
    /// Keys of encrypted fields. Required if the model has such fields.
    pub field_keys: Option<Arc<Keyring>>,
    /// Set if the store accepts this model even if it does not fit the items of the accepted version. Instances with
    /// older versions stop.
    pub accept_breaking: bool,
}

impl std::fmt::Debug for RunSettings {
    /// Omits the cursor key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunSettings")
            .field("variables", &self.variables)
            .field("without_transactions", &self.without_transactions)
            .field("field_keys", &self.field_keys)
            .finish_non_exhaustive()
    }
}

/// Arguments and caller of one pattern call.
#[derive(Clone, Default)]
pub struct Call {
    /// Arguments by parameter name; an absent one counts as omitted.
    pub arguments: Attributes,
    /// Identity that `allow` and guards are evaluated for.
    pub caller: Caller,
    /// Cursor of the previous page; `None` starts at the first page.
    pub cursor: Option<String>,
    /// Token of an `idempotent` write: repeated under the same token it applies once. Other writes ignore it.
    pub token: Option<String>,
}

impl std::fmt::Debug for Call {
    /// Prints the names of the arguments only: their values may be secret, and this output goes into logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&String> = self.arguments.keys().collect();
        f.debug_struct("Call").field("arguments", &names).field("caller", &self.caller).finish_non_exhaustive()
    }
}

/// Identity of a caller.
#[derive(Clone, Debug, Default)]
pub enum Caller {
    /// Application code. Bypasses `allow` and guards.
    #[default]
    System,
    /// External caller with verified claims.
    Claims(Attributes),
}

impl Runner {
    /// Creates a runner for a model that passed the check.
    ///
    /// # Errors
    ///
    /// Returns [`RunError::NotChecked`] if the model has errors, [`RunError::Sealing`] if it has encrypted fields but
    /// `settings` has no keys for them.
    pub fn new(
        checked: Arc<Checked>,
        store: Arc<dyn Execute>,
        world: Arc<dyn World>,
        settings: RunSettings,
    ) -> Result<Self, RunError> {
        if checked.has_errors() {
            return Err(RunError::NotChecked);
        }
        if let (None, Some(field)) = (&settings.field_keys, an_encrypted_field(&checked)) {
            return Err(RunError::Sealing(SealError::NoKeys { field }));
        }
        let checked = Arc::new(deployed(Arc::unwrap_or_clone(checked), &settings.variables));
        let patterns = Arc::new(Patterns::of(&checked.model));
        let evolving = evolving::Evolving::of(&checked, &settings).map(Arc::new);
        let acceptance = Arc::new(accepted::Acceptance::on(store.clone()));
        Ok(Self { checked, patterns, store, world, settings: Arc::new(settings), evolving, acceptance })
    }

    /// Returns the model. `physical` of each table holds its name in the store, with variables replaced.
    #[must_use]
    pub fn checked(&self) -> &Checked {
        &self.checked
    }

    /// Calls a read.
    ///
    /// # Errors
    ///
    /// Returns a [`RunError`] if the read is unknown, not permitted or called with wrong arguments, or if the store
    /// fails.
    pub async fn read(&self, name: &str, call: &Call) -> Result<Answer, RunError> {
        let (id, read) = self.find_read(name)?;
        arguments::check(&self.checked.model, &read.parameters, &call.arguments)?;
        self.ensure_accepted().await?;
        self.permit(read.allow.as_ref(), &read.parameters, call, &[]).await?;
        self.run_read(id, read, call).await
    }

    /// Calls a write and returns the item that it declares as its result, if any.
    ///
    /// # Errors
    ///
    /// Returns a [`RunError`]; a refusal that the author named is [`RunError::Refused`].
    pub async fn write(&self, name: &str, call: &Call) -> Result<Option<Found>, RunError> {
        let (id, write) = self.find_write(name)?;
        arguments::check(&self.checked.model, &write.parameters, &call.arguments)?;
        self.ensure_accepted().await?;
        self.run_write(id, write, call, None).await
    }

    /// Returns the writes that this store cannot run, each with the reason. Calls to them fail before anything is
    /// sent.
    #[must_use]
    pub fn not_runnable(&self) -> Vec<(&str, String)> {
        let writes = self.checked.model.writes.iter().zip(&self.checked.plans.writes);
        let refused = writes.filter_map(|(write, plan)| {
            let why = attempt::obstacle(self, write, plan.as_ref()?)?;
            Some((write.name.as_str(), why))
        });
        refused.collect()
    }

    /// Converts an item to the entity that it belongs to; `None` if it belongs to no entity of that table. `table` is
    /// the name in the model or in the store.
    ///
    /// # Errors
    ///
    /// Returns [`RunError::Broken`] if the item does not fit the entity, [`RunError::Sealing`] if an encrypted field
    /// cannot be decrypted.
    pub fn found_in(&self, table: &str, item: &Item) -> Result<Option<Found>, RunError> {
        let entity = self.entity_in(table, item);
        entity.map(|entity| self.found_of(entity, item, Extent::Whole)).transpose()
    }

    /// Returns the entity of a table that an item, or its key alone, belongs to. `table` is the name in the model or in
    /// the store.
    #[must_use]
    pub fn entity_in(&self, table: &str, item: &Item) -> Option<EntityId> {
        let model = &self.checked.model;
        let is_meant = |found: &Table| found.name == table || found.physical == table;
        let number = model.tables.iter().position(is_meant)?;
        let entities: Vec<EntityId> = model.entities_of(TableId(number)).map(|(id, _)| id).collect();
        // A table holds sentinels of unique fields beside its entities.
        found::entity_among(model, &entities, item)
    }

    fn find_read(&self, name: &str) -> Result<(ReadId, &Read), RunError> {
        let id = self.patterns.reads.get(name).ok_or_else(|| RunError::UnknownPattern(name.to_owned()))?;
        Ok((*id, self.checked.model.read(*id)))
    }

    fn find_write(&self, name: &str) -> Result<(WriteId, &Write), RunError> {
        let id = self.patterns.writes.get(name).ok_or_else(|| RunError::UnknownPattern(name.to_owned()))?;
        Ok((*id, &self.checked.model.writes[id.0]))
    }

    fn send(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>> {
        self.store.execute(operation)
    }

    fn call<R: Request>(&self, request: R) -> impl Future<Output = Result<R::Output, Error>> + Send + '_ {
        self.store.call(request)
    }

    /// Returns the inputs of a call before any of its reads ran.
    fn inputs<'a>(&'a self, call: &'a Call) -> Inputs<'a> {
        Inputs {
            arguments: Cow::Borrowed(&call.arguments),
            caller: match &call.caller {
                Caller::System => Cow::default(),
                Caller::Claims(claims) => Cow::Borrowed(claims),
            },
            lets: Vec::new(),
            current: Vec::new(),
            variables: BTreeMap::new(),
            start: None,
            token: None,
            now_millis: self.world.now_millis(),
            fresh: &self.world,
            sealing: None,
        }
    }
}

/// Lookup tables: pattern ids by name, and what reading the items of each entity needs.
struct Patterns {
    reads: HashMap<String, ReadId>,
    writes: HashMap<String, WriteId>,
    /// Sorted.
    field_names: Vec<Arc<[String]>>,
    readers: Vec<Reader>,
    broken: broken::BrokenCounts,
}

impl Patterns {
    fn of(model: &Model) -> Self {
        let reads = model.reads.iter().enumerate().map(|(number, read)| (read.name.clone(), ReadId(number)));
        let writes = model.writes.iter().enumerate().map(|(number, write)| (write.name.clone(), WriteId(number)));
        let field_names = model.entities.iter().map(field_names).collect();
        let readers = model.entities.iter().map(Reader::of).collect();
        let broken = broken::BrokenCounts::of(model);
        Self { reads: reads.collect(), writes: writes.collect(), field_names, readers, broken }
    }
}

fn field_names(entity: &Entity) -> Arc<[String]> {
    let mut names: Vec<String> = entity.fields.iter().map(|field| field.name.clone()).collect();
    names.sort_unstable();
    names.into()
}

/// Replaces the variables in the table names once, so that no call has to.
fn deployed(mut checked: Checked, variables: &BTreeMap<String, String>) -> Checked {
    for table in &mut checked.model.tables {
        table.physical = bind::table_name(table, variables);
    }
    checked
}

/// Returns one of the model's encrypted fields, such as `User.apiKey`.
fn an_encrypted_field(checked: &Checked) -> Option<String> {
    let of = |entity: &keyform_language::schema::Entity| {
        entity.encrypted_fields().next().map(|field| format!("{}.{}", entity.name, field.name))
    };
    checked.model.entities.iter().find_map(of)
}

impl std::fmt::Debug for Runner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runner").field("model", &self.checked.model.name).finish_non_exhaustive()
    }
}
