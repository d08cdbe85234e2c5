//! A change as a handler sees it.

use keyform_core::Item;
use keyform_core::operation::{ChangeKind, ChangeRecord, UserIdentity};
use keyform_language::document::ast::Event;
use keyform_language::schema::EntityId;
use keyform_runtime::run::{Found, Runner};

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
    /// Why its items cannot be shown: then no code is called, and the change is kept as a dead letter.
    pub(super) unreadable: Option<String>,
}

impl EntityChange {
    /// The change of a record, if it is one of these entities.
    pub(super) fn of(runner: &Runner, entities: &[EntityId], record: &ChangeRecord) -> Option<Self> {
        // A stream of keys alone still tells which entity it was, if the keys do.
        let images = [record.new.as_ref(), record.old.as_ref(), Some(&record.keys)];
        let entity = images.into_iter().flatten().find_map(|item| runner.recognise(entities, item))?;
        let mut unreadable = None;
        let mut opened = |item: &Item| match runner.opened(runner.recognise(entities, item)?, item) {
            Ok(found) => Some(found),
            Err(error) => {
                unreadable = Some(error.to_string());
                None
            }
        };
        let (old, new) = (record.old.as_ref().and_then(&mut opened), record.new.as_ref().and_then(&mut opened));
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
            unreadable,
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
