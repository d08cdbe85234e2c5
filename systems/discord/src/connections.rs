//! Connections: listening to a channel, renewal, closing, and receiving events.
//!
//! A connection has rows in the table (its channels, for the fan-out; its user and server, for presence) and a mailbox
//! in the process that opened it. Rows expire after ten minutes unless renewed. A connection whose mailbox is not
//! emptied is considered gone, and loses its rows at the next delivery.

use std::time::Duration;

use keyform::flow::FlowError;
use keyform::{Epoch, Ulid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::account::derived;
use crate::gateway::{Event, Numbered};
use crate::model::{
    ChannelId, ConnectError, Connection, ConnectionId, HeartbeatError, Presence, StopListeningError, UserId,
};
use crate::service::Service;

/// Renewal interval of a connection; well below the ten minutes until it expires.
pub const HEARTBEAT_EVERY: Duration = Duration::from_secs(240);
/// Maximum time that a call waits for events.
const WAIT_SECS_MAX: u64 = 20;

/// Identifies the channel to listen to.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OfChannel {
    /// Id of the channel.
    #[schemars(with = "String")]
    pub channel_id: ChannelId,
}

/// Identifies a connection of the caller.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OfConnection {
    /// Id of the connection.
    #[schemars(with = "String")]
    pub connection_id: ConnectionId,
}

/// Request for the next events of a connection.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Hear {
    /// Id of the connection.
    #[schemars(with = "String")]
    pub connection_id: ConnectionId,
    /// Number of the last event received; it and earlier ones are not delivered again.
    #[serde(default)]
    pub after: u64,
    /// Seconds to wait for an event, at most 20.
    #[serde(default)]
    pub wait_seconds: u64,
}

/// State of a connection.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Listening {
    /// Id of the connection.
    #[schemars(with = "String")]
    pub connection_id: ConnectionId,
    /// Channels of the connection.
    #[schemars(with = "Vec<String>")]
    pub channel_ids: Vec<ChannelId>,
    /// Expiry, unless a heartbeat renews it.
    #[schemars(with = "i64")]
    pub expires_at: Epoch,
    /// Interval between heartbeats.
    pub heartbeat_seconds: u64,
}

/// Events of a connection.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Heard {
    /// Events, ordered by number.
    #[schemars(with = "Vec<Value>")]
    pub events: Vec<Numbered>,
}

impl Service {
    /// Starts listening to a channel: from now on events of it and of its server are queued for the connection. With an
    /// idempotency token, a repeated call returns the same connection.
    ///
    /// # Errors
    /// `UnknownChannel`, and [`FlowError::Forbidden`] for non-members of the server.
    pub async fn open_connection(
        &self,
        user: &UserId,
        channel: &ChannelId,
        token: Option<&str>,
    ) -> Result<Listening, FlowError> {
        let name = token.map_or_else(|| self.world().token(16), |token| derived(&[token]));
        let connection = self.mailboxes.name(&name).map_err(|error| FlowError::Broken(error.to_string()))?;
        // Open the feed before the mailbox, and the mailbox before the rows, so that no later event is missed.
        self.gateway.start().await.map_err(|error| FlowError::Broken(error.to_string()))?;
        self.mailboxes.open(&connection, user);
        match self.as_user(user).connect(&connection, channel).await {
            Ok(row) => Ok(listening(&connection, vec![row.channel_id], row.ttl)),
            Err(ConnectError::AlreadyConnected) => self.keep_connected(user, &connection).await,
            Err(error) => {
                self.mailboxes.close(&connection);
                Err(error.into())
            }
        }
    }

    /// Renews a connection in all its channels. Ends it in channels of servers that the user has left.
    ///
    /// # Errors
    /// `NotConnected` if nothing of it is left: open another one.
    pub async fn keep_connected(&self, user: &UserId, connection: &ConnectionId) -> Result<Listening, FlowError> {
        let discord = self.as_user(user);
        let mut kept: Vec<Connection> = Vec::new();
        for row in self.rows(user, connection).await? {
            let server = Ulid::from(row.server_id);
            match discord.heartbeat(connection, &row.channel_id, &server).await {
                Ok(row) => kept.push(row),
                Err(HeartbeatError::NotConnected) => {}
                Err(HeartbeatError::Failed(keyform::CallError::Forbidden)) => {
                    self.drop_row(user, connection, &row.channel_id).await?
                }
                Err(error) => return Err(error.into()),
            }
        }
        self.mailboxes.touch(connection, user);
        let expires = kept.iter().map(|row| row.ttl).min().ok_or_else(not_connected)?;
        Ok(listening(connection, kept.into_iter().map(|row| row.channel_id).collect(), expires))
    }

    /// Closes a connection of the caller in all its channels. Closing it again has no effect.
    ///
    /// # Errors
    /// The store fails.
    pub async fn close_connection(&self, user: &UserId, connection: &ConnectionId) -> Result<(), FlowError> {
        for row in self.rows(user, connection).await? {
            self.drop_row(user, connection, &row.channel_id).await?;
        }
        self.mailboxes.close_own(connection, user);
        Ok(())
    }

    /// Returns the events since the last call, or waits for one. Events that the next call's `after` does not confirm
    /// are returned again.
    ///
    /// # Errors
    /// `NotConnected` if this process has no such connection of the user: open another one, and read what was missed.
    pub async fn next_events(&self, user: &UserId, hear: Hear) -> Result<Heard, FlowError> {
        let wait = Duration::from_secs(hear.wait_seconds.min(WAIT_SECS_MAX));
        let events = self.mailboxes.take(&hear.connection_id, user, hear.after, wait).await;
        events.map(|events| Heard { events }).ok_or_else(not_connected)
    }

    /// Sends a typing event to the listeners of a channel. Nothing is stored: it reaches only connections of the same
    /// process. Clients send it every second or two, and display it for three.
    ///
    /// # Errors
    /// [`FlowError::Forbidden`] for non-members of the server, and `UnknownUser` after the account was deleted.
    pub async fn typing(&self, user: &UserId, channel: &ChannelId) -> Result<(), FlowError> {
        let me = self.me(user).await?;
        let listeners = self.as_user(user).connections_in_channel(channel).all().await?;
        let event = Event::typing(self.world().now_millis(), channel, &me);
        let others = listeners.iter().filter(|row| row.user_id != *user);
        others.for_each(|row| self.mailboxes.whisper(&row.connection_id, &event));
        Ok(())
    }

    /// Returns the rows of a connection, if it belongs to the user.
    async fn rows(&self, user: &UserId, connection: &ConnectionId) -> Result<Vec<Presence>, FlowError> {
        let rows = self.as_user(user).connections_of_user(user).all().await?;
        Ok(rows.into_iter().filter(|row| row.connection_id == *connection).collect())
    }

    async fn drop_row(&self, user: &UserId, connection: &ConnectionId, channel: &ChannelId) -> Result<(), FlowError> {
        match self.as_user(user).stop_listening(connection, channel).await {
            Ok(()) | Err(StopListeningError::NotConnected) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

fn listening(connection: &ConnectionId, channel_ids: Vec<ChannelId>, expires_at: Epoch) -> Listening {
    let heartbeat_seconds = HEARTBEAT_EVERY.as_secs();
    Listening { connection_id: connection.clone(), channel_ids, expires_at, heartbeat_seconds }
}

fn not_connected() -> FlowError {
    FlowError::refused("NotConnected", "this connection has ended: open another one, and read the missed messages")
}
