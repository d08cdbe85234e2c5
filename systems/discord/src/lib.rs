//! A chat: servers, channels, messages, live.
//!
//! Everything that touches data is said in `discord.kf`: keys, guards, what is one transaction. [`model`] is the typed code of it; what needs more
//! than one pattern stands beside it.

/// The typed code of `discord.kf`.
#[allow(missing_docs, reason = "the model documents what its author wanted to")]
pub mod model {
    keyform::model!("discord.kf");
}

use keyform::CallError;
use keyform::application::{Application, Host};

use model::Discord;

/// The text of the model.
pub const MODEL: &str = include_str!("../discord.kf");

/// The application on a host.
///
/// # Errors
/// The host lacks what the model needs, such as keys for encrypted fields.
pub fn application(host: &Host) -> Result<Application, CallError> {
    let discord = Discord::on(host.store(), host.options())?;
    Ok(Application::new(host, discord.calls()))
}
