//! Unread badges: number of unread messages of others, per channel.
//!
//! A channel without a read mark counts from the time the user joined the server. Counting stops at a hundred: a badge
//! displays "99+", and a channel with a million messages costs no more than one with a hundred.

use std::collections::BTreeMap;

use keyform::flow::FlowError;
use keyform::{CallError, EpochMs, Ulid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{Channel, ChannelId, Discord, LastRead, Membership, ServerId, UserId};
use crate::service::Service;

/// Selects the badges to return.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Badges {
    /// Limits the badges to one server; by default all servers of the caller.
    #[schemars(with = "Option<String>")]
    pub server_id: Option<ServerId>,
}

/// Unread messages of a channel.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Badge {
    /// Id of the server.
    #[schemars(with = "String")]
    pub server_id: ServerId,
    /// Id of the channel.
    #[schemars(with = "String")]
    pub channel_id: ChannelId,
    /// Name of the channel.
    pub name: String,
    /// Topic of the channel.
    pub topic: Option<String>,
    /// Unread messages by others, at most a hundred.
    pub unread: usize,
    /// True if there are more.
    pub more: bool,
}

/// Smallest ULID.
const FIRST: &str = "00000000000000000000000000";

impl Service {
    /// Returns the badges of one server, or of all servers of the caller.
    ///
    /// # Errors
    /// [`FlowError::Forbidden`] for a server that the caller is not a member of.
    pub async fn unread_badges(&self, user: &UserId, which: Badges) -> Result<Vec<Badge>, FlowError> {
        let discord = self.as_user(user);
        let memberships = match which.server_id {
            Some(server) => vec![discord.membership(user, &server).await?.ok_or(FlowError::Forbidden)?],
            None => discord.servers_of_user(user).all().await?,
        };
        let mut badges = Vec::new();
        for membership in &memberships {
            badges.extend(self.badges_of(user, membership).await?);
        }
        Ok(badges)
    }

    /// Returns the badges of a membership: reads all read marks of the user, then counts per channel.
    pub(crate) async fn badges_of(&self, user: &UserId, membership: &Membership) -> Result<Vec<Badge>, FlowError> {
        let discord = self.as_user(user);
        let marks = discord.last_reads(user).all().await?;
        let marks: BTreeMap<ChannelId, LastRead> =
            marks.into_iter().map(|mark| (mark.channel_id.clone(), mark)).collect();
        let mut badges = Vec::new();
        for channel in discord.channels_of_server(&membership.server_id).all().await? {
            badges.push(badge(&discord, channel, &marks, membership).await?);
        }
        Ok(badges)
    }
}

async fn badge(
    discord: &Discord,
    channel: Channel,
    marks: &BTreeMap<ChannelId, LastRead>,
    membership: &Membership,
) -> Result<Badge, FlowError> {
    let (after, last) = match marks.get(&channel.channel_id) {
        Some(mark) => (mark.last_read_timestamp, mark.last_read_message_id.clone()),
        None => (EpochMs::from(membership.joined_at), first()?),
    };
    let page = discord.unread_messages(&channel.channel_id, after, &last).await?;
    Ok(Badge {
        server_id: channel.server_id,
        channel_id: channel.channel_id,
        name: channel.name,
        topic: channel.topic,
        unread: page.items.len(),
        more: page.cursor.is_some(),
    })
}

fn first() -> Result<Ulid, CallError> {
    Ulid::new(FIRST).map_err(|error| CallError::Arguments(error.to_string()))
}
