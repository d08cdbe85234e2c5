//! Subscriptions: what a user's workspaces may hold, who manages it, and what payments do to it.
//!
//! 1. `plans`: the limits of free, starter and pro, and which plan is in force.
//! 2. `own`: a user's subscription, which is made if there is none: exactly one.
//! 3. `managers`: who else manages it.
//! 4. `billing`: what the shop tells: another plan, a payment that failed or came.
//! 5. `upkeep`: the hourly job that ends plans whose time is over, and gives unused seats back.
//! 6. `limit_mail`: that a limit is reached is told at most once a day.
//!
//! The limits themselves are kept by the writes of the model, each in the transaction that makes what is counted.

mod billing;
mod limit_mail;
mod managers;
mod own;
mod plans;
mod upkeep;

use keyform::application::Application;

use crate::Helpmaton;

pub use own::MySubscription;
pub use plans::{Limits, effective_plan};
pub use upkeep::Upkeep;

/// Its flows and its job.
pub(crate) fn flows(application: Application, helpmaton: &Helpmaton) -> Application {
    let application = own::flows(application, helpmaton);
    let application = managers::flows(application, helpmaton);
    application.job(upkeep::job(helpmaton))
}
