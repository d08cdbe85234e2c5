//! Converts table changes to chat events.

use std::collections::HashMap;

use keyform::operation::ChangeRecord;
use keyform::{CallError, ChangeEvent, EntityChange, Timestamp};
use serde::Serialize;

use super::Audience;
use crate::model::{
    Change, Channel, ChannelId, Discord, Membership, Message, MessageId, Presence, Server, ServerId, User, UserId,
};

/// Chat event.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Id of the change, stable across redeliveries; `None` for events that are not stored.
    pub change: Option<String>,
    /// Time of the change.
    pub at: Timestamp,
    /// Type and content of the event.
    #[serde(flatten)]
    pub what: What,
}

/// Type and content of an event.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum What {
    /// A message was written.
    MessageCreated {
        /// New message.
        message: Box<Message>,
    },
    /// The text of a message was changed.
    MessageEdited {
        /// Current message.
        message: Box<Message>,
    },
    /// A reaction was added or removed.
    ReactionsChanged {
        /// Current message.
        message: Box<Message>,
    },
    /// A message was deleted.
    MessageDeleted {
        /// Channel of the message.
        channel_id: ChannelId,
        /// Deleted message.
        message_id: MessageId,
    },
    /// A user joined a server.
    MemberJoined {
        /// New membership.
        membership: Box<Membership>,
    },
    /// The role of a member was changed.
    MemberChanged {
        /// Current membership.
        membership: Box<Membership>,
    },
    /// A member left a server or was removed.
    MemberLeft {
        /// Server of the membership.
        server_id: ServerId,
        /// Former member.
        user_id: UserId,
    },
    /// Name, picture, owner or channel count of a server changed.
    ServerChanged {
        /// Current server.
        server: Box<Server>,
    },
    /// A server was deleted.
    ServerDeleted {
        /// Deleted server.
        server_id: ServerId,
    },
    /// A channel was created.
    ChannelCreated {
        /// New channel.
        channel: Box<Channel>,
    },
    /// Name or topic of a channel changed.
    ChannelChanged {
        /// Current channel.
        channel: Box<Channel>,
    },
    /// A channel was deleted.
    ChannelDeleted {
        /// Server of the channel.
        server_id: ServerId,
        /// Deleted channel.
        channel_id: ChannelId,
    },
    /// A user came online in a server.
    PresenceOnline {
        /// Server of the presence.
        server_id: ServerId,
        /// User who is now online.
        user_id: UserId,
    },
    /// The last connection of a user to a server ended.
    PresenceOffline {
        /// Server of the presence.
        server_id: ServerId,
        /// User who is now offline.
        user_id: UserId,
        /// Set if the store expired the connection because it was not renewed.
        expired: bool,
    },
    /// A user is typing.
    Typing {
        /// Channel in which the user types.
        channel_id: ChannelId,
        /// Typing user.
        user_id: UserId,
        /// Name to display.
        username: String,
    },
}

impl Event {
    pub(crate) fn typing(now_millis: i64, channel: &ChannelId, user: &User) -> Self {
        let what = What::Typing {
            channel_id: channel.clone(),
            user_id: user.user_id.clone(),
            username: user.username.clone(),
        };
        Self { change: None, at: Timestamp::of_millis(now_millis), what }
    }
}

/// Converts a stream record to an event and its audience; `None` if it concerns no other user.
///
/// # Errors
/// The store fails, or the item does not match the model.
pub(super) async fn of(
    discord: &Discord,
    record: &ChangeRecord,
    told: &mut Told,
) -> Result<Option<(Event, Audience)>, CallError> {
    let what = match discord.change(record)? {
        Change::Message(change) => message(*change),
        Change::Membership(change) => membership(*change),
        Change::Server(change) => server(*change),
        Change::Channel(change) => channel(*change),
        Change::Presence(change) => presence(discord, *change, told).await?,
        // A connection has a presence row that carries the same information; the other entities concern only their
        // user.
        Change::Connection(_)
        | Change::User(_)
        | Change::Credentials(_)
        | Change::Invite(_)
        | Change::LastRead(_)
        | Change::Unknown => None,
    };
    let at = Timestamp::of_millis(i64::try_from(record.at_ms).unwrap_or(i64::MAX));
    Ok(what.map(|(what, audience)| (Event { change: Some(record.id.clone()), at, what }, audience)))
}

type Meaning = Option<(What, Audience)>;

fn message(change: EntityChange<Message>) -> Meaning {
    let audience = |message: &Message| Audience::Channel(message.channel_id.clone());
    match (change.event, change.old, change.new) {
        (ChangeEvent::Inserted, _, Some(message)) => {
            Some((What::MessageCreated { message: Box::new(message.clone()) }, audience(&message)))
        }
        (ChangeEvent::Modified, old, Some(message)) => {
            let to = audience(&message);
            let is_reaction =
                old.is_some_and(|old| old.content == message.content && old.edited_at == message.edited_at);
            let message = Box::new(message);
            let what = if is_reaction { What::ReactionsChanged { message } } else { What::MessageEdited { message } };
            Some((what, to))
        }
        (_, Some(old), None) => {
            let to = audience(&old);
            Some((What::MessageDeleted { channel_id: old.channel_id, message_id: old.message_id }, to))
        }
        _ => None,
    }
}

/// The members of the server and the user, on all their connections, learn of joins and leaves.
fn membership(change: EntityChange<Membership>) -> Meaning {
    let audience = |member: &Membership| Audience::ServerAnd(member.server_id.clone(), member.user_id.clone());
    match (change.event, change.old, change.new) {
        (event, _, Some(member)) => {
            let to = audience(&member);
            let membership = Box::new(member);
            let what = match event {
                ChangeEvent::Inserted => What::MemberJoined { membership },
                _ => What::MemberChanged { membership },
            };
            Some((what, to))
        }
        (_, Some(old), None) => {
            let to = audience(&old);
            Some((What::MemberLeft { server_id: old.server_id, user_id: old.user_id }, to))
        }
        _ => None,
    }
}

/// New servers need no event, because only the owner is a member.
fn server(change: EntityChange<Server>) -> Meaning {
    match (change.event, change.old, change.new) {
        (ChangeEvent::Modified, _, Some(server)) => {
            let to = Audience::Server(server.server_id.clone());
            Some((What::ServerChanged { server: Box::new(server) }, to))
        }
        (_, Some(old), None) => Some((
            What::ServerDeleted { server_id: old.server_id.clone() },
            Audience::ServerAnd(old.server_id, old.owner_id),
        )),
        _ => None,
    }
}

fn channel(change: EntityChange<Channel>) -> Meaning {
    match (change.event, change.old, change.new) {
        (event, _, Some(channel)) => {
            let to = Audience::Server(channel.server_id.clone());
            let channel = Box::new(channel);
            let what = match event {
                ChangeEvent::Inserted => What::ChannelCreated { channel },
                _ => What::ChannelChanged { channel },
            };
            Some((what, to))
        }
        (_, Some(old), None) => {
            let to = Audience::Server(old.server_id.clone());
            Some((What::ChannelDeleted { server_id: old.server_id, channel_id: old.channel_id }, to))
        }
        _ => None,
    }
}

/// Last reported presence per server and user, so that each change is reported once.
#[derive(Debug, Default)]
pub(super) struct Told(HashMap<(ServerId, UserId), bool>);

/// Maximum number of remembered entries; beyond it, an event may be repeated.
const TOLD_MAX: usize = 20_000;

impl Told {
    /// Records a presence; returns whether it differs from the last report.
    fn is_news(&mut self, server: &ServerId, user: &UserId, is_online: bool) -> bool {
        if self.0.len() >= TOLD_MAX {
            self.0.clear();
        }
        self.0.insert((server.clone(), user.clone()), is_online) != Some(is_online)
    }
}

/// A user comes online with the first connection and goes offline with the last; renewals are ignored.
///
/// The event reflects the current state, which may be later than the change: a user who came and went is not reported
/// as online.
async fn presence(discord: &Discord, change: EntityChange<Presence>, told: &mut Told) -> Result<Meaning, CallError> {
    if change.event == ChangeEvent::Modified {
        return Ok(None);
    }
    let Some(row) = change.latest() else { return Ok(None) };
    let (server_id, user_id) = (row.server_id.clone(), row.user_id.clone());
    let rows = discord.connections_of_user(&user_id).all().await?;
    let is_online = rows.iter().any(|row| row.server_id == server_id);
    let is_said = is_online == (change.event == ChangeEvent::Inserted);
    if !is_said || !told.is_news(&server_id, &user_id, is_online) {
        return Ok(None);
    }
    let to = Audience::Server(server_id.clone());
    let what = match change.event {
        ChangeEvent::Inserted | ChangeEvent::Modified => What::PresenceOnline { server_id, user_id },
        ended => What::PresenceOffline { server_id, user_id, expired: ended == ChangeEvent::Expired },
    };
    Ok(Some((what, to)))
}
