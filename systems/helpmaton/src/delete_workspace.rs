//! Removes a workspace with all its contents.
//!
//! The removal starts with a mark on the workspace (`deletingAt`), after which nothing new can be created in it. It
//! continues table by table, and ends with the workspace itself, in one transaction with its last owner's permission.
//! Every step removes what exists, so the removal can be interrupted at any request and repeated; a job finishes
//! interrupted removals.
//!
//! 1. Reservations: refunds the open ones, then deletes all.
//! 2. Links between agents, channels and MCP servers, then agents with keys, streaming servers, conversations and
//!    spending.
//! 3. Documents and their objects, channels, MCP servers, mail connection, provider keys.
//! 4. Invitations, trial request, usage, spending, account entries.
//! 5. Members, and then the workspace.

use std::collections::BTreeSet;
use std::time::Duration;

use keyform::application::Application;
use keyform::flow::{FlowCall, FlowError, Job};
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

/// Interval of the job that finishes interrupted removals.
const LOOK_EVERY: Duration = Duration::from_secs(3600);
/// Time for which the job leaves a running removal alone.
const UNDER_WAY_MILLIS: i64 = 10 * 60 * 1000;
/// Maximum deletes per request.
const BATCH_MAX: usize = 25;
/// Maximum rounds, if concurrent calls add items.
const ROUNDS_MAX: usize = 5;
/// Permission level of owners.
const OWNER: i64 = 3;

/// Removes a workspace. `by` is the handle of an owner.
///
/// # Errors
/// The caller lacks permission, or the store fails. The removal may have started; repeating the call continues it, and
/// so does the job.
pub async fn delete(helpmaton: &Helpmaton, by: &model::Helpmaton, workspace_id: &WorkspaceId) -> Result<(), FlowError> {
    by.begin_delete_workspace(workspace_id).await?;
    finish(helpmaton, workspace_id).await
}

/// Continues a removal that has started. A missing workspace counts as removed.
///
/// # Errors
/// The store fails. Repeating the call is safe.
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

/// Finishes interrupted removals; returns their number.
///
/// # Errors
/// Workspaces cannot be read. The log contains workspaces that cannot be removed.
pub async fn finish_all(helpmaton: &Helpmaton) -> Result<usize, CallError> {
    let mut finished = 0;
    let began_before = helpmaton.now_millis() - UNDER_WAY_MILLIS;
    for workspace in helpmaton.model.all_workspaces().all().await? {
        if workspace.deleting_at.is_none_or(|began| began.millis() > began_before) {
            continue;
        }
        match finish(helpmaton, &workspace.workspace_id).await {
            Ok(()) => finished += 1,
            Err(error) => tracing::warn!(workspace = %workspace.workspace_id, "a deletion did not finish: {error}"),
        }
    }
    Ok(finished)
}

/// Removes everything except members and the workspace itself.
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
    // Include agents that were removed before the workspace.
    for agent in of_reservations.union(&of_usage) {
        usage::forget_agent_spending(helpmaton, id, agent).await?;
    }
    forget_spending(helpmaton, id).await?;
    purge_entries(helpmaton, id).await
}

/// Refunds open reservations and deletes all of them; returns their agents.
async fn forget_reservations(helpmaton: &Helpmaton, id: &WorkspaceId) -> Result<BTreeSet<AgentId>, FlowError> {
    let mut of_agents = BTreeSet::new();
    for reservation in helpmaton.model.reservations_of_workspace(id).all().await? {
        let reservation_id = &reservation.reservation_id;
        if reservation.status == CreditReservationStatus::Open {
            match credits::refund(helpmaton, reservation_id).await {
                // Settled meanwhile, so already closed.
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

/// Removes all agents. Removes the links first, so that no agent is blocked by another.
async fn remove_agents(helpmaton: &Helpmaton, id: &WorkspaceId) -> Result<(), FlowError> {
    let found = helpmaton.model.agents_in_workspace(id).all().await?;
    for agent in &found {
        // The index may lag, so read the links from the agent itself.
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

/// Removes the mail connection and the provider keys, whose ids are known.
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

/// Deletes usage rows; returns their agents.
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

/// Removes all members except one owner, then the workspace with that owner. Returns `false` after a concurrent change.
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
        // A concurrent change, or a lagging index.
        Err(_) => Ok(false),
    }
}

/// Removes an owner on behalf of the last remaining one.
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

/// Identifies a workspace.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WorkspaceArguments {
    /// Id of the workspace.
    #[schemars(with = "String")]
    workspace_id: WorkspaceId,
}

async fn delete_flow(helpmaton: Helpmaton, call: FlowCall<WorkspaceArguments>) -> Result<Done, FlowError> {
    let (_, by) = helpmaton.as_caller(&call.caller)?;
    delete(&helpmaton, &by, &call.arguments.workspace_id).await.map(|()| Done {})
}

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
        // If the caller disconnects, the next call or the job removes the rest.
        .flow(
            helpmaton
                .flow("removeWorkspace", "Deletes a workspace with everything in it.", delete_flow)
                .interruptible(),
        )
        .job(job)
}
