//! The same flows, written with the AWS SDK alone: the same tables, keys, conditions and number of requests.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_dynamodb::error::DisplayErrorContext;
use aws_sdk_dynamodb::types::{AttributeValue, ConditionCheck, Put, TransactWriteItem, Update};
use keyform::aws::{Credentials as Keys, Options, Remote};
use keyform::{Ulid, Uuid};
use keyform_driver::server::Engine;
use tokio::runtime::Runtime;

use crate::path::{Caller, HotPath, Way};
use crate::world::{CHANNEL, Chat, STAGE, Till, World};

const ID: &str = "AKIAIOSFODNN7EXAMPLE";
const SECRET: &str = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
const CENT: &str = "10000000";

type Done = Result<(), Box<dyn std::error::Error>>;

/// A client of a server whose tables were filled through the models.
pub fn prepare(address: SocketAddr, callers: usize, runtime: &Arc<Runtime>) -> (Client, World) {
    let url = format!("http://{address}");
    let keys = Keys { access_key_id: ID.to_owned(), secret_access_key: SECRET.to_owned() };
    let options = Options { endpoint_url: Some(url.clone()), credentials: Some(keys), ..Options::default() };
    let world = runtime.block_on(async {
        let remote = Remote::connect(options).await.expect("the certificates can be read");
        World::make(Arc::new(remote), callers).await
    });
    let config = aws_sdk_dynamodb::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .endpoint_url(url)
        .region(Region::new("us-east-1"))
        .credentials_provider(Credentials::new(ID, SECRET, None, None, "bench"));
    (Client::from_conf(config.build()), world.unwrap_or_else(|error| panic!("{address}: {error}")))
}

/// The flows on a server.
pub struct ByHand {
    engine: Engine,
    client: Client,
    world: World,
    runtime: Arc<Runtime>,
}

impl ByHand {
    pub fn new(engine: Engine, client: Client, world: World, runtime: &Arc<Runtime>) -> Self {
        Self { engine, client, world, runtime: runtime.clone() }
    }
}

impl Way for ByHand {
    fn name(&self) -> String {
        format!("SDK by hand, {}", self.engine)
    }

    fn caller(&self, number: usize) -> Caller<'_> {
        Box::new(move |path| {
            self.runtime.block_on(self.call(number, path)).map_err(|error| DisplayErrorContext(&*error).to_string())
        })
    }
}

fn s(text: impl Into<String>) -> AttributeValue {
    AttributeValue::S(text.into())
}

fn n(number: impl ToString) -> AttributeValue {
    AttributeValue::N(number.to_string())
}

fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

impl ByHand {
    async fn call(&self, number: usize, path: HotPath) -> Done {
        let till = &self.world.tills[number];
        match path {
            HotPath::PostMessage => self.post_message(&self.world.chats[number]).await,
            HotPath::LoadAggregate => self.load_aggregate().await,
            HotPath::ReserveAndSettle => self.reserve_and_settle(till).await,
            HotPath::CheckPermission => {
                let (pk, sk) = (format!("workspaces/{}", till.workspace), format!("users/{}", till.owner));
                self.get("permission", ("pk", pk), ("sk", sk)).await
            }
            HotPath::ResolveChannel => {
                let pk = format!("CHANNEL#slack#{CHANNEL}");
                self.get("tenants", ("pk", pk), ("sk", "OWNER".to_owned())).await
            }
            HotPath::CheckMembership => {
                let (pk, sk) = (format!("AGENCY#{}", self.world.agency), format!("MEMBER#{}", self.world.person));
                self.get(&format!("agencies-{STAGE}"), ("PK", pk), ("SK", sk)).await
            }
        }
    }

    async fn get(&self, table: &str, pk: (&str, String), sk: (&str, String)) -> Done {
        let get = self.client.get_item().table_name(table).consistent_read(true);
        let found = get.key(pk.0, s(pk.1)).key(sk.0, s(sk.1)).send().await?;
        found.item.map(drop).ok_or_else(|| "there is no such item".into())
    }

    async fn post_message(&self, chat: &Chat) -> Done {
        let table = format!("discord-clone-{STAGE}-DiscordTable");
        let Chat { channel, server, author, .. } = chat;
        let query = self.client.query().table_name(&table).index_name("gsi1");
        let query = query.key_condition_expression("gsi1pk = :c and gsi1sk = :m");
        let query = query.expression_attribute_values(":c", s(format!("CHANNEL#{channel}")));
        let found = query.expression_attribute_values(":m", s("META")).send().await?;
        found.items().first().ok_or("no channel")?;
        let user = format!("USER#{author}");
        self.get(&table, ("pk", user.clone()), ("sk", "PROFILE".to_owned())).await?;
        self.get(&table, ("pk", user.clone()), ("sk", format!("SERVER#{server}"))).await?;
        let check = |pk: String, sk: String| -> Result<TransactWriteItem, Box<dyn std::error::Error>> {
            let check = ConditionCheck::builder().table_name(&table).key("pk", s(pk)).key("sk", s(sk));
            let check = check.condition_expression("attribute_exists(pk)").build()?;
            Ok(TransactWriteItem::builder().condition_check(check).build())
        };
        let message = Ulid::fresh();
        let millis = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis();
        let put = Put::builder()
            .table_name(&table)
            .condition_expression("attribute_not_exists(pk)")
            .item("pk", s(format!("CHANNEL#{channel}")))
            .item("sk", s(format!("MSG#{millis}#{message}")))
            .item("gsi1pk", s(format!("MSG#{message}")))
            .item("gsi1sk", s(format!("CHANNEL#{channel}")))
            .item("entityType", s("Message"))
            .item("messageId", s(message.to_string()))
            .item("channelId", s(channel.to_string()))
            .item("userId", s(author.to_string()))
            .item("username", s("ada"))
            .item("content", s("hello"))
            .item("edited", AttributeValue::Bool(false))
            .item("reactions", AttributeValue::M(Default::default()))
            .item("createdAt", s("2026-11-15T12:00:00.000Z"))
            .item("updatedAt", s("2026-11-15T12:00:00.000Z"))
            .build()?;
        let write = self.client.transact_write_items().client_request_token(Uuid::fresh().to_string());
        let write = write.transact_items(check(user, format!("SERVER#{server}"))?);
        let write = write.transact_items(check(format!("SERVER#{server}"), format!("CHANNEL#{channel}"))?);
        write.transact_items(TransactWriteItem::builder().put(put).build()).send().await?;
        Ok(())
    }

    async fn load_aggregate(&self) -> Done {
        let (world, table) = (&self.world, format!("workspaces-{STAGE}"));
        let pk = format!("WORKSPACE#{}", world.workspace);
        self.get(&table, ("PK", pk.clone()), ("SK", format!("MEMBER#{}", world.member))).await?;
        let query = self.client.query().table_name(&table).key_condition_expression("PK = :w");
        let found = query.expression_attribute_values(":w", s(pk)).send().await?;
        if found.items().len() < 100 { Err("items are missing".into()) } else { Ok(()) }
    }

    async fn reserve_and_settle(&self, till: &Till) -> Done {
        let reservation = Uuid::fresh().to_string();
        self.reserve(till, &reservation).await?;
        self.settle(till, &reservation).await
    }

    async fn reserve(&self, till: &Till, reservation: &str) -> Done {
        self.get("workspace", ("pk", format!("workspaces/{}", till.workspace)), ("sk", "workspace".to_owned())).await?;
        let put = Put::builder()
            .table_name("credit-reservations")
            .condition_expression("attribute_not_exists(pk)")
            .item("pk", s(format!("credit-reservations/{reservation}")))
            .item("reservationId", s(reservation))
            .item("workspaceId", s(till.workspace.to_string()))
            .item("agentId", s(till.agent.to_string()))
            .item("reservedAmount", n(CENT))
            .item("estimatedCost", n(CENT))
            .item("currency", s("usd"))
            .item("day", s("2026-11-15"))
            .item("status", s("open"))
            .item("version", n(1))
            .item("createdAt", s("2026-11-15T12:00:00.000Z"))
            .item("updatedAt", s("2026-11-15T12:00:00.000Z"))
            .build()?;
        let balance = Update::builder()
            .table_name("workspace")
            .key("pk", s(format!("workspaces/{}", till.workspace)))
            .key("sk", s("workspace"))
            .update_expression("SET creditBalance = creditBalance - :a, reservedCredits = reservedCredits + :a, version = version + :one")
            .condition_expression("attribute_exists(pk) AND creditBalance >= :a AND currency = :c AND attribute_not_exists(deletingAt)")
            .expression_attribute_values(":a", n(CENT))
            .expression_attribute_values(":one", n(1))
            .expression_attribute_values(":c", s("usd"))
            .build()?;
        let write = self.client.transact_write_items().client_request_token(Uuid::fresh().to_string());
        let write = write.transact_items(TransactWriteItem::builder().put(put).build());
        let write = write.transact_items(TransactWriteItem::builder().update(balance).build());
        let write = write.transact_items(spend(format!("spending/workspaces/{}", till.workspace))?);
        write.transact_items(spend(format!("spending/agents/{}/{}", till.workspace, till.agent))?).send().await?;
        Ok(())
    }

    async fn settle(&self, till: &Till, reservation: &str) -> Done {
        let pk = format!("credit-reservations/{reservation}");
        let get = self.client.get_item().table_name("credit-reservations").consistent_read(true);
        get.key("pk", s(&pk)).send().await?.item.ok_or("no reservation")?;
        let close = Update::builder()
            .table_name("credit-reservations")
            .key("pk", s(&pk))
            .update_expression("SET #s = :closed, settledCost = :a, purgeAt = :p, version = version + :one")
            .condition_expression("attribute_exists(pk) AND #s = :open")
            .expression_attribute_names("#s", "status")
            .expression_attribute_values(":closed", s("settled"))
            .expression_attribute_values(":open", s("open"))
            .expression_attribute_values(":a", n(CENT))
            .expression_attribute_values(":p", n(seconds() + 7 * 86_400))
            .expression_attribute_values(":one", n(1))
            .build()?;
        let balance = Update::builder()
            .table_name("workspace")
            .key("pk", s(format!("workspaces/{}", till.workspace)))
            .key("sk", s("workspace"))
            .update_expression("SET reservedCredits = reservedCredits - :a, settledTotal = settledTotal + :a, version = version + :one")
            .condition_expression("attribute_exists(pk)")
            .expression_attribute_values(":a", n(CENT))
            .expression_attribute_values(":one", n(1))
            .build()?;
        let write = self.client.transact_write_items().client_request_token(Uuid::fresh().to_string());
        let write = write.transact_items(TransactWriteItem::builder().update(close).build());
        let write = write.transact_items(TransactWriteItem::builder().update(balance).build());
        let write = write.transact_items(correct(format!("spending/workspaces/{}", till.workspace))?);
        write.transact_items(correct(format!("spending/agents/{}/{}", till.workspace, till.agent))?).send().await?;
        let get = self.client.get_item().table_name("credit-reservations").consistent_read(true);
        get.key("pk", s(&pk)).send().await?.item.ok_or("no reservation")?;
        Ok(())
    }
}

/// Counts the reserved amount as spent.
fn spend(pk: String) -> Result<TransactWriteItem, Box<dyn std::error::Error>> {
    let update = Update::builder()
        .table_name("token-usage-aggregates")
        .key("pk", s(pk))
        .key("sk", s("2026-11-15"))
        .update_expression("SET spent = if_not_exists(spent, :zero) + :a, expires = :e")
        .condition_expression("attribute_not_exists(pk) OR spent <= :room")
        .expression_attribute_values(":zero", n(0))
        .expression_attribute_values(":a", n(CENT))
        .expression_attribute_values(":e", n(seconds() + 40 * 86_400))
        .expression_attribute_values(":room", n(1_000_000_000_000_000_000_u64))
        .build()?;
    Ok(TransactWriteItem::builder().update(update).build())
}

/// Corrects the counted amount by the actual cost.
fn correct(pk: String) -> Result<TransactWriteItem, Box<dyn std::error::Error>> {
    let update = Update::builder()
        .table_name("token-usage-aggregates")
        .key("pk", s(pk))
        .key("sk", s("2026-11-15"))
        .update_expression("SET spent = spent + :a")
        .condition_expression("attribute_exists(pk)")
        .expression_attribute_values(":a", n(0))
        .build()?;
    Ok(TransactWriteItem::builder().update(update).build())
}
