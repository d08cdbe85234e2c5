//! Dead letters for operators: list, discard, or request a retry. The code of handlers is in the programs that run
//! them: one of these picks up a requested letter and passes it to the handler once.

use std::sync::Arc;

use keyform_core::{ErrorCode, Execute};
use keyform_language::schema::{Model, Target};

use super::change::EntityChange;
use super::handlers::{HandleError, HandlerSettings, Redriven, Shared};
use super::ledger::{DeadLetter, Ledger};

/// Dead letters of a model's handlers, accessible without their code.
#[derive(Clone)]
pub struct DeadLetters {
    ledger: Ledger,
    handlers: Vec<String>,
}

impl std::fmt::Debug for DeadLetters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DeadLetters").field("handlers", &self.handlers).finish_non_exhaustive()
    }
}

impl DeadLetters {
    /// Opens the dead letters in the table that the settings name.
    #[must_use]
    pub fn new(store: Arc<dyn Execute>, model: &Model, settings: &HandlerSettings) -> Self {
        let ledger = Ledger { store, table: settings.table.clone(), model: model.name.clone() };
        Self { ledger, handlers: handlers(model) }
    }

    /// Returns the names of the handlers in the model.
    #[must_use]
    pub fn handlers(&self) -> &[String] {
        &self.handlers
    }

    /// Returns the letters of a handler, oldest first.
    ///
    /// # Errors
    /// Returns an error if the model has no such handler, or the store fails.
    pub async fn of(&self, handler: &str) -> Result<Vec<DeadLetter>, HandleError> {
        if !self.handlers.iter().any(|known| known == handler) {
            return Err(HandleError::Unknown(handler.to_owned()));
        }
        match self.ledger.letters(handler).await {
            // The table does not exist because no handler has ever run.
            Err(error) if error.code() == ErrorCode::ResourceNotFound => Ok(Vec::new()),
            letters => Ok(letters?),
        }
    }

    /// Requests a retry of a letter by a program that runs the handler.
    ///
    /// # Errors
    /// Returns an error if the store fails.
    pub async fn want(&self, letter: &DeadLetter) -> Result<(), HandleError> {
        Ok(self.ledger.want(letter).await?)
    }

    /// Discards a letter: its change will never be handled.
    ///
    /// # Errors
    /// Returns an error if the store fails.
    pub async fn discard(&self, letter: &DeadLetter) -> Result<(), HandleError> {
        Ok(self.ledger.discard(letter).await?)
    }
}

/// Returns the distinct handlers that a model names.
fn handlers(model: &Model) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for consumer in &model.consumers {
        if let Target::Handler(name) = &consumer.target
            && !names.contains(name)
        {
            names.push(name.clone());
        }
    }
    names
}

/// Periodically retries requested letters, until it is dropped.
pub(super) async fn redrive_wanted(shared: Arc<Shared>) {
    let handlers = handlers(&shared.runner.checked().model);
    loop {
        for handler in &handlers {
            if let Err(error) = redrive_of(&shared, handler).await {
                tracing::warn!(handler, %error, "cannot retry dead letters; trying again later");
            }
        }
        shared.world().sleep(shared.settings.lease / 3).await;
    }
}

async fn redrive_of(shared: &Shared, handler: &str) -> Result<(), HandleError> {
    for letter in shared.ledger.letters(handler).await?.iter().filter(|letter| letter.is_wanted) {
        // Only one instance of the program retries it.
        if shared.ledger.take_wanted(letter).await? {
            let redriven = shared.redrive(letter).await?;
            tracing::info!(handler, change = letter.change, taken = redriven.taken, "retried a dead letter");
        }
    }
    Ok(())
}

impl Shared {
    /// Passes a letter to its handler once. Deletes the letter on success, otherwise records the error.
    pub(super) async fn redrive(&self, letter: &DeadLetter) -> Result<Redriven, HandleError> {
        let tables = self.runner.tables();
        let entities = tables.iter().find(|(table, _)| *table == letter.table).map(|(_, entities)| entities);
        let change = entities.and_then(|entities| EntityChange::of(&self.runner, entities, &letter.record));
        let called = match change {
            Some(change) => self.call(&letter.handler, change).await,
            None => Err("the model no longer has the entity of the change".to_owned()),
        };
        match called {
            Ok(()) => {
                self.ledger.discard(letter).await?;
                Ok(Redriven { taken: 1, kept: 0 })
            }
            Err(why) => {
                self.ledger.still_fails(letter, &why).await?;
                Ok(Redriven { taken: 0, kept: 1 })
            }
        }
    }
}
