//! Workspaces in subscriptions: limits and end of a plan, model calls per day; and the sample data.

use std::time::Duration;

use keyform::Timestamp;
use keyform::flow::FlowError;
use keyform_helpmaton::application;
use keyform_helpmaton::model::{
    Caller, CreateAgentError, CreateAgentInput, CreateAgentKeyError, CreateAgentKeyInput, CreateChannelError,
    CreateChannelInput, CreateDocumentError, CreateDocumentInput, CreateMcpServerError, CreateMcpServerInput,
    McpServerAuthType, OutputChannelType, SubscriptionPlan, SubscriptionStatus, UnusedObjectKey, WorkspaceCurrency,
    WorkspaceId,
};
use keyform_helpmaton::notify::Notice;
use keyform_helpmaton::open_workspace::NewWorkspace;
use keyform_helpmaton::permissions::Level;
use keyform_helpmaton::subscriptions::{Limits, effective_plan};
use keyform_scenario::{eventually, on_embedded, on_every_store};
use serde_json::json;

use super::support::{World, address, refusal};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);

#[test]
fn a_workspace_is_made_in_the_subscription_of_its_owner() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let ada = world.person("ada").await;
        let open = async |currency: &str, key: Option<&str>| {
            let new = NewWorkspace {
                name: "Engines".to_owned(),
                currency: Some(currency.to_owned()),
                ..NewWorkspace::default()
            };
            world.system.open_workspace(&ada, new, key).await
        };
        let key = address("key");
        let made = open("EUR", Some(&key)).await.unwrap();
        assert_eq!((made.currency, made.owners), (WorkspaceCurrency::Eur, 1));
        assert_eq!(made.subscription_id, world.subscription(&ada).await.subscription_id);
        let again = open("EUR", Some(&key)).await.unwrap();
        assert_eq!(again.workspace_id, made.workspace_id, "a repeated call finds its workspace");
        assert_eq!(refusal(open("usd", None).await), "WorkspaceLimitReached");
        world.system.put_on_plan(&made.subscription_id, SubscriptionPlan::Pro).await.unwrap();
        assert_eq!(open("shells", None).await.unwrap().currency, WorkspaceCurrency::Usd, "what is not known is usd");
    });
}

/// Returns the number of calls before the given refusal.
async fn until_refused<E: PartialEq + std::fmt::Debug>(make: impl AsyncFn(i64) -> Result<(), E>, refused: E) -> i64 {
    for number in 0..300 {
        match make(number).await {
            Ok(()) => {}
            Err(error) => {
                assert_eq!(error, refused);
                return number;
            }
        }
    }
    panic!("never refused");
}

async fn agent(
    world: &World,
    ada: &Caller,
    workspace: &WorkspaceId,
) -> Result<keyform_helpmaton::model::AgentId, CreateAgentError> {
    let id: keyform_helpmaton::model::AgentId = world.system.fresh_id();
    let input =
        CreateAgentInput { agent_id: Some(id.clone()), ..CreateAgentInput::new(workspace.clone(), "Agent", "help") };
    world.system.model.as_caller(ada.clone()).create_agent(input).await.map(|_| id)
}

#[test]
fn each_limit_of_the_free_plan_holds() {
    on_embedded(async |scene| {
        let world = World::on(scene).await;
        let ada = world.person("ada").await;
        let workspace = world.workspace(&ada).await;
        let model = &world.system.model;
        let free = Limits::of(SubscriptionPlan::Free);
        let first = agent(&world, &ada, &workspace).await.unwrap();
        assert_eq!(agent(&world, &ada, &workspace).await, Err(CreateAgentError::AgentLimitReached));
        let channels = until_refused(
            async |_| {
                let (kind, by) = (OutputChannelType::Discord, ada.user_id.clone());
                let input = CreateChannelInput::new(workspace.clone(), kind, "alerts", json!({}), by);
                model.create_channel(input).await.map(drop)
            },
            CreateChannelError::ChannelLimitReached,
        );
        let servers = until_refused(
            async |_| {
                let (url, kind, by) = ("https://mcp.example.com", McpServerAuthType::None, ada.user_id.clone());
                let input = CreateMcpServerInput::new(workspace.clone(), "tools", url, kind, json!({}), by);
                model.create_mcp_server(input).await.map(drop)
            },
            CreateMcpServerError::ServerLimitReached,
        );
        let keys = until_refused(
            async |_| {
                let key = keyform::Uuid::fresh().to_string();
                let by = ada.user_id.clone();
                let input = CreateAgentKeyInput::new(workspace.clone(), first.clone(), key, "0".repeat(64), by);
                world.system.model.create_agent_key(input).await.map(drop)
            },
            CreateAgentKeyError::KeyLimitReached,
        );
        let document = async |number: i64, size: i64| {
            let (name, by) = (format!("{number}.md"), ada.user_id.clone());
            let key = UnusedObjectKey::new(format!("workspaces/{workspace}/{name}")).unwrap();
            world.system.model.stage_object(&key, &workspace).await.unwrap();
            let (kind, key) = ("text/markdown", key.as_str());
            let input = CreateDocumentInput::new(workspace.clone(), &*name, &*name, "", key, kind, size, by);
            world.system.model.create_document(input).await.map(drop)
        };
        let too_large = document(-1, free.document_bytes + 1).await;
        assert_eq!(too_large, Err(CreateDocumentError::SpaceLimitReached));
        let documents =
            until_refused(async |number| document(number, 1).await, CreateDocumentError::DocumentLimitReached);
        let made = (channels.await, servers.await, keys.await, documents.await);
        assert_eq!(made, (free.channels, free.mcp_servers, free.agent_keys, free.documents));
        let bob = world.person("bob").await;
        assert_eq!(
            refusal(world.system.give_access(&ada, &workspace, &bob.user_id, Level::Read).await),
            "UserLimitReached"
        );

        let id = world.subscription(&ada).await.subscription_id;
        let pro = world.system.put_on_plan(&id, SubscriptionPlan::Pro).await.unwrap();
        let limits = Limits::of(SubscriptionPlan::Pro);
        assert_eq!(pro.agents_left, limits.agents - 1, "what is used stays used");
        assert_eq!(pro.documents_left, limits.documents - free.documents);
        for _ in 0..3 {
            agent(&world, &ada, &workspace).await.unwrap();
        }
        let free_again = world.system.cancel(&id).await.unwrap();
        assert_eq!((free_again.plan, free_again.agents_left), (SubscriptionPlan::Free, -3));
        assert_eq!(agent(&world, &ada, &workspace).await, Err(CreateAgentError::AgentLimitReached));
    });
}

#[test]
fn the_plan_in_force_follows_payments_and_time() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (ada, _) = world.pro("ada").await;
        let id = world.subscription(&ada).await.subscription_id;
        let system = &world.system;
        let now_in_force = async || effective_plan(&world.subscription(&ada).await, system.now());
        system.note_failed_payment(&id).await.unwrap();
        let grace = world.subscription(&ada).await.grace_period_ends_at.unwrap();
        assert_eq!(grace, system.now() + DAY * 7);
        world.clock.advance(DAY * 6);
        system.note_failed_payment(&id).await.unwrap();
        let past_due = world.subscription(&ada).await;
        assert_eq!(
            (past_due.status, past_due.grace_period_ends_at),
            (SubscriptionStatus::PastDue, Some(grace)),
            "counted from the first failure"
        );
        assert_eq!(now_in_force().await, SubscriptionPlan::Pro);
        let notices = world.told.told(&ada.email);
        let payments = notices.iter().filter(|notice| matches!(notice, Notice::PaymentFailed { .. }));
        assert_eq!(payments.count(), 1, "sent once");

        world.clock.advance(DAY * 2);
        assert_eq!(now_in_force().await, SubscriptionPlan::Free, "the days of grace are over");
        system.note_payment(&id, system.now() + DAY * 30).await.unwrap();
        assert_eq!(now_in_force().await, SubscriptionPlan::Pro);
        system.note_payment(&id, Timestamp::of_millis(0)).await.unwrap();
        assert_eq!(
            world.subscription(&ada).await.renews_at,
            Some(system.now() + DAY * 30),
            "an old message undoes nothing"
        );

        system.end_at(&id, system.now() + DAY).await.unwrap();
        assert_eq!(now_in_force().await, SubscriptionPlan::Pro);
        world.clock.advance(DAY);
        assert_eq!(now_in_force().await, SubscriptionPlan::Free);
        system.put_on_plan(&id, SubscriptionPlan::Pro).await.unwrap();
        system.cancel(&id).await.unwrap();
        let cancelled = world.subscription(&ada).await;
        assert_eq!((cancelled.plan, cancelled.status), (SubscriptionPlan::Free, SubscriptionStatus::Cancelled));
    });
}

#[test]
fn the_hourly_job_ends_plans_and_gives_unused_seats_back() {
    on_every_store(async |scene| {
        // This store is shared by all tests, whose clocks differ.
        if scene.store == "extenddb" {
            return;
        }
        let world = World::on(scene).await;
        let (ada, _) = world.pro("ada").await;
        let (bob, _) = world.pro("bob").await;
        let id = world.subscription(&ada).await.subscription_id;
        let carl = world.person("carl").await;
        world.system.model.give_seat(&id, &carl.user_id).await.unwrap();
        assert_eq!(
            world.system.keep_subscriptions().await.unwrap().to_string(),
            "",
            "a young seat may be about to be used"
        );
        world.clock.advance(HOUR * 2);
        assert_eq!(world.system.keep_subscriptions().await.unwrap().to_string(), "ended 0 plans, released 1 seats");
        assert_eq!(world.subscription(&ada).await.users_left, 4);

        world.system.note_failed_payment(&id).await.unwrap();
        world.clock.advance(DAY * 7);
        assert_eq!(world.system.keep_subscriptions().await.unwrap().to_string(), "ended 1 plans, released 0 seats");
        let ended = world.subscription(&ada).await;
        assert_eq!(
            (ended.plan, ended.status, ended.workspaces_left),
            (SubscriptionPlan::Free, SubscriptionStatus::Expired, 0)
        );
        assert_eq!((ended.requests_per_day, ended.grace_period_ends_at), (50, None));
        assert_eq!(world.subscription(&bob).await.plan, SubscriptionPlan::Pro);
        assert!(world.told.told(&ada.email).contains(&Notice::Downgraded));
        assert_eq!(world.system.keep_subscriptions().await.unwrap().to_string(), "", "a second run finds nothing");
    });
}

#[test]
fn a_reached_limit_is_told_once_a_day() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let ada = world.person("ada").await;
        world.workspace(&ada).await;
        let told = || {
            world.told.told(&ada.email).iter().filter(|notice| matches!(notice, Notice::LimitReached { .. })).count()
        };
        let exceed = async || {
            let new = NewWorkspace { name: "More".to_owned(), ..NewWorkspace::default() };
            refusal(world.system.open_workspace(&ada, new, None).await)
        };
        for _ in 0..3 {
            assert_eq!(exceed().await, "WorkspaceLimitReached");
        }
        assert_eq!(told(), 1);
        world.clock.advance(DAY + MINUTE);
        exceed().await;
        assert_eq!(told(), 2);
    });
}

#[test]
fn managers_come_and_go() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (ada, _) = world.pro("ada").await;
        let id = world.subscription(&ada).await.subscription_id;
        let (bob, carl) = (world.person("bob").await, world.person("carl").await);
        world.workspace(&carl).await;
        let system = &world.system;
        assert_eq!(refusal(system.make_manager(&bob, &id, &bob.user_id).await), "Forbidden");
        system.make_manager(&ada, &id, &carl.user_id).await.unwrap();
        assert_eq!(refusal(system.become_manager(&carl.user_id, &id).await), "OwnSubscriptionInUse");
        system.dismiss_manager(&ada, &id, &carl.user_id).await.unwrap();
        assert_eq!(refusal(system.become_manager(&carl.user_id, &id).await), "NotAsked");
        system.make_manager(&ada, &id, &bob.user_id).await.unwrap();
        assert_eq!(refusal(system.make_manager(&ada, &id, &bob.user_id).await), "AlreadyManager");
        assert_eq!(refusal(system.make_manager(&bob, &id, &carl.user_id).await), "Forbidden", "asked is not accepted");
        system.become_manager(&bob.user_id, &id).await.unwrap();
        system.become_manager(&bob.user_id, &id).await.unwrap();
        assert_eq!(world.subscription(&bob).await.subscription_id, id, "the free one is closed");
        let made = world.workspace(&bob).await;
        assert_eq!(system.level_of(&bob.user_id, &made).await.unwrap(), Some(Level::Owner));
        assert_eq!(refusal(system.dismiss_manager(&bob, &id, &ada.user_id).await), "IsTheOwner");
        system.dismiss_manager(&ada, &id, &bob.user_id).await.unwrap();
        assert_eq!(refusal(system.dismiss_manager(&ada, &id, &bob.user_id).await), "NotAManager");
        let own = world.subscription(&bob).await;
        assert_eq!((own.user_id, own.plan), (bob.user_id.clone(), SubscriptionPlan::Free), "and one is made again");
        let dora = world.person("dora").await;
        let free = world.subscription(&carl).await.subscription_id;
        assert_eq!(refusal(system.make_manager(&carl, &free, &dora.user_id).await), "ManagerLimitReached");
        assert_eq!(world.subscription(&dora).await.user_id, dora.user_id, "nothing was closed");
    });
}

#[test]
fn no_user_is_moved_into_a_strangers_subscription() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (mallory, _) = world.pro("mallory").await;
        let id = world.subscription(&mallory).await.subscription_id;
        let system = &world.system;
        // One victim has a free and empty subscription, the other has not begun one.
        let (ada, bob) = (world.person("ada").await, world.person("bob").await);
        let own = world.subscription(&ada).await.subscription_id;
        for victim in [&ada, &bob] {
            system.make_manager(&mallory, &id, &victim.user_id).await.unwrap();
        }
        assert_eq!(world.subscription(&ada).await.subscription_id, own, "it was not closed");
        let made = world.workspace(&bob).await;
        let found = system.model.workspace_by_id(&made).await.unwrap().unwrap();
        assert_ne!(found.subscription_id, id, "the workspace is in bob's own subscription");
        assert_eq!(world.subscription(&bob).await.user_id, bob.user_id);
    });
}

#[test]
fn strangers_and_unknown_addresses_get_the_same_answer() {
    on_embedded(async |scene| {
        let world = World::on(scene).await;
        let mallory = world.person("mallory").await;
        let id = world.subscription(&mallory).await.subscription_id;
        let ada = world.person("ada").await;
        let answer = async |text: &str| match world.system.colleague(&id, text).await {
            Err(FlowError::Refused { outcome, detail, .. }) => (outcome, detail),
            other => panic!("{other:?}"),
        };
        let unknown = answer("nobody@example.com").await;
        assert_eq!(answer(&ada.email).await, unknown);
        assert_eq!(answer(ada.user_id.as_str()).await, unknown);
        assert_eq!(answer(keyform::Uuid::fresh().as_str()).await, unknown);
        assert_eq!(world.system.colleague(&id, &mallory.email).await.unwrap().id, mallory.user_id);
    });
}

#[test]
fn requests_are_limited_over_24_hours() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let id = world.subscription(&world.person("ada").await).await.subscription_id;
        for _ in 0..20 {
            world.system.admit_request(&id).await.unwrap();
        }
        world.clock.advance(HOUR);
        for _ in 0..30 {
            world.system.admit_request(&id).await.unwrap();
        }
        assert_eq!(refusal(world.system.admit_request(&id).await), "RequestLimitReached");
        eventually(50, async || world.system.requests_of_day(&id).await.unwrap()).await;
        world.clock.advance(HOUR * 22);
        assert_eq!(refusal(world.system.admit_request(&id).await), "RequestLimitReached");
        world.clock.advance(HOUR);
        for _ in 0..20 {
            world.system.admit_request(&id).await.unwrap();
        }
        assert_eq!(refusal(world.system.admit_request(&id).await), "RequestLimitReached");
        let unknown = world.system.admit_request(&keyform::Uuid::fresh().into()).await;
        assert_eq!(refusal(unknown), "UnknownSubscription");
    });
}

#[test]
fn a_soft_limit_counts_what_was_made() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let ada = world.person("ada").await;
        let id = world.subscription(&ada).await.subscription_id;
        let soft = world.softly();
        for _ in 0..50 {
            soft.system.request_made(&id).await.unwrap();
        }
        let counted = async || soft.system.requests_of_day(&id).await.unwrap();
        eventually(50, counted).await;
        assert_eq!(refusal(soft.system.admit_request(&id).await), "RequestLimitReached");
        soft.system.request_made(&id).await.unwrap();
        // Calls in progress are counted anyway.
        eventually(51, counted).await;
        soft.system.put_on_plan(&id, SubscriptionPlan::Starter).await.unwrap();
        soft.system.admit_request(&id).await.unwrap();
        soft.system.note_failed_payment(&id).await.unwrap();
        soft.clock.advance(DAY * 7 - HOUR * 2);
        for _ in 0..50 {
            soft.system.request_made(&id).await.unwrap();
        }
        eventually(50, counted).await;
        soft.system.admit_request(&id).await.unwrap();
        soft.clock.advance(HOUR * 2);
        assert_eq!(
            refusal(soft.system.admit_request(&id).await),
            "RequestLimitReached",
            "the plan in force counts, not the one that is written"
        );
    });
}

#[test]
fn the_sample_is_made_once() {
    on_embedded(async |scene| {
        let application = application(&scene.host).unwrap();
        let told = application.make_sample().await.unwrap();
        assert_eq!(application.make_sample().await.unwrap(), told);
        let world = World::on(scene).await;
        let (ada, workspace) = (keyform_helpmaton::sample::ada(), keyform_helpmaton::sample::workspace_id());
        let mine = world.system.my_workspaces(&ada, None).await.unwrap();
        assert_eq!(mine.items.len(), 1);
        assert_eq!(world.system.members(&ada, &workspace, None).await.unwrap().items.len(), 2);
    });
}
