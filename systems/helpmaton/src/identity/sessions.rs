//! Sessions: an access token for an hour, and a single-use refresh token.
//!
//! ```text
//! sign-in ──▶ family, token 1 ──refresh──▶ token 2 ──refresh──▶ token 3
//!                      └──── used again: the family ends, and tokens 2 and 3 with it
//! ```
//!
//! The one exception is a call that is repeated with its idempotency key because its answer was lost: it continues from
//! the token that it created itself.

use std::time::Duration;

use keyform::Uuid;
use keyform::application::Application;
use keyform::flow::{FlowCall, FlowError};
use keyform::runtime::run::RunError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Helpmaton;
use crate::limits;
use crate::model::{
    CreateRefreshTokenInput, RefreshToken, RefreshTokenId, RotateRefreshTokenError, RotateRefreshTokenInput, User,
};
use crate::secrets::{Minted, REFRESH_TOKEN_PREFIX, is_well_formed, lookup_hash};

/// Lifetime of an access token in seconds.
pub const ACCESS_SECS: u64 = 3600;
/// `iss` claim of access tokens.
pub const ISSUER: &str = "helpmaton";
/// `aud` claim of access tokens.
pub const AUDIENCE: &str = "helpmaton-api";
/// Maximum repetitions of one call with its key.
const REPEATS_MAX: u32 = 8;

/// Tokens of a session, returned by signing in and refreshing.
#[derive(Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// Access token for the header `Authorization: Bearer …`.
    pub access_token: String,
    /// Refresh token, which can be used once.
    pub refresh_token: String,
    /// Lifetime of the access token in seconds.
    pub expires_in: u64,
    /// Id of the user.
    pub user_id: String,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("user_id", &self.user_id).finish_non_exhaustive()
    }
}

impl Helpmaton {
    /// Starts a session with a new family of refresh tokens.
    ///
    /// # Errors
    /// The user does not exist, the host issues no tokens, or the store fails.
    pub async fn start_session(&self, user: &User) -> Result<Session, FlowError> {
        let token = Minted::new(REFRESH_TOKEN_PREFIX, &*self.world());
        let kept = self.settings().hashing.keep(&token, &*self.world()).await?;
        let input = CreateRefreshTokenInput {
            token_id: Some(self.fresh_id()),
            ..CreateRefreshTokenInput::new(user.id.clone(), self.fresh_id(), kept.hash, kept.salt, kept.lookup_hash)
        };
        self.model.create_refresh_token(input).await?;
        self.session(user, &token)
    }

    /// Exchanges a refresh token for a new session. `key` is the idempotency key of the call.
    ///
    /// # Errors
    /// Refused with `UnknownToken`, `TokenExpired`, `FamilyRevoked`, or `TokenReused`, which ends the family; or the
    /// store fails.
    pub async fn refresh(&self, token: &str, key: Option<&str>) -> Result<Session, FlowError> {
        let mut used = self.find_refresh_token(token).await?.ok_or_else(unknown_token)?;
        for repeat in 0..REPEATS_MAX {
            let next: RefreshTokenId = self.id_for(key, &format!("refresh token {repeat}"));
            if used.revoked_at.is_none() {
                return self.rotate(&used, next).await;
            }
            if used.replaced_by != Some(Uuid::from(next.clone())) {
                break;
            }
            // The same call created that token, and its answer was lost.
            used = self.model.refresh_token(&used.user_id, &next).await?.ok_or_else(unknown_token)?;
        }
        Err(self.end_family(&used).await?)
    }

    async fn rotate(&self, used: &RefreshToken, next: RefreshTokenId) -> Result<Session, FlowError> {
        let user = self.model.user_by_id(&used.user_id).await?.ok_or_else(unknown_token)?;
        let token = Minted::new(REFRESH_TOKEN_PREFIX, &*self.world());
        let kept = self.settings().hashing.keep(&token, &*self.world()).await?;
        let input = RotateRefreshTokenInput {
            user_id: used.user_id.clone(),
            used_token_id: used.token_id.clone(),
            token_id: next,
            token_hash: kept.hash,
            token_salt: kept.salt,
            token_lookup_hash: kept.lookup_hash,
        };
        match self.model.rotate_refresh_token(input).await {
            Ok(_) => self.session(&user, &token),
            Err(RotateRefreshTokenError::TokenReused) => Err(self.end_family(used).await?),
            Err(other) => Err(other.into()),
        }
    }

    /// Ends the family of a token that was used twice; returns the refusal.
    async fn end_family(&self, used: &RefreshToken) -> Result<FlowError, FlowError> {
        self.model.revoke_family(&used.user_id, &used.family_id).await?;
        Ok(FlowError::refused("TokenReused", "the token was already used: sign in again"))
    }

    /// Ends the session of a refresh token; an unknown token has no effect.
    ///
    /// # Errors
    /// The store fails.
    pub async fn sign_out(&self, token: &str) -> Result<(), FlowError> {
        if let Some(token) = self.find_refresh_token(token).await? {
            self.model.revoke_family(&token.user_id, &token.family_id).await?;
        }
        Ok(())
    }

    /// Finds a token: the index returns a candidate, the item confirms it, and scrypt verifies it.
    async fn find_refresh_token(&self, text: &str) -> Result<Option<RefreshToken>, FlowError> {
        if !is_well_formed(text, REFRESH_TOKEN_PREFIX) {
            return Ok(None);
        }
        let hash = lookup_hash(text);
        let found = self.look_again(|| self.model.refresh_token_by_hash(&hash)).await?;
        let Some(found) = found else { return Ok(None) };
        let Some(token) = self.model.refresh_token(&found.user_id, &found.token_id).await? else { return Ok(None) };
        let proved = self.settings().hashing.proves(text, token.token_hash.expose(), token.token_salt.expose()).await?;
        Ok(proved.then_some(token))
    }

    fn session(&self, user: &User, refresh_token: &Minted) -> Result<Session, FlowError> {
        Ok(Session {
            access_token: self.access_token(user)?,
            refresh_token: refresh_token.reveal().to_owned(),
            expires_in: ACCESS_SECS,
            user_id: user.id.to_string(),
        })
    }

    /// Issues an access token for a user, valid for an hour.
    ///
    /// # Errors
    /// The host has only public keys, because an external issuer signs the tokens.
    pub fn access_token(&self, user: &User) -> Result<String, FlowError> {
        let claims: Map<String, Value> = [
            ("iss".to_owned(), ISSUER.into()),
            ("aud".to_owned(), AUDIENCE.into()),
            ("sub".to_owned(), user.id.as_str().into()),
            ("userId".to_owned(), user.id.as_str().into()),
            ("email".to_owned(), user.email.as_str().into()),
        ]
        .into_iter()
        .collect();
        let issued = self.host().issue_token(claims, Duration::from_secs(ACCESS_SECS));
        let why = || RunError::NotRunnable("the server has no secret to sign tokens: configure one".to_owned());
        issued.ok_or_else(|| FlowError::Failed(why()))
    }
}

fn unknown_token() -> FlowError {
    FlowError::refused("UnknownToken", "unknown refresh token: sign in")
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Refresh {
    /// Refresh token of the last sign-in or refresh.
    refresh_token: String,
}

/// Result of signing out.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SignedOut {
    /// Always true.
    signed_out: bool,
}

async fn refresh(system: Helpmaton, call: FlowCall<Refresh>) -> Result<Session, FlowError> {
    system.attempt(&limits::KEY, call.client, None)?;
    system.refresh(&call.arguments.refresh_token, call.token.as_deref()).await
}

async fn sign_out(system: Helpmaton, call: FlowCall<Refresh>) -> Result<SignedOut, FlowError> {
    system.attempt(&limits::KEY, call.client, None)?;
    system.sign_out(&call.arguments.refresh_token).await?;
    Ok(SignedOut { signed_out: true })
}

pub(super) fn flows(application: Application, helpmaton: &Helpmaton) -> Application {
    application
        .flow(
            helpmaton
                .flow("refresh", "Exchanges a refresh token, which can be used once, for a new session.", refresh)
                .public()
                .outcomes(&["UnknownToken", "TokenExpired", "TokenReused", "FamilyRevoked"]),
        )
        .flow(helpmaton.flow("signOut", "Ends the session of a refresh token.", sign_out).public())
}
