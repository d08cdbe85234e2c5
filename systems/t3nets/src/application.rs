//! Application: the model with its flows, its handler and its sample data.

use std::sync::Arc;

use keyform::CallError;
use keyform::application::{Application, claims};
use keyform::flow::{Flow, FlowCall, FlowError, Host};

use crate::channels::{self, Channel, Connected};
use crate::conversations::{self, History, NewTurn, Recorder, Saved, WhichConversation};
use crate::messages::{self, Incoming, Resolved};
use crate::model::{Caller, ConversationId, SaveTurnInput, T3nets, Tenant};
use crate::sample;
use crate::settings::SettingsChange;
use crate::tenants::{self, NewTenant};

/// Creates the application on a host.
///
/// # Errors
/// The host lacks an option that the model needs.
pub fn application(host: &Host) -> Result<Application, CallError> {
    let t3nets = T3nets::on(host.store(), host.options())?;
    let (handling, sampled, issuer) = (t3nets.clone(), t3nets.clone(), host.clone());
    Ok(Application::new(host, t3nets.calls())
        .flow(onboard_tenant(&t3nets))
        .flow(change_settings(&t3nets))
        .flow(connect_channel(&t3nets))
        .flow(disconnect_channel(&t3nets))
        .flow(resolve_message(&t3nets, host))
        .flow(record_turn(&t3nets, host))
        .flow(history(&t3nets))
        .handler("forgetTurns", move |change| {
            let t3nets = handling.clone();
            async move { conversations::forget_turns(&t3nets, &change).await }
        })
        .sample(move || {
            let (t3nets, host) = (sampled.clone(), issuer.clone());
            async move { sample::make(&t3nets, &host).await }
        }))
}

/// Returns the caller if it is an operator.
fn operator(call: &FlowCall<impl Sized>) -> Result<Caller, FlowError> {
    let caller: Caller = claims(&call.caller)?;
    if caller.operator == Some(true) { Ok(caller) } else { Err(FlowError::Forbidden) }
}

fn onboard_tenant(t3nets: &T3nets) -> Flow {
    let t3nets = t3nets.clone();
    let about = "Creates a tenant with its first administrator. For operators.";
    Flow::new("onboardTenant", about, move |call: FlowCall<NewTenant>| {
        let t3nets = t3nets.clone();
        async move {
            operator(&call)?;
            let tenant = tenants::onboard(&t3nets, call.arguments, call.token.is_some()).await?;
            printed(&tenant)
        }
    })
    .outcomes(&["TenantExists", "UserExists"])
}

fn change_settings(t3nets: &T3nets) -> Flow {
    let t3nets = t3nets.clone();
    let about = "Changes the given settings of the caller's tenant. For its administrators.";
    Flow::new("changeSettings", about, move |call: FlowCall<SettingsChange>| {
        let t3nets = t3nets.clone();
        async move {
            let caller: Caller = claims(&call.caller)?;
            let own = caller.tenant_id.clone();
            let tenant = tenants::change_settings(&t3nets.as_caller(caller), &own, call.arguments).await?;
            printed(&tenant)
        }
    })
    .outcomes(&["UnknownTenant", "Changed"])
}

fn connect_channel(t3nets: &T3nets) -> Flow {
    let t3nets = t3nets.clone();
    let about = "Assigns a channel to the caller's tenant. An id that is a secret, such as a bot's token, is hashed. \
        For administrators.";
    Flow::new("connectChannel", about, move |call: FlowCall<Channel>| {
        let t3nets = t3nets.clone();
        async move {
            let caller: Caller = claims(&call.caller)?;
            let own = caller.tenant_id.clone();
            let connected: Connected = channels::connect(&t3nets.as_caller(caller), &own, &call.arguments).await?;
            Ok(connected)
        }
    })
    .outcomes(&["ChannelTaken"])
}

fn disconnect_channel(t3nets: &T3nets) -> Flow {
    let t3nets = t3nets.clone();
    let about = "Releases a channel of the caller's tenant. For administrators.";
    Flow::new("disconnectChannel", about, move |call: FlowCall<Channel>| {
        let t3nets = t3nets.clone();
        async move {
            let caller: Caller = claims(&call.caller)?;
            channels::disconnect(&t3nets.as_caller(caller), &call.arguments).await?;
            Ok(())
        }
    })
    .outcomes(&["NotYours"])
}

fn resolve_message(t3nets: &T3nets, host: &Host) -> Flow {
    let (t3nets, host) = (t3nets.clone(), host.clone());
    let about = "Identifies the sender of a message from a channel: the tenant, the user or a guest, and a token to \
        act as them. For operators.";
    Flow::new("resolveMessage", about, move |call: FlowCall<Incoming>| {
        let (t3nets, host) = (t3nets.clone(), host.clone());
        async move {
            operator(&call)?;
            let resolved: Resolved = messages::resolve(&t3nets, &host, &call.arguments).await?;
            Ok(resolved)
        }
    })
    .outcomes(&["UnknownChannel", "TenantNotActive"])
}

fn record_turn(t3nets: &T3nets, host: &Host) -> Flow {
    let recorder = Arc::new(Recorder::new(t3nets.clone(), host));
    let about = "Saves a turn of the caller's conversation within the tenant's daily limit; opens the conversation if \
        needed.";
    Flow::new("recordTurn", about, move |call: FlowCall<NewTurn>| {
        let recorder = recorder.clone();
        async move {
            let caller: Caller = claims(&call.caller)?;
            let turn = saved_of(call.arguments)?;
            let turn = recorder.record(caller, &turn, call.token.as_deref()).await?;
            Ok(Saved { turn_id: turn.turn_id.to_string(), created_at: turn.created_at.to_string() })
        }
    })
    .outcomes(&["DailyLimitReached", "TenantNotActive", "UnknownTenant", "NotOpen"])
}

fn saved_of(turn: NewTurn) -> Result<SaveTurnInput, FlowError> {
    Ok(SaveTurnInput {
        conversation_id: conversation_id(&turn.conversation_id)?,
        user_message: turn.user_message,
        answer: turn.answer,
        metadata: turn.metadata,
    })
}

fn history(t3nets: &T3nets) -> Flow {
    let t3nets = t3nets.clone();
    let about = "Returns the latest turns of the caller's conversation, oldest first, up to the number in the \
        tenant's settings.";
    Flow::new("history", about, move |call: FlowCall<WhichConversation>| {
        let t3nets = t3nets.clone();
        async move {
            let caller: Caller = claims(&call.caller)?;
            let conversation = conversation_id(&call.arguments.conversation_id)?;
            let history: History =
                conversations::history(&t3nets.as_caller(caller.clone()), &caller, &conversation).await?;
            Ok(history)
        }
    })
}

fn conversation_id(text: &str) -> Result<ConversationId, FlowError> {
    ConversationId::new(text).map_err(|wrong| FlowError::Arguments(format!("conversation_id: {wrong}")))
}

/// Serializes a tenant as the model API does.
fn printed(tenant: &Tenant) -> Result<serde_json::Value, FlowError> {
    serde_json::to_value(tenant).map_err(|error| FlowError::Broken(error.to_string()))
}
