//! Clubs whose members lend things to each other.
//!
//! Everything that touches data is said in `lending.kf`: keys, guards, what is one transaction. [`model`] is the typed code of it, and what
//! needs more than one pattern stands here.

/// The typed code of `lending.kf`.
pub mod model {
    keyform::model!("lending.kf");
}

use keyform::{CallError, Database, Date, ModelOptions, Ulid};

use model::{Caller, ClubId, Lending, Thing};

/// Opens the application's data.
///
/// # Errors
/// The database refuses the tables.
pub async fn open(database: &Database) -> Result<Lending, CallError> {
    Lending::open_with(database, ModelOptions::new().variable("stage", "local")).await
}

/// The application as a person sees it: what they may not is refused.
#[must_use]
pub fn seen_by(lending: &Lending, person: &Ulid) -> Lending {
    lending.as_caller(Caller { person_id: person.clone() })
}

/// The things of a club that should be back by now. It reads page after page, and keeps one at a time.
///
/// # Errors
/// The person is not a member, or the database fails.
pub async fn overdue(lending: &Lending, club: &ClubId, today: Date) -> Result<Vec<Thing>, CallError> {
    let mut things = lending.things(club).items();
    let mut late = Vec::new();
    while let Some(thing) = things.next().await {
        late.extend(Some(thing?).filter(|thing| thing.due.is_some_and(|due| due < today)));
    }
    Ok(late)
}
