//! Accounts: registration, log-in, password change, and the own profile.
//!
//! A log-in does not reveal whether an address has an account: an unknown address and a wrong password get the same
//! answer, after the same reads and the same hashing.

use keyform::flow::{FlowError, Tables};
use keyform::runtime::run::{Call, RunError};
use keyform::{AttributeValue, Attributes, FromAttributes as _, Secret, TextForm, Timestamp, check_text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::model::{SignUpError, User, UserId};
use crate::password;
use crate::service::Service;

/// Data of a new account.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Registration {
    /// E-mail address; case-insensitive.
    pub email: String,
    /// Public name.
    pub username: String,
    /// Password, 10 characters or more.
    #[schemars(with = "String")]
    pub password: Secret<String>,
}

/// Credentials.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LogIn {
    /// E-mail address; case-insensitive.
    pub email: String,
    /// Password of the account.
    #[schemars(with = "String")]
    pub password: Secret<String>,
}

/// Change of a password.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PasswordChange {
    /// Current password.
    #[schemars(with = "String")]
    pub password: Secret<String>,
    /// New password.
    #[schemars(with = "String")]
    pub new_password: Secret<String>,
}

/// A user and their access token.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// Token for `Authorization: Bearer …`; absent if another service issues tokens.
    pub token: Option<String>,
    /// Expiry of the token.
    #[schemars(with = "String")]
    pub expires_at: Timestamp,
    /// The user who is logged in.
    #[schemars(with = "Value")]
    pub user: User,
}

/// User id that does not exist: the smallest ULID.
const NOBODY: &str = "00000000000000000000000000";

impl Service {
    /// Creates an account. With an idempotency token, a repeated registration creates one account and returns the same
    /// answer.
    ///
    /// # Errors
    /// `EmailTaken`, `WeakPassword`, or an invalid address or name.
    pub async fn register(&self, who: Registration, token: Option<&str>) -> Result<Session, FlowError> {
        let email = check_text(who.email, TextForm::Email).map_err(|error| FlowError::Arguments(error.to_string()))?;
        let username = username(&who.username)?;
        let password = who.password.expose();
        password::check(password, &email, &username).map_err(weak)?;
        // Salts differ between accounts. With a token the salt is derived, so that a repeated call has the same
        // arguments.
        let salt = token.map_or_else(|| self.world().token(16), |token| derived(&[token, &email]));
        let hash = self.settings.passwords.hash(password, &salt).await?;
        let user = match token {
            Some(token) => self.sign_up_once(&email, &username, &hash, token).await?,
            None => self.discord.sign_up(&email, &username, &hash).await.map_err(taken)?,
        };
        Ok(self.session(user))
    }

    async fn sign_up_once(&self, email: &str, username: &str, hash: &str, token: &str) -> Result<User, FlowError> {
        let runner = self.discord.calls().runner();
        self.answers.get_or_try_init(|| self.make_answers()).await?;
        let arguments: Attributes = [("email", email), ("username", username), ("passwordHash", hash)]
            .map(|(name, value)| (name.to_owned(), AttributeValue::from(value)))
            .into();
        match runner.write_once("signUp", &Call { arguments, ..Call::default() }, token).await {
            Ok(Some(found)) => {
                User::from_attributes(found.fields).map_err(|error| FlowError::Broken(error.to_string()))
            }
            Ok(None) => Err(FlowError::Broken("the sign-up returned no user".to_owned())),
            Err(RunError::Refused { outcome, .. }) if outcome == "EmailTaken" => Err(taken(SignUpError::EmailTaken)),
            Err(error) => Err(error.into()),
        }
    }

    /// Creates the table of answers, if the host creates tables.
    async fn make_answers(&self) -> Result<(), RunError> {
        if self.host.tables() == Tables::Made {
            self.discord.calls().runner().create_answer_table().await?;
        }
        Ok(())
    }

    /// Verifies address and password, and returns a token.
    ///
    /// # Errors
    /// `WrongCredentials`, and `TokensIssuedElsewhere` if the server has no secret to sign tokens with.
    pub async fn log_in(&self, who: LogIn) -> Result<Session, FlowError> {
        let user = self.discord.user_by_email(&who.email).await?;
        let id = user.as_ref().map_or_else(nobody, |user| Ok(user.user_id.clone()))?;
        let credentials = self.discord.credentials(&id).await?;
        let hash = credentials.as_ref().map(|credentials| credentials.password_hash.expose().as_str());
        let is_right = self.settings.passwords.is_of(hash, who.password.expose()).await?;
        match user.filter(|_| is_right) {
            Some(_) if !self.host.token_keys().can_issue() => Err(FlowError::refused(
                "TokensIssuedElsewhere",
                "this server verifies tokens but does not sign any: log in at their issuer",
            )),
            Some(user) => Ok(self.session(user)),
            None => Err(FlowError::refused("WrongCredentials", "wrong address or password")),
        }
    }

    /// Changes the caller's password. Tokens that were issued before remain valid until they expire.
    ///
    /// # Errors
    /// `WrongCredentials`, `WeakPassword`, and `UnknownUser` after the account was deleted.
    pub async fn change_my_password(&self, user: &UserId, change: PasswordChange) -> Result<(), FlowError> {
        let Some(profile) = self.discord.user_by_id(user).await? else { return Err(unknown_user()) };
        let credentials = self.discord.credentials(user).await?;
        let hash = credentials.as_ref().map(|credentials| credentials.password_hash.expose().as_str());
        if !self.settings.passwords.is_of(hash, change.password.expose()).await? {
            return Err(FlowError::refused("WrongCredentials", "the current password is wrong"));
        }
        let password = change.new_password.expose();
        password::check(password, &profile.email, &profile.username).map_err(weak)?;
        let hash = self.settings.passwords.hash(password, &self.world().token(16)).await?;
        Ok(self.discord.change_password(user, &hash).await?)
    }

    /// Returns the caller's own profile.
    ///
    /// # Errors
    /// `UnknownUser` after the account was deleted.
    pub async fn me(&self, user: &UserId) -> Result<User, FlowError> {
        self.as_user(user).user_by_id(user).await?.ok_or_else(unknown_user)
    }

    fn session(&self, user: User) -> Session {
        let lifetime = self.settings.token_lifetime;
        let claims = Map::from_iter([("userId".to_owned(), Value::from(user.user_id.as_str()))]);
        let expires_at = Timestamp::of_millis(self.world().now_millis()) + lifetime;
        Session { token: self.host.issue_token(claims, lifetime), expires_at, user }
    }
}

/// Derives 32 hexadecimal digits from the strings.
pub(crate) fn derived(of: &[&str]) -> String {
    let mut hash = Sha256::new();
    for text in of {
        hash.update(text.len().to_be_bytes());
        hash.update(text);
    }
    hex::encode(&hash.finalize()[..16])
}

/// Checks a user name, which must fit on one line.
fn username(text: &str) -> Result<String, FlowError> {
    let name = text.trim();
    let is_shown = !name.is_empty() && name.chars().count() <= 32 && !name.chars().any(char::is_control);
    let wrong = || FlowError::Arguments("`username` must have 1 to 32 characters on one line".to_owned());
    is_shown.then(|| name.to_owned()).ok_or_else(wrong)
}

fn nobody() -> Result<UserId, FlowError> {
    UserId::new(NOBODY).map_err(|error| FlowError::Broken(error.to_string()))
}

fn weak(why: String) -> FlowError {
    FlowError::refused("WeakPassword", why)
}

fn unknown_user() -> FlowError {
    FlowError::refused("UnknownUser", "this account no longer exists")
}

fn taken(error: SignUpError) -> FlowError {
    match error {
        SignUpError::EmailTaken => FlowError::refused("EmailTaken", "this address already has an account: log in"),
        other => other.into(),
    }
}
