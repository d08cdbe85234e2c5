//! Receiver-side record of messages, which filters duplicate deliveries.

use std::collections::{HashMap, HashSet, VecDeque};

use super::{Event, What};
use crate::model::{Message, MessageId};

/// Maximum number of remembered messages, and of deleted ones.
const REMEMBERED_MAX: usize = 1_000;

/// Messages that a receiver knows.
///
/// A message is new if its `updatedAt` is later than the known one, or equal with different content: two users may
/// react in the same millisecond. Deleted messages stay deleted.
#[derive(Clone, Debug, Default)]
pub struct Known {
    messages: HashMap<MessageId, Message>,
    order: VecDeque<MessageId>,
    deleted: HashSet<MessageId>,
    deleted_order: VecDeque<MessageId>,
}

impl Known {
    /// Records an event; returns whether it is new. Events that do not concern a message are always new.
    pub fn is_news(&mut self, event: &Event) -> bool {
        match &event.what {
            What::MessageCreated { message } | What::MessageEdited { message } | What::ReactionsChanged { message } => {
                self.learn(message)
            }
            What::MessageDeleted { message_id, .. } => self.forget(message_id),
            _ => true,
        }
    }

    /// Records a message; returns whether it is new.
    pub fn learn(&mut self, message: &Message) -> bool {
        if self.deleted.contains(&message.message_id) {
            return false;
        }
        if let Some(known) = self.messages.get(&message.message_id) {
            if message.updated_at < known.updated_at || message == known {
                return false;
            }
        } else {
            self.order.push_back(message.message_id.clone());
        }
        self.messages.insert(message.message_id.clone(), message.clone());
        if self.order.len() > REMEMBERED_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.messages.remove(&oldest);
        }
        true
    }

    /// Records a deletion; returns whether it is new.
    pub fn forget(&mut self, message: &MessageId) -> bool {
        if self.messages.remove(message).is_some() {
            self.order.retain(|known| known != message);
        }
        if !self.deleted.insert(message.clone()) {
            return false;
        }
        self.deleted_order.push_back(message.clone());
        if self.deleted_order.len() > REMEMBERED_MAX
            && let Some(oldest) = self.deleted_order.pop_front()
        {
            self.deleted.remove(&oldest);
        }
        true
    }

    /// Returns the known state of a message.
    #[must_use]
    pub fn message(&self, id: &MessageId) -> Option<&Message> {
        self.messages.get(id)
    }
}
