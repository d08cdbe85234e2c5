//! Change of an entity, as passed to a handler.

use keyform_core::Item;
use keyform_core::operation::{ChangeKind, ChangeRecord, UserIdentity};
use keyform_language::document::ast::Event;
use keyform_language::schema::EntityId;
use keyform_runtime::run::{Found, Runner};

/// Change of an entity, as passed to a handler.
#[derive(Clone, Debug)]
pub struct EntityChange {
    /// Id of the change, the same in each delivery.
    pub id: String,
    /// Kind of the change.
    pub event: Event,
    /// Entity of the item.
    pub entity: EntityId,
    /// Name of the entity.
    pub entity_name: String,
    /// Item before the change, if it existed and the stream includes it.
    pub old: Option<Found>,
    /// Item after the change, if it exists and the stream includes it.
    pub new: Option<Found>,
    /// Time of the change, in milliseconds since 1970.
    pub at_ms: u64,
    /// Number of earlier attempts by this reader.
    pub attempt: u32,
    /// Record of the stream.
    pub record: ChangeRecord,
    /// Reason why the items cannot be converted. The code is not called then, and the change becomes a dead letter.
    pub(super) unreadable: Option<String>,
}

impl EntityChange {
    /// Converts a record; `None` if it belongs to none of these entities.
    pub(super) fn of(runner: &Runner, entities: &[EntityId], record: &ChangeRecord) -> Option<Self> {
        // A stream of keys only identifies the entity too, if the keys do.
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
