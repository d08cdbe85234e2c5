//! Server lists with names, which memberships alone do not contain, and an overview of one server.
//!
//! One batch read joins each page of memberships with the items it refers to.

use std::collections::{BTreeMap, BTreeSet};

use keyform::Timestamp;
use keyform::flow::FlowError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::{Discord, Membership, MembershipRole, Server, ServerId, UserId, UsersByIdUser};
use crate::service::Service;
use crate::unread::Badge;

/// Request for a page of the caller's servers.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MyServers {
    /// Cursor of the previous page.
    pub cursor: Option<String>,
}

/// Identifies a server, and a page of its list.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OfServer {
    /// Id of the server.
    #[schemars(with = "String")]
    pub server_id: ServerId,
    /// Cursor of the previous page.
    pub cursor: Option<String>,
}

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Listed<T> {
    /// Items of the page.
    pub items: Vec<T>,
    /// Cursor of the next page.
    pub cursor: Option<String>,
}

/// A server of the caller.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MyServer {
    /// Id of the server.
    #[schemars(with = "String")]
    pub server_id: ServerId,
    /// Name of the server.
    pub name: String,
    /// URL of the icon.
    pub icon_url: Option<String>,
    /// Number of channels.
    pub channels: i64,
    /// Role of the caller.
    #[schemars(with = "String")]
    pub role: MembershipRole,
    /// Time of joining.
    #[schemars(with = "String")]
    pub joined_at: Timestamp,
}

/// A member of a server.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// Id of the user.
    #[schemars(with = "String")]
    pub user_id: UserId,
    /// Public name.
    pub username: String,
    /// URL of the avatar.
    pub avatar_url: Option<String>,
    /// Role in the server.
    #[schemars(with = "String")]
    pub role: MembershipRole,
    /// Time of joining.
    #[schemars(with = "String")]
    pub joined_at: Timestamp,
    /// True if a connection of the user listens to the server.
    pub online: bool,
}

/// Overview of a server.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Overview {
    /// The server itself.
    #[schemars(with = "Value")]
    pub server: Server,
    /// Role of the caller.
    #[schemars(with = "String")]
    pub role: MembershipRole,
    /// Channels with unread counts.
    pub channels: Vec<Badge>,
    /// Names of online members.
    pub online: Vec<String>,
}

impl Service {
    /// Returns a page of the caller's servers.
    ///
    /// # Errors
    /// The cursor belongs to another call, or the store fails.
    pub async fn list_my_servers(&self, user: &UserId, page: MyServers) -> Result<Listed<MyServer>, FlowError> {
        let discord = self.as_user(user);
        let page = discord.servers_of_user(user).after_any(page.cursor).await?;
        let ids: Vec<ServerId> = page.items.iter().map(|membership| membership.server_id.clone()).collect();
        let servers = if ids.is_empty() { Vec::new() } else { discord.servers_by_id(&ids).await? };
        let mut servers: BTreeMap<ServerId, _> =
            servers.into_iter().map(|server| (server.server_id.clone(), server)).collect();
        // A membership without its server is about to be deleted by the cascade.
        let joined = page.items.into_iter().filter_map(|membership| {
            let server = servers.remove(&membership.server_id)?;
            Some(MyServer {
                server_id: membership.server_id,
                name: server.name,
                icon_url: server.icon_url,
                channels: server.channels,
                role: membership.role,
                joined_at: membership.joined_at,
            })
        });
        Ok(Listed { items: joined.collect(), cursor: page.cursor })
    }

    /// Returns a page of a server's members with their names.
    ///
    /// # Errors
    /// [`FlowError::Forbidden`] for non-members.
    pub async fn list_members(&self, user: &UserId, of: OfServer) -> Result<Listed<Member>, FlowError> {
        let discord = self.as_user(user);
        let page = discord.members_of_server(&of.server_id).after_any(of.cursor).await?;
        let online = online(&discord, &of.server_id).await?;
        let ids: Vec<UserId> = page.items.iter().map(|membership| membership.user_id.clone()).collect();
        let mut users = users(&discord, &ids).await?;
        let named = page.items.into_iter().filter_map(|membership| {
            let user = users.remove(&membership.user_id)?;
            Some(member(membership, user, &online))
        });
        Ok(Listed { items: named.collect(), cursor: page.cursor })
    }

    /// Returns an overview of a server: its channels with unread counts, and the online members.
    ///
    /// # Errors
    /// [`FlowError::Forbidden`] for non-members.
    pub async fn server_overview(&self, user: &UserId, server_id: &ServerId) -> Result<Overview, FlowError> {
        let discord = self.as_user(user);
        let unknown = || FlowError::refused("UnknownServer", "this server no longer exists");
        let server = discord.server_by_id(server_id).await?.ok_or_else(unknown)?;
        let membership = discord.membership(user, server_id).await?.ok_or(FlowError::Forbidden)?;
        let channels = self.badges_of(user, &membership).await?;
        let online: Vec<UserId> = online(&discord, server_id).await?.into_iter().collect();
        let mut names: Vec<String> = users(&discord, &online).await?.into_values().map(|user| user.username).collect();
        names.sort();
        Ok(Overview { server, role: membership.role, channels, online: names })
    }
}

fn member(membership: Membership, user: UsersByIdUser, online: &BTreeSet<UserId>) -> Member {
    Member {
        online: online.contains(&membership.user_id),
        user_id: membership.user_id,
        username: user.username,
        avatar_url: user.avatar_url,
        role: membership.role,
        joined_at: membership.joined_at,
    }
}

/// Returns the online users of a server, each once.
async fn online(discord: &Discord, server: &ServerId) -> Result<BTreeSet<UserId>, FlowError> {
    let rows = discord.online_in_server(server).all().await?;
    Ok(rows.into_iter().map(|row| row.user_id).collect())
}

/// Reads users by id, in batches of the maximum size of a read.
async fn users(discord: &Discord, ids: &[UserId]) -> Result<BTreeMap<UserId, UsersByIdUser>, FlowError> {
    let mut users = BTreeMap::new();
    for ids in ids.chunks(100) {
        let found = discord.users_by_id(ids).await?;
        users.extend(found.into_iter().map(|user| (user.user_id.clone(), user)));
    }
    Ok(users)
}
