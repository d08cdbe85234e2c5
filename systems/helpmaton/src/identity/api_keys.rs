//! API keys: shown once when created, recognized by their hash.

use keyform::application::Application;
use keyform::flow::{FlowCall, FlowError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::sessions::ACCESS_SECS;
use crate::Helpmaton;
use crate::limits;
use crate::model::{AgentKeyId, CreateApiKeyError, CreateApiKeyInput, User, UserApiKey, UserId};
use crate::secrets::{API_KEY_PREFIX, Minted, is_well_formed, lookup_hash};

/// A new API key, which is shown only this once.
#[derive(Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewApiKey {
    /// Id of the key, for deleting it.
    pub key_id: String,
    /// The key itself.
    pub key: String,
    /// Beginning of the key, as shown in lists.
    pub key_prefix: String,
    /// Purpose of the key.
    pub name: Option<String>,
}

impl std::fmt::Debug for NewApiKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewApiKey").field("key_id", &self.key_id).finish_non_exhaustive()
    }
}

impl Helpmaton {
    /// Creates a key. `key` is the idempotency key of the call. A key is shown only once, so a repeated call is
    /// refused.
    ///
    /// # Errors
    /// Refused with `UnknownUser` or `KeyExists`, or the store fails.
    pub async fn make_api_key(
        &self,
        user: &UserId,
        name: Option<&str>,
        key: Option<&str>,
    ) -> Result<NewApiKey, FlowError> {
        let secret = Minted::new(API_KEY_PREFIX, &*self.world());
        let kept = self.settings().hashing.keep(&secret, &*self.world()).await?;
        let key_id: AgentKeyId = self.id_for(key, "api key");
        let input = CreateApiKeyInput {
            key_id: Some(key_id.clone()),
            name: name.map(str::to_owned),
            ..CreateApiKeyInput::new(user.clone(), kept.hash, kept.salt, kept.lookup_hash, secret.shown())
        };
        match self.model.create_api_key(input).await {
            Ok(_) => Ok(NewApiKey {
                key_id: key_id.to_string(),
                key: secret.reveal().to_owned(),
                key_prefix: secret.shown(),
                name: name.map(str::to_owned),
            }),
            Err(CreateApiKeyError::KeyExists) => Err(FlowError::refused(
                "KeyExists",
                "a previous attempt of this call has created a key, which is shown only once: delete it, and create \
                another",
            )),
            Err(other) => Err(other.into()),
        }
    }

    /// Returns the user of a key. The use is recorded every few minutes; a failure to record it does not matter.
    ///
    /// # Errors
    /// Refused with `InvalidKey`, or the store fails.
    pub async fn user_of_api_key(&self, text: &str) -> Result<User, FlowError> {
        let invalid = || FlowError::refused("InvalidKey", "unknown key");
        let key = self.find_api_key(text).await?.ok_or_else(invalid)?;
        let user = self.model.user_by_id(&key.user_id).await?.ok_or_else(invalid)?;
        if let Err(error) = self.model.touch_api_key(&key.user_id, &key.key_id).await {
            tracing::debug!("cannot record the use of a key: {error}");
        }
        Ok(user)
    }

    /// Finds a key: the index returns a candidate, the item confirms it, and scrypt verifies it.
    async fn find_api_key(&self, text: &str) -> Result<Option<UserApiKey>, FlowError> {
        if !is_well_formed(text, API_KEY_PREFIX) {
            return Ok(None);
        }
        let hash = lookup_hash(text);
        let found = self.look_again(|| self.model.api_key_by_hash(&hash)).await?;
        let Some(found) = found else { return Ok(None) };
        let Some(key) = self.model.api_key(&found.user_id, &found.key_id).await? else { return Ok(None) };
        let proved = self.settings().hashing.proves(text, key.key_hash.expose(), key.key_salt.expose()).await?;
        Ok(proved.then_some(key))
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MakeKey {
    /// Purpose of the key.
    name: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct UseKey {
    /// An API key of the caller.
    api_key: String,
}

/// An access token without a session, since a key needs no refresh token.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Access {
    /// Access token for the header `Authorization: Bearer …`.
    access_token: String,
    /// Lifetime in seconds.
    expires_in: u64,
    /// Owner of the key.
    user_id: String,
}

async fn make(system: Helpmaton, call: FlowCall<MakeKey>) -> Result<NewApiKey, FlowError> {
    let (caller, _) = system.as_caller(&call.caller)?;
    system.make_api_key(&caller.user_id, call.arguments.name.as_deref(), call.token.as_deref()).await
}

async fn exchange(system: Helpmaton, call: FlowCall<UseKey>) -> Result<Access, FlowError> {
    system.attempt(&limits::KEY, call.client, None)?;
    let user = system.user_of_api_key(&call.arguments.api_key).await?;
    Ok(Access { access_token: system.access_token(&user)?, expires_in: ACCESS_SECS, user_id: user.id.to_string() })
}

pub(super) fn flows(application: Application, helpmaton: &Helpmaton) -> Application {
    application
        .flow(
            helpmaton
                .flow("makeApiKey", "Creates an API key of the caller. Returns the key only this once.", make)
                .outcomes(&["UnknownUser", "KeyExists"]),
        )
        .flow(
            helpmaton
                .flow("tokenForApiKey", "Returns an access token for the owner of an API key.", exchange)
                .public()
                .outcomes(&["InvalidKey"]),
        )
}
