//! Audience of an event, and its connections.

use keyform::CallError;

use crate::model::{ChannelId, ConnectionId, Discord, ServerId, UserId};

/// Audience of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Listeners of a channel.
    Channel(ChannelId),
    /// Listeners of any channel of a server.
    Server(ServerId),
    /// Listeners of a server, and one user on all their connections.
    ServerAnd(ServerId, UserId),
}

/// Row of a connection, with the key for deleting it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Row {
    pub(super) connection: ConnectionId,
    pub(super) channel: ChannelId,
    pub(super) user: UserId,
}

impl Audience {
    /// Returns the rows of the audience's connections, sorted, so that rows of a connection are adjacent.
    pub(super) async fn rows(&self, discord: &Discord) -> Result<Vec<Row>, CallError> {
        let mut rows = match self {
            Self::Channel(channel) => in_channel(discord, channel).await?,
            Self::Server(server) => in_server(discord, server).await?,
            Self::ServerAnd(server, user) => {
                let mut rows = in_server(discord, server).await?;
                let own = discord.connections_of_user(user).all().await?;
                rows.extend(own.into_iter().map(|row| Row::new(row.connection_id, row.channel_id, row.user_id)));
                rows
            }
        };
        rows.sort();
        rows.dedup();
        Ok(rows)
    }
}

impl Row {
    fn new(connection: ConnectionId, channel: ChannelId, user: UserId) -> Self {
        Self { connection, channel, user }
    }
}

async fn in_channel(discord: &Discord, channel: &ChannelId) -> Result<Vec<Row>, CallError> {
    let rows = discord.connections_in_channel(channel).all().await?;
    Ok(rows.into_iter().map(|row| Row::new(row.connection_id, row.channel_id, row.user_id)).collect())
}

async fn in_server(discord: &Discord, server: &ServerId) -> Result<Vec<Row>, CallError> {
    let rows = discord.online_in_server(server).all().await?;
    Ok(rows.into_iter().map(|row| Row::new(row.connection_id, row.channel_id, row.user_id)).collect())
}
