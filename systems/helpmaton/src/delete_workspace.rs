//! Removes a workspace with all that is in it.
//!
//! It begins with a mark on the workspace (`deletingAt`), from which on nothing new is made in it; then goes table by table; and ends with the workspace itself, in one
//! transaction with its last owner's permission. Every step finds what is there and removes it, so the whole can be interrupted at any request and repeated; a
//! job goes on with removals that were cut short.
//!
//! 1. Reservations: those that are open are given back, then all are forgotten.
//! 2. Links between agents, channels and MCP servers, then agents with keys, streaming servers, conversations and spending.
//! 3. Documents and their objects, channels, MCP servers, mail connection, keys to providers.
//! 4. Invitations, trial request, usage, spending, entries of the account.
//! 5. Members, and then the workspace.

use std::collections::BTreeSet;
use std::time::Duration;

use keyform::application::{Application, Job};
use keyform::server::{FlowCall, FlowError};
use keyform::{CallError, Date};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::agents::{self, Done};
use crate::model::{
    self, AgentId, CreditReservationStatus, DeleteChannelError, DeleteEmailConnectionError, DeleteMcpServerError,
    DeleteWorkspaceApiKeyError, DeleteWorkspaceError, ForgetDocumentError, ForgetInviteError, ForgetReservationError,
    ForgetUsageInput, RemoveMemberError, RemoveOwnerError, UserId, WithdrawInviteError, Workspace, WorkspaceId,
};
use crate::{Helpmaton, credits, documents, provider_keys, usage};

/// How often the job looks for removals that were cut short.
const LOOK_EVERY: Duration = Duration::from_secs(3600);
/// A removal under way is left alone for so long.
const UNDER_WAY_MILLIS: i64 = 10 * 60 * 1000;
/// Deletes that one request takes.
const BATCH_MAX: usize = 25;
/// How often the whole is gone through when something came in between.
const ROUNDS_MAX: usize = 5;
/// The level of owners.
const OWNER: i64 = 3;

/// Removes a workspace. `by` is the patterns as the caller may call them: an owner.
///
/// # Errors
/// The caller may not, or the store fails. Then the removal has begun all the same, if it could; doing it again goes on with it, and so does the job.
pub async fn delete(helpmaton: &Helpmaton, by: &model::Helpmaton, workspace_id: &WorkspaceId) -> Result<(), FlowError> {
    by.begin_delete_workspace(workspace_id).await?;
    finish(helpmaton, workspace_id).await
}

/// Goes on with a removal that has begun. A workspace that is gone is removed.
///
/// # Errors
/// The store fails. Doing it again is safe.
pub async fn finish(helpmaton: &Helpmaton, workspace_id: &WorkspaceId) -> Result<(), FlowError> {
    for _ in 0..ROUNDS_MAX {
        let Some(workspace) = helpmaton.model.workspace_by_id(workspace_id).await? else { return Ok(()) };
        if workspace.deleting_at.is_none() {
            return Err(DeleteWorkspaceError::NotBegun.into());
        }
        empty(helpmaton, &workspace).await?;
        if close(helpmaton, &workspace).await? {
            return Ok(());
        }
    }
    Err(FlowError::Failed(keyform::runtime::run::RunError::Busy))
}

/// Goes on with removals that were cut short; how many were finished.
///
/// # Errors
/// [`CallError`]: workspaces cannot be read. One that cannot be removed is in the log.
pub async fn finish_all(helpmaton: &Helpmaton) -> Result<usize, CallError> {
    let mut finished = 0;
    let began_before = helpmaton.now_millis() - UNDER_WAY_MILLIS;
    for workspace in helpmaton.model.all_workspaces().all().await? {
        if workspace.deleting_at.is_none_or(|began| began.millis() > began_before) {
            continue;
        }
        match finish(helpmaton, &workspace.workspace_id).await {
            Ok(()) => finished += 1,
            Err(error) => tracing::warn!(workspace = %workspace.workspace_id, "a removal did not finish: {error}"),
        }
    }
    Ok(finished)
}

/// Everything but members and the workspace itself.
async fn empty(helpmaton: &Helpmaton, workspace: &Workspace) -> Result<(), FlowError> {
    let id = &workspace.workspace_id;
    let of_reservations = forget_reservations(helpmaton, id).await?;
    remove_agents(helpmaton, id).await?;
    remove_documents(helpmaton, id).await?;
    remove_channels(helpmaton, id).await?;
    remove_mcp_servers(helpmaton, id).await?;
    remove_connections(helpmaton, id).await?;
    remove_invites(helpmaton, id).await?;
    helpmaton.model.forget_trial_credit_request(id).await?;
    let of_usage = forget_usage(helpmaton, id).await?;
    // Agents that went before the workspace did.
    for agent in of_reservations.union(&of_usage) {
        usage::forget_agent_spending(helpmaton, id, agent).await?;
    }
    forget_spending(helpmaton, id).await?;
    purge_entries(helpmaton, id).await
}

/// Gives back what is open and forgets all of them; the agents they were for.
async fn forget_reservations(helpmaton: &Helpmaton, id: &WorkspaceId) -> Result<BTreeSet<AgentId>, FlowError> {
    let mut of_agents = BTreeSet::new();
    for reservation in helpmaton.model.reservations_of_workspace(id).all().await? {
        let reservation_id = &reservation.reservation_id;
        if reservation.status == CreditReservationStatus::Open {
            match credits::refund(helpmaton, reservation_id).await {
                // Settled meanwhile: closed is closed.
                Ok(_) | Err(credits::CloseError::AlreadyClosed(_) | credits::CloseError::UnknownReservation) => {}
                Err(error) => return Err(error.into()),
            }
        }
        match helpmaton.model.forget_reservation(reservation_id).await {
            Ok(()) | Err(ForgetReservationError::Conflict(_)) => {}
            Err(error) => return Err(error.into()),
        }
        of_agents.insert(reservation.agent_id);
    }
    Ok(of_agents)
}

/// First all links, so that no agent is held by another.
async fn remove_agents(helpmaton: &Helpmaton, id: &WorkspaceId) -> Result<(), FlowError> {
    let found = helpmaton.model.agents_in_workspace(id).all().await?;
    for agent in &found {
        // The index may lag: the agent itself has the links.
        if let Some(agent) = helpmaton.model.agent_by_id(id, &agent.agent_id).await? {
            agents::remove_links(&helpmaton.model, &agent).await?;
        }
    }
    for agent in &found {
        match agents::remove(helpmaton, &helpmaton.model, id, &agent.agent_id).await {
            Err(FlowError::Refused { outcome, .. }) if outcome == "UnknownAgent" => {}
            removed => removed?,
        }
    }
    Ok(())
}

async fn remove_documents(helpmaton: &Helpmaton, id: &WorkspaceId) -> Result<(), FlowError> {
    for document in helpmaton.model.documents_in_workspace(id).all().await? {
        match helpmaton.model.forget_document(id, &document.document_id).await {
            Ok(()) | Err(ForgetDocumentError::UnknownDocument | ForgetDocumentError::Conflict(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(helpmaton.settings().objects.delete_all(&documents::workspace_prefix(id)).await?)
}

async fn remove_channels(helpmaton: &Helpmaton, id: &WorkspaceId) -> Result<(), FlowError> {
    for channel in helpmaton.model.channels_in_workspace(id).all().await? {
        match helpmaton.model.delete_channel(id, &channel.channel_id).await {
            Ok(()) | Err(DeleteChannelError::UnknownChannel) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

async fn remove_mcp_servers(helpmaton: &Helpmaton, id: &WorkspaceId) -> Result<(), FlowError> {
    for server in helpmaton.model.mcp_servers_in_workspace(id).all().await? {
        match helpmaton.model.delete_mcp_server(id, &server.server_id).await {
            Ok(()) | Err(DeleteMcpServerError::UnknownServer) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// The mail connection and the keys to providers, whose ids are known.
async fn remove_connections(helpmaton: &Helpmaton, id: &WorkspaceId) -> Result<(), FlowError> {
    match helpmaton.model.delete_email_connection(id).await {
        Ok(()) | Err(DeleteEmailConnectionError::NoConnection) => {}
        Err(error) => return Err(error.into()),
    }
    for provider in provider_keys::PROVIDERS {
        match helpmaton.model.delete_workspace_api_key(id, provider).await {
            Ok(()) | Err(DeleteWorkspaceApiKeyError::NoKey) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

async fn remove_invites(helpmaton: &Helpmaton, id: &WorkspaceId) -> Result<(), FlowError> {
    for invite in helpmaton.model.invites_for_workspace(id).all().await? {
        match helpmaton.model.withdraw_invite(id, &invite.invite_id).await {
            Ok(()) | Err(WithdrawInviteError::UnknownInvite) => {}
            Err(WithdrawInviteError::AlreadyAccepted) => forget_invite(helpmaton, id, &invite.invite_id).await?,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

async fn forget_invite(
    helpmaton: &Helpmaton,
    id: &WorkspaceId,
    invite: &model::WorkspaceInviteId,
) -> Result<(), FlowError> {
    match helpmaton.model.forget_invite(id, invite).await {
        Ok(()) | Err(ForgetInviteError::NotAccepted) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Forgets rows of usage; the agents they were of.
async fn forget_usage(helpmaton: &Helpmaton, id: &WorkspaceId) -> Result<BTreeSet<AgentId>, FlowError> {
    let (first, last) = usage::ALL_DAYS;
    let mut of_agents = BTreeSet::new();
    for row in helpmaton.model.workspace_usage(id, first, last).all().await? {
        of_agents.insert(row.agent_id.clone());
        let input = ForgetUsageInput {
            workspace_id: id.clone(),
            date: row.date,
            agent_id: row.agent_id,
            provider: row.provider,
            payer: row.payer,
            model_name: row.model_name,
        };
        helpmaton.model.forget_usage(input).await?;
    }
    Ok(of_agents)
}

async fn forget_spending(helpmaton: &Helpmaton, id: &WorkspaceId) -> Result<(), FlowError> {
    let (first, last) = usage::ALL_DAYS;
    let rows = helpmaton.model.workspace_spending(id, first, last).await?;
    let days: Vec<Date> = rows.into_iter().map(|row| row.day).collect();
    for some in days.chunks(BATCH_MAX) {
        helpmaton.model.forget_workspace_spending(id, some).await?;
    }
    Ok(())
}

async fn purge_entries(helpmaton: &Helpmaton, id: &WorkspaceId) -> Result<(), FlowError> {
    let entries = helpmaton.model.credit_entries(id).all().await?;
    let ids: Vec<String> = entries.into_iter().map(|entry| entry.entry_id.to_string()).collect();
    for some in ids.chunks(BATCH_MAX) {
        helpmaton.model.purge_credit_entries(id, some).await?;
    }
    Ok(())
}

/// Removes all members but one owner, and then the workspace with that one. `false` if something came in between.
async fn close(helpmaton: &Helpmaton, workspace: &Workspace) -> Result<bool, FlowError> {
    let id = &workspace.workspace_id;
    let members = helpmaton.model.members_of_workspace(id).all().await?;
    let (owners, others): (Vec<_>, Vec<_>) = members.into_iter().partition(|member| member.r#type == OWNER);
    for member in others {
        match helpmaton.model.remove_member(id, &member.user_id).await {
            Ok(()) | Err(RemoveMemberError::NotAMember) => {}
            Err(RemoveMemberError::IsOwner) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
    }
    let mut owners = owners.into_iter().map(|owner| owner.user_id);
    let Some(last) = owners.next() else { return Ok(false) };
    for owner in owners {
        if !remove_owner(helpmaton, id, &last, &owner).await? {
            return Ok(false);
        }
    }
    match helpmaton.model.delete_workspace(id, &last).await {
        Ok(()) | Err(DeleteWorkspaceError::AlreadyDeleted) => Ok(true),
        Err(error @ (DeleteWorkspaceError::NotBegun | DeleteWorkspaceError::Failed(_))) => Err(error.into()),
        // Something came in between, or an index lags.
        Err(_) => Ok(false),
    }
}

/// Removes an owner on behalf of the one who stays to the end.
async fn remove_owner(
    helpmaton: &Helpmaton,
    id: &WorkspaceId,
    last: &UserId,
    owner: &UserId,
) -> Result<bool, FlowError> {
    let email = helpmaton.model.user_by_id(last).await?.map(|user| user.email).unwrap_or_default();
    let as_last = helpmaton.model.as_caller(model::Caller { user_id: last.clone(), email });
    match as_last.remove_owner(id, owner).await {
        Ok(()) | Err(RemoveOwnerError::NotAMember) => Ok(true),
        Err(RemoveOwnerError::NotAnOwner | RemoveOwnerError::LastOwner) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// A workspace by its id.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WorkspaceArguments {
    /// The workspace.
    #[schemars(with = "String")]
    workspace_id: WorkspaceId,
}

async fn delete_flow(helpmaton: Helpmaton, call: FlowCall<WorkspaceArguments>) -> Result<Done, FlowError> {
    let (_, by) = helpmaton.as_caller(&call.caller)?;
    delete(&helpmaton, &by, &call.arguments.workspace_id).await.map(|()| Done {})
}

/// Its flow and its job.
pub(crate) fn flows(application: Application, helpmaton: &Helpmaton) -> Application {
    let system = helpmaton.clone();
    let job = Job::every(LOOK_EVERY, "finish removals of workspaces", move || {
        let helpmaton = system.clone();
        async move {
            Ok::<_, CallError>(match finish_all(&helpmaton).await? {
                0 => String::new(),
                finished => format!("{finished} finished"),
            })
        }
    });
    application
        // What is left when its caller leaves, the next call or the job removes.
        .flow(
            helpmaton
                .flow("removeWorkspace", "Removes a workspace with all that is in it.", delete_flow)
                .interruptible(),
        )
        .job(job)
}
