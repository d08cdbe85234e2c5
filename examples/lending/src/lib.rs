//! Clubs whose members lend things to each other.
//!
//! `lending.kf` declares everything about data: keys, guards, transactions. [`model`] is its typed code, and this file
//! has the functions that need more than one pattern.

/// The typed code of `lending.kf`.
pub mod model {
    keyform::model!("lending.kf");
}

use keyform::{CallError, Database, Date, ModelOptions, Ulid};

use model::{Caller, ClubId, Lending, Thing};

/// Opens the application's data.
///
/// # Errors
/// Returns an error if the database rejects the tables.
pub async fn open(database: &Database) -> Result<Lending, CallError> {
    Lending::open_with(database, ModelOptions::new().variable("stage", "local")).await
}

/// Returns the application for a person: calls that they are not allowed to make are refused.
#[must_use]
pub fn seen_by(lending: &Lending, person: &Ulid) -> Lending {
    lending.as_caller(Caller { person_id: person.clone() })
}

/// Returns the overdue things of a club. Reads page after page, and keeps one at a time.
///
/// # Errors
/// Returns an error if the person is not a member, or the database fails.
pub async fn overdue(lending: &Lending, club: &ClubId, today: Date) -> Result<Vec<Thing>, CallError> {
    let mut things = lending.things(club).items();
    let mut late = Vec::new();
    while let Some(thing) = things.next().await {
        late.extend(Some(thing?).filter(|thing| thing.due.is_some_and(|due| due < today)));
    }
    Ok(late)
}
