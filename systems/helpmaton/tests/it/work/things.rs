//! Agents, keys, channels, connections, servers and logs, beyond their access patterns.

use keyform::flow::FlowError;
use keyform_helpmaton::agents::{self, AgentSettings};
use keyform_helpmaton::mcp::{self, NewMcpServer};
use keyform_helpmaton::model::{
    AgentClientToolsItem, CreateStreamServerError, DeleteChannelError, DeleteMcpServerError, EnableMcpServerError,
    McpServerAuthType, McpServerId, OutputChannelId, OutputChannelType, SetNotificationChannelError,
};
use keyform_helpmaton::{agent_keys, channels, stream_servers};
use keyform_scenario::{on_embedded, on_every_store};
use serde_json::json;

use super::office::{Office, id};

fn outcome<T>(refused: Result<T, FlowError>) -> String {
    match refused {
        Err(FlowError::Refused { outcome, .. }) => outcome,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("not refused"),
    }
}

async fn channel(office: &Office) -> OutputChannelId {
    let channel = id();
    let config = json!({"webhookUrl": "https://hooks.example.org/secret"});
    channels::create(
        &office.system,
        &office.owner,
        &office.workspace,
        &channel,
        OutputChannelType::Slack,
        "News",
        config,
    )
    .await
    .unwrap();
    channel
}

async fn server(office: &Office) -> McpServerId {
    let server = id();
    let made = NewMcpServer {
        workspace_id: office.workspace.clone(),
        name: "Tools".into(),
        url: "https://tools.example.org/mcp".into(),
        auth_type: McpServerAuthType::Header,
        config: json!({"headerValue": "Bearer secret"}),
    };
    mcp::create(&office.system, &office.owner, &server, made).await.unwrap();
    server
}

#[test]
fn an_agent_refers_to_what_is_there_and_holds_it() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        let (by, workspace, agent) = (office.by(), &office.workspace, &office.agent);
        let (channel, server) = (channel(&office).await, server(&office).await);
        let unknown = by.set_notification_channel(workspace, agent, &id()).await;
        assert_eq!(unknown, Err(SetNotificationChannelError::UnknownChannel));
        assert_eq!(by.enable_mcp_server(workspace, agent, &id()).await, Err(EnableMcpServerError::UnknownServer));
        by.set_notification_channel(workspace, agent, &channel).await.unwrap();
        by.enable_mcp_server(workspace, agent, &server).await.unwrap();
        assert_eq!(by.delete_channel(workspace, &channel).await, Err(DeleteChannelError::ChannelInUse));
        assert_eq!(by.delete_mcp_server(workspace, &server).await, Err(DeleteMcpServerError::ServerInUse));
        agents::remove(&office.system, &by, workspace, agent).await.unwrap();
        by.delete_channel(workspace, &channel).await.unwrap();
        by.delete_mcp_server(workspace, &server).await.unwrap();
        assert_eq!(by.agent_by_id(workspace, agent).await.unwrap(), None);
    });
}

#[test]
fn delegation_is_to_others_and_not_back() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        let (by, workspace) = (office.by(), &office.workspace);
        let (a, b, c) = (office.agent.clone(), office.another_agent().await, office.another_agent().await);
        agents::allow_delegation(&by, workspace, &a, &b).await.unwrap();
        agents::allow_delegation(&by, workspace, &a, &b).await.unwrap();
        agents::allow_delegation(&by, workspace, &b, &c).await.unwrap();
        assert_eq!(outcome(agents::allow_delegation(&by, workspace, &c, &a).await), "DelegationCircle");
        assert_eq!(outcome(agents::allow_delegation(&by, workspace, &a, &a).await), "DelegationCircle");
        assert_eq!(outcome(agents::allow_delegation(&by, workspace, &a, &id()).await), "UnknownAgent");
        assert_eq!(outcome(agents::remove(&office.system, &by, workspace, &b).await), "DelegatedTo");
        by.revoke_delegation(workspace, &b, &c).await.unwrap();
        agents::allow_delegation(&by, workspace, &c, &a).await.unwrap();
        agents::remove(&office.system, &by, workspace, &c).await.unwrap();
        assert_eq!(by.agent_by_id(workspace, &a).await.unwrap().unwrap().delegators, 0);
    });
}

#[test]
fn an_agent_has_all_its_settings_and_wrong_ones_are_refused() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        let tool = AgentClientToolsItem {
            name: "readFile".into(),
            description: "Reads".into(),
            parameters: json!({"type": "object"}),
        };
        let settings = AgentSettings {
            name: "All".into(),
            system_prompt: "Prompt".into(),
            temperature: Some("0.7".parse().unwrap()),
            top_p: Some("0.9".parse().unwrap()),
            top_k: Some(40),
            max_output_tokens: Some(1000),
            stop_sequences: Some(vec!["END".into()]),
            max_tool_roundtrips: Some(7),
            provider: Some(keyform_helpmaton::model::AgentProvider::Anthropic),
            model_name: Some("claude-sonnet-4".into()),
            client_tools: Some(vec![tool.clone()]),
        };
        let agent = id();
        let made = agents::create(&office.by(), &office.workspace, &agent, settings.clone()).await.unwrap();
        assert_eq!(made.client_tools, Some(vec![tool.clone()]));
        assert_eq!((made.top_k, made.max_tool_roundtrips), (Some(40), 7));
        let again = agents::create(&office.by(), &office.workspace, &agent, settings.clone()).await.unwrap();
        assert_eq!(again.version, made.version);
        let plain = AgentSettings { name: "Plain".into(), ..AgentSettings::default() };
        let changed = agents::change(&office.by(), &office.workspace, &agent, plain, made.version).await.unwrap();
        assert_eq!((changed.temperature, changed.client_tools, changed.max_tool_roundtrips), (None, None, 5));
        for wrong in [
            AgentSettings { temperature: Some(3.into()), ..settings.clone() },
            AgentSettings { top_p: Some(2.into()), ..settings.clone() },
            AgentSettings { client_tools: Some(vec![tool.clone(), tool.clone()]), ..settings.clone() },
            AgentSettings {
                client_tools: Some(vec![AgentClientToolsItem { name: "1x".into(), ..tool.clone() }]),
                ..settings.clone()
            },
        ] {
            let refused = agents::create(&office.by(), &office.workspace, &id(), wrong).await;
            assert!(matches!(refused, Err(FlowError::Arguments(_))));
        }
    });
}

#[test]
fn a_key_of_an_agent_is_shown_once_and_recognised() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        let (workspace, agent, key_id) = (&office.workspace, &office.agent, id());
        let make = async || {
            agent_keys::create(&office.system, &office.owner, workspace, agent, &key_id, Some("CI".into()), None).await
        };
        let made = make().await.unwrap();
        assert_eq!(make().await.unwrap().key, made.key, "a repeated request shows the same key");
        let verify =
            async |key: &str| agent_keys::verify(&office.system, workspace, agent, &key_id, key).await.unwrap();
        assert!(verify(&made.key).await);
        assert!(!verify("another").await);
        let listed = office.by().keys_for_agent(workspace, agent).await.unwrap();
        assert_eq!(listed.items.len(), 1);
        assert!(!serde_json::to_string(&listed.items).unwrap().contains(&made.key));
        office.by().delete_agent_key(workspace, agent, &key_id).await.unwrap();
        assert!(!verify(&made.key).await);
    });
}

#[test]
fn secrets_of_channels_and_servers_are_never_in_answers_nor_in_items() {
    on_embedded(async |scene| {
        let office = Office::open(scene).await;
        let (channel, server) = (channel(&office).await, server(&office).await);
        let found = office.by().channel_by_id(&office.workspace, &channel).await.unwrap().unwrap();
        assert!(!serde_json::to_string(&found).unwrap().contains("secret"));
        assert_eq!(found.config.expose()["webhookUrl"], "https://hooks.example.org/secret");
        let found = office.by().mcp_server_by_id(&office.workspace, &server).await.unwrap().unwrap();
        assert!(!serde_json::to_string(&found).unwrap().contains("Bearer"));
        assert_eq!(found.config.expose()["headerValue"], "Bearer secret");
        for item in super::removal::all_items(&office).await {
            assert!(!item.contains("Bearer") && !item.contains("hooks.example.org"), "{item}");
        }
    });
}

#[test]
fn a_stream_is_opened_by_secret_and_origin() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        let (by, workspace, agent) = (office.by(), &office.workspace, &office.agent);
        let origins = vec!["https://app.example.org/".to_owned()];
        let opened = stream_servers::open(&by, workspace, agent, origins.clone()).await.unwrap();
        assert!(opened.secret.bytes().all(|byte| byte.is_ascii_alphanumeric()) && opened.secret.len() >= 40);
        let again = stream_servers::open(&by, workspace, agent, origins).await;
        assert_eq!(outcome(again), "StreamExists");
        let may = async |secret: &str, origin: Option<&str>| {
            stream_servers::may_stream(&office.system, workspace, agent, secret, origin).await.unwrap()
        };
        assert!(may(&opened.secret, Some("https://app.example.org")).await);
        assert!(!may(&opened.secret, Some("https://evil.example.org")).await);
        assert!(!may("guess", Some("https://app.example.org")).await);
        let changed = by.change_origins(workspace, agent, &["*".to_owned()], opened.version).await.unwrap();
        assert_eq!(changed.secret.expose(), &opened.secret, "the secret of a running server stays");
        assert!(may(&opened.secret, None).await);
        let unknown = stream_servers::open(&by, workspace, &id(), Vec::new()).await;
        assert_eq!(outcome(unknown), "UnknownAgent");
        assert_ne!(CreateStreamServerError::UnknownAgent, CreateStreamServerError::StreamExists);
    });
}
