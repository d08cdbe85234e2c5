//! Identity: users, sign-in by mail or by an external account, sessions, and API keys.
//!
//! 1. `sign_in`: [`Helpmaton::request_sign_in`] mails a token, [`Helpmaton::sign_in`] accepts it; the reader of the
//!    mail is the user.
//! 2. `users`: finds the user of an address, or signs them up with a free subscription.
//! 3. `sessions`: an access token for an hour, and a single-use refresh token; a second use ends its family.
//! 4. `api_keys`: keys that are shown once and recognized by their hash.
//!
//! [`Helpmaton::request_sign_in`]: crate::Helpmaton::request_sign_in
//! [`Helpmaton::sign_in`]: crate::Helpmaton::sign_in

mod api_keys;
mod sessions;
mod sign_in;
mod users;

use keyform::application::Application;

use crate::Helpmaton;

pub use api_keys::NewApiKey;
pub use sessions::{ACCESS_SECS, AUDIENCE, ISSUER, Session};
pub use users::caller_of;
pub(crate) use users::own_subscription_id;

pub(crate) fn flows(application: Application, helpmaton: &Helpmaton) -> Application {
    let application = sign_in::flows(application, helpmaton);
    let application = sessions::flows(application, helpmaton);
    api_keys::flows(application, helpmaton)
}
