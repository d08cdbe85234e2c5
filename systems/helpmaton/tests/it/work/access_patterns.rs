//! Access patterns of the document in the sections on workspaces, with the document's names.

use std::time::Duration;

use keyform::{CallError, Date, Money};
use keyform_helpmaton::conversations::{Said, Start, append, start, whole};
use keyform_helpmaton::credits::{refund, reserve, settle};
use keyform_helpmaton::documents::{self, Upload};
use keyform_helpmaton::mcp::{self, NewMcpServer};
use keyform_helpmaton::model::{
    self, AdjustCreditsInput, AgentId, ConversationConversationType, ConversationId, CreditReservationStatus,
    EmailConnectionType, McpServerAuthType, OutputChannelType, TrialCreditRequestStatus, WorkspaceApiKeyProvider,
};
use keyform_helpmaton::prices::{Cost, Tokens};
use keyform_helpmaton::webhooks::{self, Received};
use keyform_helpmaton::{agent_keys, channels, email, provider_keys, stream_servers, usage};
use keyform_scenario::{Scene, on_every_store};
use serde_json::json;

use super::jobs::talk;
use super::office::{Office, credit, id, person, units};

/// Patterns of these sections and their tests; the documentation page uses the same names.
const PATTERNS: &[(&str, &str, &str)] = &[
    ("2 `webhook-logs`", "log a request", "webhook_logs_log_a_request"),
    ("2 `webhook-logs`", "retrieve a log", "webhook_logs_retrieve_a_log"),
    ("3 `workspace`", "atomic credit update", "workspace_atomic_credit_update"),
    ("5 `agent`", "get agent", "agent_get_agent"),
    ("5 `agent`", "agents in a workspace", "agent_agents_in_a_workspace"),
    ("6 `agent-key`", "get key", "agent_key_get_key"),
    ("6 `agent-key`", "keys of an agent", "agent_key_keys_of_an_agent"),
    ("7 `workspace-api-key`", "get the workspace's key", "workspace_api_key_get_the_workspaces_key"),
    ("7 `workspace-api-key`", "query by workspace", "workspace_api_key_query_by_workspace"),
    ("8 `workspace-document`", "get document", "workspace_document_get_document"),
    ("8 `workspace-document`", "documents in a workspace", "workspace_document_documents_in_a_workspace"),
    ("8 `workspace-document`", "filter by folder", "workspace_document_filter_by_folder"),
    ("9 `output_channel`", "get channel", "output_channel_get_channel"),
    ("9 `output_channel`", "channels in a workspace", "output_channel_channels_in_a_workspace"),
    ("10 `agent-conversations`", "get conversation", "agent_conversations_get_conversation"),
    ("10 `agent-conversations`", "conversations of an agent", "agent_conversations_conversations_of_an_agent"),
    ("11 `credit-reservations`", "create reservation", "credit_reservations_create_reservation"),
    ("11 `credit-reservations`", "get reservation", "credit_reservations_get_reservation"),
    ("11 `credit-reservations`", "clean up expired ones", "credit_reservations_clean_up_expired_ones"),
    ("12 `token-usage-aggregates`", "get a workspace's aggregate", "token_usage_aggregates_get_workspace_aggregate"),
    (
        "12 `token-usage-aggregates`",
        "list a workspace's aggregates",
        "token_usage_aggregates_list_workspace_aggregates",
    ),
    ("12 `token-usage-aggregates`", "get an agent's aggregate", "token_usage_aggregates_get_agent_aggregate"),
    ("12 `token-usage-aggregates`", "list an agent's aggregates", "token_usage_aggregates_list_agent_aggregates"),
    ("12 `token-usage-aggregates`", "(index by user, no pattern)", "token_usage_aggregates_list_user_aggregates"),
    ("13 `email-connection`", "get connection", "email_connection_get_connection"),
    ("13 `email-connection`", "query by workspace", "email_connection_query_by_workspace"),
    ("14 `mcp-server`", "get server", "mcp_server_get_server"),
    ("14 `mcp-server`", "servers in a workspace", "mcp_server_servers_in_a_workspace"),
    ("15 `trial-credit-requests`", "get request", "trial_credit_requests_get_request"),
    ("15 `trial-credit-requests`", "create request", "trial_credit_requests_create_request"),
    ("19 `agent-stream-servers`", "get configuration", "agent_stream_servers_get_configuration"),
    ("19 `agent-stream-servers`", "create or update", "agent_stream_servers_create_or_update"),
    ("common queries 1", "workspace and all resources", "common_workspace_and_all_resources"),
    ("common queries 3", "reserve, adjust", "credit_reservations_create_reservation"),
    ("common queries 4", "create conversation", "agent_conversations_get_conversation"),
    ("common queries 4", "aggregate daily", "token_usage_aggregates_aggregate_daily"),
];

/// Sections that other tests cover.
const ELSEWHERE: &[&str] = &[
    "common fields",
    "1 `next-auth`",
    "4 `permission`",
    "16 `subscription`",
    "17 `llm-request-buckets`",
    "18 `workspace-invite`",
    "20 `user-api-key`",
    "21 `user-refresh-token`",
    "common queries 2",
];
/// Patterns of section 3 that other tests cover.
const OF_WORKSPACES: &[&str] = &["get workspace", "workspaces of a subscription"];

#[test]
fn every_pattern_of_these_sections_has_a_test() {
    let page = include_str!("../../../../../docs/systems/helpmaton.md");
    let table = page.split("## What the model adds").next().unwrap();
    let (mut section, mut missing) = (String::new(), Vec::new());
    for row in table.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| section")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        if !cells[1].is_empty() {
            section = cells[1].to_owned();
        }
        let is_elsewhere = ELSEWHERE.contains(&section.as_str()) || OF_WORKSPACES.contains(&cells[2]);
        if !is_elsewhere && !PATTERNS.iter().any(|(of, pattern, _)| *of == section && *pattern == cells[2]) {
            missing.push(format!("{section}: {}", cells[2]));
        }
    }
    assert_eq!(missing, Vec::<String>::new());
    let source = include_str!("access_patterns.rs");
    for (_, _, test) in PATTERNS {
        assert!(source.contains(&format!("fn {test}()")), "{test}");
    }
}

/// Returns the handle of a caller who is not a member.
async fn stranger(office: &Office) -> model::Helpmaton {
    office.system.model.as_caller(person(&office.system).await)
}

// --- 2. webhook-logs -------------------------------------------------------------------------------------------------

fn received(office: &Office, body: String) -> Received {
    Received { request_id: id(), user_id: office.owner.user_id.clone(), key_id: id(), body }
}

#[test]
fn webhook_logs_log_a_request() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        let request = received(&office, "hello".into());
        let logged = webhooks::log(&office.system, request.clone()).await.unwrap();
        assert_eq!((logged.body.as_str(), logged.body_s3_key.is_none()), ("hello", true));
        let again = Received { body: "other".into(), ..request };
        assert_eq!(webhooks::log(&office.system, again).await.unwrap().body, "hello");
    });
}

#[test]
fn webhook_logs_retrieve_a_log() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        let long = "é".repeat(30_000);
        let request = received(&office, long.clone());
        webhooks::log(&office.system, request.clone()).await.unwrap();
        let logged = office.system.model.webhook_log(&request.request_id).await.unwrap().unwrap();
        assert_eq!(logged.body.chars().count(), 20_000);
        assert_eq!(webhooks::body(&office.system, &request.request_id).await.unwrap(), Some(long));
        assert_eq!(office.system.model.webhook_log(&id()).await.unwrap(), None);
        assert_eq!(office.by().webhook_log(&request.request_id).await, Err(CallError::Forbidden));
        office.scene.clock.advance(Duration::from_secs(31 * 24 * 3600));
        assert_eq!(office.system.model.webhook_log(&request.request_id).await.unwrap(), None);
    });
}

// --- 3. workspace: credit --------------------------------------------------------------------------------------------

#[test]
fn workspace_atomic_credit_update() {
    on_every_store(async |scene| {
        let office = Office::with_credit(scene, units(10)).await;
        let adjust = |entry: &str, units: i64| AdjustCreditsInput {
            by: Some("support".into()),
            ..AdjustCreditsInput::new(office.workspace.clone(), entry.parse().unwrap(), Money::of_units(units))
        };
        let model = &office.system.model;
        assert_eq!(model.adjust_credits(adjust("ticket-1", -12)).await.unwrap().credit_balance, units(-2));
        let again = model.adjust_credits(adjust("ticket-1", -12)).await;
        assert_eq!(again, Err(model::AdjustCreditsError::AlreadyAdjusted));
        model.adjust_credits(adjust("ticket-2", 3)).await.unwrap();
        assert_eq!(office.account().await.credit_balance, units(1));
        office.balanced().await;
        let entries = office.by().credit_entries(&office.workspace).await.unwrap();
        assert_eq!(entries.items.len(), 3);
        assert!(stranger(&office).await.credit_entries(&office.workspace).await.is_err());
    });
}

// --- 5. agent --------------------------------------------------------------------------------------------------------

#[test]
fn agent_get_agent() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        let agent = office.by().agent_by_id(&office.workspace, &office.agent).await.unwrap().unwrap();
        assert_eq!((agent.name.as_str(), agent.max_tool_roundtrips), ("Agent", 5));
        assert_eq!(office.by().agent_by_id(&office.workspace, &id()).await.unwrap(), None);
        let refused = stranger(&office).await.agent_by_id(&office.workspace, &office.agent).await;
        assert_eq!(refused, Err(CallError::Forbidden));
    });
}

#[test]
fn agent_agents_in_a_workspace() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        office.another_agent().await;
        let elsewhere = Office::open(office.scene.clone()).await;
        let agents = office.by().agents_in_workspace(&office.workspace).await.unwrap();
        assert_eq!((agents.items.len(), agents.cursor), (2, None));
        assert!(agents.items.iter().all(|agent| agent.agent_id != elsewhere.agent));
        assert!(stranger(&office).await.agents_in_workspace(&office.workspace).await.is_err());
    });
}

// --- 6. agent-key ----------------------------------------------------------------------------------------------------

#[test]
fn agent_key_get_key() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        let key_id = id();
        let (workspace, agent) = (&office.workspace, &office.agent);
        let made =
            agent_keys::create(&office.system, &office.owner, workspace, agent, &key_id, None, None).await.unwrap();
        let found = office.system.model.agent_key(workspace, agent, &key_id).await.unwrap().unwrap();
        assert_eq!(found.key.expose(), &made.key);
        assert_eq!(office.system.model.agent_key(workspace, agent, &id()).await.unwrap(), None);
        assert_eq!(office.by().agent_key(workspace, agent, &key_id).await, Err(CallError::Forbidden));
    });
}

#[test]
fn agent_key_keys_of_an_agent() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        let (workspace, agent) = (&office.workspace, &office.agent);
        for name in ["one", "two"] {
            let name = Some(name.to_owned());
            agent_keys::create(&office.system, &office.owner, workspace, agent, &id(), name, None).await.unwrap();
        }
        let keys = office.by().keys_for_agent(workspace, agent).await.unwrap();
        let mut names: Vec<_> = keys.items.into_iter().filter_map(|key| key.name).collect();
        names.sort();
        assert_eq!(names, ["one", "two"]);
        assert_eq!(office.by().keys_for_agent(workspace, &id()).await.unwrap().items.len(), 0);
        assert!(stranger(&office).await.keys_for_agent(workspace, agent).await.is_err());
    });
}

// --- 7. workspace-api-key --------------------------------------------------------------------------------------------

/// Form of the keys before there was one per provider.
mod old {
    keyform::model!("tests/it/work/old_keys.kf");
}

async fn put_old_key(office: &Office) {
    let host = &office.scene.host;
    let before = old::OldKeys::on(host.store(), host.options()).unwrap();
    let workspace = keyform::Uuid::from(office.workspace.clone());
    before.set_workspace_api_key(&workspace.into(), "old key").await.unwrap();
}

#[test]
fn workspace_api_key_get_the_workspaces_key() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        let (google, openai) = (WorkspaceApiKeyProvider::Google, WorkspaceApiKeyProvider::Openai);
        let model = &office.system.model;
        assert!(!provider_keys::has_key(model, &office.workspace, google).await.unwrap());
        provider_keys::set(&office.by(), &office.workspace, openai, "sk-1").await.unwrap();
        provider_keys::set(&office.by(), &office.workspace, openai, "sk-2").await.unwrap();
        let found = model.workspace_api_key(&office.workspace, openai).await.unwrap().unwrap();
        assert_eq!(found.key.expose(), "sk-2");
        assert!(!provider_keys::has_key(model, &office.workspace, google).await.unwrap());
        provider_keys::set(&office.by(), &office.workspace, openai, " ").await.unwrap();
        assert!(!provider_keys::has_key(model, &office.workspace, openai).await.unwrap());
        assert_eq!(office.by().workspace_api_key(&office.workspace, openai).await, Err(CallError::Forbidden));
    });
}

#[test]
fn workspace_api_key_query_by_workspace() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        for provider in provider_keys::PROVIDERS {
            provider_keys::set(&office.by(), &office.workspace, provider, "key").await.unwrap();
        }
        let keys = office.by().workspace_api_keys(&office.workspace).await.unwrap();
        assert_eq!(keys.items.len(), 3);
        assert!(stranger(&office).await.workspace_api_keys(&office.workspace).await.is_err());
    });
}

#[test]
fn a_key_of_the_old_form_is_read_as_googles_and_replaced_by_the_new_form() {
    keyform_scenario::on_embedded(async |scene| {
        let office = Office::open(scene).await;
        put_old_key(&office).await;
        let google = WorkspaceApiKeyProvider::Google;
        let model = &office.system.model;
        let found = model.workspace_api_key(&office.workspace, google).await.unwrap().unwrap();
        assert_eq!(found.key.expose(), "old key");
        assert!(!provider_keys::has_key(model, &office.workspace, WorkspaceApiKeyProvider::Openai).await.unwrap());
        provider_keys::set(&office.by(), &office.workspace, google, "new key").await.unwrap();
        let found = model.workspace_api_key(&office.workspace, google).await.unwrap().unwrap();
        assert_eq!(found.key.expose(), "new key");
        provider_keys::set(&office.by(), &office.workspace, google, "").await.unwrap();
        assert!(!provider_keys::has_key(model, &office.workspace, google).await.unwrap(), "both forms are gone");
    });
}

// --- 8. workspace-document -------------------------------------------------------------------------------------------

async fn document(office: &Office, name: &str, folder: &str) -> model::WorkspaceDocument {
    let file = Upload { document_id: id(), name: name.into(), folder: folder.into(), content: b"text".to_vec() };
    documents::upload(&office.system, &office.owner, &office.workspace, file).await.unwrap()
}

#[test]
fn workspace_document_get_document() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        let made = document(&office, "a.md", "f").await;
        let found = office.by().document_by_id(&office.workspace, &made.document_id).await.unwrap();
        assert_eq!(found, Some(made.clone()));
        assert_eq!(office.by().document_by_id(&office.workspace, &id()).await.unwrap(), None);
        assert!(stranger(&office).await.document_by_id(&office.workspace, &made.document_id).await.is_err());
    });
}

#[test]
fn workspace_document_documents_in_a_workspace() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        for n in 0..53 {
            let file = Upload { document_id: id(), name: format!("{n}.md"), folder: String::new(), content: vec![] };
            documents::upload(&office.system, &office.owner, &office.workspace, file).await.unwrap();
        }
        let first = office.by().documents_in_workspace(&office.workspace).await.unwrap();
        assert_eq!(first.items.len(), 50);
        let rest = office.by().documents_in_workspace(&office.workspace).after(first.cursor.unwrap()).await.unwrap();
        assert_eq!((rest.items.len(), rest.cursor), (3, None));
    });
}

#[test]
fn workspace_document_filter_by_folder() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        for (name, folder) in [("b.md", "x"), ("a.md", "x"), ("c.md", "x/y"), ("d.md", "")] {
            document(&office, name, folder).await;
        }
        let names = async |folder: &str| -> Vec<String> {
            let page = office.by().documents_in_folder(&office.workspace, folder).await.unwrap();
            page.items.into_iter().map(|document| document.filename).collect()
        };
        assert_eq!(names("x").await, ["a.md", "b.md"]);
        assert_eq!(names("x/y").await, ["c.md"]);
        assert_eq!(names("").await, ["d.md"]);
        assert_eq!(names("none").await, Vec::<String>::new());
    });
}

// --- 9. output_channel -----------------------------------------------------------------------------------------------

async fn channel(office: &Office, name: &str) -> model::OutputChannel {
    let config = json!({"address": "ops@example.org"});
    let kind = OutputChannelType::Email;
    channels::create(&office.system, &office.owner, &office.workspace, &id(), kind, name, config).await.unwrap()
}

#[test]
fn output_channel_get_channel() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        let made = channel(&office, "Ops").await;
        let found = office.by().channel_by_id(&office.workspace, &made.channel_id).await.unwrap().unwrap();
        assert_eq!(found.config.expose()["address"], "ops@example.org");
        assert_eq!(office.by().channel_by_id(&office.workspace, &id()).await.unwrap(), None);
        assert!(stranger(&office).await.channel_by_id(&office.workspace, &made.channel_id).await.is_err());
    });
}

#[test]
fn output_channel_channels_in_a_workspace() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        channel(&office, "One").await;
        channel(&office, "Two").await;
        let channels = office.by().channels_in_workspace(&office.workspace).await.unwrap();
        let mut names: Vec<_> = channels.items.into_iter().map(|channel| channel.name).collect();
        names.sort();
        assert_eq!(names, ["One", "Two"]);
    });
}

// --- 10. agent-conversations -----------------------------------------------------------------------------------------

#[test]
fn agent_conversations_get_conversation() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        let conversation: ConversationId = id();
        let kind = ConversationConversationType::Test;
        let begun = Start {
            messages: vec![json!({"role": "user", "content": "Hi"})],
            ..Start::new(office.workspace.clone(), office.agent.clone(), conversation.clone(), kind)
        };
        start(&office.system, begun).await.unwrap();
        let said = Said { message: json!({"role": "assistant"}), tokens: Tokens::default(), cost: Cost::default() };
        append(&office.system, &office.workspace, &office.agent, &conversation, said).await.unwrap();
        let found = whole(&office.by(), &office.workspace, &office.agent, &conversation).await.unwrap().unwrap();
        let roles: Vec<_> = found.messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
        assert_eq!(roles, ["user", "assistant"]);
        assert!(whole(&office.by(), &office.workspace, &office.agent, &id()).await.unwrap().is_none());
        let refused = whole(&stranger(&office).await, &office.workspace, &office.agent, &conversation).await;
        assert_eq!(refused.err(), Some(CallError::Forbidden));
    });
}

#[test]
fn agent_conversations_conversations_of_an_agent() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        let mut ids = Vec::new();
        for _ in 0..3 {
            ids.push(talk(&office, "m", false).await);
            office.scene.clock.advance(Duration::from_secs(1));
        }
        let said = Said { message: json!("again"), tokens: Tokens::default(), cost: Cost::default() };
        append(&office.system, &office.workspace, &office.agent, &ids[0], said).await.unwrap();
        let latest = office.by().latest_conversations(&office.workspace, &office.agent).await.unwrap();
        let latest: Vec<_> = latest.items.into_iter().map(|found| found.conversation_id).collect();
        assert_eq!(latest, [ids[0].clone(), ids[2].clone(), ids[1].clone()], "newest first");
        let all = office.by().conversations_for_agent(&office.workspace, &office.agent).await.unwrap();
        assert_eq!(all.items.len(), 3);
        let elsewhere = office.by().latest_conversations(&office.workspace, &id::<AgentId>()).await.unwrap();
        assert_eq!(elsewhere.items.len(), 0);
    });
}

// --- 11. credit-reservations -----------------------------------------------------------------------------------------

#[test]
fn credit_reservations_create_reservation() {
    on_every_store(async |scene| {
        let office = Office::with_credit(scene, units(5)).await;
        let call = office.call();
        let made = credit(reserve(&office.system, &call).await.unwrap());
        assert_eq!(
            (made.status, made.currency),
            (CreditReservationStatus::Open, model::CreditReservationCurrency::Usd)
        );
        let account = office.account().await;
        assert_eq!(account.credit_balance + account.reserved_credits, units(5));
        settle(&office.system, &call.reservation_id, units(1)).await.unwrap();
        let account = office.account().await;
        assert_eq!((account.credit_balance, account.reserved_credits), (units(4), Money::ZERO));
        office.balanced().await;
    });
}

#[test]
fn credit_reservations_get_reservation() {
    on_every_store(async |scene| {
        let office = Office::with_credit(scene, units(5)).await;
        let call = office.call();
        let made = credit(reserve(&office.system, &call).await.unwrap());
        let model = &office.system.model;
        assert_eq!(model.reservation_by_id(&call.reservation_id).await.unwrap(), Some(made));
        assert_eq!(model.reservation_by_id(&id()).await.unwrap(), None);
        refund(&office.system, &call.reservation_id).await.unwrap();
        let closed = model.reservation_by_id(&call.reservation_id).await.unwrap().unwrap();
        assert_eq!((closed.status, closed.expires), (CreditReservationStatus::Refunded, None));
        assert_eq!(office.by().reservation_by_id(&call.reservation_id).await, Err(CallError::Forbidden));
        office.scene.clock.advance(Duration::from_secs(8 * 24 * 3600));
        assert_eq!(model.reservation_by_id(&call.reservation_id).await.unwrap(), None, "swept up after a week");
    });
}

#[test]
fn credit_reservations_clean_up_expired_ones() {
    on_every_store(async |scene| {
        let office = Office::with_credit(scene, units(5)).await;
        let call = office.call();
        let made = credit(reserve(&office.system, &call).await.unwrap());
        let (hour, expires) = (made.expires_hour.unwrap(), made.expires.unwrap());
        let due = async |before: i64| {
            let before = keyform::Epoch(before);
            let found = office.system.model.expired_reservations(hour, before).all().await.unwrap();
            found.iter().any(|found| found.reservation_id == call.reservation_id)
        };
        assert!(!due(expires.0).await);
        assert!(due(expires.0 + 1).await);
        let early = office.system.model.expire_reservation(&call.reservation_id).await;
        assert_eq!(early, Err(model::ExpireReservationError::NotYetDue));
        office.scene.clock.advance(Duration::from_secs(901));
        office.system.model.expire_reservation(&call.reservation_id).await.unwrap();
        assert!(!due(expires.0 + 1).await, "closed ones are not in the index");
        assert_eq!(office.account().await.credit_balance, units(5));
    });
}

// --- 12. token-usage-aggregates --------------------------------------------------------------------------------------

/// Aggregates two days of conversations: two rows on the first day, one on the second.
async fn two_days(scene: Scene) -> (Office, Date, Date) {
    let office = Office::open(scene).await;
    let day = office.system.now().date();
    talk(&office, "a", false).await;
    talk(&office, "b", false).await;
    office.scene.clock.advance(Duration::from_secs(24 * 3600));
    talk(&office, "a", true).await;
    let next = office.system.now().date();
    usage::aggregate(&office.system, day, next).await.unwrap();
    (office, day, next)
}

#[test]
fn token_usage_aggregates_get_workspace_aggregate() {
    on_every_store(async |scene| {
        let (office, day, next) = two_days(scene).await;
        assert_eq!(office.by().usage_of_day(&office.workspace, day).await.unwrap().items.len(), 2);
        assert_eq!(office.by().usage_of_day(&office.workspace, next).await.unwrap().items.len(), 1);
    });
}

#[test]
fn token_usage_aggregates_list_workspace_aggregates() {
    on_every_store(async |scene| {
        let (office, day, next) = two_days(scene).await;
        let (by, workspace) = (office.by(), &office.workspace);
        let rows = by.workspace_usage(workspace, day, next).await.unwrap().items;
        assert_eq!(rows.iter().map(|row| row.date).collect::<Vec<_>>(), [day, day, next]);
        assert_eq!(by.workspace_usage(workspace, next, next).await.unwrap().items.len(), 1);
        assert!(stranger(&office).await.workspace_usage(workspace, day, next).await.is_err());
    });
}

#[test]
fn token_usage_aggregates_get_agent_aggregate() {
    on_every_store(async |scene| {
        let (office, day, _) = two_days(scene).await;
        let (by, workspace) = (office.by(), &office.workspace);
        assert_eq!(by.agent_usage_of_day(workspace, day, &office.agent).await.unwrap().items.len(), 2);
        assert_eq!(by.agent_usage_of_day(workspace, day, &id()).await.unwrap().items.len(), 0);
    });
}

#[test]
fn token_usage_aggregates_list_agent_aggregates() {
    on_every_store(async |scene| {
        let (office, day, next) = two_days(scene).await;
        let of_agent = office.system.model.agent_usage(&office.agent, day, next).await.unwrap();
        assert_eq!(of_agent.items.len(), 3);
        let of_nobody = office.system.model.agent_usage(&id(), day, next).await.unwrap();
        assert_eq!(of_nobody.items.len(), 0);
    });
}

#[test]
fn token_usage_aggregates_list_user_aggregates() {
    on_every_store(async |scene| {
        let (office, day, next) = two_days(scene).await;
        let owner = &office.owner.user_id;
        assert_eq!(office.by().user_usage(owner, day, next).await.unwrap().items.len(), 3);
        assert!(stranger(&office).await.user_usage(owner, day, next).await.is_err());
    });
}

#[test]
fn token_usage_aggregates_aggregate_daily() {
    on_every_store(async |scene| {
        let (office, day, next) = two_days(scene).await;
        let before = office.by().workspace_usage(&office.workspace, day, next).await.unwrap().items;
        usage::aggregate(&office.system, day, next).await.unwrap();
        let after = office.by().workspace_usage(&office.workspace, day, next).await.unwrap().items;
        let totals = |rows: &[model::UsageAggregate]| rows.iter().map(|row| row.total_tokens).collect::<Vec<_>>();
        assert_eq!(totals(&before), totals(&after));
    });
}

// --- 13. email-connection --------------------------------------------------------------------------------------------

async fn connect(office: &Office, name: &str) {
    let config = json!({"refreshToken": "secret"});
    email::set(&office.system, &office.owner, &office.workspace, EmailConnectionType::Gmail, name, &config)
        .await
        .unwrap();
}

#[test]
fn email_connection_get_connection() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        assert_eq!(office.by().email_connection(&office.workspace).await.unwrap(), None);
        connect(&office, "Old").await;
        connect(&office, "New").await;
        let found = office.by().email_connection(&office.workspace).await.unwrap().unwrap();
        assert_eq!(found.name, "New");
        assert!(!serde_json::to_string(&found).unwrap().contains("secret"));
        assert!(stranger(&office).await.email_connection(&office.workspace).await.is_err());
        office.by().delete_email_connection(&office.workspace).await.unwrap();
        assert_eq!(office.by().email_connection(&office.workspace).await.unwrap(), None);
    });
}

#[test]
fn email_connection_query_by_workspace() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        connect(&office, "Mail").await;
        let found = office.by().email_connection_by_workspace(&office.workspace).await.unwrap().unwrap();
        assert_eq!((found.name.as_str(), found.r#type), ("Mail", EmailConnectionType::Gmail));
    });
}

// --- 14. mcp-server --------------------------------------------------------------------------------------------------

async fn server(office: &Office, name: &str) -> model::McpServer {
    let made = NewMcpServer {
        workspace_id: office.workspace.clone(),
        name: name.into(),
        url: "https://tools.example.org".into(),
        auth_type: McpServerAuthType::Basic,
        config: json!({"username": "u", "password": "p"}),
    };
    mcp::create(&office.system, &office.owner, &id(), made).await.unwrap()
}

#[test]
fn mcp_server_get_server() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        let made = server(&office, "Tools").await;
        let found = office.by().mcp_server_by_id(&office.workspace, &made.server_id).await.unwrap().unwrap();
        assert_eq!(found.config.expose()["password"], "p");
        assert!(!serde_json::to_string(&found).unwrap().contains("password"));
        assert_eq!(office.by().mcp_server_by_id(&office.workspace, &id()).await.unwrap(), None);
    });
}

#[test]
fn mcp_server_servers_in_a_workspace() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        server(&office, "One").await;
        server(&office, "Two").await;
        let found = office.by().mcp_servers_in_workspace(&office.workspace).await.unwrap();
        assert_eq!(found.items.len(), 2);
        assert!(found.items.iter().all(|server| server.agents == 0));
    });
}

// --- 15. trial-credit-requests ---------------------------------------------------------------------------------------

#[test]
fn trial_credit_requests_get_request() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        assert_eq!(office.by().trial_credit_request(&office.workspace).await.unwrap(), None);
        office.by().request_trial_credit(&office.workspace).await.unwrap();
        let found = office.by().trial_credit_request(&office.workspace).await.unwrap().unwrap();
        assert_eq!(found.user_email, office.owner.email);
        let pending = office.system.model.trial_credit_requests(TrialCreditRequestStatus::Pending).all().await.unwrap();
        assert!(pending.iter().any(|request| request.workspace_id == office.workspace));
    });
}

#[test]
fn trial_credit_requests_create_request() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        let refused = stranger(&office).await.request_trial_credit(&office.workspace).await;
        assert_eq!(refused, Err(model::RequestTrialCreditError::Failed(CallError::Forbidden)));
        let made = office.by().request_trial_credit(&office.workspace).await.unwrap();
        assert_eq!(made.status, TrialCreditRequestStatus::Pending);
        assert_eq!(office.account().await.trial_credit_requested, Some(true));
    });
}

// --- 19. agent-stream-servers ----------------------------------------------------------------------------------------

#[test]
fn agent_stream_servers_get_configuration() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        let (workspace, agent) = (&office.workspace, &office.agent);
        assert_eq!(office.by().stream_server(workspace, agent).await.unwrap(), None);
        let opened = stream_servers::open(&office.by(), workspace, agent, Vec::new()).await.unwrap();
        let found = office.by().stream_server(workspace, agent).await.unwrap().unwrap();
        assert!(!serde_json::to_string(&found).unwrap().contains(&opened.secret));
        assert!(stranger(&office).await.stream_server(workspace, agent).await.is_err());
    });
}

#[test]
fn agent_stream_servers_create_or_update() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        let (by, workspace, agent) = (office.by(), &office.workspace, &office.agent);
        let opened = stream_servers::open(&by, workspace, agent, Vec::new()).await.unwrap();
        assert!(stream_servers::open(&by, workspace, agent, Vec::new()).await.is_err());
        let origins = ["https://a.example.org".to_owned()];
        let changed = by.change_origins(workspace, agent, &origins, opened.version).await.unwrap();
        assert_eq!(changed.allowed_origins, origins);
        let late = by.change_origins(workspace, agent, &[], opened.version).await;
        assert!(matches!(late, Err(model::ChangeOriginsError::Conflict(_))));
        by.delete_stream_server(workspace, agent).await.unwrap();
        assert_eq!(by.agent_by_id(workspace, agent).await.unwrap().unwrap().children, 0);
    });
}

// --- common queries --------------------------------------------------------------------------------------------------

#[test]
fn common_workspace_and_all_resources() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        document(&office, "a.md", "").await;
        channel(&office, "Ops").await;
        server(&office, "Tools").await;
        connect(&office, "Mail").await;
        let (by, workspace) = (office.by(), &office.workspace);
        assert!(by.workspace_by_id(workspace).await.unwrap().is_some());
        let counts = [
            by.agents_in_workspace(workspace).await.unwrap().items.len(),
            by.documents_in_workspace(workspace).await.unwrap().items.len(),
            by.channels_in_workspace(workspace).await.unwrap().items.len(),
            by.mcp_servers_in_workspace(workspace).await.unwrap().items.len(),
        ];
        assert_eq!(counts, [1, 1, 1, 1]);
        assert!(by.email_connection(workspace).await.unwrap().is_some());
    });
}
