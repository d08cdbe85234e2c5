//! Sample data: a tenant with two users, a channel, and a conversation.

use std::time::Duration;

use keyform::WrongText;
use keyform::flow::{FlowError, Host};
use serde_json::{Map, Value};

use crate::channels::{self, Channel, ChannelType};
use crate::conversations;
use crate::model::{
    Caller, ConversationId, CreateUserError, CreateUserInput, IdentityChannelType, LinkIdentityError, SaveTurnInput,
    T3nets, TenantId, UserId,
};
use crate::settings::SettingsChange;
use crate::tenants::{self, NewTenant};

const WEEK: Duration = Duration::from_secs(7 * 86_400);
const TENANT: &str = "outlocks";
const CHANNEL: &str = "azure-bot-app-id";

/// Writes the sample data if it is missing; returns lines that describe what to try.
///
/// # Errors
/// The data cannot be written.
pub async fn make(t3nets: &T3nets, host: &Host) -> Result<Vec<String>, FlowError> {
    let tenant = TenantId::new(TENANT).map_err(wrong)?;
    if t3nets.tenant_by_id(&tenant).await?.is_none() {
        tenants::onboard(t3nets, outlocks(), true).await?;
        t3nets.as_caller(person(&tenant, "ada")?).finish_onboarding().await?;
    }
    let admin = t3nets.as_caller(person(&tenant, "ada")?);
    make_people(&admin, &tenant).await?;
    channels::connect(&admin, &tenant, &Channel::new(ChannelType::Teams, CHANNEL)).await?;
    make_conversation(t3nets, &person(&tenant, "grace")?).await?;
    Ok(lines(host))
}

fn outlocks() -> NewTenant {
    NewTenant {
        tenant_id: TENANT.to_owned(),
        name: "Outlocks".to_owned(),
        user_id: "ada".to_owned(),
        email: "ada@outlocks.example".to_owned(),
        display_name: "Ada".to_owned(),
        settings: SettingsChange {
            enabled_channels: Some(vec!["dashboard".to_owned(), "teams".to_owned()]),
            enabled_skills: Some(vec!["sprint_status".to_owned()]),
            ..SettingsChange::default()
        },
    }
}

async fn make_people(admin: &T3nets, tenant: &TenantId) -> Result<(), FlowError> {
    let grace = UserId::new("grace").map_err(wrong)?;
    match admin
        .create_user(CreateUserInput::new(tenant.clone(), grace.clone(), "grace@outlocks.example", "Grace"))
        .await
    {
        Ok(_) | Err(CreateUserError::UserExists) => {}
        Err(error) => return Err(error.into()),
    }
    match admin.link_identity(tenant, IdentityChannelType::Teams, "aad-grace", &grace).await {
        Ok(_) | Err(LinkIdentityError::IdentityTaken) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

async fn make_conversation(t3nets: &T3nets, grace: &Caller) -> Result<(), FlowError> {
    let as_grace = t3nets.as_caller(grace.clone());
    let conversation = ConversationId::new("default").map_err(wrong)?;
    if !conversations::history(&as_grace, grace, &conversation).await?.messages.is_empty() {
        return Ok(());
    }
    for (question, answer) in [
        ("What's the sprint status?", "Nine of twelve stories are done; two are in review."),
        ("Who reviews them?", "Ada has both, since yesterday."),
    ] {
        let turn = SaveTurnInput::new(conversation.clone(), question, answer);
        conversations::record(&as_grace, &turn).await?;
    }
    Ok(())
}

fn person(tenant: &TenantId, user: &str) -> Result<Caller, FlowError> {
    let user_id = UserId::new(user).map_err(wrong)?;
    Ok(Caller { tenant_id: tenant.clone(), user_id, guest: None, operator: None })
}

fn wrong(wrong: WrongText) -> FlowError {
    FlowError::Broken(wrong.to_string())
}

fn lines(host: &Host) -> Vec<String> {
    let (grace, operator) = (caller_header(host, "grace", false), caller_header(host, "support", true));
    let post = |who: &str, flow: &str, body: &str| {
        format!(
            "curl -H '{who}' -H 'Content-Type: application/json' -d '{body}' http://127.0.0.1:8000/v1/t3nets/{flow}"
        )
    };
    let from_teams = format!(r#"{{"channel_type":"teams","channel_id":"{CHANNEL}","sender_id":"aad-grace"}}"#);
    vec![post(&grace, "history", r#"{"conversation_id":"default"}"#), post(&operator, "resolveMessage", &from_teams)]
}

/// Returns the development header where it is trusted, otherwise a token.
fn caller_header(host: &Host, user: &str, operator: bool) -> String {
    let mut claims: Map<String, Value> = Map::new();
    claims.insert("tenant_id".to_owned(), Value::from(TENANT));
    claims.insert("user_id".to_owned(), Value::from(user));
    if operator {
        claims.insert("operator".to_owned(), Value::from(true));
    }
    match host.issue_token(claims, WEEK) {
        Some(token) if !host.token_keys().is_empty() => format!("Authorization: Bearer {token}"),
        _ if operator => format!("X-Keyform-Caller: tenant_id={TENANT}; user_id={user}; operator=true"),
        _ => format!("X-Keyform-Caller: tenant_id={TENANT}; user_id={user}"),
    }
}
