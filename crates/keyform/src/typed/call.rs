//! Calls of a model's patterns, used by the model's generated code.

use std::sync::Arc;

use keyform_check::Checked;
use keyform_core::operation::ChangeRecord;
use keyform_core::{AttributeValue, Attributes, Execute};
use keyform_language::bind::unnamed_table;
use keyform_language::document::parse;
use keyform_language::plan::plan;
use keyform_language::schema::{EntityId, resolve};
use keyform_runtime::run::{self, Answer, Caller, Found, RunSettings, Runner};

use super::change::{self, FromChange};
use super::{CallError, FromAttributes, ModelOptions, Outcome, Page, Pages, Resumed, ToAttribute, refused};

/// Model on a store with a caller; the state of a model's handle.
#[derive(Clone, Debug)]
pub struct Calls {
    runner: Runner,
    caller: Caller,
    token: Option<String>,
}

impl Calls {
    /// Creates the handle of a model on a store. The source was checked when the code was generated.
    ///
    /// # Errors
    /// A variable has no value, or the model has encrypted fields and there are no keys.
    pub fn new(source: &str, store: Arc<dyn Execute>, options: ModelOptions) -> Result<Self, CallError> {
        let checked = trusted(source);
        let settings = options.settings();
        check_variables(&checked, &settings)?;
        let runner = Runner::new(Arc::new(checked), store, options.world(), settings)?;
        Ok(Self { runner, caller: Caller::System, token: None })
    }

    /// Returns the runner, for calls without a typed form.
    #[must_use]
    pub fn runner(&self) -> &Runner {
        &self.runner
    }

    /// Creates the missing tables and returns their names.
    ///
    /// # Errors
    /// The store rejects one.
    pub async fn create_tables(&self) -> Result<Vec<String>, CallError> {
        Ok(self.runner.create_tables().await?)
    }

    /// Resumes interrupted cascades, and checks again where an index may have lagged behind: see
    /// [`Runner::resume_cascades`].
    ///
    /// # Errors
    /// The store fails; the next call resumes the rest.
    pub async fn resume_cascades(&self) -> Result<Resumed, CallError> {
        Ok(self.runner.resume_cascades().await?)
    }

    /// Returns a handle that calls with these claims.
    #[must_use]
    pub fn as_caller(&self, claims: &impl ToAttribute) -> Self {
        let claims = match claims.to_attribute() {
            Some(AttributeValue::M(claims)) => claims,
            _ => Attributes::new(),
        };
        Self { caller: Caller::Claims(claims), ..self.clone() }
    }

    /// Returns a handle that sends every write with this client request token, so that the store applies a resent
    /// request once. A repeated call that generates new ids is a different request and is rejected; for calls that
    /// return the same answer see [`Runner::write_once`].
    #[must_use]
    pub fn with_token(&self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..self.clone() }
    }

    /// Starts a call of a pattern.
    pub fn call(&self, pattern: &'static str) -> Call<'_> {
        Call { calls: self, pattern, arguments: Attributes::new() }
    }

    /// Converts a stream record of a table. The table is named as in the model or as in the store.
    ///
    /// # Errors
    /// An image does not match the model, or an encrypted field cannot be opened.
    pub fn change<T: FromChange>(&self, table: &str, record: &ChangeRecord) -> Result<T, CallError> {
        change::of(&self.runner, table, record)
    }

    pub(super) async fn page<T: FromAttributes>(
        &self,
        pattern: &str,
        arguments: Attributes,
        cursor: Option<String>,
    ) -> Result<Page<T>, CallError> {
        let call = run::Call { arguments, caller: self.caller.clone(), cursor, token: None };
        match self.runner.read(pattern, &call).await? {
            Answer::Page { items, cursor, broken } => Ok(Page { items: structs(items)?, cursor, broken: broken.len() }),
            other => Err(unexpected(&other)),
        }
    }
}

/// Builds a model that was checked when its code was generated: repeats only the steps that running needs.
fn trusted(source: &str) -> Checked {
    let (document, diagnostics) = parse(source);
    let (model, _) = resolve(&document);
    let plans = plan(&model);
    Checked { source: source.to_owned(), document, model, plans, diagnostics }
}

fn check_variables(checked: &Checked, settings: &RunSettings) -> Result<(), CallError> {
    match unnamed_table(&checked.model, &settings.variables) {
        Some(name) => Err(CallError::Variable(name)),
        None => Ok(()),
    }
}

fn structs<T: FromAttributes>(items: Vec<Found>) -> Result<Vec<T>, CallError> {
    items.into_iter().map(|item| T::from_attributes(item.fields).map_err(CallError::from)).collect()
}

fn unexpected(answer: &Answer) -> CallError {
    let what = match answer {
        Answer::One(_) => "one item",
        Answer::Page { .. } => "a page",
        Answer::Count(_) => "a count",
        Answer::Collection { .. } => "a collection",
    };
    CallError::Unexpected(what.to_owned())
}

/// Call under construction.
#[derive(Debug)]
#[must_use = "a call does nothing until it is sent"]
pub struct Call<'a> {
    calls: &'a Calls,
    pattern: &'static str,
    arguments: Attributes,
}

impl Call<'_> {
    /// Adds an argument; absent values are omitted.
    pub fn argument<T: ToAttribute + ?Sized>(&mut self, name: &str, value: &T) {
        if let Some(value) = value.to_attribute() {
            self.arguments.insert(name.to_owned(), value);
        }
    }

    /// Adds an argument; absent values are stored as NULL.
    pub fn argument_or_null<T: ToAttribute + ?Sized>(&mut self, name: &str, value: &T) {
        self.arguments.insert(name.to_owned(), value.to_attribute().unwrap_or(AttributeValue::Null));
    }

    fn into_call(self) -> run::Call {
        let (caller, token) = (self.calls.caller.clone(), self.calls.token.clone());
        run::Call { arguments: self.arguments, caller, cursor: None, token }
    }

    async fn read(self) -> Result<Answer, CallError> {
        let (runner, pattern) = (&self.calls.runner, self.pattern);
        Ok(runner.read(pattern, &self.into_call()).await?)
    }

    /// Reads an item that may be missing.
    ///
    /// # Errors
    /// The read fails, or the item does not match the model.
    pub async fn maybe<T: FromAttributes>(self) -> Result<Option<T>, CallError> {
        match self.read().await? {
            Answer::One(None) => Ok(None),
            Answer::One(Some(found)) => Ok(Some(T::from_attributes(found.fields)?)),
            other => Err(unexpected(&other)),
        }
    }

    /// Reads an item.
    ///
    /// # Errors
    /// [`CallError::NotFound`] if there is no such item.
    pub async fn one<T: FromAttributes>(self) -> Result<T, CallError> {
        self.maybe().await?.ok_or_else(|| CallError::NotFound("item".to_owned()))
    }

    /// Reads all items of an unpaged read.
    ///
    /// # Errors
    /// The read fails, or an item does not match the model.
    pub async fn all<T: FromAttributes>(self) -> Result<Vec<T>, CallError> {
        match self.read().await? {
            Answer::Page { items, .. } => structs(items),
            other => Err(unexpected(&other)),
        }
    }

    /// Counts items.
    ///
    /// # Errors
    /// The read fails.
    pub async fn count(self) -> Result<u64, CallError> {
        match self.read().await? {
            Answer::Count(count) => Ok(count),
            other => Err(unexpected(&other)),
        }
    }

    /// Reads a collection: the items of each part, in order.
    ///
    /// # Errors
    /// The read fails.
    pub async fn collection(self) -> Result<Parts, CallError> {
        match self.read().await? {
            Answer::Collection { parts, .. } => Ok(Parts(parts)),
            other => Err(unexpected(&other)),
        }
    }

    /// Returns a paged read, which starts when it is awaited.
    pub fn pages<T: FromAttributes>(self) -> Pages<T> {
        Pages::new(self.calls.clone(), self.pattern, self.arguments)
    }

    /// Executes a write and returns the written item, if any.
    ///
    /// # Errors
    /// The outcomes of the write, or [`Outcome::failed`].
    pub async fn written<T: FromAttributes, E: Outcome>(self) -> Result<Option<T>, E> {
        let (runner, pattern) = (&self.calls.runner, self.pattern);
        let found = runner.write(pattern, &self.into_call()).await.map_err(refused::<E>)?;
        match found {
            None => Ok(None),
            Some(found) => {
                T::from_attributes(found.fields).map(Some).map_err(|wrong| E::failed(CallError::Item(wrong)))
            }
        }
    }

    /// Executes a write and returns the written item.
    ///
    /// # Errors
    /// The outcomes of the write, or [`Outcome::failed`].
    pub async fn write_one<T: FromAttributes, E: Outcome>(self) -> Result<T, E> {
        self.written().await?.ok_or_else(|| E::failed(CallError::Gone))
    }

    /// Executes a write without a result.
    ///
    /// # Errors
    /// The outcomes of the write, or [`Outcome::failed`].
    pub async fn write<E: Outcome>(self) -> Result<(), E> {
        let (runner, pattern) = (&self.calls.runner, self.pattern);
        runner.write(pattern, &self.into_call()).await.map(drop).map_err(refused::<E>)
    }
}

/// Parts of a collection, taken by the number of their entity.
#[derive(Debug)]
pub struct Parts(Vec<(EntityId, Vec<Found>)>);

impl Parts {
    fn take(&mut self, entity: usize) -> Vec<Found> {
        let part = self.0.iter_mut().find(|(id, _)| id.0 == entity);
        part.map(|(_, items)| std::mem::take(items)).unwrap_or_default()
    }

    /// Takes all items of a part.
    ///
    /// # Errors
    /// An item does not match the model.
    pub fn many<T: FromAttributes>(&mut self, entity: usize) -> Result<Vec<T>, CallError> {
        structs(self.take(entity))
    }

    /// Takes the item of a part that may be missing.
    ///
    /// # Errors
    /// The item does not match the model.
    pub fn maybe<T: FromAttributes>(&mut self, entity: usize) -> Result<Option<T>, CallError> {
        Ok(self.take(entity).into_iter().next().map(|found| T::from_attributes(found.fields)).transpose()?)
    }

    /// Takes the item of a part.
    ///
    /// # Errors
    /// The item is missing or does not match the model.
    pub fn one<T: FromAttributes>(&mut self, entity: usize) -> Result<T, CallError> {
        self.maybe(entity)?.ok_or_else(|| CallError::NotFound("item".to_owned()))
    }
}
