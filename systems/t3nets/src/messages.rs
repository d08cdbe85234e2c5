//! Determines the tenant and the user of a message from a channel.
//!
//! ```text
//! channel ── its owner ── tenant, which must be active ── who writes under that name ── user, or a guest
//! ```
//!
//! A sender whom the tenant does not know is a *guest*: its id is derived from the name in the channel, and nothing is
//! stored. A guest can only talk to the assistant.

use std::time::Duration;

use keyform::flow::{FlowError, Host};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::channels::{self, Channel, ChannelType};
use crate::model::{T3nets, TenantId, TenantStatus, User, UserId, UserRole};

/// Time for which the program that received a message can act as its sender.
const TOKEN_LIFETIME: Duration = Duration::from_secs(15 * 60);

/// Number of hash digits in the id of a guest.
const GUEST_DIGITS: usize = 32;

/// Origin of a message.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Incoming {
    /// Kind of the channel.
    #[schemars(with = "String")]
    pub channel_type: ChannelType,
    /// Id of the channel in the message.
    pub channel_id: String,
    /// Id of the sender in the channel.
    pub sender_id: String,
    /// Name of the sender in the channel, used for guests.
    pub sender_name: Option<String>,
}

/// Sender of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Resolved {
    /// Id of the tenant.
    #[schemars(with = "String")]
    pub tenant_id: TenantId,
    /// Id of the user or guest.
    #[schemars(with = "String")]
    pub user_id: UserId,
    /// Display name.
    pub display_name: String,
    /// Role in the tenant; absent for guests.
    #[schemars(with = "Option<String>")]
    pub role: Option<UserRole>,
    /// True if the sender is not a user of the tenant.
    pub guest: bool,
    /// Token of the sender, valid for a quarter of an hour; absent if another service issues tokens.
    pub token: Option<String>,
}

/// Resolves the tenant and user of a message. The caller must be an operator.
///
/// # Errors
/// `UnknownChannel` if no tenant owns the channel, `TenantNotActive` if its tenant is suspended or onboarding.
pub async fn resolve(t3nets: &T3nets, host: &Host, message: &Incoming) -> Result<Resolved, FlowError> {
    let channel = Channel::new(message.channel_type, message.channel_id.as_str());
    let unknown = || FlowError::refused("UnknownChannel", "no tenant owns this channel");
    let tenant_id = channels::owner(t3nets, &channel).await?.ok_or_else(unknown)?;
    let tenant = t3nets.tenant_by_id(&tenant_id).await?.ok_or_else(unknown)?;
    if tenant.status != TenantStatus::Active {
        return Err(FlowError::refused("TenantNotActive", format!("the tenant is {}", tenant.status)));
    }
    let sender = channels::sender_name(message.channel_type, &message.sender_id);
    let resolved = match user_by_identity(t3nets, &tenant_id, message.channel_type, &sender).await? {
        Some(user) => known(user),
        None => guest(tenant_id, message, &sender)?,
    };
    Ok(Resolved { token: token(host, &resolved), ..resolved })
}

/// Returns the user with an identity in a channel.
///
/// # Errors
/// The store fails, or the sender is empty.
pub async fn user_by_identity(
    t3nets: &T3nets,
    tenant: &TenantId,
    channel_type: ChannelType,
    sender: &str,
) -> Result<Option<User>, FlowError> {
    if sender.is_empty() {
        return Err(FlowError::Arguments("sender_id: the message has no sender".to_owned()));
    }
    let kind = channels::kind_of_identity(channel_type)?;
    match t3nets.identity(tenant, kind, sender).await? {
        Some(identity) => Ok(t3nets.user_by_id(tenant, &identity.user_id).await?),
        None => Ok(None),
    }
}

fn known(user: User) -> Resolved {
    Resolved {
        tenant_id: user.tenant_id,
        user_id: user.user_id,
        display_name: user.display_name,
        role: Some(user.role),
        guest: false,
        token: None,
    }
}

/// Creates a guest whose id is derived from the name in the channel.
fn guest(tenant_id: TenantId, message: &Incoming, sender: &str) -> Result<Resolved, FlowError> {
    let hash = channels::hashed(&format!("{}#{sender}", message.channel_type));
    let digits: String = hash.chars().skip("sha256.".len()).take(GUEST_DIGITS).collect();
    let user_id = UserId::new(format!("guest-{digits}")).map_err(|wrong| FlowError::Broken(wrong.to_string()))?;
    let display_name = message.sender_name.clone().unwrap_or_else(|| sender.to_owned());
    Ok(Resolved { tenant_id, user_id, display_name, role: None, guest: true, token: None })
}

fn token(host: &Host, resolved: &Resolved) -> Option<String> {
    let mut claims: Map<String, Value> = Map::new();
    claims.insert("tenant_id".to_owned(), Value::from(resolved.tenant_id.as_str()));
    claims.insert("user_id".to_owned(), Value::from(resolved.user_id.as_str()));
    if resolved.guest {
        claims.insert("guest".to_owned(), Value::from(true));
    }
    host.issue_token(claims, TOKEN_LIFETIME)
}
