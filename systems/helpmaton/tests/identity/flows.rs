//! What needs more than one pattern: with its refusals, and as time goes by.

use std::time::Duration;

use keyform::Timestamp;
use keyform::execute::BoxFuture;
use keyform::{Error, Execute, Operation, Output};
use keyform_helpmaton::application;
use keyform_helpmaton::model::{
    AccountProvider, Caller, CreateAgentError, CreateAgentInput, CreateAgentKeyError, CreateAgentKeyInput,
    CreateChannelError, CreateChannelInput, CreateDocumentError, CreateDocumentInput, CreateMcpServerError,
    CreateMcpServerInput, McpServerAuthType, OutputChannelType, SubscriptionPlan, SubscriptionStatus,
    WorkspaceCurrency, WorkspaceId,
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

// --- Signing in

#[test]
fn who_reads_the_mail_signs_up_and_in() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let email = address("ada");
        world.system.request_sign_in(&email.to_uppercase()).await.unwrap();
        let token = world.mailed(&email);
        assert_eq!(refusal(world.system.sign_in(&email, "another", None).await), "UnknownToken");
        assert_eq!(refusal(world.system.sign_in(&address("eve"), &token, None).await), "UnknownToken");
        let session = world.system.sign_in(&email, &token, Some("Ada")).await.unwrap();
        assert_eq!(refusal(world.system.sign_in(&email, &token, None).await), "UnknownToken", "a token is good once");
        let user = world.system.user_named(&session.user_id).await.unwrap();
        assert_eq!((user.email.as_str(), user.name.as_deref()), (email.as_str(), Some("Ada")));
        assert_eq!(user.email_verified, Some(world.system.now()));
        let subscription = world.system.subscription_of(&user.id).await.unwrap();
        assert_eq!(subscription.plan, SubscriptionPlan::Free, "a user has a subscription from the start");

        world.system.request_sign_in(&email).await.unwrap();
        let again = world.system.sign_in(&email, &world.mailed(&email), None).await.unwrap();
        assert_eq!(again.user_id, session.user_id);
        world.system.request_sign_in(&email).await.unwrap();
        world.clock.advance(DAY + MINUTE);
        let late = refusal(world.system.sign_in(&email, &world.mailed(&email), None).await);
        assert!(["TokenExpired", "UnknownToken"].contains(&late.as_str()), "{late}");
        assert!(world.system.request_sign_in("no address").await.is_err());
    });
}

#[test]
fn an_account_elsewhere_signs_in_its_user() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (email, identifier) = (address("ada"), address("id"));
        let first = world.system.sign_in_by_account(AccountProvider::Google, &identifier, &email).await.unwrap();
        let moved =
            world.system.sign_in_by_account(AccountProvider::Google, &identifier, &address("new")).await.unwrap();
        assert_eq!(moved.user_id, first.user_id, "the account counts, not the address it has today");
    });
}

#[test]
fn a_refresh_token_is_good_once_and_a_second_use_ends_its_family() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let user = world.system.user_of_email(&address("ada"), None).await.unwrap();
        let first = world.system.start_session(&user).await.unwrap();
        let second = world.system.refresh(&first.refresh_token, None).await.unwrap();
        let other = world.system.start_session(&user).await.unwrap();
        assert_eq!(refusal(world.system.refresh(&first.refresh_token, None).await), "TokenReused");
        assert_eq!(refusal(world.system.refresh(&second.refresh_token, None).await), "FamilyRevoked");
        world.system.refresh(&other.refresh_token, None).await.unwrap();
        for unknown in
            ["", "hmat_refresh_", &"hmat_refresh_".replace('_', "-"), &format!("hmat_refresh_{}", "0".repeat(64))]
        {
            assert_eq!(refusal(world.system.refresh(unknown, None).await), "UnknownToken");
        }
    });
}

#[test]
fn refresh_tokens_end_after_thirty_days_and_with_the_session() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let user = world.system.user_of_email(&address("ada"), None).await.unwrap();
        let session = world.system.start_session(&user).await.unwrap();
        world.clock.advance(DAY * 29);
        let session = world.system.refresh(&session.refresh_token, None).await.unwrap();
        world.clock.advance(DAY * 30 + MINUTE);
        assert_eq!(refusal(world.system.refresh(&session.refresh_token, None).await), "TokenExpired");
        let session = world.system.start_session(&user).await.unwrap();
        world.system.sign_out(&session.refresh_token).await.unwrap();
        assert_eq!(refusal(world.system.refresh(&session.refresh_token, None).await), "FamilyRevoked");
        world.system.sign_out("nothing").await.unwrap();
    });
}

#[test]
fn a_refresh_that_is_repeated_under_its_key_is_no_reuse() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let user = world.system.user_of_email(&address("ada"), None).await.unwrap();
        let session = world.system.start_session(&user).await.unwrap();
        let key = address("key");
        for _ in 0..3 {
            world.system.refresh(&session.refresh_token, Some(&key)).await.unwrap();
        }
        let last = world.system.refresh(&session.refresh_token, Some(&key)).await.unwrap();
        world.system.refresh(&last.refresh_token, Some("the next call")).await.unwrap();
        assert_eq!(refusal(world.system.refresh(&session.refresh_token, Some("a thief's")).await), "TokenReused");
    });
}

// --- API keys

#[test]
fn an_api_key_is_recognised_until_it_is_deleted() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let ada = world.person("ada").await;
        let made = world.system.make_api_key(&ada.user_id, None, Some("call 1")).await.unwrap();
        assert_eq!(refusal(world.system.make_api_key(&ada.user_id, None, Some("call 1")).await), "KeyExists");
        let id = made.key_id.parse().unwrap();
        let used = async || world.system.model.api_key(&ada.user_id, &id).await.unwrap().unwrap().last_used_at;
        assert_eq!(used().await, None);
        assert_eq!(world.system.user_of_api_key(&made.key).await.unwrap().id, ada.user_id);
        let first = used().await;
        assert_eq!(first, Some(world.system.now()));
        world.clock.advance(MINUTE);
        world.system.user_of_api_key(&made.key).await.unwrap();
        assert_eq!(used().await, first, "noted every five minutes");
        world.clock.advance(MINUTE * 5);
        world.system.user_of_api_key(&made.key).await.unwrap();
        assert_eq!(used().await, Some(world.system.now()));
        for wrong in [
            "",
            "hmat_",
            &made.key[1..],
            &made.key.replace("hmat_", "hmat_refresh_"),
            &format!("hmat_{}", "0".repeat(64)),
        ] {
            assert_eq!(refusal(world.system.user_of_api_key(wrong).await), "InvalidKey");
        }
        world.system.model.as_caller(ada.clone()).delete_api_key(&ada.user_id, &id).await.unwrap();
        assert_eq!(refusal(world.system.user_of_api_key(&made.key).await), "InvalidKey");
    });
}

/// A store that changes nothing.
struct Frozen(std::sync::Arc<dyn Execute>);

impl Execute for Frozen {
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>> {
        match operation {
            Operation::UpdateItem(_) | Operation::TransactWriteItems(_) => {
                Box::pin(async { Err(Error::internal("frozen")) })
            }
            other => self.0.execute(other),
        }
    }
}

#[test]
fn a_key_is_good_although_its_use_cannot_be_noted() {
    on_embedded(async |scene| {
        let world = World::on(scene).await;
        let ada = world.person("ada").await;
        let made = world.system.make_api_key(&ada.user_id, None, None).await.unwrap();
        let frozen = world.through(std::sync::Arc::new(Frozen(world.scene.host.store())));
        assert_eq!(frozen.system.user_of_api_key(&made.key).await.unwrap().id, ada.user_id);
    });
}

// --- Permissions

#[test]
fn nobody_grants_more_than_they_have() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (ada, workspace) = world.pro("ada").await;
        let [reader, writer, other, eve] =
            [world.person("r").await, world.person("w").await, world.person("o").await, world.person("e").await];
        let system = &world.system;
        system.give_access(&ada, &workspace, &reader.user_id, Level::Read).await.unwrap();
        system.give_access(&ada, &workspace, &writer.user_id, Level::Write).await.unwrap();
        for (by, level, expected) in [
            (&eve, Level::Read, false),
            (&reader, Level::Read, false),
            (&writer, Level::Owner, false),
            (&writer, Level::Write, true),
            (&ada, Level::Owner, true),
        ] {
            let given = system.ensure_access(by, &workspace, &other.user_id, level).await;
            assert_eq!(given.is_ok(), expected, "{level:?}: {given:?}");
        }
        assert_eq!(system.level_of(&other.user_id, &workspace).await.unwrap(), Some(Level::Owner));
        assert_eq!(
            refusal(system.change_access(&writer, &workspace, &other.user_id, Level::Read).await),
            "Forbidden",
            "only owners touch owners"
        );
        assert_eq!(refusal(system.remove_access(&writer, &workspace, &reader.user_id).await), "Forbidden");
        assert_eq!(
            refusal(system.change_access(&writer, &workspace, &writer.user_id, Level::Owner).await),
            "Forbidden"
        );
    });
}

#[test]
fn give_ensure_change_and_remove() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (ada, workspace) = world.pro("ada").await;
        let bob = world.person("bob").await;
        let system = &world.system;
        let level = async || system.level_of(&bob.user_id, &workspace).await.unwrap();
        system.give_access(&ada, &workspace, &bob.user_id, Level::Write).await.unwrap();
        assert_eq!(refusal(system.give_access(&ada, &workspace, &bob.user_id, Level::Write).await), "AlreadyMember");
        assert_eq!(
            system.ensure_access(&ada, &workspace, &bob.user_id, Level::Read).await.unwrap(),
            Level::Write,
            "ensure never lowers"
        );
        assert_eq!(system.ensure_access(&ada, &workspace, &bob.user_id, Level::Owner).await.unwrap(), Level::Owner);
        system.change_access(&ada, &workspace, &bob.user_id, Level::Read).await.unwrap();
        assert_eq!(level().await, Some(Level::Read));
        let left = world.subscription(&ada).await.users_left;
        system.remove_access(&ada, &workspace, &bob.user_id).await.unwrap();
        assert_eq!(level().await, None);
        assert_eq!(world.subscription(&ada).await.users_left, left + 1, "the seat is given back");
        assert_eq!(refusal(system.remove_access(&ada, &workspace, &bob.user_id).await), "NotAMember");
        system.change_access(&ada, &workspace, &bob.user_id, Level::Owner).await.unwrap();
        assert_eq!(level().await, Some(Level::Owner), "change makes a member of who is none");
        system.change_access(&ada, &workspace, &ada.user_id, Level::Read).await.unwrap();
        assert_eq!(refusal(system.remove_access(&bob, &workspace, &bob.user_id).await), "LastOwner");
        assert_eq!(refusal(system.change_access(&bob, &workspace, &bob.user_id, Level::Write).await), "LastOwner");
        system.remove_access(&ada, &workspace, &ada.user_id).await.unwrap();
        let seats = system.model.seats(&world.subscription(&ada).await.subscription_id).all().await.unwrap();
        assert_eq!(seats.len(), 2, "the owner of the subscription keeps the seat");
    });
}

#[test]
fn a_member_counts_once_in_all_workspaces_of_a_subscription() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (ada, first) = world.pro("ada").await;
        let second = world.workspace(&ada).await;
        let bob = world.person("bob").await;
        for workspace in [&first, &second] {
            world.system.give_access(&ada, workspace, &bob.user_id, Level::Read).await.unwrap();
        }
        assert_eq!(world.subscription(&ada).await.users_left, 3);
        world.system.remove_access(&ada, &first, &bob.user_id).await.unwrap();
        assert_eq!(world.subscription(&ada).await.users_left, 3, "still in the other");
        world.system.remove_access(&ada, &second, &bob.user_id).await.unwrap();
        assert_eq!(world.subscription(&ada).await.users_left, 4);
    });
}

// --- Workspaces and plans

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

/// How many a subscription lets through, and by which name the next one is refused.
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
        let model = world.system.model.as_caller(ada.clone());
        let free = Limits::of(SubscriptionPlan::Free);
        let first = agent(&world, &ada, &workspace).await.unwrap();
        assert_eq!(agent(&world, &ada, &workspace).await, Err(CreateAgentError::AgentLimitReached));
        let channels = until_refused(
            async |_| {
                let input = CreateChannelInput::new(workspace.clone(), OutputChannelType::Discord, "alerts", json!({}));
                model.create_channel(input).await.map(drop)
            },
            CreateChannelError::ChannelLimitReached,
        );
        let servers = until_refused(
            async |_| {
                let url = "https://mcp.example.com";
                let input =
                    CreateMcpServerInput::new(workspace.clone(), "tools", url, McpServerAuthType::None, json!({}));
                model.create_mcp_server(input).await.map(drop)
            },
            CreateMcpServerError::ServerLimitReached,
        );
        let keys = until_refused(
            async |_| {
                let key = keyform::Uuid::fresh().to_string();
                let input = CreateAgentKeyInput::new(workspace.clone(), first.clone(), key, "0".repeat(64));
                model.create_agent_key(input).await.map(drop)
            },
            CreateAgentKeyError::KeyLimitReached,
        );
        let document = async |number: i64, size: i64| {
            let name = format!("{number}.md");
            let input = CreateDocumentInput::new(workspace.clone(), &*name, &*name, "", &*name, "text/markdown", size);
            model.create_document(input).await.map(drop)
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
        assert_eq!(payments.count(), 1, "told once");

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
        // Its data are of all tests there, and their clocks differ.
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
        assert_eq!(world.system.keep_subscriptions().await.unwrap().to_string(), "ended 0 plans, gave 1 seats back");
        assert_eq!(world.subscription(&ada).await.users_left, 4);

        world.system.note_failed_payment(&id).await.unwrap();
        world.clock.advance(DAY * 7);
        assert_eq!(world.system.keep_subscriptions().await.unwrap().to_string(), "ended 1 plans, gave 0 seats back");
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
        assert_eq!(refusal(system.make_manager(&ada, &id, &carl.user_id).await), "OwnSubscriptionInUse");
        system.make_manager(&ada, &id, &bob.user_id).await.unwrap();
        assert_eq!(refusal(system.make_manager(&ada, &id, &bob.user_id).await), "AlreadyManager");
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

// --- Request limits

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
        // Those under way are counted all the same.
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

// --- Invitations

#[test]
fn an_invitation_is_accepted_by_whom_it_was_sent_to() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (ada, workspace) = world.pro("ada").await;
        let (bob, eve) = (world.person("bob").await, world.person("eve").await);
        let system = &world.system;
        let key = address("key");
        let made = system.invite(&ada, &workspace, &bob.email, Level::Write, Some(&key)).await.unwrap();
        assert_eq!(system.invite(&ada, &workspace, &bob.email, Level::Write, Some(&key)).await.unwrap(), made);
        assert_eq!(
            refusal(system.invite(&ada, &workspace, &bob.email.to_uppercase(), Level::Read, None).await),
            "AlreadyInvited"
        );
        assert_eq!(refusal(system.invite(&bob, &workspace, &eve.email, Level::Read, None).await), "Forbidden");
        let token = world.mailed(&bob.email);
        let shown = system.invitation(&token).await.unwrap();
        assert_eq!((shown.workspace.as_str(), shown.level, shown.email.as_str()), ("Engines", 2, bob.email.as_str()));
        assert_eq!(refusal(system.accept_invitation(&eve, &token).await), "OtherAddress");
        assert_eq!(refusal(system.accept_invitation(&bob, "another").await), "UnknownInvite");
        assert_eq!(system.accept_invitation(&bob, &token).await.unwrap().level, 2);
        assert_eq!(system.accept_invitation(&bob, &token).await.unwrap().level, 2, "accepting twice changes nothing");
        assert_eq!(refusal(system.invitation(&token).await), "AlreadyAccepted");
        eventually(vec![], async || system.pending_invites(&ada, &workspace, None).await.unwrap().items).await;
        assert_eq!(refusal(system.invite(&ada, &workspace, &bob.email, Level::Read, None).await), "AlreadyMember");
        assert_eq!(world.subscription(&ada).await.users_left, 3);
    });
}

#[test]
fn an_invitation_is_accepted_without_signing_in() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (ada, workspace) = world.pro("ada").await;
        let email = address("newcomer");
        world.system.invite(&ada, &workspace, &email, Level::Owner, None).await.unwrap();
        let token = world.mailed(&email);
        let session = world.system.accept_invitation_as_guest(&token, Some("New")).await.unwrap();
        let user = world.system.user_named(&email).await.unwrap();
        assert_eq!(session.user_id, user.id.to_string());
        assert!(user.email_verified.is_some());
        assert_eq!(world.system.level_of(&user.id, &workspace).await.unwrap(), Some(Level::Owner));
        let own = world.system.subscription_of(&user.id).await.unwrap();
        assert_eq!((own.user_id, own.plan), (user.id, SubscriptionPlan::Free));
        assert_eq!(world.system.existing_owners(&workspace).await, 2);
        assert_eq!(refusal(world.system.accept_invitation_as_guest(&token, None).await), "AlreadyAccepted");
    });
}

#[test]
fn an_expired_invitation_is_refused_and_blocks_no_other() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (ada, workspace) = world.pro("ada").await;
        let bob = world.person("bob").await;
        world.system.invite(&ada, &workspace, &bob.email, Level::Read, None).await.unwrap();
        let old = world.mailed(&bob.email);
        world.clock.advance(DAY * 7 + MINUTE);
        assert_eq!(refusal(world.system.accept_invitation(&bob, &old).await), "InviteExpired");
        assert_eq!(world.system.pending_invites(&ada, &workspace, None).await.unwrap().items, []);
        let again = world.system.invite(&ada, &workspace, &bob.email, Level::Read, None).await.unwrap();
        assert_eq!(refusal(world.system.accept_invitation(&bob, &old).await), "UnknownInvite");
        let as_ada = world.system.model.as_caller(ada.clone());
        as_ada.withdraw_invite(&workspace, &again.invite_id.parse().unwrap()).await.unwrap();
        let withdrawn = world.mailed(&bob.email);
        assert_eq!(refusal(world.system.accept_invitation(&bob, &withdrawn).await), "UnknownInvite");
        world.system.invite(&ada, &workspace, &bob.email, Level::Read, None).await.unwrap();
    });
}

#[test]
fn an_invitation_raises_a_member_and_lowers_none() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (ada, workspace) = world.pro("ada").await;
        for (invited, has, expected) in
            [(Level::Write, Level::Read, 2), (Level::Read, Level::Write, 2), (Level::Owner, Level::Read, 3)]
        {
            let bob = world.person("bob").await;
            world.system.invite(&ada, &workspace, &bob.email, invited, None).await.unwrap();
            world.system.give_access(&ada, &workspace, &bob.user_id, has).await.unwrap();
            let accepted = world.system.accept_invitation(&bob, &world.mailed(&bob.email)).await.unwrap();
            assert_eq!(accepted.level, expected, "{invited:?} for {has:?}");
        }
        assert_eq!(world.system.existing_owners(&workspace).await, 2);
    });
}

#[test]
fn a_free_plan_has_no_seat_for_others() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let ada = world.person("ada").await;
        let workspace = world.workspace(&ada).await;
        let invited = world.system.invite(&ada, &workspace, &address("bob"), Level::Read, None).await;
        assert_eq!(refusal(invited), "UserLimitReached");
    });
}

// --- Sample data

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

/// How many owners a workspace says it has.
trait Owners {
    async fn existing_owners(&self, workspace: &WorkspaceId) -> i64;
}

impl Owners for keyform_helpmaton::Helpmaton {
    async fn existing_owners(&self, workspace: &WorkspaceId) -> i64 {
        self.model.workspace_by_id(workspace).await.unwrap().unwrap().owners
    }
}
