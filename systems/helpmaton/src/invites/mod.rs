//! Invitations to a workspace by mail.
//!
//! 1. `asking`: an owner invites an address; the token is made here, mailed to the address and shown to nobody else, and only its hash is kept. One invitation
//!    waits for an address at a time, and one whose time is over is cleared away by the next.
//! 2. `answering`: who has the token sees what it is for, and accepts: signed in with the invited address, or as a newcomer, who is then signed up and in.

mod answering;
mod asking;

use keyform::application::Application;

use crate::Helpmaton;

pub use answering::{Accepted, Invitation};
pub use asking::Invited;

/// Its flows.
pub(crate) fn flows(application: Application, helpmaton: &Helpmaton) -> Application {
    let application = asking::flows(application, helpmaton);
    answering::flows(application, helpmaton)
}
