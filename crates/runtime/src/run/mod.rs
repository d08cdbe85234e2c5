//! A model at work: its patterns called on a store.
//!
//! The life of a call:
//!
//! 1. [`Runner::read`] or [`Runner::write`] finds the pattern and its plan; `arguments` looks whether each argument is of its type.
//! 2. `permit` asks the guards whether the caller may: each is one consistent GetItem.
//! 3. `read` binds the arguments, sends the one request, follows pages until the page is full, and signs a [`cursor`].
//! 4. `write` reads what its `let`s say, binds, sends the one atomic request, and tries again under the same token when others were in the way;
//!    `outcome` turns what the store refused into the name the author gave it; `readable` decides by the model's reads and by what is `known`
//!    of the caller whether the refusal carries the item.
//!    `once` is what makes a write apply once under a caller's key; `restrict` refuses a delete of what something refers to, `cascade` removes what
//!    refers to it.
//! 5. `found` gives items back as entities: fields without keys and tags, encrypted ones opened.
//!
//! What few calls need is in boxes of its own, so that the future of a simple call stays small.
//!
//! While an evolution is open, `evolving` and `merged` read the new form and then the old one, and `settle` carries over what a write is about.
//! `live` is for those who follow a read. `tables` makes the store's tables, `reseal` brings sealed fields under a new key. Clock, randomness and waiting
//! come from [`Surroundings`], so that tests own them.

mod arguments;
mod cascade;
mod children;
pub mod cursor;
mod error;
mod evolving;
mod fields;
mod fits;
mod found;
pub mod json;
mod known;
mod live;
mod merged;
mod misfit;
mod once;
mod outcome;
mod permit;
mod read;
mod readable;
mod removal;
mod reseal;
mod restrict;
mod settle;
mod surroundings;
mod tables;
mod write;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use keyform_core::execute::BoxFuture;
use keyform_core::{Attributes, Error, Execute, Item, Operation, Output};

use crate::seal::{Keyring, SealError};
use keyform_language::Checked;
use keyform_language::bind::{self, Inputs};
use keyform_language::plan::{Role, WritePlan};
use keyform_language::schema::{Entity, EntityId, Model, Read, ReadId, Table, TableId, Write, WriteId};

pub use cascade::{Resumed, cascade_table};
pub use error::RunError;
pub use fields::Fields;
pub use fits::fits;
pub use found::{Answer, Found};
pub use live::{LivePage, LiveRead, Passed, Reach, Seen};
pub use misfit::{in_words, misfit};
pub(crate) use once::{EXPIRES as ANSWERS_EXPIRE, answer_table};
pub use reseal::Resealed;
pub use surroundings::{Surroundings, Waiting};

/// Runs the patterns of a model on a store.
#[derive(Clone)]
pub struct Runner {
    checked: Arc<Checked>,
    patterns: Arc<Patterns>,
    store: Arc<dyn Execute>,
    surroundings: Arc<dyn Surroundings>,
    settings: Arc<Settings>,
    evolving: Option<Arc<evolving::Evolving>>,
}

/// What a runner needs to know of its place.
#[derive(Clone, Default)]
pub struct Settings {
    /// What the variables in the names of tables stand for: `stage`, for one.
    pub variables: BTreeMap<String, String>,
    /// What cursors are signed with.
    pub cursor_key: [u8; 32],
    /// The store has no transactions.
    pub without_transactions: bool,
    /// The keys of encrypted fields. A model that has such fields does not run without.
    pub field_keys: Option<Arc<Keyring>>,
}

impl std::fmt::Debug for Settings {
    /// Without what cursors are signed with.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings")
            .field("variables", &self.variables)
            .field("without_transactions", &self.without_transactions)
            .field("field_keys", &self.field_keys)
            .finish_non_exhaustive()
    }
}

/// A call of a pattern.
#[derive(Clone, Default)]
pub struct Call {
    /// The arguments by name.
    pub arguments: Attributes,
    /// Who calls.
    pub caller: Caller,
    /// Where the last page ended.
    pub cursor: Option<String>,
    /// The caller's token: a write that is repeated under it applies once.
    pub token: Option<String>,
}

impl std::fmt::Debug for Call {
    /// The names of its arguments alone: their values may be secret, and this goes into logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&String> = self.arguments.keys().collect();
        f.debug_struct("Call").field("arguments", &names).field("caller", &self.caller).finish_non_exhaustive()
    }
}

/// Who calls a pattern.
#[derive(Clone, Debug, Default)]
pub enum Caller {
    /// Code, which may everything.
    #[default]
    System,
    /// Someone whose token proves these claims.
    Claims(Attributes),
}

impl Runner {
    /// A runner of a model without errors.
    ///
    /// # Errors
    ///
    /// [`RunError::NotChecked`] if the model has errors, [`RunError::Sealing`] if it has encrypted fields and there are no keys for them.
    pub fn new(
        checked: Arc<Checked>,
        store: Arc<dyn Execute>,
        surroundings: Arc<dyn Surroundings>,
        settings: Settings,
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
        Ok(Self { checked, patterns, store, surroundings, settings: Arc::new(settings), evolving })
    }

    /// The model it runs; its tables have the names they have in the store.
    #[must_use]
    pub fn checked(&self) -> &Checked {
        &self.checked
    }

    /// Calls a read.
    ///
    /// # Errors
    ///
    /// [`RunError`]: the read is unknown, not allowed, wrongly called, or the store failed.
    pub async fn read(&self, name: &str, call: &Call) -> Result<Answer, RunError> {
        let (id, read) = self.find_read(name)?;
        arguments::check(&self.checked.model, &read.parameters, &call.arguments)?;
        self.permit(read.allow.as_ref(), &read.parameters, call, &[]).await?;
        self.run_read(id, read, call).await
    }

    /// Calls a write, and returns the item it says it returns.
    ///
    /// # Errors
    ///
    /// [`RunError`]; a refusal the author has named is [`RunError::Refused`].
    pub async fn write(&self, name: &str, call: &Call) -> Result<Option<Found>, RunError> {
        let (id, write) = self.find_write(name)?;
        arguments::check(&self.checked.model, &write.parameters, &call.arguments)?;
        self.run_write(id, write, call, None).await
    }

    /// The writes that this store cannot run, each with the reason. They are refused before anything is sent.
    #[must_use]
    pub fn not_runnable(&self) -> Vec<(&str, String)> {
        let writes = self.checked.model.writes.iter().zip(&self.checked.plans.writes);
        let refused = writes.filter_map(|(write, plan)| {
            let why = self.obstacle(write, plan.as_ref()?)?;
            Some((write.name.as_str(), why))
        });
        refused.collect()
    }

    /// Why this store cannot run a write, if it cannot.
    fn obstacle(&self, write: &Write, plan: &WritePlan) -> Option<String> {
        if !self.settings.without_transactions {
            return None;
        }
        if plan.needs_transaction() {
            return Some(format!("`{}` is a transaction, and this store has none", write.name));
        }
        let guarded = self.guarded_below(plan)?;
        Some(format!(
            "`{}` removes items of {guarded} too, whose unique values are kept by transactions, and this store has none",
            write.name
        ))
    }

    /// An entity with unique values whose items a write's deletes bring with them.
    fn guarded_below(&self, plan: &WritePlan) -> Option<&str> {
        let model = &self.checked.model;
        let parents = plan.actions.iter().filter(|planned| planned.role == Role::Intend).map(|planned| planned.entity);
        let mut below = parents.flat_map(|parent| self.checked.plans.dependents.reach(parent));
        let guarded = below.find(|id| keyform_language::plan::guarded_fields(model.entity(*id)).next().is_some());
        guarded.map(|id| model.entity(id).name.as_str())
    }

    /// An item of a table as an entity of it; `None` if it is of none. The table is named as in the model or as in the store.
    ///
    /// # Errors
    ///
    /// [`RunError::Sealing`] if an encrypted field does not open.
    pub fn found_in(&self, table: &str, item: &Item) -> Result<Option<Found>, RunError> {
        let model = &self.checked.model;
        let is_meant = |found: &Table| found.name == table || found.physical == table;
        let Some(number) = model.tables.iter().position(is_meant) else { return Ok(None) };
        let entities: Vec<EntityId> = model.entities_of(TableId(number)).map(|(id, _)| id).collect();
        // Beside its entities a table holds sentinels of unique fields.
        let entity = found::entity_among(model, &entities, item);
        entity.map(|entity| self.found_of(entity, item)).transpose()
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

    /// What a call knows, before anything was read.
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
            now_millis: self.surroundings.now_millis(),
            fresh: self.surroundings.fresh(),
            sealing: None,
        }
    }
}

/// What calls look up: the numbers of patterns by their names, and the names of each entity's fields in order.
struct Patterns {
    reads: HashMap<String, ReadId>,
    writes: HashMap<String, WriteId>,
    field_names: Vec<Arc<[String]>>,
}

impl Patterns {
    fn of(model: &Model) -> Self {
        let reads = model.reads.iter().enumerate().map(|(number, read)| (read.name.clone(), ReadId(number)));
        let writes = model.writes.iter().enumerate().map(|(number, write)| (write.name.clone(), WriteId(number)));
        let field_names = model.entities.iter().map(field_names).collect();
        Self { reads: reads.collect(), writes: writes.collect(), field_names }
    }
}

fn field_names(entity: &Entity) -> Arc<[String]> {
    let mut names: Vec<String> = entity.fields.iter().map(|field| field.name.clone()).collect();
    names.sort_unstable();
    names.into()
}

/// The model with the names that its tables have in the store, so that no call need make them.
fn deployed(mut checked: Checked, variables: &BTreeMap<String, String>) -> Checked {
    for table in &mut checked.model.tables {
        table.physical = bind::table_name(table, variables);
    }
    checked
}

/// One of the model's encrypted fields: `User.apiKey`.
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
