//! Workspaces with agents, credits, keys, invites and usage.
//!
//! Everything that touches data is said in `helpmaton.kf`: keys, guards, what is one transaction. [`model`] is the typed code of it; what needs more
//! than one pattern stands beside it, on [`Helpmaton`].

/// The typed code of `helpmaton.kf`.
#[allow(missing_docs, reason = "the model documents what its author wanted to")]
pub mod model {
    keyform::model!("helpmaton.kf");
}

pub mod notify;
pub mod secrets;
mod system;

use keyform::CallError;
use keyform::application::{Application, Host};

pub use system::{Helpmaton, RequestLimit, Settings, derived_id, timestamp};

/// The text of the model.
pub const MODEL: &str = include_str!("../helpmaton.kf");

/// The application on a host, with the settings of production.
///
/// # Errors
/// The host lacks what the model needs, such as keys for encrypted fields.
pub fn application(host: &Host) -> Result<Application, CallError> {
    application_with(host, Settings::default())
}

/// The same, with other settings.
///
/// # Errors
/// As for [`application`].
pub fn application_with(host: &Host, settings: Settings) -> Result<Application, CallError> {
    let helpmaton = Helpmaton::on(host, settings)?;
    let application = Application::new(host, helpmaton.model.calls());
    Ok(application)
}
