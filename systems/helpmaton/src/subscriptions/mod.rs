//! Subscriptions: limits of a user's workspaces, managers, and payments.
//!
//! 1. `plans`: the limits of free, starter and pro, and the plan in force.
//! 2. `own`: a user's only subscription, which is created if it is missing.
//! 3. `managers`: further managers.
//! 4. `billing`: messages of the shop: another plan, a failed or received payment.
//! 5. `upkeep`: the hourly job that ends expired plans and releases unused seats.
//! 6. `limit_mail`: notifies about a reached limit, at most once a day.
//!
//! The writes of the model enforce the limits, each in the transaction that creates the counted item.

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

pub(crate) fn flows(application: Application, helpmaton: &Helpmaton) -> Application {
    let application = own::flows(application, helpmaton);
    let application = managers::flows(application, helpmaton);
    application.job(upkeep::job(helpmaton))
}
