//! What a receiver knows of messages, so that what is delivered twice is seen once.

use std::collections::{HashMap, HashSet, VecDeque};

use super::{Event, What};
use crate::model::{Message, MessageId};

/// How many messages are remembered, and how many that are gone.
const REMEMBERED_MAX: usize = 1_000;

/// What a receiver knows of messages.
///
/// A message is news if its `updatedAt` is later than what is known of that id, or the same and the message is another: two people may react in
/// the same millisecond. What was deleted stays deleted.
#[derive(Clone, Debug, Default)]
pub struct Known {
    messages: HashMap<MessageId, Message>,
    order: VecDeque<MessageId>,
    deleted: HashSet<MessageId>,
    deleted_order: VecDeque<MessageId>,
}

impl Known {
    /// Whether an event is news; it is known from then on. What is not about a message is always news.
    pub fn is_news(&mut self, event: &Event) -> bool {
        match &event.what {
            What::MessageCreated { message } | What::MessageEdited { message } | What::ReactionsChanged { message } => {
                self.learn(message)
            }
            What::MessageDeleted { message_id, .. } => self.forget(message_id),
            _ => true,
        }
    }

    /// Whether a message is news.
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

    /// Whether it is news that a message is gone.
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

    /// A message as it is known.
    #[must_use]
    pub fn message(&self, id: &MessageId) -> Option<&Message> {
        self.messages.get(id)
    }
}
