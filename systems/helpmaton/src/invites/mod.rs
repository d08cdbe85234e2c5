//! Invitations to a workspace by mail.
//!
//! 1. `asking`: an owner invites an address. The token is created here, mailed to the address and shown to no one else;
//!    only its hash is stored. An address has at most one open invitation, and a new one replaces an expired one.
//! 2. `answering`: the holder of the token views the invitation and accepts it: signed in with the invited address, or
//!    as a new user, who is then signed up and in.

mod answering;
mod asking;

use keyform::application::Application;

use crate::Helpmaton;

pub use answering::{Accepted, Invitation};
pub use asking::Invited;

pub(crate) fn flows(application: Application, helpmaton: &Helpmaton) -> Application {
    let application = asking::flows(application, helpmaton);
    answering::flows(application, helpmaton)
}
