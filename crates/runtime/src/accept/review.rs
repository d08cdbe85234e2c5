//! Compares a model with the accepted one, and records it.

use keyform_check::check;
use keyform_core::{ErrorCode, Execute};
use keyform_language::document::ast::Document;
use keyform_language::document::json;
use keyform_language::schema::{Model, resolve};

use super::record::{self, Record};
use super::{AcceptError, Candidate, NotAccepted, Reason};
use crate::evolve::Form;
use crate::evolve::state::{self, Phase};

/// Attempts to change a record that other programs change at the same time.
const TRIES_MAX: u32 = 20;

/// How a model relates to the accepted one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// The store has no record of this model: it becomes the first one.
    First,
    /// It is the accepted version.
    Same,
    /// It is an older version that may still run; the accepted one stays.
    Older,
    /// It fits the items of the accepted version, and becomes the accepted one.
    Compatible,
    /// It does not fit the items, and was accepted explicitly.
    Breaking,
    /// The store has no table for records, so nothing was compared.
    Unrecorded,
}

/// Compares a model with the accepted one, without a change of the store.
///
/// # Errors
///
/// Returns [`AcceptError::NotAccepted`] if the model does not fit the items of the accepted version.
pub async fn review(store: &dyn Execute, candidate: &Candidate) -> Result<Accepted, AcceptError> {
    match load(store, candidate).await? {
        Loaded::NoTable => Ok(Accepted::Unrecorded),
        Loaded::Record(before) => compare(store, candidate, before.as_ref()).await,
    }
}

/// Compares a model with the accepted one, and records it in its place. With `breaking_too`, a model that does not fit
/// is recorded as well, and older versions must stop.
///
/// # Errors
///
/// Returns [`AcceptError::NotAccepted`] if the model does not fit the items of the accepted version.
pub async fn accept(store: &dyn Execute, candidate: &Candidate, breaking_too: bool) -> Result<Accepted, AcceptError> {
    for _ in 0..TRIES_MAX {
        let Loaded::Record(before) = load(store, candidate).await? else { return Ok(Accepted::Unrecorded) };
        let accepted = match compare(store, candidate, before.as_ref()).await {
            Err(AcceptError::NotAccepted(_)) if breaking_too => Accepted::Breaking,
            compared => compared?,
        };
        let keeps = match accepted {
            Accepted::Same | Accepted::Older | Accepted::Unrecorded => return Ok(accepted),
            Accepted::First | Accepted::Compatible => true,
            Accepted::Breaking => false,
        };
        let record = Record::after(before.as_ref(), &candidate.id, &candidate.hash, keeps);
        if record::save(store, record, &candidate.json, before.as_ref()).await? {
            return Ok(accepted);
        }
    }
    Err(AcceptError::Busy)
}

/// Checks that a version that was accepted before may still run. A missing record, or table, permits everything.
///
/// # Errors
///
/// Returns [`AcceptError::NotAccepted`] if an incompatible version was accepted since.
pub async fn verify(store: &dyn Execute, candidate: &Candidate) -> Result<(), AcceptError> {
    match load(store, candidate).await? {
        Loaded::Record(Some(record)) if !record.permits(&candidate.hash) => {
            Err(candidate.refused(&record, Reason::Superseded).into())
        }
        Loaded::Record(_) | Loaded::NoTable => Ok(()),
    }
}

/// Withdraws the permission of all versions but the accepted one. A cut-over does this: older versions no longer find
/// the items.
///
/// # Errors
///
/// Returns an error if the store fails.
pub async fn retire(store: &dyn Execute, candidate: &Candidate) -> Result<(), AcceptError> {
    for _ in 0..TRIES_MAX {
        let Loaded::Record(Some(before)) = load(store, candidate).await? else { return Ok(()) };
        if before.hash != candidate.hash || before.compatible.is_empty() {
            return Ok(());
        }
        let record = Record::after(Some(&before), &before.id, &before.hash, false);
        if record::save_same_json(store, &record, &before).await? {
            return Ok(());
        }
    }
    Err(AcceptError::Busy)
}

enum Loaded {
    NoTable,
    Record(Option<Record>),
}

async fn load(store: &dyn Execute, candidate: &Candidate) -> Result<Loaded, AcceptError> {
    match record::load(store, &candidate.id).await {
        Ok(record) => Ok(Loaded::Record(record)),
        Err(error) if error.code() == ErrorCode::ResourceNotFound => Ok(Loaded::NoTable),
        Err(error) => Err(error.into()),
    }
}

async fn compare(store: &dyn Execute, candidate: &Candidate, before: Option<&Record>) -> Result<Accepted, AcceptError> {
    let Some(before) = before else { return Ok(Accepted::First) };
    if before.hash == candidate.hash {
        return Ok(Accepted::Same);
    }
    if before.permits(&candidate.hash) {
        return Ok(Accepted::Older);
    }
    let Some(json) = record::load_json(store, before).await? else {
        return Err(candidate.refused(before, Reason::Unreadable("its JSON form is incomplete".to_owned())).into());
    };
    let accepted =
        json::from_json(&json).map_err(|error| candidate.refused(before, Reason::Unreadable(error.to_string())))?;
    let findings = check::breaking(&accepted, &candidate.document);
    if !findings.is_empty() {
        return Err(candidate.refused(before, Reason::Breaking(findings)).into());
    }
    match unfinished(store, candidate, &accepted).await? {
        Some(entity) => Err(candidate.refused(before, Reason::Unfinished(entity)).into()),
        None => Ok(Accepted::Compatible),
    }
}

/// Returns an entity whose `evolve` the candidate no longer has, although old items may remain.
async fn unfinished(
    store: &dyn Execute,
    candidate: &Candidate,
    accepted: &Document,
) -> Result<Option<String>, AcceptError> {
    let ((old, _), (new, _)) = (resolve(accepted), resolve(&candidate.document));
    let kept = evolving(&new);
    let Some(dropped) = evolving(&old).into_iter().find(|name| !kept.contains(name)) else { return Ok(None) };
    let forms = Form::all(&old, &candidate.variables);
    let Some(id) = state::id(&old.name, &forms) else { return Ok(None) };
    let phase = state::load(store, &id).await?.map(|state| state.phase).unwrap_or_default();
    Ok((phase != Phase::Closed).then_some(dropped))
}

/// Returns the entities of a model that have an `evolve`.
fn evolving(model: &Model) -> Vec<String> {
    let named = model.evolutions.iter().filter_map(|evolution| evolution.entity);
    named.map(|entity| model.entity(entity).name.clone()).collect()
}

impl Candidate {
    fn refused(&self, record: &Record, reason: Reason) -> NotAccepted {
        NotAccepted { model: self.model.clone(), generation: record.generation, reason }
    }
}
