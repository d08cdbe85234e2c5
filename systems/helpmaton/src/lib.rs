//! Workspaces with agents, credits, keys, invites and usage.
//!
//! `helpmaton.kf` defines all data access: keys, guards, transactions. [`model`] is its typed code. [`Helpmaton`] has
//! the functions that combine several patterns.

/// Typed code of `helpmaton.kf`.
#[allow(missing_docs, reason = "the model documents what its author wanted to")]
pub mod model {
    keyform::model!("helpmaton.kf");
}

mod access;
pub mod agent_keys;
pub mod agents;
pub mod channels;
mod config;
pub mod conversations;
pub mod credits;
pub mod delete_workspace;
pub mod documents;
pub mod email;
pub mod identity;
pub mod invites;
mod limits;
pub mod mcp;
pub mod notify;
pub mod objects;
pub mod open_workspace;
pub mod permissions;
pub mod prices;
pub mod provider_keys;
pub mod request_limits;
pub mod sample;
pub mod secrets;
pub mod spending;
pub mod stream_servers;
pub mod subscriptions;
mod system;
pub mod unused_objects;
pub mod usage;
pub mod webhooks;

use keyform::CallError;
use keyform::application::Application;
use keyform::flow::Host;

pub use system::{Helpmaton, RequestLimit, Settings, derived_id};

/// Source of the model.
pub const MODEL: &str = include_str!("../helpmaton.kf");

/// Creates the application on a host, with production settings.
///
/// # Errors
/// The host lacks an option that the model needs, such as keys of encrypted fields.
pub fn application(host: &Host) -> Result<Application, CallError> {
    application_with(host, Settings::on(host))
}

/// Creates the application on a host with these settings.
///
/// # Errors
/// As for [`application`].
pub fn application_with(host: &Host, settings: Settings) -> Result<Application, CallError> {
    let helpmaton = Helpmaton::on(host, settings)?;
    let application = Application::new(host, helpmaton.model.calls());
    let application = identity::flows(application, &helpmaton);
    let application = permissions::flows(application, &helpmaton);
    let application = open_workspace::flows(application, &helpmaton);
    let application = subscriptions::flows(application, &helpmaton);
    let application = request_limits::flows(application, &helpmaton);
    let application = invites::flows(application, &helpmaton);
    let application = credits::flows(application, &helpmaton);
    let application = spending::flows(application, &helpmaton);
    let application = conversations::flows(application, &helpmaton);
    let application = usage::flows(application, &helpmaton);
    let application = agents::flows(application, &helpmaton);
    let application = agent_keys::flows(application, &helpmaton);
    let application = provider_keys::flows(application, &helpmaton);
    let application = documents::flows(application, &helpmaton);
    let application = unused_objects::jobs(application, &helpmaton);
    let application = channels::flows(application, &helpmaton);
    let application = email::flows(application, &helpmaton);
    let application = mcp::flows(application, &helpmaton);
    let application = stream_servers::flows(application, &helpmaton);
    let application = delete_workspace::flows(application, &helpmaton);
    Ok(application.sample(move || sample::make(helpmaton.clone())))
}
