//! A change as a handler sees it.

use keyform_core::operation::{ChangeKind, ChangeRecord, UserIdentity};
use keyform_model::document::ast::Event;
use keyform_model::run::{Found, Runner};
use keyform_model::schema::EntityId;

/// A change as a handler sees it.
#[derive(Clone, Debug)]
pub struct EntityChange {
    /// Its id, the same each time that it is delivered.
    pub id: String,
    /// What happened.
    pub event: Event,
    /// The entity.
    pub entity: EntityId,
    /// The entity's name.
    pub entity_name: String,
    /// The item before, if there was one and the stream has it.
    pub old: Option<Found>,
    /// The item after, if there is one and the stream has it.
    pub new: Option<Found>,
    /// When, in milliseconds of the Unix epoch.
    pub at_ms: u64,
    /// How often it was tried before by this reader.
    pub attempt: u32,
    /// The change as the store tells it.
    pub record: ChangeRecord,
}

impl EntityChange {
    /// The change of a record, if it is one of these entities.
    pub(super) fn of(runner: &Runner, entities: &[EntityId], record: &ChangeRecord) -> Option<Self> {
        let recognise = |item| runner.recognise(entities, item);
        let (old, new) = (record.old.as_ref().and_then(recognise), record.new.as_ref().and_then(recognise));
        // A stream of keys alone still tells which entity it was, if the keys do.
        let entity = new.as_ref().or(old.as_ref()).map(|found| found.entity);
        let entity = entity.or_else(|| recognise(&record.keys).map(|found| found.entity))?;
        Some(Self {
            id: record.id.clone(),
            event: event(record),
            entity,
            entity_name: runner.checked().model.entity(entity).name.clone(),
            old,
            new,
            at_ms: record.at_ms,
            attempt: 0,
            record: record.clone(),
        })
    }
}

fn event(record: &ChangeRecord) -> Event {
    match (record.kind, record.identity) {
        (ChangeKind::Insert, _) => Event::Insert,
        (ChangeKind::Modify, _) => Event::Modify,
        (ChangeKind::Remove, Some(UserIdentity::TimeToLive)) => Event::Expire,
        (ChangeKind::Remove, None) => Event::Remove,
    }
}
