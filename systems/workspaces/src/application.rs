//! The system as an application: its flows and its sample data.

use keyform::application::{Application, claims};
use keyform::flow::{Flow, FlowCall, FlowError, Host, Throttle, Throttled, beginning};
use keyform::{CallError, Uuid};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::limits::{INVITE, INVITE_CODES};
use crate::model::{Caller, InviteCode, Workspaces};
use crate::{invitation, mine, old_link, sample};

/// Creates the application on a host.
///
/// # Errors
/// The host lacks an option that the model needs, such as a value for `stage`.
pub fn application(host: &Host) -> Result<Application, CallError> {
    let workspaces = Workspaces::on(host.store(), host.options())?;
    let sampled = workspaces.clone();
    Ok(Application::new(host, workspaces.calls())
        .flow(my_workspaces(&workspaces))
        .flow(about_invite(&workspaces, host))
        .flow(join(&workspaces, host))
        .flow(item_by_old_id(&workspaces))
        .limit("inviteByCode", INVITE)
        .limit_guesses("inviteByCode", "code", INVITE_CODES)
        .limit("joinByInvite", INVITE)
        .limit_guesses("joinByInvite", "code", INVITE_CODES)
        .sample(move || {
            let workspaces = sampled.clone();
            async move { sample::make(&workspaces).await }
        }))
}

/// Returns the caller's handle. The flows are safe to repeat without a key: most only read, and a second join finds the
/// existing membership.
fn called<T>(workspaces: &Workspaces, call: &FlowCall<T>) -> Result<Workspaces, FlowError> {
    Ok(workspaces.as_caller(claims::<Caller>(&call.caller)?))
}

#[derive(Deserialize, JsonSchema)]
struct Cursor {
    /// Cursor of the previous page.
    cursor: Option<String>,
}

fn my_workspaces(workspaces: &Workspaces) -> Flow {
    let workspaces = workspaces.clone();
    let about = "Lists the caller's workspaces, each once, with its name and the caller's role.";
    Flow::new("myWorkspaces", about, move |call: FlowCall<Cursor>| {
        let workspaces = workspaces.clone();
        async move {
            let caller = claims::<Caller>(&call.caller)?;
            let workspaces = workspaces.as_caller(caller.clone());
            Ok(mine::my_workspaces(&workspaces, &caller.user_id, call.arguments.cursor).await?)
        }
    })
}

#[derive(Deserialize, JsonSchema)]
struct Code {
    /// The code of the invite.
    #[schemars(with = "String")]
    code: InviteCode,
}

/// Counts a guess of a code, together with those of the patterns `inviteByCode` and `joinByInvite`.
fn guess(throttle: &Throttle, call: &FlowCall<Code>) -> Result<(), Throttled> {
    let (account, code) = (call.account(), beginning(call.arguments.code.as_str()));
    throttle.attempt_all(call.client, &[(&INVITE, account.as_deref()), (&INVITE_CODES, Some(code.as_bytes()))])
}

fn about_invite(workspaces: &Workspaces, host: &Host) -> Flow {
    let (workspaces, throttle) = (workspaces.clone(), host.throttle().clone());
    let about = "Describes an invite: the name of its workspace, its expiry and its number of uses.";
    let flow = Flow::new("aboutInvite", about, move |call: FlowCall<Code>| {
        let (workspaces, attempt) = (workspaces.clone(), guess(&throttle, &call));
        async move {
            attempt?;
            let about = invitation::about(&workspaces, &call.arguments.code).await?;
            about.ok_or_else(|| FlowError::refused("UnknownInvite", "unknown or expired invite"))
        }
    });
    flow.public().outcomes(&["UnknownInvite"])
}

fn join(workspaces: &Workspaces, host: &Host) -> Flow {
    let (workspaces, throttle) = (workspaces.clone(), host.throttle().clone());
    let about = "Joins the workspace of an invite. An existing member stays one, without a use of the invite.";
    let flow = Flow::new("join", about, move |call: FlowCall<Code>| {
        let (workspaces, throttle) = (workspaces.clone(), throttle.clone());
        async move {
            let person: Uuid = claims::<Caller>(&call.caller)?.user_id;
            guess(&throttle, &call)?;
            Ok(invitation::join(&called(&workspaces, &call)?, &person, &call.arguments.code).await?)
        }
    });
    flow.outcomes(&["UnknownInvite", "InviteExpired", "InviteUsedUp", "UnknownWorkspace"])
}

#[derive(Deserialize, JsonSchema)]
struct OldId {
    /// The 64 hexadecimal digits of an old link.
    hash: String,
}

fn item_by_old_id(workspaces: &Workspaces) -> Flow {
    let workspaces = workspaces.clone();
    let about = "Returns an item by the id that it had before workspaces existed, for old links.";
    let flow = Flow::new("itemByOldId", about, move |call: FlowCall<OldId>| {
        let workspaces = workspaces.clone();
        async move {
            let found = old_link::item(&called(&workspaces, &call)?, &call.arguments.hash).await?;
            let found =
                found.ok_or_else(|| FlowError::refused("UnknownItem", "no item had this id, or it was deleted"))?;
            serde_json::to_value(found).map_err(|error| FlowError::Broken(error.to_string()))
        }
    });
    flow.outcomes(&["UnknownItem"])
}
