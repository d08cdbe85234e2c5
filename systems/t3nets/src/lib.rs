//! An assistant for teams: tenants, channels, conversations.
//!
//! Everything that touches data is said in `t3nets.kf`: keys, guards, what is one transaction. [`model`] is the typed code of it; what needs more
//! than one pattern stands beside it.

/// The typed code of `t3nets.kf`.
#[allow(missing_docs, reason = "the model documents what its author wanted to")]
pub mod model {
    keyform::model!("t3nets.kf");
}

use keyform::CallError;
use keyform::application::{Application, Host};

use model::T3nets;

/// The text of the model.
pub const MODEL: &str = include_str!("../t3nets.kf");

/// The application on a host.
///
/// # Errors
/// The host lacks what the model needs, such as keys for encrypted fields.
pub fn application(host: &Host) -> Result<Application, CallError> {
    let t3nets = T3nets::on(host.store(), host.options())?;
    Ok(Application::new(host, t3nets.calls()))
}
