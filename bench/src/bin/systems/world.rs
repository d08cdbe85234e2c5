//! Data of the hot paths, created through the systems' own models, so that every store has the same.

use std::sync::Arc;

use keyform_runtime::seal::{FieldKey, Keyring};
use keyform::{Execute, ModelOptions, Money, Ulid, Uuid};
use keyform_agencies::model::{Agencies, AgencyId};
use keyform_discord::model::{ChannelId, CreateServerInput, Discord, ServerId, UserId};
use keyform_helpmaton::model::{self as helpmaton, Helpmaton};
use keyform_t3nets::model::{self as t3nets, T3nets};
use keyform_workspaces::model::{WorkspaceId, Workspaces};

/// Stage in the names of tables.
pub const STAGE: &str = "local";
/// Number of items of the loaded workspace.
const ITEMS: usize = 100;
/// The channel to resolve.
pub const CHANNEL: &str = "C024BE91L";
/// More than any run spends.
pub const PLENTY: Money = Money::of_units(1_000_000_000);

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Ids of the created data, and the models to call.
#[derive(Clone)]
pub struct World {
    pub discord: Discord,
    pub chats: Vec<Chat>,
    pub workspaces: Workspaces,
    pub workspace: WorkspaceId,
    pub member: Uuid,
    pub helpmaton: Helpmaton,
    pub tills: Vec<Till>,
    pub t3nets: T3nets,
    pub agencies: Agencies,
    pub agency: AgencyId,
    pub person: String,
}

/// A channel and a member who writes there: one for each caller, since transactions on the same items conflict.
#[derive(Clone)]
pub struct Chat {
    pub discord: Discord,
    pub server: ServerId,
    pub channel: ChannelId,
    pub author: UserId,
}

/// A workspace with credits and an agent to spend them: one for each caller.
#[derive(Clone)]
pub struct Till {
    pub owner: helpmaton::UserId,
    pub email: String,
    pub workspace: helpmaton::WorkspaceId,
    pub agent: helpmaton::AgentId,
}

impl World {
    /// Creates tables and fills them.
    pub async fn make(store: Arc<dyn Execute>, callers: usize) -> Result<Self, Failure> {
        let options = || ModelOptions::new().variable("stage", STAGE).field_keys(Keyring::of(FieldKey::new([7; 32])));
        let discord = Discord::on(store.clone(), options())?;
        let workspaces = Workspaces::on(store.clone(), options())?;
        let helpmaton = Helpmaton::on(store.clone(), options())?;
        let t3nets = T3nets::on(store.clone(), options())?;
        let agencies = Agencies::on(store, options())?;
        discord.create_tables().await?;
        workspaces.create_tables().await?;
        helpmaton.create_tables().await?;
        t3nets.create_tables().await?;
        agencies.create_tables().await?;
        let mut chats = Vec::new();
        for number in 0..callers {
            chats.push(chat(&discord, number).await?);
        }
        let (workspace, member) = shelf(&workspaces).await?;
        let mut tills = Vec::new();
        for number in 0..callers {
            tills.push(till(&helpmaton, number).await?);
        }
        tenant(&t3nets).await?;
        let (agency, person) = bureau(&agencies).await?;
        Ok(Self {
            discord,
            chats,
            workspaces: workspaces.as_caller(keyform_workspaces::model::Caller { user_id: member.clone() }),
            workspace,
            member,
            helpmaton,
            tills,
            t3nets,
            agencies,
            agency,
            person,
        })
    }
}

async fn chat(discord: &Discord, number: usize) -> Result<Chat, Failure> {
    let author = discord.sign_up(&format!("ada{number}@example.com"), "ada", "no hash").await?.user_id;
    let as_author = discord.as_caller(keyform_discord::model::Caller { user_id: author.clone().into() });
    let server = as_author.create_server(CreateServerInput::new("Engines")).await?.server_id;
    let channel = as_author.channels_of_server(&server).await?.items.remove(0).channel_id;
    Ok(Chat { discord: as_author, server, channel, author })
}

async fn shelf(workspaces: &Workspaces) -> Result<(WorkspaceId, Uuid), Failure> {
    let member = Uuid::fresh();
    let as_member = workspaces.as_caller(keyform_workspaces::model::Caller { user_id: member.clone() });
    let workspace = as_member.create_workspace("Shelf").await?.workspace_id;
    for number in 0..ITEMS {
        as_member.create_item(&workspace, &format!("item {number}"), &"text ".repeat(50)).await?;
    }
    Ok((workspace, member))
}

async fn till(helpmaton: &Helpmaton, number: usize) -> Result<Till, Failure> {
    let (owner, subscription) =
        (helpmaton::UserId::from(Uuid::fresh()), helpmaton::SubscriptionId::from(Uuid::fresh()));
    let (workspace, email) = (helpmaton::WorkspaceId::from(Uuid::fresh()), format!("owner{number}@example.com"));
    helpmaton.sign_up(helpmaton::SignUpInput::new(owner.clone(), email.clone(), subscription.clone())).await?;
    let as_owner = helpmaton.as_caller(helpmaton::Caller { user_id: owner.clone().into(), email: email.clone() });
    let wanted = helpmaton::CreateWorkspaceInput::new(workspace.clone(), subscription, "Till");
    as_owner.create_workspace(wanted).await?;
    let agent =
        as_owner.create_agent(helpmaton::CreateAgentInput::new(workspace.clone(), "clerk", "Be brief.")).await?;
    let entry = helpmaton::CreditEntryId::new(&format!("purchase-{number}"))?;
    helpmaton.credit_purchase(&workspace, &entry, PLENTY, helpmaton::CreditEntryCurrency::Usd).await?;
    Ok(Till { owner, email, workspace, agent: agent.agent_id })
}

async fn tenant(t3nets: &T3nets) -> Result<(), Failure> {
    let settings = t3nets::TenantSettings {
        ai_provider: "bedrock".to_owned(),
        ai_model: String::new(),
        system_prompt_override: String::new(),
        max_tokens_per_message: 4096,
        enabled_channels: vec!["slack".to_owned()],
        enabled_skills: Vec::new(),
        custom_skills: Vec::new(),
        messages_per_day: 1000,
        max_conversation_history: 20,
    };
    let (tenant, user) = (t3nets::TenantId::new("acme")?, t3nets::UserId::new("ada")?);
    t3nets
        .create_tenant(t3nets::CreateTenantInput {
            tenant_id: tenant,
            name: "Acme".to_owned(),
            settings,
            user_id: user,
            email: "ada@example.com".to_owned(),
            display_name: "Ada".to_owned(),
        })
        .await?;
    let as_admin = t3nets.as_caller(t3nets::Caller {
        tenant_id: t3nets::TenantId::new("acme")?,
        user_id: t3nets::UserId::new("ada")?,
        guest: None,
        operator: None,
    });
    as_admin.claim_channel(t3nets::ChannelOwnerChannelType::Slack, CHANNEL).await?;
    Ok(())
}

async fn bureau(agencies: &Agencies) -> Result<(AgencyId, String), Failure> {
    let person = Ulid::fresh().to_string();
    let caller = keyform_agencies::model::Caller { idpid: person.clone(), admin: true };
    let agency = agencies.as_caller(caller).create_agency("Acme").await?.agency_id;
    Ok((agency, person))
}
