//! Stream changes as variants of a model's enum.

use keyform_core::operation::{ChangeKind, ChangeRecord, SequenceNumber, UserIdentity};
use keyform_language::schema::EntityId;
use keyform_runtime::run::{Found, Runner};

use super::{CallError, FromAttributes, Timestamp, WrongItem};

/// Kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeEvent {
    /// The item was created.
    Inserted,
    /// The item was changed.
    Modified,
    /// A request deleted the item.
    Removed,
    /// The item's TTL expired.
    Expired,
}

/// Change of one item of an entity.
#[derive(Clone, Debug, PartialEq)]
pub struct EntityChange<T> {
    /// Kind of change.
    pub event: ChangeEvent,
    /// Item before the change, if it existed and the stream has old images.
    pub old: Option<T>,
    /// Item after the change, if it exists and the stream has new images.
    pub new: Option<T>,
    /// Time of the change.
    pub at: Timestamp,
    /// Position in the stream.
    pub sequence: SequenceNumber,
}

impl<T> EntityChange<T> {
    /// Returns the latest known state of the item: the new image, otherwise the old one.
    #[must_use]
    pub fn latest(&self) -> Option<&T> {
        self.new.as_ref().or(self.old.as_ref())
    }

    /// Converts the images of a change to structs.
    ///
    /// # Errors
    /// An image does not match the model.
    pub fn of(change: EntityChange<Found>) -> Result<Self, WrongItem>
    where
        T: FromAttributes,
    {
        let image = |found: Option<Found>| found.map(|found| T::from_attributes(found.fields)).transpose();
        let EntityChange { event, old, new, at, sequence } = change;
        Ok(Self { event, old: image(old)?, new: image(new)?, at, sequence })
    }
}

/// Enum of a model's changes.
pub trait FromChange: Sized {
    /// Returns the variant for the entity with this number.
    ///
    /// # Errors
    /// An image does not match the model.
    fn from_change(entity: usize, change: EntityChange<Found>) -> Result<Self, WrongItem>;

    /// Returns the variant for items of unknown entities.
    fn unknown() -> Self;
}

pub(super) fn of<T: FromChange>(runner: &Runner, table: &str, record: &ChangeRecord) -> Result<T, CallError> {
    let found = |item: &Option<keyform_core::Item>| match item {
        Some(item) => runner.found_in(table, item),
        None => Ok(None),
    };
    let (old, new) = (found(&record.old)?, found(&record.new)?);
    // A stream without images still has the key, which often identifies the entity.
    let by_key = runner.entity_in(table, &record.keys);
    let Some(EntityId(entity)) = new.as_ref().or(old.as_ref()).map(|found| found.entity).or(by_key) else {
        return Ok(T::unknown());
    };
    let event = match (record.kind, record.identity) {
        (ChangeKind::Insert, _) => ChangeEvent::Inserted,
        (ChangeKind::Modify, _) => ChangeEvent::Modified,
        (ChangeKind::Remove, None) => ChangeEvent::Removed,
        (ChangeKind::Remove, Some(UserIdentity::TimeToLive)) => ChangeEvent::Expired,
    };
    let at = Timestamp::of_millis(i64::try_from(record.at_ms).unwrap_or(i64::MAX));
    Ok(T::from_change(entity, EntityChange { event, old, new, at, sequence: record.sequence })?)
}

/// Implements [`FromChange`](crate::typed::FromChange) for an enum: each variant with the number of its entity. The
/// enum must also have the variant `Unknown`.
#[doc(hidden)]
#[macro_export]
macro_rules! changes {
    ($name:ident { $($variant:ident = $number:literal),* $(,)? }) => {
        impl $crate::typed::FromChange for $name {
            #[allow(unused_variables, reason = "there may be no entities")]
            fn from_change(
                entity: usize,
                change: $crate::EntityChange<$crate::runtime::run::Found>,
            ) -> ::std::result::Result<Self, $crate::WrongItem> {
                ::std::result::Result::Ok(match entity {
                    $($number => Self::$variant(::std::boxed::Box::new($crate::EntityChange::of(change)?)),)*
                    _ => Self::Unknown,
                })
            }

            fn unknown() -> Self {
                Self::Unknown
            }
        }
    };
}

/// Implements [`FromFound`](crate::typed::FromFound) for an enum: each variant with the number of its entity.
#[doc(hidden)]
#[macro_export]
macro_rules! entities {
    ($name:ident { $($variant:ident = $number:literal),* $(,)? }) => {
        impl $crate::typed::FromFound for $name {
            fn from_found(
                found: $crate::runtime::run::Found,
            ) -> ::std::result::Result<Self, $crate::WrongItem> {
                match found.entity.0 {
                    $($number => {
                        let item = $crate::FromAttributes::from_attributes(found.fields)?;
                        ::std::result::Result::Ok(Self::$variant(::std::boxed::Box::new(item)))
                    })*
                    _ => ::std::result::Result::Err($crate::WrongItem {
                        entity: stringify!($name),
                        attribute: "",
                    }),
                }
            }
        }
    };
}
