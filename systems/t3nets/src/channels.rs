//! Channels, each owned by one tenant.
//!
//! Channel ids come from external systems and may be secrets: a bot's token is the only identifier in a message of its
//! channel. Secret ids are hashed before they become keys, so that readers of the table cannot act as the bot.

use keyform::CallError;
use keyform::flow::FlowError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::model::{
    ChannelMapping, ChannelMappingChannelType, ChannelOwnerChannelType, ClaimChannelError, IdentityChannelType,
    ReleaseChannelError, T3nets, TenantId,
};

/// Kind of channel.
pub type ChannelType = ChannelOwnerChannelType;

/// Number of consecutive letters and digits from which text is treated as a secret.
const SECRET_LETTERS_MIN: usize = 30;

/// A channel of a messaging service.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Channel {
    /// Kind of the channel.
    #[schemars(with = "String")]
    pub channel_type: ChannelType,
    /// Id in incoming messages: of an app, of a phone number, or the token of a bot.
    pub channel_id: String,
}

/// A channel as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Connected {
    /// Kind of the channel.
    #[schemars(with = "String")]
    pub channel_type: ChannelMappingChannelType,
    /// Id of the channel, or its hash.
    pub channel_id: String,
}

impl From<ChannelMapping> for Connected {
    fn from(mapping: ChannelMapping) -> Self {
        Self { channel_type: mapping.channel_type, channel_id: mapping.channel_id }
    }
}

impl Channel {
    /// Creates a reference to a channel.
    pub fn new(channel_type: ChannelType, channel_id: impl Into<String>) -> Self {
        Self { channel_type, channel_id: channel_id.into() }
    }

    /// Returns the stored form of the id: trimmed, and hashed if it is a secret.
    #[must_use]
    pub fn stored_id(&self) -> String {
        let id = self.channel_id.trim();
        if is_secret(self.channel_type, id) { hashed(id) } else { id.to_owned() }
    }
}

/// Returns whether an id is a secret. The token of a Telegram bot is a number, a colon and its secret; Slack tokens
/// begin with `xox`.
fn is_secret(channel_type: ChannelType, id: &str) -> bool {
    let secret = match channel_type {
        ChannelType::Telegram => id.split_once(':').map(|(_, secret)| secret),
        ChannelType::Slack => id.strip_prefix("xox"),
        ChannelType::Api => Some(id),
        ChannelType::Dashboard | ChannelType::Teams | ChannelType::Whatsapp => None,
    };
    let letters = |text: &str| text.bytes().filter(u8::is_ascii_alphanumeric).count();
    secret.is_some_and(|secret| letters(secret) >= SECRET_LETTERS_MIN)
}

/// Returns the hash of a secret in text form.
pub(crate) fn hashed(text: &str) -> String {
    format!("sha256.{}", hex::encode(Sha256::digest(text.as_bytes())))
}

/// Claims a channel for the caller's tenant. A channel that the tenant already owns stays unchanged.
///
/// # Errors
/// [`ClaimChannelError::ChannelTaken`] if another tenant owns it.
pub async fn connect(t3nets: &T3nets, own: &TenantId, channel: &Channel) -> Result<Connected, ClaimChannelError> {
    let id = channel.stored_id();
    match t3nets.claim_channel(channel.channel_type, &id).await {
        Err(ClaimChannelError::ChannelTaken) => {
            let mine = t3nets.channels_of_tenant(own).all().await?;
            let same = |mapping: &ChannelMapping| {
                mapping.channel_id == id && mapping.channel_type.as_str() == channel.channel_type.as_str()
            };
            mine.into_iter().find(same).map(Connected::from).ok_or(ClaimChannelError::ChannelTaken)
        }
        claimed => Ok(claimed?.into()),
    }
}

/// Releases a channel of the caller's tenant.
///
/// # Errors
/// [`ReleaseChannelError::NotYours`] if the tenant does not own it.
pub async fn disconnect(t3nets: &T3nets, channel: &Channel) -> Result<(), ReleaseChannelError> {
    t3nets.release_channel(channel.channel_type, &channel.stored_id()).await
}

/// Returns the current owner of a channel.
///
/// # Errors
/// The read fails.
pub async fn owner(t3nets: &T3nets, channel: &Channel) -> Result<Option<TenantId>, CallError> {
    let owner = t3nets.tenant_of_channel(channel.channel_type, &channel.stored_id()).await?;
    Ok(owner.map(|owner| owner.tenant_id))
}

/// Returns the stored form of a sender's name. Phone numbers have many spellings, so WhatsApp numbers are reduced to
/// digits.
#[must_use]
pub fn sender_name(channel_type: ChannelType, sender: &str) -> String {
    match channel_type {
        ChannelType::Whatsapp => sender.chars().filter(char::is_ascii_digit).collect(),
        _ => sender.trim().to_owned(),
    }
}

/// Converts the kind of a channel to the type that identities use.
pub(crate) fn kind_of_identity(channel_type: ChannelType) -> Result<IdentityChannelType, FlowError> {
    channel_type.as_str().parse().map_err(|wrong| FlowError::Broken(format!("{wrong}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_are_secrets_are_hashed_and_others_are_not() {
        let bot = Channel::new(ChannelType::Telegram, "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw");
        assert_eq!((bot.stored_id().len(), &bot.stored_id()[..7]), (71, "sha256."));
        for (kind, id) in [
            (ChannelType::Telegram, "110201543"),
            (ChannelType::Teams, "19:0123456789abcdef0123456789abcdef@thread.tacv2"),
            (ChannelType::Slack, "T0123ABC"),
            (ChannelType::Whatsapp, "15550001111"),
        ] {
            assert_eq!(Channel::new(kind, format!(" {id} ")).stored_id(), id);
        }
    }

    #[test]
    fn phone_numbers_are_their_digits() {
        assert_eq!(sender_name(ChannelType::Whatsapp, "+1 (555) 000-1111"), "15550001111");
        assert_eq!(sender_name(ChannelType::Slack, " U1 "), "U1");
    }
}
