//! Sign-in with a mailed token, or with an account that a provider verified.

use keyform::application::Application;
use keyform::flow::{FlowCall, FlowError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::sessions::Session;
use crate::Helpmaton;
use crate::limits;
use crate::model::{AccountProvider, SignUpError, User};
use crate::notify::Notice;
use crate::secrets::{Minted, lookup_hash};

impl Helpmaton {
    /// Mails a single-use token to an address, valid for a day. Does not reveal whether the address has an account.
    ///
    /// # Errors
    /// The address is invalid, or the store fails.
    pub async fn request_sign_in(&self, email: &str) -> Result<(), FlowError> {
        let token = Minted::new("", &*self.world());
        let issued = self.model.issue_verification(email, &lookup_hash(token.reveal())).await?;
        self.tell(&issued.identifier, Notice::SignIn { token }).await;
        Ok(())
    }

    /// Signs in with a mailed token, which proves the address. Creates the user if necessary.
    ///
    /// # Errors
    /// Refused with `UnknownToken` or `TokenExpired`, or the store fails.
    pub async fn sign_in(&self, email: &str, token: &str, name: Option<&str>) -> Result<Session, FlowError> {
        self.model.use_verification(email, &lookup_hash(token)).await?;
        let user = self.proven_user(email, name).await?;
        self.start_session(&user).await
    }

    /// Signs in a user whose account and address the program has verified with the provider.
    ///
    /// # Errors
    /// Refused with `AccountOfAnother`, or the store fails.
    pub async fn sign_in_by_account(
        &self,
        provider: AccountProvider,
        identifier: &str,
        email: &str,
    ) -> Result<Session, FlowError> {
        let account = self.look_again(|| self.model.account_by_identity(provider, identifier)).await?;
        let user = match account {
            Some(account) => self.user_named(account.user_id.as_str()).await?,
            None => {
                let user = self.proven_user(email, None).await?;
                self.link(&user.id, provider, identifier).await?;
                user
            }
        };
        self.start_session(&user).await
    }

    /// Returns the user of an address that was just verified.
    pub(crate) async fn proven_user(&self, email: &str, name: Option<&str>) -> Result<User, FlowError> {
        let user = self.user_of_email(email, name).await?;
        Ok(self.model.verify_email(&user.id).await?.unwrap_or(user))
    }

    /// Signs up the owner of an address that was just verified.
    ///
    /// # Errors
    /// Refused with `SignInFirst` if the address has an account; or the store fails.
    pub(crate) async fn proven_newcomer(&self, email: &str, name: Option<&str>) -> Result<User, FlowError> {
        match self.model.sign_up(self.newcomer(email, name)).await {
            Ok(user) => Ok(self.model.verify_email(&user.id).await?.unwrap_or(user)),
            Err(SignUpError::EmailTaken) => {
                Err(FlowError::refused("SignInFirst", "the address already has an account: sign in, then accept"))
            }
            Err(other) => Err(other.into()),
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Request {
    /// E-mail address for the token.
    email: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SignIn {
    /// E-mail address that received the token.
    email: String,
    /// The mailed token.
    token: String,
    /// Name for a new account.
    name: Option<String>,
}

/// Result of requesting a mail.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Mailed {
    /// E-mail address that receives the mail.
    sent_to: String,
}

async fn request(system: Helpmaton, call: FlowCall<Request>) -> Result<Mailed, FlowError> {
    system.attempt(&limits::MAIL, call.client, Some(&limits::mailbox(&call.arguments.email)?))?;
    system.request_sign_in(&call.arguments.email).await?;
    Ok(Mailed { sent_to: call.arguments.email })
}

async fn sign_in(system: Helpmaton, call: FlowCall<SignIn>) -> Result<Session, FlowError> {
    let SignIn { email, token, name } = call.arguments;
    system.attempt(&limits::SIGN_IN, call.client, Some(&limits::mailbox(&email)?))?;
    system.sign_in(&email, &token, name.as_deref()).await
}

pub(super) fn flows(application: Application, helpmaton: &Helpmaton) -> Application {
    application.flow(helpmaton.flow("requestSignIn", "Mails a token for signing in or up.", request).public()).flow(
        helpmaton
            .flow("signIn", "Signs in with a mailed token and returns an access token and a refresh token.", sign_in)
            .public()
            .outcomes(&["UnknownToken", "TokenExpired"]),
    )
}
