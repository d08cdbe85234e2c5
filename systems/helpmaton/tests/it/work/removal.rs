//! Removing a workspace leaves nothing behind, even if it is interrupted.

use std::sync::Arc;
use std::time::Duration;

use keyform::ExecuteExt;
use keyform::flow::FlowError;
use keyform::operation::Scan;
use keyform_helpmaton::agents;
use keyform_helpmaton::conversations::{Start, start};
use keyform_helpmaton::credits::{reserve, settle};
use keyform_helpmaton::delete_workspace::{delete, finish, finish_all};
use keyform_helpmaton::documents::{self, Upload};
use keyform_helpmaton::mcp::{self, NewMcpServer};
use keyform_helpmaton::model::{
    ConversationConversationType, EmailConnectionType, InviteInput, McpServerAuthType, McpServerId, OutputChannelId,
    OutputChannelType, WorkspaceApiKeyProvider, WorkspaceInviteId,
};
use keyform_helpmaton::{agent_keys, channels, email, provider_keys, secrets, stream_servers, usage};
use keyform_scenario::fault::Mortal;
use keyform_scenario::{on_embedded, on_every_store};
use serde_json::json;

use super::office::{Office, id, person, units};

/// Returns all items of all tables, as text.
pub async fn all_items(office: &Office) -> Vec<String> {
    let mut items = Vec::new();
    for table in TABLES {
        let mut start = None;
        loop {
            let scan = Scan { start, ..Scan::of(*table) };
            let page = office.scene.host.store().call(scan).await.unwrap();
            let found = page.items.unwrap_or_default();
            items.extend(found.iter().map(|item| format!("{table}: {:?}", item.to_attributes())));
            start = page.last_key.map(|key| key.to_attributes());
            if start.is_none() {
                break;
            }
        }
    }
    items
}

/// Tables of the document.
const TABLES: &[&str] = &[
    "next-auth",
    "webhook-logs",
    "workspace",
    "permission",
    "agent",
    "agent-key",
    "workspace-api-key",
    "workspace-document",
    "output_channel",
    "agent-conversations",
    "credit-reservations",
    "token-usage-aggregates",
    "email-connection",
    "mcp-server",
    "trial-credit-requests",
    "subscription",
    "llm-request-buckets",
    "workspace-invite",
    "agent-stream-servers",
    "user-api-key",
    "user-refresh-token",
];

/// Creates an item of every kind in the workspace.
async fn fill(office: &Office) {
    let (by, workspace, agent) = (office.by(), &office.workspace, &office.agent);
    office.buy(units(50)).await;
    by.request_trial_credit(workspace).await.unwrap();
    let other = office.another_agent().await;
    agents::allow_delegation(&by, workspace, agent, &other).await.unwrap();
    let channel: OutputChannelId = id();
    let config = json!({"address": "ops@example.org"});
    channels::create(&office.system, &office.owner, workspace, &channel, OutputChannelType::Email, "Ops", config)
        .await
        .unwrap();
    by.set_notification_channel(workspace, agent, &channel).await.unwrap();
    let server: McpServerId = id();
    let made = NewMcpServer {
        workspace_id: workspace.clone(),
        name: "Tools".into(),
        url: "https://tools.example.org".into(),
        auth_type: McpServerAuthType::None,
        config: json!({}),
    };
    mcp::create(&office.system, &office.owner, &server, made).await.unwrap();
    by.enable_mcp_server(workspace, &other, &server).await.unwrap();
    let smtp =
        json!({"host": "h", "port": 25, "secure": false, "username": "u", "password": "p", "fromEmail": "a@b.c"});
    email::set(&office.system, &office.owner, workspace, EmailConnectionType::Smtp, "Mail", &smtp).await.unwrap();
    provider_keys::set(&by, workspace, WorkspaceApiKeyProvider::Openai, "key").await.unwrap();
    agent_keys::create(&office.system, &office.owner, workspace, agent, &id(), None, None).await.unwrap();
    stream_servers::open(&by, workspace, agent, Vec::new()).await.unwrap();
    for n in 0..2 {
        let file = Upload { document_id: id(), name: format!("{n}"), folder: "f".into(), content: b"x".to_vec() };
        documents::upload(&office.system, &office.owner, workspace, file).await.unwrap();
    }
    fill_with_talk(office).await;
    fill_with_people(office).await;
}

async fn fill_with_talk(office: &Office) {
    let (workspace, agent) = (&office.workspace, &office.agent);
    let messages = (0..45).map(|n| json!({"id": format!("{n}"), "content": "x".repeat(20)})).collect();
    let kind = ConversationConversationType::Stream;
    let begun = Start {
        messages,
        model_name: Some("m".into()),
        provider: Some("google".into()),
        ..Start::new(workspace.clone(), agent.clone(), id(), kind)
    };
    start(&office.system, begun).await.unwrap();
    let today = office.system.now().date();
    usage::aggregate(&office.system, today, today).await.unwrap();
    let calls = [office.call(), office.call()];
    for call in &calls {
        reserve(&office.system, call).await.unwrap();
    }
    settle(&office.system, &calls[0].reservation_id, units(1)).await.unwrap();
}

async fn fill_with_people(office: &Office) {
    let (by, workspace) = (office.by(), &office.workspace);
    let (reader, owner) = (person(&office.system).await, person(&office.system).await);
    for someone in [&reader, &owner] {
        office.system.model.take_seat(workspace, &someone.user_id).await.unwrap();
    }
    by.add_member(workspace, &reader.user_id, 1).await.unwrap();
    by.add_owner(workspace, &owner.user_id).await.unwrap();
    let guest = person(&office.system).await;
    office.system.model.take_seat(workspace, &guest.user_id).await.unwrap();
    for email in [guest.email.clone(), "nobody@example.org".to_owned()] {
        let invite: WorkspaceInviteId = id();
        let hash = secrets::lookup_hash(invite.as_str());
        let input = InviteInput {
            invite_id: Some(invite.clone()),
            ..InviteInput::new(workspace.clone(), email.clone(), hash, 2, office.owner.user_id.clone())
        };
        office.system.model.invite(input).await.unwrap();
        if email == guest.email {
            office.system.model.accept_invite(workspace, &invite, &guest.user_id).await.unwrap();
        }
    }
}

/// Checks that no table mentions the workspace, and that the plan's counts are restored.
async fn nothing_is_left(office: &Office) {
    for item in all_items(office).await {
        assert!(!item.contains(office.workspace.as_str()), "left behind: {item}");
    }
    assert_eq!(office.objects.keys(), Vec::<String>::new());
    let subscription = office.system.model.subscription_by_id(&office.subscription).await.unwrap().unwrap();
    let left = (subscription.workspaces_left, subscription.documents_left, subscription.agents_left);
    assert_eq!(left, (6, 1010, 51));
    let left = (subscription.agent_keys_left, subscription.channels_left, subscription.mcp_servers_left);
    assert_eq!(left, (255, 52, 52));
    let seats = office.system.model.seats(&office.subscription).all().await.unwrap();
    assert!(seats.iter().all(|seat| seat.workspaces == 0));
}

#[test]
fn a_workspace_goes_with_all_that_is_in_it() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        fill(&office).await;
        let known = all_items(&office).await.iter().filter(|item| item.contains(office.workspace.as_str())).count();
        assert!(known >= 30, "{known} items");
        delete(&office.system, &office.by(), &office.workspace).await.unwrap();
        nothing_is_left(&office).await;
        finish(&office.system, &office.workspace).await.unwrap();
    });
}

#[test]
fn only_owners_remove_a_workspace_and_from_then_on_nothing_is_made_in_it() {
    on_every_store(async |scene| {
        let office = Office::with_credit(scene, units(5)).await;
        let writer = person(&office.system).await;
        office.system.model.take_seat(&office.workspace, &writer.user_id).await.unwrap();
        office.by().add_member(&office.workspace, &writer.user_id, 2).await.unwrap();
        let as_writer = office.system.model.as_caller(writer);
        let refused = delete(&office.system, &as_writer, &office.workspace).await;
        assert!(matches!(refused, Err(FlowError::Forbidden)));
        assert!(matches!(finish(&office.system, &office.workspace).await, Err(FlowError::Refused { .. })));
        office.by().begin_delete_workspace(&office.workspace).await.unwrap();
        assert!(reserve(&office.system, &office.call()).await.is_err());
        let file = Upload { document_id: id(), name: "a".into(), folder: String::new(), content: Vec::new() };
        assert!(documents::upload(&office.system, &office.owner, &office.workspace, file).await.is_err());
        finish(&office.system, &office.workspace).await.unwrap();
        nothing_is_left(&office).await;
    });
}

#[test]
fn a_removal_may_be_killed_after_any_request() {
    on_embedded(async |scene| {
        for requests in (0..).step_by(3) {
            let office = Office::open(keyform_scenario::Store::embedded().scene()).await;
            fill(&office).await;
            let mortal = office.through(Arc::new(Mortal::new(office.scene.host.store(), requests)));
            let survived = delete(&mortal.system, &mortal.by(), &office.workspace).await.is_ok();
            let begun = office.system.model.workspace_by_id(&office.workspace).await.unwrap();
            if begun.is_some_and(|workspace| workspace.deleting_at.is_none()) {
                office.by().begin_delete_workspace(&office.workspace).await.unwrap();
            }
            office.scene.clock.advance(Duration::from_secs(3600));
            finish_all(&office.system).await.unwrap();
            nothing_is_left(&office).await;
            if survived {
                break;
            }
        }
        drop(scene);
    });
}
