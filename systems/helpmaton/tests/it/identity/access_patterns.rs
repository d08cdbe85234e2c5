//! Access patterns of the schema document for `next-auth`, `workspace`, `permission`, `subscription`,
//! `llm-request-buckets`, `workspace-invite`, `user-api-key` and `user-refresh-token`, with the document's names.

use std::collections::BTreeSet;
use std::time::Duration;

use keyform::{CallError, Timestamp, Uuid};
use keyform_helpmaton::identity::caller_of;
use keyform_helpmaton::model::{
    AccountProvider, CreateApiKeyError, CreateApiKeyInput, CreateRefreshTokenError, CreateRefreshTokenInput,
    SignUpError, SignUpInput, SubscriptionPlan, SubscriptionStatus, TakeRequestError, TakeRequestInput, WorkspaceId,
    WorkspaceInviteId,
};
use keyform_helpmaton::permissions::Level;
use keyform_helpmaton::secrets::lookup_hash;
use keyform_scenario::{eventually, on_every_store};

use super::support::{World, address, found, refusal};

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3600);

// --- 1. next-auth

#[test]
fn user_by_email() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let email = address("Ada");
        let user = world.system.user_of_email(&email, Some("Ada")).await.unwrap();
        for written in [email.clone(), email.to_uppercase(), format!(" {email} ")] {
            let found = found(async || world.system.model.user_by_email(&written).await).await;
            assert_eq!((found.id, found.email), (user.id.clone(), email.to_lowercase()), "{written}");
        }
        assert_eq!(world.system.model.user_by_email(&address("nobody")).await.unwrap(), None);
        let again = SignUpInput::new(Uuid::fresh().into(), email, Uuid::fresh().into());
        assert_eq!(world.system.model.sign_up(again).await, Err(SignUpError::EmailTaken));
        let stranger = world.system.model.as_caller(caller_of(&user));
        assert_eq!(
            stranger.user_by_email(&user.email).await,
            Err(CallError::Forbidden),
            "addresses are not looked up by callers"
        );
    });
}

#[test]
fn user_by_id() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (ada, bob) = (world.person("ada").await, world.person("bob").await);
        let as_ada = world.system.model.as_caller(ada.clone());
        assert_eq!(as_ada.user_by_id(&ada.user_id).await.unwrap().unwrap().email, ada.email);
        assert_eq!(as_ada.user_by_id(&bob.user_id).await, Err(CallError::Forbidden));
        assert_eq!(world.system.model.user_by_id(&Uuid::fresh().into()).await.unwrap(), None);
    });
}

#[test]
fn account_by_provider() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let ada = world.person("ada").await;
        let (first, second) = (Uuid::fresh().to_string(), Uuid::fresh().to_string());
        for identifier in [&first, &second] {
            world.system.link(&ada.user_id, AccountProvider::Github, identifier).await.unwrap();
        }
        world.system.link(&ada.user_id, AccountProvider::Google, &first).await.unwrap();
        let as_ada = world.system.model.as_caller(ada.clone());
        let accounts = as_ada.accounts_by_provider(&ada.user_id, AccountProvider::Github).all().await.unwrap();
        let listed: Vec<&String> = accounts.iter().map(|account| &account.identifier).collect();
        let mut expected = vec![&first, &second];
        expected.sort();
        assert_eq!(listed, expected, "all accounts at one provider, in the order of their ids");
        let whose =
            found(async || world.system.model.account_by_identity(AccountProvider::Github, &second).await).await;
        assert_eq!(whose.user_id, ada.user_id);
        let none = as_ada.account(&ada.user_id, AccountProvider::Google, &second).await.unwrap();
        assert_eq!(none, None);
        let bob = world.person("bob").await;
        let taken = world.system.link(&bob.user_id, AccountProvider::Github, &first).await;
        assert_eq!(refusal(taken), "AccountOfAnother");
        world.system.link(&ada.user_id, AccountProvider::Github, &first).await.unwrap();
    });
}

// --- 3. workspace

#[test]
fn get_workspace() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (ada, eve) = (world.person("ada").await, world.person("eve").await);
        let id = world.workspace(&ada).await;
        let found = world.system.model.as_caller(ada).workspace_by_id(&id).await.unwrap().unwrap();
        assert_eq!((found.name.as_str(), found.version, found.owners), ("Engines", 1, 1));
        assert_eq!(world.system.model.as_caller(eve).workspace_by_id(&id).await, Err(CallError::Forbidden));
        assert_eq!(world.system.model.workspace_by_id(&Uuid::fresh().into()).await.unwrap(), None);
    });
}

#[test]
fn workspaces_of_a_subscription() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (ada, first) = world.pro("ada").await;
        let second = world.workspace(&ada).await;
        let subscription = world.subscription(&ada).await.subscription_id;
        let as_ada = world.system.model.as_caller(ada);
        let mut expected = vec![first, second];
        expected.sort();
        let listed = async || -> Vec<WorkspaceId> {
            let workspaces = as_ada.workspaces_by_subscription(&subscription).all().await.unwrap();
            workspaces.into_iter().map(|workspace| workspace.workspace_id).collect()
        };
        // Sorted by key.
        eventually(expected, listed).await;
        let eve = world.system.model.as_caller(world.person("eve").await);
        assert_eq!(eve.workspaces_by_subscription(&subscription).all().await, Err(CallError::Forbidden));
    });
}

// --- 4. permission

#[test]
fn a_users_permission() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (ada, workspace) = world.pro("ada").await;
        let bob = world.person("bob").await;
        world.system.give_access(&ada, &workspace, &bob.user_id, Level::Read).await.unwrap();
        for (user, level) in [(&ada, Some(Level::Owner)), (&bob, Some(Level::Read)), (&world.person("eve").await, None)]
        {
            assert_eq!(world.system.level_of(&user.user_id, &workspace).await.unwrap(), level);
        }
        let as_ada = world.system.model.as_caller(ada.clone());
        let permission = as_ada.workspace_permission(&workspace, &bob.user_id).await.unwrap().unwrap();
        assert_eq!((permission.r#type, permission.created_by), (1, Some(ada.user_id.clone().into())));
        let subscription = world.subscription(&ada).await.subscription_id;
        let own = as_ada.subscription_permission(&subscription, &ada.user_id).await.unwrap().unwrap();
        assert_eq!(own.r#type, 3);
    });
}

#[test]
fn permissions_for_a_resource() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (ada, workspace) = world.pro("ada").await;
        let (bob, eve) = (world.person("bob").await, world.person("eve").await);
        world.system.give_access(&ada, &workspace, &bob.user_id, Level::Write).await.unwrap();
        let members = world.system.members(&bob, &workspace, None).await.unwrap();
        let mut expected = [(&ada, 3), (&bob, 2)];
        expected.sort_by_key(|(person, _)| person.user_id.clone());
        let found: Vec<_> = members.items.iter().map(|member| (member.email.clone().unwrap(), member.level)).collect();
        assert_eq!(found, expected.map(|(person, level)| (person.email.clone(), level)));
        assert_eq!(members.cursor, None);
        assert_eq!(refusal(world.system.members(&eve, &workspace, None).await), "Forbidden");
        let subscription = world.subscription(&ada).await.subscription_id;
        let managers = world.system.model.as_caller(ada.clone()).managers_of_subscription(&subscription).all().await;
        assert_eq!(managers.unwrap().iter().map(|manager| &manager.user_id).collect::<Vec<_>>(), [&ada.user_id]);
    });
}

#[test]
fn a_users_permissions_by_type() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (ada, first) = world.pro("ada").await;
        let second = world.workspace(&ada).await;
        let as_ada = world.system.model.as_caller(ada.clone());
        let workspaces = async || -> BTreeSet<WorkspaceId> {
            let permissions = as_ada.workspaces_of_user(&ada.user_id).all().await.unwrap();
            permissions.into_iter().map(|permission| permission.workspace_id).collect()
        };
        // Workspaces only, and subscriptions only.
        eventually([first, second].into(), workspaces).await;
        eventually(1, async || as_ada.subscriptions_of_user(&ada.user_id).all().await.unwrap().len()).await;
        let mine = world.system.my_workspaces(&ada, None).await.unwrap();
        assert!(mine.items.iter().all(|workspace| workspace.level == 3 && workspace.name == "Engines"));
        assert_eq!(mine.items.len(), 2);
        let bob = world.person("bob").await;
        assert_eq!(
            world.system.model.as_caller(bob.clone()).workspaces_of_user(&ada.user_id).all().await,
            Err(CallError::Forbidden)
        );
        assert_eq!(world.system.my_workspaces(&bob, None).await.unwrap().items, []);
    });
}

#[test]
fn permission_checks() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (ada, workspace) = world.pro("ada").await;
        let (bob, eve) = (world.person("bob").await, world.person("eve").await);
        world.system.give_access(&ada, &workspace, &bob.user_id, Level::Write).await.unwrap();
        for (who, least, expected) in [
            (&ada, Level::Owner, Some(Level::Owner)),
            (&bob, Level::Read, Some(Level::Write)),
            (&bob, Level::Write, Some(Level::Write)),
            (&bob, Level::Owner, None),
            (&eve, Level::Read, None),
        ] {
            let level = world.system.require_level(&who.user_id, &workspace, least).await.ok();
            assert_eq!(level, expected, "{least:?}");
        }
    });
}

// --- 16. subscription

#[test]
fn get_subscription() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (ada, eve) = (world.person("ada").await, world.person("eve").await);
        let id = world.subscription(&ada).await.subscription_id;
        let found = world.system.model.as_caller(ada.clone()).subscription_by_id(&id).await.unwrap().unwrap();
        assert_eq!((found.plan, found.status), (SubscriptionPlan::Free, SubscriptionStatus::Active));
        assert_eq!(found.user_id, ada.user_id);
        assert_eq!(world.system.model.as_caller(eve).subscription_by_id(&id).await, Err(CallError::Forbidden));
        assert_eq!(world.system.model.subscription_by_id(&Uuid::fresh().into()).await.unwrap(), None);
    });
}

#[test]
fn a_users_subscription() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let ada = world.person("ada").await;
        let as_ada = world.system.model.as_caller(ada.clone());
        let found = found(async || as_ada.subscription_of_user(&ada.user_id).await).await;
        assert_eq!(found, world.subscription(&ada).await);
        let bob = world.person("bob").await;
        assert_eq!(as_ada.subscription_of_user(&bob.user_id).await, Err(CallError::Forbidden));
        assert_eq!(world.system.model.subscription_of_user(&Uuid::fresh().into()).await.unwrap(), None);
    });
}

// --- 17. llm-request-buckets

fn taking(
    subscription: &keyform_helpmaton::model::SubscriptionId,
    hour: Timestamp,
    remaining: i64,
) -> TakeRequestInput {
    TakeRequestInput {
        subscription_id: subscription.clone(),
        hour_timestamp: hour,
        before: hour - HOUR,
        after: hour + HOUR,
        count_before: 0,
        remaining,
    }
}

fn hour_of(time: Timestamp) -> Timestamp {
    Timestamp::of_millis(time.millis() - time.millis().rem_euclid(3_600_000))
}

#[test]
fn get_bucket() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let ada = world.person("ada").await;
        let id = world.subscription(&ada).await.subscription_id;
        let hour = hour_of(world.system.now());
        let as_ada = world.system.model.as_caller(ada);
        assert_eq!(as_ada.bucket(&id, hour).await.unwrap(), None);
        world.system.model.count_request(&id, hour).await.unwrap();
        let bucket = as_ada.bucket(&id, hour).await.unwrap().unwrap();
        assert_eq!(bucket.count, 1);
        assert_eq!(Timestamp::from(bucket.expires), hour + HOUR * 25);
    });
}

#[test]
fn buckets_of_a_subscription() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let ada = world.person("ada").await;
        let id = world.subscription(&ada).await.subscription_id;
        let now = hour_of(world.system.now());
        for back in [0, 1, 5] {
            world.system.model.count_request(&id, now - HOUR * back).await.unwrap();
        }
        let as_ada = world.system.model.as_caller(ada);
        let hours = async |from| {
            let buckets = as_ada.buckets_for_subscription(&id, from, now).await.unwrap();
            buckets.iter().map(|bucket| bucket.hour_timestamp).collect::<Vec<_>>()
        };
        // Oldest first, both ends inclusive.
        eventually(vec![now - HOUR * 5, now - HOUR, now], async || hours(now - HOUR * 23).await).await;
        eventually(vec![now - HOUR, now], async || hours(now - HOUR).await).await;
    });
}

#[test]
fn increment() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let id = world.subscription(&world.person("ada").await).await.subscription_id;
        let hour = hour_of(world.system.now());
        let model = &world.system.model;
        for _ in 0..3 {
            model.take_request(taking(&id, hour, 3)).await.unwrap();
        }
        assert_eq!(model.take_request(taking(&id, hour, 3)).await, Err(TakeRequestError::RequestLimitReached));
        model.count_request(&id, hour).await.unwrap();
        assert_eq!(model.bucket(&id, hour).await.unwrap().unwrap().count, 4, "a soft count knows no limit");
        let next = hour + HOUR;
        assert_eq!(model.take_request(taking(&id, next, 9)).await, Err(TakeRequestError::HourChanged));
        let seen = TakeRequestInput { count_before: 4, ..taking(&id, next, 9) };
        model.take_request(seen).await.unwrap();
        assert_eq!(model.take_request(taking(&id, hour, 9)).await, Err(TakeRequestError::HourOver));
    });
}

// --- 18. workspace-invite

#[test]
fn get_invite() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (ada, workspace) = world.pro("ada").await;
        let email = address("bob");
        let made = world.system.invite(&ada, &workspace, &email, Level::Write, None).await.unwrap();
        let id = WorkspaceInviteId::new(made.invite_id).unwrap();
        let as_ada = world.system.model.as_caller(ada.clone());
        let found = as_ada.invite_by_id(&workspace, &id).await.unwrap().unwrap();
        assert_eq!((&found.email, found.permission_level, &found.invited_by), (&email, 2, &ada.user_id));
        let token = world.mailed(&email);
        assert_eq!(found.token_hash.expose(), &lookup_hash(&token), "only the hash is kept");
        assert!(!serde_json::to_string(&found).unwrap().contains(found.token_hash.expose()), "and not shown");
        assert_eq!(found.expires_at, world.system.now() + Duration::from_secs(7 * 86_400));
        let eve = world.system.model.as_caller(world.person("eve").await);
        assert_eq!(eve.invite_by_id(&workspace, &id).await, Err(CallError::Forbidden));
        assert_eq!(as_ada.invite_by_id(&workspace, &Uuid::fresh().into()).await.unwrap(), None);
    });
}

#[test]
fn invites_of_a_workspace() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (ada, workspace) = world.pro("ada").await;
        let emails: BTreeSet<String> = ["bob", "carl", "dora"].map(address).into();
        for email in &emails {
            world.system.invite(&ada, &workspace, email, Level::Read, None).await.unwrap();
        }
        let as_ada = world.system.model.as_caller(ada.clone());
        eventually(3, async || as_ada.invites_for_workspace(&workspace).all().await.unwrap().len()).await;
        let listed = as_ada.invites_for_workspace(&workspace).all().await.unwrap();
        assert!(listed.is_sorted_by_key(|invite| invite.invite_id.clone()), "in the order of their keys");
        assert_eq!(listed.into_iter().map(|invite| invite.email).collect::<BTreeSet<_>>(), emails);
        let waiting = world.system.pending_invites(&ada, &workspace, None).await.unwrap();
        assert_eq!(waiting.items.len(), 3);
        let bob = world.person("bob").await;
        assert_eq!(refusal(world.system.pending_invites(&bob, &workspace, None).await), "Forbidden");
    });
}

// --- 20. user-api-key

#[test]
fn create_key() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let ada = world.person("ada").await;
        let made = world.system.make_api_key(&ada.user_id, Some("for scripts"), None).await.unwrap();
        assert!(made.key.starts_with("hmat_") && made.key.len() == 69);
        assert_eq!(made.key_prefix, made.key[..12]);
        let id = made.key_id.parse().unwrap();
        let kept = world.system.model.api_key(&ada.user_id, &id).await.unwrap().unwrap();
        assert_eq!(kept.key_lookup_hash.expose(), &lookup_hash(&made.key));
        assert!(!format!("{kept:?}").contains(&made.key[12..]), "the key itself is not kept");
        let again = CreateApiKeyInput {
            key_id: Some(id),
            ..CreateApiKeyInput::new(ada.user_id, "h", "s", lookup_hash("x"), "hmat_0000000")
        };
        assert_eq!(world.system.model.create_api_key(again).await, Err(CreateApiKeyError::KeyExists));
        let nobody = CreateApiKeyInput::new(Uuid::fresh().into(), "h", "s", lookup_hash("x"), "hmat_0000000");
        assert_eq!(world.system.model.create_api_key(nobody).await, Err(CreateApiKeyError::UnknownUser));
    });
}

#[test]
fn get_key() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (ada, bob) = (world.person("ada").await, world.person("bob").await);
        let made = world.system.make_api_key(&ada.user_id, None, None).await.unwrap();
        let id = made.key_id.parse().unwrap();
        let as_ada = world.system.model.as_caller(ada.clone());
        let found = as_ada.api_key(&ada.user_id, &id).await.unwrap().unwrap();
        assert_eq!(found.key_prefix, made.key_prefix);
        let shown = serde_json::to_string(&found).unwrap();
        assert!(!shown.contains("keySalt") && !shown.contains("Hash"), "{shown}");
        assert_eq!(world.system.model.as_caller(bob).api_key(&ada.user_id, &id).await, Err(CallError::Forbidden));
        assert_eq!(as_ada.api_key(&ada.user_id, &Uuid::fresh().into()).await.unwrap(), None);
    });
}

#[test]
fn look_up_key_by_hash() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let ada = world.person("ada").await;
        let made = world.system.make_api_key(&ada.user_id, None, None).await.unwrap();
        let hash = lookup_hash(&made.key);
        let found = found(async || world.system.model.api_key_by_hash(&hash).await).await;
        assert_eq!((found.user_id, found.key_id.to_string()), (ada.user_id.clone(), made.key_id));
        assert_eq!(world.system.user_of_api_key(&made.key).await.unwrap().id, ada.user_id);
        assert_eq!(world.system.model.api_key_by_hash(&lookup_hash("another")).await.unwrap(), None);
    });
}

#[test]
fn keys_of_a_user() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (ada, bob) = (world.person("ada").await, world.person("bob").await);
        for name in ["one", "two"] {
            world.system.make_api_key(&ada.user_id, Some(name), None).await.unwrap();
        }
        let as_ada = world.system.model.as_caller(ada.clone());
        let keys = as_ada.api_keys_of_user(&ada.user_id).all().await.unwrap();
        assert!(keys.is_sorted_by_key(|key| key.key_id.clone()));
        let names: BTreeSet<_> = keys.iter().filter_map(|key| key.name.as_deref()).collect();
        assert_eq!(names, ["one", "two"].into());
        assert!(keys.iter().all(|key| key.key_prefix.len() == 12), "what lists show is the prefix");
        as_ada.delete_api_key(&ada.user_id, &keys[0].key_id).await.unwrap();
        assert_eq!(as_ada.api_keys_of_user(&ada.user_id).all().await.unwrap(), keys[1..]);
        assert_eq!(as_ada.api_keys_of_user(&bob.user_id).all().await, Err(CallError::Forbidden));
    });
}

// --- 21. user-refresh-token

#[test]
fn create_token() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let ada = world.person("ada").await;
        let (id, family) = (Uuid::fresh(), Uuid::fresh());
        let input = CreateRefreshTokenInput {
            token_id: Some(id.clone().into()),
            ..CreateRefreshTokenInput::new(ada.user_id.clone(), family.into(), "hash", "salt", lookup_hash(id.as_str()))
        };
        let made = world.system.model.create_refresh_token(input.clone()).await.unwrap();
        let days = Duration::from_secs(30 * 86_400);
        assert_eq!(made.expires_at, world.system.now() + days);
        assert!(Timestamp::from(made.expires) >= made.expires_at - SECOND, "it stays until it has ended");
        assert_eq!(world.system.model.create_refresh_token(input).await, Err(CreateRefreshTokenError::FamilyExists));
    });
}

#[test]
fn get_token() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let ada = world.person("ada").await;
        let user = world.system.user_named(&ada.email).await.unwrap();
        let session = world.system.start_session(&user).await.unwrap();
        let hash = lookup_hash(&session.refresh_token);
        let found = found(async || world.system.model.refresh_token_by_hash(&hash).await).await;
        let token = world.system.model.refresh_token(&ada.user_id, &found.token_id).await.unwrap().unwrap();
        assert_eq!((token.revoked_at, token.replaced_by), (None, None));
        assert_eq!(world.system.model.refresh_token(&ada.user_id, &Uuid::fresh().into()).await.unwrap(), None);
        let as_ada = world.system.model.as_caller(ada.clone());
        assert_eq!(as_ada.refresh_token(&ada.user_id, &found.token_id).await, Err(CallError::Forbidden));
    });
}

#[test]
fn look_up_token_by_hash() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let user = world.system.user_of_email(&address("ada"), None).await.unwrap();
        let session = world.system.start_session(&user).await.unwrap();
        assert!(session.refresh_token.starts_with("hmat_refresh_") && session.refresh_token.len() == 77);
        let hash = lookup_hash(&session.refresh_token);
        let found = found(async || world.system.model.refresh_token_by_hash(&hash).await).await;
        assert_eq!(found.user_id, user.id);
        assert_eq!(world.system.model.refresh_token_by_hash(&lookup_hash("another")).await.unwrap(), None);
    });
}

#[test]
fn tokens_of_a_user() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let user = world.system.user_of_email(&address("ada"), None).await.unwrap();
        let session = world.system.start_session(&user).await.unwrap();
        world.system.refresh(&session.refresh_token, None).await.unwrap();
        world.system.start_session(&user).await.unwrap();
        let as_ada = world.system.model.as_caller(caller_of(&user));
        let tokens = as_ada.refresh_tokens_of_user(&user.id).all().await.unwrap();
        assert_eq!(tokens.iter().filter(|token| token.revoked_at.is_none()).count(), 2);
        assert_eq!(tokens.len(), 3);
        let families: BTreeSet<_> = tokens.iter().map(|token| token.family_id.clone()).collect();
        let listed = as_ada.token_families(&user.id).all().await.unwrap();
        assert_eq!(listed.into_iter().map(|family| family.family_id).collect::<BTreeSet<_>>(), families);
        let bob = world.system.model.as_caller(world.person("bob").await);
        assert_eq!(bob.refresh_tokens_of_user(&user.id).all().await, Err(CallError::Forbidden));
    });
}

/// Patterns of the document for these sections, and their tests.
const TESTS: &[(&str, &str, &str)] = &[
    ("1 `next-auth`", "user by e-mail", "user_by_email"),
    ("1 `next-auth`", "user by id", "user_by_id"),
    ("1 `next-auth`", "account by provider", "account_by_provider"),
    ("3 `workspace`", "get workspace", "get_workspace"),
    ("3 `workspace`", "workspaces of a subscription", "workspaces_of_a_subscription"),
    ("4 `permission`", "a user's permission", "a_users_permission"),
    ("4 `permission`", "permissions for a resource", "permissions_for_a_resource"),
    ("4 `permission`", "a user's permissions by type", "a_users_permissions_by_type"),
    ("16 `subscription`", "get subscription", "get_subscription"),
    ("16 `subscription`", "a user's subscription", "a_users_subscription"),
    ("17 `llm-request-buckets`", "get bucket", "get_bucket"),
    ("17 `llm-request-buckets`", "buckets of a subscription", "buckets_of_a_subscription"),
    ("17 `llm-request-buckets`", "increment", "increment"),
    ("18 `workspace-invite`", "get invite", "get_invite"),
    ("18 `workspace-invite`", "invites of a workspace", "invites_of_a_workspace"),
    ("20 `user-api-key`", "create key", "create_key"),
    ("20 `user-api-key`", "get key", "get_key"),
    ("20 `user-api-key`", "look up by hash", "look_up_key_by_hash"),
    ("20 `user-api-key`", "keys of a user", "keys_of_a_user"),
    ("21 `user-refresh-token`", "create token", "create_token"),
    ("21 `user-refresh-token`", "get token", "get_token"),
    ("21 `user-refresh-token`", "look up by hash", "look_up_token_by_hash"),
    ("21 `user-refresh-token`", "tokens of a user", "tokens_of_a_user"),
    ("common queries 2", "permission checks", "permission_checks"),
];

/// Patterns that the credit tests cover.
const ELSEWHERE: &[(&str, &str)] = &[("3 `workspace`", "atomic credit update")];

#[test]
fn no_pattern_of_the_document_is_forgotten() {
    let page = include_str!("../../../../../docs/systems/helpmaton.md");
    let table = page.split("## ").find(|part| part.starts_with("From the document to the model")).unwrap();
    let mut section = "";
    let mut documented = Vec::new();
    for row in table.lines().filter(|line| line.starts_with('|')).skip(2) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        section = if cells[1].is_empty() { section } else { cells[1] };
        documented.push((section, cells[2]));
    }
    let ours: BTreeSet<&str> = TESTS.iter().map(|(section, ..)| *section).collect();
    documented.retain(|pattern| ours.contains(pattern.0) && !ELSEWHERE.contains(pattern));
    let tested: Vec<(&str, &str)> = TESTS.iter().map(|(section, pattern, _)| (*section, *pattern)).collect();
    assert_eq!(documented, tested);
    let source = include_str!("access_patterns.rs");
    for (_, pattern, test) in TESTS {
        assert!(source.contains(&format!("fn {test}() {{")), "{pattern} has no test {test}");
    }
}
