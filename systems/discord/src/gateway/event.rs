//! What a change of the table means to people.

use std::collections::HashMap;

use keyform::operation::ChangeRecord;
use keyform::{CallError, ChangeEvent, EntityChange, Timestamp};
use serde::Serialize;

use super::Audience;
use crate::model::{
    Change, Channel, ChannelId, Discord, Membership, Message, MessageId, Presence, Server, ServerId, User, UserId,
};

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// The id of the change, the same each time that it is delivered; nothing for what leaves no trace.
    pub change: Option<String>,
    /// When.
    pub at: Timestamp,
    /// What.
    #[serde(flatten)]
    pub what: What,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum What {
    /// Somebody wrote a message.
    MessageCreated {
        /// The message.
        message: Box<Message>,
    },
    /// Its text is another.
    MessageEdited {
        /// The message as it is now.
        message: Box<Message>,
    },
    /// Somebody chose an emoji, or no longer does.
    ReactionsChanged {
        /// The message as it is now.
        message: Box<Message>,
    },
    /// It is no more.
    MessageDeleted {
        /// Where it was.
        channel_id: ChannelId,
        /// Which.
        message_id: MessageId,
    },
    /// Somebody is in a server.
    MemberJoined {
        /// The membership.
        membership: Box<Membership>,
    },
    /// Somebody has another role.
    MemberChanged {
        /// The membership as it is now.
        membership: Box<Membership>,
    },
    /// Somebody left a server, or was taken out of it.
    MemberLeft {
        /// The server.
        server_id: ServerId,
        /// Who.
        user_id: UserId,
    },
    /// A server has another name, picture, owner or number of channels.
    ServerChanged {
        /// The server as it is now.
        server: Box<Server>,
    },
    /// A server is no more.
    ServerDeleted {
        /// Which.
        server_id: ServerId,
    },
    /// A server has a new channel.
    ChannelCreated {
        /// The channel.
        channel: Box<Channel>,
    },
    /// A channel has another name or topic.
    ChannelChanged {
        /// The channel as it is now.
        channel: Box<Channel>,
    },
    /// A channel is no more.
    ChannelDeleted {
        /// The server.
        server_id: ServerId,
        /// Which.
        channel_id: ChannelId,
    },
    /// Somebody has come online in a server.
    PresenceOnline {
        /// The server.
        server_id: ServerId,
        /// Who.
        user_id: UserId,
    },
    /// The last connection of somebody to a server has ended.
    PresenceOffline {
        /// The server.
        server_id: ServerId,
        /// Who.
        user_id: UserId,
        /// It ended because it was not renewed: the store removed it, nobody else.
        expired: bool,
    },
    /// Somebody is typing.
    Typing {
        /// Where.
        channel_id: ChannelId,
        /// Who.
        user_id: UserId,
        /// The name.
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

/// What a record of the table's stream means, and to whom; nothing if it is nobody's business.
///
/// # Errors
/// The store fails, or the item is not as the model says.
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
        // A connection has a presence beside it, which says the same; the rest is between a user and the service.
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

/// Members hear who comes and goes, and so does who came or went, on all their connections.
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

/// That a server is new is known to its owner.
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

/// Who was told to be online or offline in which server, so that it is told once.
#[derive(Debug, Default)]
pub(super) struct Told(HashMap<(ServerId, UserId), bool>);

/// How many are remembered: beyond, something may be told again.
const TOLD_MAX: usize = 20_000;

impl Told {
    /// Whether it is news.
    fn is_news(&mut self, server: &ServerId, user: &UserId, is_online: bool) -> bool {
        if self.0.len() >= TOLD_MAX {
            self.0.clear();
        }
        self.0.insert((server.clone(), user.clone()), is_online) != Some(is_online)
    }
}

/// Somebody with several connections comes online with the first and goes with the last. Renewals say nothing.
///
/// What counts is how it is now, which may be later than the change: somebody who came and went is not told to have come.
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
