//! Users, found and signed up by address.

use keyform::flow::FlowError;
use keyform::runtime::run::RunError;

use crate::model::{
    self, AccountProvider, LinkAccountError, LinkAccountInput, SignUpError, SignUpInput, SubscriptionId, User, UserId,
};
use crate::{Helpmaton, derived_id};

/// Attempts to read an item that is known to exist from a lagging index.
const LOOKS_MAX: u32 = 6;

/// Returns the claims of a user.
#[must_use]
pub fn caller_of(user: &User) -> model::Caller {
    model::Caller { user_id: user.id.clone(), email: user.email.clone() }
}

/// Returns the id of a user's own subscription. It is derived, so that reading it needs no index.
pub(crate) fn own_subscription_id(user: &UserId) -> SubscriptionId {
    derived_id(user.as_str(), "subscription")
}

impl Helpmaton {
    /// Returns the user of an address, who is signed up if necessary. Of concurrent calls one signs up, and all return
    /// the same user.
    ///
    /// # Errors
    /// The address is invalid, or the store fails.
    pub async fn user_of_email(&self, email: &str, name: Option<&str>) -> Result<User, FlowError> {
        for look in 0..LOOKS_MAX {
            if let Some(user) = self.model.user_by_email(email).await? {
                return Ok(user);
            }
            match self.model.sign_up(self.newcomer(email, name)).await {
                // A concurrent call signed up; the index shows it a moment later.
                Err(SignUpError::EmailTaken) => self.pause(look).await,
                signed_up => return Ok(signed_up?),
            }
        }
        Err(FlowError::Failed(RunError::Busy))
    }

    pub(super) fn newcomer(&self, email: &str, name: Option<&str>) -> SignUpInput {
        let id: UserId = self.fresh_id();
        let subscription = own_subscription_id(&id);
        SignUpInput { name: name.map(str::to_owned), ..SignUpInput::new(id, email, subscription) }
    }

    /// Returns the user with an address or an id.
    ///
    /// # Errors
    /// Refused with `UnknownUser`, or the store fails.
    pub async fn user_named(&self, text: &str) -> Result<User, FlowError> {
        let found = if text.contains('@') {
            self.look_again(|| self.model.user_by_email(text)).await?
        } else {
            let id = UserId::new(text).map_err(|wrong| FlowError::Arguments(wrong.to_string()))?;
            self.model.user_by_id(&id).await?
        };
        found.ok_or_else(|| FlowError::refused("UnknownUser", "no user has this address or id"))
    }

    /// Returns the user with an address or an id who has a seat in a subscription: they have accepted an invitation, or
    /// own it. All others get the same answer, whether they have an account or not, so that no caller learns which
    /// addresses have one.
    ///
    /// # Errors
    /// Refused with `UnknownUser`, or the store fails.
    pub async fn colleague(&self, subscription: &SubscriptionId, text: &str) -> Result<User, FlowError> {
        let seats = self.model.seats(subscription).all().await?;
        let unknown = || {
            let detail = "no user with this address or id belongs to the subscription: invite them with inviteByEmail";
            FlowError::refused("UnknownUser", detail)
        };
        match self.user_named(text).await {
            Ok(user) if seats.iter().any(|seat| seat.member_id == user.id) => Ok(user),
            Ok(_) => Err(unknown()),
            Err(FlowError::Refused { outcome, .. }) if outcome == "UnknownUser" => Err(unknown()),
            Err(other) => Err(other),
        }
    }

    /// Links an external account to a user, for sign-in.
    ///
    /// # Errors
    /// Refused with `AccountOfAnother`, or the store fails.
    pub async fn link(&self, user: &UserId, provider: AccountProvider, identifier: &str) -> Result<(), FlowError> {
        let input = LinkAccountInput::new(user.clone(), provider, identifier);
        match self.model.link_account(input).await {
            Ok(_) => Ok(()),
            Err(LinkAccountError::AlreadyLinked) => self.linked_already(user, provider, identifier).await,
            Err(other) => Err(other.into()),
        }
    }

    async fn linked_already(&self, user: &UserId, at: AccountProvider, identifier: &str) -> Result<(), FlowError> {
        match self.model.account(user, at, identifier).await? {
            Some(_) => Ok(()),
            None => Err(FlowError::refused("AccountOfAnother", "the account belongs to another user")),
        }
    }
}
