//! The hot paths through the models: in process, and over HTTP.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use keyform::application::Application;
use keyform::flow::{Flow, FlowCall, FlowError, Host};
use keyform::server::{Running, Server, ServerSettings};
use keyform::{Database, ModelFiles, Money};
use keyform_driver::http::Connection;
use keyform_helpmaton::model::ReserveCreditsInput;
use keyform_t3nets::model::ChannelOwnerChannelType;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::path::{Caller, HotPath, Way};
use crate::world::{CHANNEL, PLENTY, World};

const CENT: Money = Money::of_cents(1);

/// The typed code on a database of this process.
pub struct InProcess {
    world: World,
    runtime: Arc<Runtime>,
}

impl InProcess {
    pub fn new(folder: &Path, callers: usize, runtime: &Arc<Runtime>) -> Self {
        let database = Database::open(folder).unwrap_or_else(|error| panic!("no database: {error}"));
        let world = runtime.block_on(World::make(Arc::new(database), callers));
        Self { world: world.unwrap_or_else(|error| panic!("in process: {error}")), runtime: runtime.clone() }
    }
}

impl Way for InProcess {
    fn name(&self) -> String {
        "model, in process".to_owned()
    }

    fn caller(&self, number: usize) -> Caller<'_> {
        Box::new(move |path| self.runtime.block_on(call(&self.world, number, path)).map_err(|error| error.to_string()))
    }
}

async fn call(world: &World, number: usize, path: HotPath) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let (chat, till) = (&world.chats[number], &world.tills[number]);
    match path {
        HotPath::PostMessage => drop(chat.discord.post_message(&chat.channel, "hello").await?),
        HotPath::LoadAggregate => drop(world.workspaces.workspace(&world.workspace).await?),
        HotPath::ReserveAndSettle => {
            let input = ReserveCreditsInput::new(till.workspace.clone(), till.agent.clone(), CENT, PLENTY, PLENTY);
            let reserved = world.helpmaton.reserve_credits(input).await?.ok_or("reserved already")?;
            world.helpmaton.settle_reservation(&reserved.reservation_id, CENT).await?;
        }
        HotPath::CheckPermission => {
            world.helpmaton.workspace_permission(&till.workspace, &till.owner).await?.ok_or("no permission")?;
        }
        HotPath::ResolveChannel => {
            let found = world.t3nets.tenant_of_channel(ChannelOwnerChannelType::Slack, CHANNEL).await?;
            found.ok_or("no such channel")?;
        }
        HotPath::CheckMembership => {
            world.agencies.membership(&world.agency, &world.person).await?.ok_or("no member")?;
        }
    }
    Ok(())
}

/// The model API of a server in this process with its own database; each caller has a connection.
pub struct OverHttp {
    address: SocketAddr,
    world: World,
    _running: Running,
}

impl OverHttp {
    pub fn new(folder: &Path, callers: usize, runtime: &Arc<Runtime>) -> Self {
        let database = Database::open(folder).unwrap_or_else(|error| panic!("no database: {error}"));
        let world = runtime.block_on(World::make(Arc::new(database.clone()), callers));
        let world = world.unwrap_or_else(|error| panic!("over HTTP: {error}"));
        let running = serve(&database, &world).unwrap_or_else(|error| panic!("over HTTP: {error}"));
        Self { address: running.address(), world, _running: running }
    }
}

/// Serves the models. Two paths are for systems only, and get a flow that callers may call.
fn serve(database: &Database, world: &World) -> Result<Running, Box<dyn std::error::Error>> {
    let host = Host::on(database.clone());
    let mut files = ModelFiles::open(&[], database, Default::default())?;
    files.add_application(&Application::new(&host, world.discord.calls()))?;
    files.add_application(&Application::new(&host, world.workspaces.calls()))?;
    files.add_application(&Application::new(&host, world.agencies.calls()))?;
    files.add_application(&Application::new(&host, world.helpmaton.calls()).flow(reserve_and_settle(world)))?;
    files.add_application(&Application::new(&host, world.t3nets.calls()).flow(resolve_channel(world)))?;
    let settings = ServerSettings { port: 0, models: files.models(), ..ServerSettings::default() };
    Ok(keyform::serve(Server::bind(settings)?, database)?)
}

fn reserve_and_settle(world: &World) -> Flow {
    let world = world.clone();
    Flow::new("reserveAndSettle", "Reserves a cent and settles it.", move |call: FlowCall<TillNumber>| {
        let world = world.clone();
        async move { flow(&world, call.arguments.till, HotPath::ReserveAndSettle).await }
    })
}

fn resolve_channel(world: &World) -> Flow {
    let world = world.clone();
    Flow::new("resolveChannel", "Whose channel it is.", move |call: FlowCall<TillNumber>| {
        let world = world.clone();
        async move { flow(&world, call.arguments.till, HotPath::ResolveChannel).await }
    })
}

async fn flow(world: &World, till: usize, path: HotPath) -> Result<bool, FlowError> {
    let done = call(world, till, path).await.map_err(|error| FlowError::Broken(error.to_string()));
    done.map(|()| true)
}

/// Number of the caller.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct TillNumber {
    till: usize,
}

impl Way for OverHttp {
    fn name(&self) -> String {
        "model, over HTTP".to_owned()
    }

    fn caller(&self, number: usize) -> Caller<'_> {
        let mut client = Client { connection: Connection::to(self.address), host: self.address.to_string() };
        Box::new(move |path| client.run(&self.world, number, path).map(drop))
    }
}

/// A client of the model API, with the caller in the development header.
struct Client {
    connection: Connection,
    host: String,
}

impl Client {
    fn run(&mut self, world: &World, number: usize, path: HotPath) -> Result<Value, String> {
        let (chat, till) = (&world.chats[number], &world.tills[number]);
        let author = json!({ "userId": chat.author });
        let owner = json!({ "userId": till.owner, "email": till.email });
        match path {
            HotPath::PostMessage => {
                self.post("discord/postMessage", &author, &json!({ "channelId": chat.channel, "content": "hello" }))
            }
            HotPath::LoadAggregate => {
                let path = format!("workspaces/workspace?workspaceId={}", world.workspace);
                self.get(&path, &json!({ "userId": world.member }))
            }
            HotPath::ReserveAndSettle => self.post("helpmaton/reserveAndSettle", &owner, &json!({ "till": number })),
            HotPath::CheckPermission => {
                let path =
                    format!("helpmaton/workspacePermission?workspaceId={}&userId={}", till.workspace, till.owner);
                self.get(&path, &owner)
            }
            HotPath::ResolveChannel => {
                let caller = json!({ "tenant_id": "acme", "user_id": "ada" });
                self.post("t3nets/resolveChannel", &caller, &json!({ "till": number }))
            }
            HotPath::CheckMembership => {
                let path = format!("agencies/membership?agencyId={}&idpid={}", world.agency, world.person);
                self.get(&path, &json!({ "idpid": world.person, "admin": false }))
            }
        }
    }

    fn get(&mut self, path: &str, caller: &Value) -> Result<Value, String> {
        let claims = claims(caller);
        let head = format!("GET /v1/{path} HTTP/1.1\r\nhost: {}\r\nx-keyform-caller: {claims}\r\n\r\n", self.host);
        self.send(head.into_bytes())
    }

    fn post(&mut self, path: &str, caller: &Value, body: &Value) -> Result<Value, String> {
        let (body, claims) = (body.to_string(), claims(caller));
        let request = format!(
            "POST /v1/{path} HTTP/1.1\r\nhost: {}\r\nx-keyform-caller: {claims}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            self.host,
            body.len()
        );
        self.send(request.into_bytes())
    }

    fn send(&mut self, request: Vec<u8>) -> Result<Value, String> {
        let answer = self.connection.exchange(&request).map_err(|error| error.to_string())?;
        if answer.status >= 300 {
            return Err(format!("{}: {}", answer.status, String::from_utf8_lossy(&answer.body)));
        }
        serde_json::from_slice(&answer.body).map_err(|error| error.to_string())
    }
}

/// Returns the claims as the development header.
fn claims(caller: &Value) -> String {
    let claim = |(name, value): (&String, &Value)| match value {
        Value::String(text) => format!("{name}={text}"),
        other => format!("{name}={other}"),
    };
    caller.as_object().into_iter().flatten().map(claim).collect::<Vec<_>>().join("; ")
}
