//! Sample data: an agent with credit.

use keyform::flow::FlowError;
use keyform::{Money, Uuid};

use super::purchase::{Order, purchase};
use crate::Helpmaton;
use crate::agents::{self, AgentSettings};
use crate::model::{AgentId, Caller, WorkspaceId};
use crate::prices::Currency;

const AGENT: &str = "a9e00000-0000-4000-8000-000000000001";
const RESERVATION: &str = "ca110000-0000-4000-8000-000000000001";

/// Creates an agent and buys credit, if missing; returns what a member with write permission can try.
pub(crate) async fn sample(
    helpmaton: &Helpmaton,
    by: &Caller,
    workspace_id: &WorkspaceId,
) -> Result<Vec<String>, FlowError> {
    let agent_id = AgentId::from(Uuid::trusted(AGENT.to_owned()));
    let settings = AgentSettings {
        name: "Countess".to_owned(),
        system_prompt: "You answer questions about engines that calculate.".to_owned(),
        ..AgentSettings::default()
    };
    agents::create(&helpmaton.model.as_caller(by.clone()), workspace_id, &agent_id, settings).await?;
    let order = Order {
        order_id: "sample".to_owned(),
        workspace_id: workspace_id.clone(),
        amount: Money::of_units(10),
        currency: Currency::Usd,
    };
    purchase(helpmaton, &order).await?;
    Ok(told(by, workspace_id))
}

fn told(by: &Caller, workspace_id: &WorkspaceId) -> Vec<String> {
    let headers =
        format!("-H 'Content-Type: application/json' -H 'X-Keyform-Caller: userId={}; email={}'", by.user_id, by.email);
    let curl =
        |flow: &str, body: String| format!("  curl -s http://127.0.0.1:8000/v1/helpmaton/{flow} {headers} -d '{body}'");
    let begin = format!(
        r#"{{"workspaceId":"{workspace_id}","agentId":"{AGENT}","reservationId":"{RESERVATION}","messages":["What is a loop?"]}}"#
    );
    let end = format!(r#"{{"reservationId":"{RESERVATION}","tokens":{{"promptTokens":120,"completionTokens":80}}}}"#);
    vec![
        "helpmaton: reserve credit for a call, settle it, and see the account (nano-dollars)".to_owned(),
        curl("beginCall", begin),
        curl("endCall", end),
        curl("creditAccount", format!(r#"{{"workspaceId":"{workspace_id}"}}"#)),
    ]
}
