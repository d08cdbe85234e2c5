//! Changes of a stream, as a model's own enum of them.

use keyform_core::operation::{ChangeKind, ChangeRecord, SequenceNumber, UserIdentity};
use keyform_language::schema::EntityId;
use keyform_runtime::run::{Found, Runner};

use super::{CallError, FromAttributes, Timestamp, WrongItem};

/// What happened to an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeEvent {
    /// It is new.
    Inserted,
    /// It is different.
    Modified,
    /// Somebody deleted it.
    Removed,
    /// Its time was over.
    Expired,
}

/// A change of one item of an entity.
#[derive(Clone, Debug, PartialEq)]
pub struct EntityChange<T> {
    /// What happened.
    pub event: ChangeEvent,
    /// The item before, if there was one and the stream has it.
    pub old: Option<T>,
    /// The item after, if there is one and the stream has it.
    pub new: Option<T>,
    /// When.
    pub at: Timestamp,
    /// Its place in the stream.
    pub sequence: SequenceNumber,
}

impl<T> EntityChange<T> {
    /// The item as the stream knows it last: after the change, or else before.
    #[must_use]
    pub fn latest(&self) -> Option<&T> {
        self.new.as_ref().or(self.old.as_ref())
    }

    /// The same change with structs for items.
    ///
    /// # Errors
    /// An image is not as the model says.
    pub fn of(change: EntityChange<Found>) -> Result<Self, WrongItem>
    where
        T: FromAttributes,
    {
        let image = |found: Option<Found>| found.map(|found| T::from_attributes(found.fields)).transpose();
        let EntityChange { event, old, new, at, sequence } = change;
        Ok(Self { event, old: image(old)?, new: image(new)?, at, sequence })
    }
}

/// A model's enum of changes.
pub trait FromChange: Sized {
    /// The variant of the entity of that number.
    ///
    /// # Errors
    /// An image is not as the model says.
    fn from_change(entity: usize, change: EntityChange<Found>) -> Result<Self, WrongItem>;

    /// A change of an item that is of no entity the enum knows.
    fn unknown() -> Self;
}

pub(super) fn of<T: FromChange>(runner: &Runner, table: &str, record: &ChangeRecord) -> Result<T, CallError> {
    let found = |item: &Option<keyform_core::Item>| match item {
        Some(item) => runner.found_in(table, item),
        None => Ok(None),
    };
    let (old, new) = (found(&record.old)?, found(&record.new)?);
    // A stream may have no images; the key often tells the entity all the same.
    let by_key = runner.found_in(table, &record.keys)?.map(|found| found.entity);
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

/// Makes an enum that of a model's changes: each variant with the number of its entity. Besides these it has `Unknown`.
#[macro_export]
macro_rules! changes {
    ($name:ident { $($variant:ident = $number:literal),* $(,)? }) => {
        impl $crate::typed::FromChange for $name {
            #[allow(unused_variables, reason = "there may be no entities")]
            fn from_change(
                entity: usize,
                change: $crate::EntityChange<$crate::runtime::run::Found>,
            ) -> ::std::result::Result<Self, $crate::typed::WrongItem> {
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

/// Makes an enum that of a model's entities: each variant with the number of its entity.
#[macro_export]
macro_rules! entities {
    ($name:ident { $($variant:ident = $number:literal),* $(,)? }) => {
        impl $crate::typed::FromFound for $name {
            fn from_found(
                found: $crate::runtime::run::Found,
            ) -> ::std::result::Result<Self, $crate::typed::WrongItem> {
                match found.entity.0 {
                    $($number => {
                        let item = $crate::typed::FromAttributes::from_attributes(found.fields)?;
                        ::std::result::Result::Ok(Self::$variant(::std::boxed::Box::new(item)))
                    })*
                    _ => ::std::result::Result::Err($crate::typed::WrongItem {
                        entity: stringify!($name),
                        attribute: "",
                    }),
                }
            }
        }
    };
}
