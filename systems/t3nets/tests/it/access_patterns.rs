//! Each access pattern of the schema document, on every store.

use std::time::Duration;

use keyform::World as _;
use keyform::operation::{GetItem, PutItem};
use keyform::{Attributes, CallError, Date, ExecuteExt, Timestamp};
use keyform_scenario::{Scene, eventually, on_every_store};
use keyform_t3nets::channels::{self, Channel, ChannelType};
use keyform_t3nets::conversations::{self, Role};
use keyform_t3nets::model::{
    ChannelMappingChannelType, ClaimChannelError, CreateTenantError, CreateUserError, CreateUserInput, DeleteUserError,
    IdentityChannelType, LinkIdentityError, ReleaseChannelError, SaveTurnError, SaveTurnInput, T3nets, TenantStatus,
    UnlinkIdentityError, UpdateTenantError, UpdateUserError, UpdateUserInput, UserRole,
};
use keyform_t3nets::{messages, settings, tenants};

use crate::support::{active_tenant, default, fresh, id, new_tenant, operator, person, system, turn, user};

/// Sections of the document, as the system's page lists them, and their tests.
const PATTERNS: [(&str, &str); 19] = [
    ("Table conversations", "table_conversations"),
    ("Get conversation", "get_conversation"),
    ("Save turn", "save_turn"),
    ("Clear conversation", "clear_conversation"),
    ("Message format", "message_format"),
    ("Table tenants", "table_tenants"),
    ("GSI channel-mapping", "gsi_channel_mapping"),
    ("Item type Tenant Metadata, Settings JSON", "item_type_tenant_metadata"),
    ("Item type User, future expansion", "item_type_user"),
    ("Item type Channel Mapping", "item_type_channel_mapping"),
    ("Get tenant by ID", "get_tenant_by_id"),
    ("Resolve tenant from channel", "resolve_tenant_from_channel"),
    ("List all users in a tenant", "list_all_users_in_a_tenant"),
    ("Find user by email", "find_user_by_email"),
    ("Settings, `messages_per_day`", "messages_per_day"),
    ("Settings, `max_conversation_history`", "max_conversation_history"),
    ("Channel identities", "channel_identities"),
    ("Future, separate memory items", "separate_memory_items"),
    ("(implied) the life of tenants and users", "the_life_of_tenants_and_users"),
];

const DAY: Duration = Duration::from_secs(86_400);

#[test]
fn table_conversations() {
    on_every_store(async |scene| {
        let t3nets = system(&scene).await;
        let tenant = active_tenant(&t3nets).await.tenant_id;
        user(&t3nets, &tenant, "grace").await;
        let (ada, grace) = (person(&tenant, "ada"), person(&tenant, "grace"));
        conversations::record(&t3nets.as_caller(ada.clone()), &turn(1)).await.unwrap();
        let of = async |reader: &keyform_t3nets::model::Caller, whose: &str| {
            let whose = id(whose);
            t3nets.as_caller(reader.clone()).conversation(&tenant, &whose, &default()).await
        };
        assert_eq!(of(&ada, "ada").await.unwrap().unwrap().turns, 1);
        assert_eq!(of(&grace, "grace").await, Ok(None), "users of a tenant do not share their default conversation");
        assert_eq!(of(&grace, "ada").await, Err(CallError::Forbidden));

        scene.clock.advance(29 * DAY);
        conversations::record(&t3nets.as_caller(ada.clone()), &turn(2)).await.unwrap();
        scene.clock.advance(29 * DAY);
        assert_eq!(of(&ada, "ada").await.unwrap().unwrap().turns, 2, "each turn renews the thirty days");
        scene.clock.advance(DAY + Duration::from_secs(1));
        assert_eq!(of(&ada, "ada").await, Ok(None), "over, whether the store has removed it or not");
    });
}

#[test]
fn get_conversation() {
    on_every_store(async |scene| {
        let t3nets = system(&scene).await;
        let tenant = active_tenant(&t3nets).await.tenant_id;
        let ada = person(&tenant, "ada");
        let as_ada = t3nets.as_caller(ada.clone());
        assert_eq!(conversations::history(&as_ada, &ada, &default()).await.unwrap().messages, []);
        for number in 0..3 {
            conversations::record(&as_ada, &turn(number)).await.unwrap();
        }
        let history = conversations::history(&as_ada, &ada, &default()).await.unwrap();
        let said: Vec<&str> = history.messages.iter().map(|message| message.content.as_str()).collect();
        assert_eq!(said, ["question 0", "answer 0", "question 1", "answer 1", "question 2", "answer 2"]);
        let other = id("another");
        assert_eq!(conversations::history(&as_ada, &ada, &other).await.unwrap().turns, 0);
    });
}

#[test]
fn save_turn() {
    on_every_store(async |scene| {
        let t3nets = system(&scene).await;
        let tenant = active_tenant(&t3nets).await.tenant_id;
        let as_ada = t3nets.as_caller(person(&tenant, "ada"));
        assert_eq!(as_ada.save_turn(turn(0)).await, Err(SaveTurnError::NotOpen));
        as_ada.open_conversation(&default()).await.unwrap();
        let first = as_ada.save_turn(turn(0)).await.unwrap();
        as_ada.open_conversation(&default()).await.unwrap();
        let second = as_ada.save_turn(turn(1)).await.unwrap();
        assert_eq!(first.thread_id, second.thread_id, "opening what is open changes nothing");
        assert!(first.turn_id < second.turn_id);
        let head = as_ada.conversation(&tenant, &id("ada"), &default()).await.unwrap().unwrap();
        assert_eq!(head.turns, 2);

        let empty = as_ada.save_turn(SaveTurnInput::new(default(), "", "answer")).await.unwrap_err();
        assert!(empty.to_string().contains("user_message"), "{empty}");
        let stranger = t3nets.as_caller(person(&tenant, "nobody")).save_turn(turn(2)).await;
        assert_eq!(stranger, Err(SaveTurnError::Failed(CallError::Forbidden)));
        tenants::suspend(&t3nets, &tenant).await.unwrap();
        assert_eq!(as_ada.save_turn(turn(2)).await, Err(SaveTurnError::Failed(CallError::Forbidden)));
    });
}

#[test]
fn clear_conversation() {
    on_every_store(async |scene| {
        let t3nets = system(&scene).await;
        let tenant = active_tenant(&t3nets).await.tenant_id;
        let ada = person(&tenant, "ada");
        let as_ada = t3nets.as_caller(ada.clone());
        conversations::clear(&as_ada, &default()).await.unwrap();
        conversations::record(&as_ada, &turn(0)).await.unwrap();
        conversations::clear(&as_ada, &default()).await.unwrap();
        assert_eq!(conversations::history(&as_ada, &ada, &default()).await.unwrap().messages, []);
        conversations::record(&as_ada, &turn(1)).await.unwrap();
        let history = conversations::history(&as_ada, &ada, &default()).await.unwrap();
        assert_eq!(history.messages[0].content, "question 1", "nothing of the old conversation comes back");
        assert_eq!((history.messages.len(), history.turns), (2, 1));
    });
}

#[test]
fn message_format() {
    on_every_store(async |scene| {
        let t3nets = system(&scene).await;
        let tenant = active_tenant(&t3nets).await.tenant_id;
        let ada = person(&tenant, "ada");
        let as_ada = t3nets.as_caller(ada.clone());
        let metadata = keyform::serde_json::json!({ "sender": "ada", "parts": [1, 2.5, null, { "deep": true }] });
        let said = SaveTurnInput { metadata: Some(metadata.clone()), ..turn(0) };
        let saved = conversations::record(&as_ada, &said).await.unwrap();
        let read = as_ada.turns(&tenant, &id("ada"), &saved.thread_id).await.unwrap().items;
        assert_eq!(read[0].metadata, Some(metadata));
        let history = conversations::history(&as_ada, &ada, &default()).await.unwrap();
        assert_eq!(
            history.messages.iter().map(|message| message.role).collect::<Vec<_>>(),
            [Role::User, Role::Assistant]
        );
        let printed = keyform::serde_json::to_value(&history.messages).unwrap();
        let expected = r#"[{"role":"user","content":"question 0"},{"role":"assistant","content":"answer 0"}]"#;
        assert_eq!(printed, keyform::serde_json::from_str::<keyform::serde_json::Value>(expected).unwrap());
    });
}

#[test]
fn table_tenants() {
    on_every_store(async |scene| {
        let t3nets = system(&scene).await;
        let tenant = active_tenant(&t3nets).await.tenant_id;
        user(&t3nets, &tenant, "grace").await;
        let as_ada = t3nets.as_caller(person(&tenant, "ada"));
        channels::connect(&as_ada, &tenant, &Channel::new(ChannelType::Teams, fresh("app"))).await.unwrap();
        as_ada.link_identity(&tenant, IdentityChannelType::Teams, "aad", &id("grace")).await.unwrap();
        as_ada.remember("s1", "likes tea", &[]).await.unwrap();
        assert_eq!(as_ada.users_of_tenant(&tenant).all().await.unwrap().len(), 2, "one kind among others");
        assert_eq!(as_ada.channels_of_tenant(&tenant).all().await.unwrap().len(), 1);
        assert_eq!(as_ada.memory_of_user(&tenant, &id("ada")).all().await.unwrap().len(), 1);
    });
}

#[test]
fn gsi_channel_mapping() {
    on_every_store(async |scene| {
        let t3nets = system(&scene).await;
        let tenant = active_tenant(&t3nets).await.tenant_id;
        let as_ada = t3nets.as_caller(person(&tenant, "ada"));
        let app = fresh("azure-bot");
        channels::connect(&as_ada, &tenant, &Channel::new(ChannelType::Teams, app.as_str())).await.unwrap();
        let support = t3nets.as_caller(operator());
        eventually(vec![tenant.clone()], async || {
            let mapped = support.mappings_of_channel(ChannelMappingChannelType::Teams, &app).all().await.unwrap();
            mapped.into_iter().map(|mapping| mapping.tenant_id).collect()
        })
        .await;
        let none = support.mappings_of_channel(ChannelMappingChannelType::Slack, &app).all().await.unwrap();
        assert!(none.is_empty(), "of another kind");
        let refused = as_ada.mappings_of_channel(ChannelMappingChannelType::Teams, &app).await;
        assert_eq!(refused.unwrap_err(), CallError::Forbidden);
    });
}

#[test]
fn item_type_tenant_metadata() {
    on_every_store(async |scene| {
        let t3nets = system(&scene).await;
        let tenant = t3nets.create_tenant(new_tenant()).await.unwrap();
        assert_eq!((tenant.status, &tenant.settings), (TenantStatus::Onboarding, &settings::defaults()));
        let as_ada = t3nets.as_caller(person(&tenant.tenant_id, "ada"));
        let change = |json: &str| keyform::serde_json::from_str::<settings::SettingsChange>(json).unwrap();
        let own = &tenant.tenant_id;
        let changed =
            tenants::change_settings(&as_ada, own, change(r#"{"max_tokens_per_message":100}"#)).await.unwrap();
        assert_eq!(changed.settings.max_tokens_per_message, 100);
        assert_eq!(changed.settings.messages_per_day, 1000, "the others stay");
        for wrong in [
            r#"{"messages_per_day":0}"#,
            r#"{"max_conversation_history":101}"#,
            r#"{"max_tokens_per_message":-1}"#,
            r#"{"ai_provider":""}"#,
        ] {
            let refused = tenants::change_settings(&as_ada, own, change(wrong)).await.unwrap_err();
            assert!(matches!(refused, UpdateTenantError::Failed(CallError::Arguments(_))), "{wrong}: {refused}");
        }
        let stale = as_ada.update_tenant(own, "Late", &tenant.settings, tenant.version).await;
        assert_eq!(stale, Err(UpdateTenantError::Changed));
        let support = t3nets.as_caller(operator());
        assert_eq!(support.set_daily_limit(own, 7).await.unwrap().settings.messages_per_day, 7);
        let now = support.tenant_by_id(own).await.unwrap().unwrap();
        assert_eq!(now.settings.max_tokens_per_message, 100);
    });
}

#[test]
fn item_type_user() {
    on_every_store(async |scene| {
        let t3nets = system(&scene).await;
        let tenant = active_tenant(&t3nets).await.tenant_id;
        let as_ada = t3nets.as_caller(person(&tenant, "ada"));
        let grace = user(&as_ada, &tenant, "grace").await;
        assert_eq!((grace.role, grace.preferences.as_ref()), (UserRole::Member, None));
        let taken = CreateUserInput::new(tenant.clone(), id("other"), format!(" GRACE@{tenant}.EXAMPLE "), "Other");
        assert_eq!(as_ada.create_user(taken).await, Err(CreateUserError::UserExists), "an address is one user's");

        add_unknown_attribute(&scene, tenant.as_str()).await;
        let change = UpdateUserInput {
            tenant_id: tenant.clone(),
            user_id: id("grace"),
            email: grace.email.clone(),
            display_name: "Rear Admiral".to_owned(),
            role: UserRole::Admin,
        };
        let changed = as_ada.update_user(change.clone()).await.unwrap();
        assert_eq!((changed.display_name.as_str(), changed.role), ("Rear Admiral", UserRole::Admin));
        assert_eq!(stored_grace(&scene, tenant.as_str()).await.get("rank"), Some(&"sailor".into()));
        let clash = UpdateUserInput { email: format!("ada@{tenant}.example"), ..change.clone() };
        assert_eq!(as_ada.update_user(clash).await, Err(UpdateUserError::EmailTaken));
        let nobody = UpdateUserInput { user_id: id("nobody"), email: "n@example.com".to_owned(), ..change.clone() };
        assert_eq!(as_ada.update_user(nobody).await, Err(UpdateUserError::UnknownUser));
        user(&as_ada, &tenant, "linus").await;
        let member = t3nets.as_caller(person(&tenant, "linus"));
        assert_eq!(member.update_user(change).await, Err(UpdateUserError::Failed(CallError::Forbidden)));
    });
}

/// Returns Grace's stored item.
async fn stored_grace(scene: &Scene, tenant: &str) -> Attributes {
    let key = [("pk".to_owned(), format!("TENANT#{tenant}").into()), ("sk".to_owned(), "USER#grace".into())].into();
    let get = GetItem { table: "tenants".to_owned(), key, consistent: true, ..GetItem::default() };
    scene.host.store().call(get).await.unwrap().item.unwrap().to_attributes()
}

/// Adds an attribute that a later version of the application might store.
async fn add_unknown_attribute(scene: &Scene, tenant: &str) {
    let mut item = stored_grace(scene, tenant).await;
    item.insert("rank".to_owned(), "sailor".into());
    let put = PutItem { table: "tenants".to_owned(), item, ..PutItem::default() };
    scene.host.store().call(put).await.unwrap();
}

#[test]
fn item_type_channel_mapping() {
    on_every_store(async |scene| {
        let t3nets = system(&scene).await;
        let (one, other) = (active_tenant(&t3nets).await.tenant_id, active_tenant(&t3nets).await.tenant_id);
        let (ada, eve) = (t3nets.as_caller(person(&one, "ada")), t3nets.as_caller(person(&other, "ada")));
        let channel = Channel::new(ChannelType::Slack, fresh("T"));
        let connected = channels::connect(&ada, &one, &channel).await.unwrap();
        assert_eq!(channels::connect(&ada, &one, &channel).await, Ok(connected), "one's own stays one's own");
        assert_eq!(channels::connect(&eve, &other, &channel).await, Err(ClaimChannelError::ChannelTaken));
        assert_eq!(channels::disconnect(&eve, &channel).await, Err(ReleaseChannelError::NotYours));
        user(&ada, &one, "grace").await;
        let member = t3nets.as_caller(person(&one, "grace"));
        let refused = channels::disconnect(&member, &channel).await;
        assert_eq!(refused, Err(ReleaseChannelError::Failed(CallError::Forbidden)));
        channels::disconnect(&ada, &channel).await.unwrap();
        assert_eq!(ada.channels_of_tenant(&one).all().await.unwrap(), []);
        channels::connect(&eve, &other, &channel).await.unwrap();
        assert_eq!(channels::owner(&t3nets, &channel).await.unwrap(), Some(other));
    });
}

#[test]
fn get_tenant_by_id() {
    on_every_store(async |scene| {
        let t3nets = system(&scene).await;
        let (tenant, other) = (active_tenant(&t3nets).await, active_tenant(&t3nets).await);
        let ada = t3nets.as_caller(person(&tenant.tenant_id, "ada"));
        assert_eq!(ada.tenant_by_id(&tenant.tenant_id).await, Ok(Some(tenant.clone())));
        assert_eq!(ada.tenant_by_id(&other.tenant_id).await, Err(CallError::Forbidden));
        let support = t3nets.as_caller(operator());
        assert_eq!(support.tenant_by_id(&other.tenant_id).await, Ok(Some(other)));
        assert_eq!(support.tenant_by_id(&id(&fresh("nobody"))).await, Ok(None));
    });
}

#[test]
fn resolve_tenant_from_channel() {
    on_every_store(async |scene| {
        let t3nets = system(&scene).await;
        let tenant = active_tenant(&t3nets).await.tenant_id;
        let as_ada = t3nets.as_caller(person(&tenant, "ada"));
        let support = t3nets.as_caller(operator());
        let bot = Channel::new(ChannelType::Telegram, format!("12345:{}", "Ab9".repeat(12) + &fresh("")));
        assert_eq!(channels::owner(&support, &bot).await, Ok(None));
        channels::connect(&as_ada, &tenant, &bot).await.unwrap();
        assert_eq!(channels::owner(&support, &bot).await, Ok(Some(tenant.clone())), "at once");
        let stored = &as_ada.channels_of_tenant(&tenant).all().await.unwrap()[0].channel_id;
        assert!(stored.starts_with("sha256.") && !stored.contains("Ab9"), "the bot's token is not in the table");
        assert_eq!(channels::owner(&as_ada, &bot).await, Err(CallError::Forbidden), "routing is not for tenants");
    });
}

#[test]
fn list_all_users_in_a_tenant() {
    on_every_store(async |scene| {
        let t3nets = system(&scene).await;
        let (tenant, other) = (active_tenant(&t3nets).await.tenant_id, active_tenant(&t3nets).await.tenant_id);
        for number in 0..51 {
            user(&t3nets, &tenant, &format!("u{number:02}")).await;
        }
        let as_ada = t3nets.as_caller(person(&tenant, "ada"));
        let first = as_ada.users_of_tenant(&tenant).await.unwrap();
        assert_eq!(first.items.len(), 50);
        let rest = as_ada.users_of_tenant(&tenant).after(first.cursor.clone().unwrap()).await.unwrap();
        let names: Vec<String> = first.into_iter().chain(rest).map(|user| user.user_id.to_string()).collect();
        let mut expected: Vec<String> = (0..51).map(|number| format!("u{number:02}")).collect();
        expected.insert(0, "ada".to_owned());
        assert_eq!(names, expected);
        assert_eq!(as_ada.users_of_tenant(&other).await.unwrap_err(), CallError::Forbidden);
    });
}

#[test]
fn find_user_by_email() {
    on_every_store(async |scene| {
        let t3nets = system(&scene).await;
        let (tenant, other) = (active_tenant(&t3nets).await.tenant_id, active_tenant(&t3nets).await.tenant_id);
        let as_ada = t3nets.as_caller(person(&tenant, "ada"));
        let grace = user(&as_ada, &tenant, "grace").await;
        let shouted = format!("  GRACE@{tenant}.Example");
        eventually(Ok(Some(grace.clone())), async || as_ada.user_by_email(&tenant, &shouted).await).await;
        assert_eq!(as_ada.user_by_email(&tenant, "nobody@example.com").await, Ok(None));
        assert_eq!(as_ada.user_by_email(&other, &grace.email).await, Err(CallError::Forbidden));
        assert_eq!(t3nets.user_by_email(&other, &grace.email).await, Ok(None), "addresses belong to a tenant");
        let moved = UpdateUserInput {
            tenant_id: tenant.clone(),
            user_id: grace.user_id,
            email: format!("admiral@{tenant}.example"),
            display_name: grace.display_name,
            role: grace.role,
        };
        as_ada.update_user(moved).await.unwrap();
        eventually(Ok(None), async || as_ada.user_by_email(&tenant, &grace.email).await).await;
    });
}

#[test]
fn messages_per_day() {
    on_every_store(async |scene| {
        let t3nets = system(&scene).await;
        let tenant = active_tenant(&t3nets).await.tenant_id;
        t3nets.set_daily_limit(&tenant, 3).await.unwrap();
        let as_ada = t3nets.as_caller(person(&tenant, "ada"));
        user(&t3nets, &tenant, "grace").await;
        let as_grace = t3nets.as_caller(person(&tenant, "grace"));
        for number in 0..2 {
            conversations::record(&as_ada, &turn(number)).await.unwrap();
        }
        conversations::record(&as_grace, &turn(2)).await.unwrap();
        for sender in [&as_ada, &as_grace] {
            assert_eq!(conversations::record(sender, &turn(3)).await, Err(SaveTurnError::DailyLimitReached));
        }
        let today = today(&scene);
        assert_eq!(as_ada.usage_of_day(&tenant, today).await.unwrap().unwrap().messages, 3);
        assert_eq!(as_grace.usage_of_day(&tenant, today).await, Err(CallError::Forbidden), "for administrators");
        scene.clock.advance(DAY);
        conversations::record(&as_ada, &turn(4)).await.unwrap();
        let days = as_ada.usage(&tenant, today, self::today(&scene)).all().await.unwrap();
        assert_eq!(days.iter().map(|day| day.messages).collect::<Vec<_>>(), [3, 1]);
        t3nets.set_daily_limit(&tenant, 1).await.unwrap();
        assert_eq!(conversations::record(&as_ada, &turn(5)).await, Err(SaveTurnError::DailyLimitReached));
    });
}

/// Returns the date of the scene's clock.
fn today(scene: &Scene) -> Date {
    Timestamp::of_millis(scene.clock.now_millis()).date()
}

#[test]
fn max_conversation_history() {
    on_every_store(async |scene| {
        let t3nets = system(&scene).await;
        let tenant = active_tenant(&t3nets).await.tenant_id;
        let ada = person(&tenant, "ada");
        let as_ada = t3nets.as_caller(ada.clone());
        for number in 0..45 {
            conversations::record(&as_ada, &turn(number)).await.unwrap();
        }
        for (wanted, first) in [(20, 25), (1, 44), (41, 4), (100, 0)] {
            let json = format!(r#"{{"max_conversation_history":{wanted}}}"#);
            let change = keyform::serde_json::from_str(&json).unwrap();
            tenants::change_settings(&as_ada, &tenant, change).await.unwrap();
            let history = conversations::history(&as_ada, &ada, &default()).await.unwrap();
            assert_eq!(history.messages.len(), 2 * (45 - first), "counted in turns");
            assert_eq!(history.messages[0].content, format!("question {first}"));
            assert_eq!((history.messages.last().unwrap().content.as_str(), history.turns), ("answer 44", 45));
        }
    });
}

#[test]
fn channel_identities() {
    on_every_store(async |scene| {
        let t3nets = system(&scene).await;
        let tenant = active_tenant(&t3nets).await.tenant_id;
        let as_ada = t3nets.as_caller(person(&tenant, "ada"));
        for name in ["grace", "linus"] {
            user(&as_ada, &tenant, name).await;
        }
        let slack = IdentityChannelType::Slack;
        as_ada.link_identity(&tenant, slack, "U1", &id("grace")).await.unwrap();
        let taken = as_ada.link_identity(&tenant, slack, "U1", &id("linus")).await;
        assert_eq!(taken, Err(LinkIdentityError::IdentityTaken));
        let nobody = as_ada.link_identity(&tenant, slack, "U2", &id("nobody")).await;
        assert_eq!(nobody, Err(LinkIdentityError::UnknownUser));
        let found = async |name: &str| {
            let user = messages::user_by_identity(&t3nets, &tenant, ChannelType::Slack, name).await.unwrap();
            user.map(|user| user.user_id.to_string())
        };
        assert_eq!((found("U1").await.as_deref(), found("U2").await), (Some("grace"), None));
        let grace = as_ada.user_by_id(&tenant, &id("grace")).await.unwrap().unwrap();
        assert_eq!(grace.channel_identities["slack"], "U1");
        as_ada.unlink_identity(&tenant, slack, "U1").await.unwrap();
        assert_eq!(found("U1").await, None);
        let gone = as_ada.unlink_identity(&tenant, slack, "U1").await;
        assert_eq!(gone, Err(UnlinkIdentityError::UnknownIdentity));
    });
}

#[test]
fn separate_memory_items() {
    on_every_store(async |scene| {
        let t3nets = system(&scene).await;
        let tenant = active_tenant(&t3nets).await.tenant_id;
        for name in ["u1", "u10"] {
            user(&t3nets, &tenant, name).await;
        }
        let (one, ten) = (t3nets.as_caller(person(&tenant, "u1")), t3nets.as_caller(person(&tenant, "u10")));
        ten.remember("s1", "of u10", &[]).await.unwrap();
        one.remember("s1", "first", &["tea".to_owned()]).await.unwrap();
        one.remember("s2", "second", &[]).await.unwrap();
        one.remember("s1", "refreshed", &["tea".to_owned(), "blue".to_owned()]).await.unwrap();
        let mine = one.memory_of_user(&tenant, &id("u1")).all().await.unwrap();
        let summaries: Vec<&str> = mine.iter().map(|memory| memory.summary.as_str()).collect();
        assert_eq!(summaries, ["refreshed", "second"], "and nothing of u10");
        assert_eq!(mine[0].key_facts, ["tea", "blue"]);
        let others = ten.memory_of_user(&tenant, &id("u1")).await;
        assert_eq!(others.unwrap_err(), CallError::Forbidden);
        one.forget("s1").await.unwrap();
        assert_eq!(one.memory_of_session(&tenant, &id("u1"), "s1").await, Ok(None));
        assert!(one.memory_of_session(&tenant, &id("u1"), "s2").await.unwrap().is_some());
    });
}

#[test]
fn the_life_of_tenants_and_users() {
    on_every_store(async |scene| {
        let t3nets = system(&scene).await;
        let input = new_tenant();
        let tenant = t3nets.create_tenant(input.clone()).await.unwrap().tenant_id;
        assert_eq!(t3nets.create_tenant(input).await, Err(CreateTenantError::TenantExists));
        let (as_ada, support) = (t3nets.as_caller(person(&tenant, "ada")), t3nets.as_caller(operator()));
        assert_eq!(conversations::record(&as_ada, &turn(0)).await, Err(SaveTurnError::TenantNotActive));
        assert_eq!(as_ada.finish_onboarding().await.unwrap().status, TenantStatus::Active);
        assert_eq!(as_ada.finish_onboarding().await.unwrap().status, TenantStatus::Active, "active stays active");
        conversations::record(&as_ada, &turn(0)).await.unwrap();
        assert!(as_ada.tenants().await.is_err(), "the list is for operators");
        eventually(1, async || {
            let listed = support.tenants().all().await.unwrap();
            listed.iter().filter(|listed| listed.tenant_id == tenant).count()
        })
        .await;

        user(&as_ada, &tenant, "grace").await;
        let as_grace = t3nets.as_caller(person(&tenant, "grace"));
        as_grace.remember("s1", "soon gone", &[]).await.unwrap();
        as_ada.remember("s1", "stays", &[]).await.unwrap();
        as_ada.link_identity(&tenant, IdentityChannelType::Slack, "U1", &id("grace")).await.unwrap();
        as_ada.link_identity(&tenant, IdentityChannelType::Slack, "U2", &id("ada")).await.unwrap();
        as_ada.delete_user(&tenant, &id("grace")).await.unwrap();
        assert_eq!(t3nets.memory_of_user(&tenant, &id("grace")).all().await.unwrap(), [], "memory goes with its user");
        assert_eq!(t3nets.identity(&tenant, IdentityChannelType::Slack, "U1").await, Ok(None), "and so do identities");
        assert_eq!(t3nets.memory_of_user(&tenant, &id("ada")).all().await.unwrap().len(), 1);
        assert!(t3nets.identity(&tenant, IdentityChannelType::Slack, "U2").await.unwrap().is_some());
        assert_eq!(as_ada.delete_user(&tenant, &id("grace")).await, Err(DeleteUserError::UnknownUser));
        assert!(
            as_grace.remember("s2", "too late", &[]).await.is_err(),
            "a token outlives its user, the rights do not"
        );
        user(&as_ada, &tenant, "grace").await;

        tenants::suspend(&support, &tenant).await.unwrap();
        refused_everywhere(&as_ada, &tenant).await;
        tenants::activate(&support, &tenant).await.unwrap();
        conversations::record(&as_ada, &turn(1)).await.unwrap();
    });
}

/// Checks that callers of a suspended tenant can read and write nothing.
async fn refused_everywhere(as_ada: &T3nets, tenant: &keyform_t3nets::model::TenantId) {
    let ada = id("ada");
    let refusals = [
        as_ada.tenant_by_id(tenant).await.err(),
        as_ada.conversation(tenant, &ada, &default()).await.err(),
        as_ada.users_of_tenant(tenant).await.err(),
        as_ada.user_by_id(tenant, &ada).await.err(),
        as_ada.user_by_email(tenant, "ada@example.com").await.err(),
        as_ada.channels_of_tenant(tenant).await.err(),
        as_ada.memory_of_user(tenant, &ada).await.err(),
        as_ada.memory_of_session(tenant, &ada, "s1").await.err(),
    ];
    for (number, refusal) in refusals.into_iter().enumerate() {
        assert_eq!(refusal, Some(CallError::Forbidden), "read {number}");
    }
    let writes = [
        as_ada.save_turn(turn(9)).await.err().map(|error| error.to_string()),
        as_ada.open_conversation(&default()).await.err().map(|error| error.to_string()),
        as_ada.clear_conversation(&default()).await.err().map(|error| error.to_string()),
        as_ada.remember("s1", "x", &[]).await.err().map(|error| error.to_string()),
        as_ada.finish_onboarding().await.err().map(|error| error.to_string()),
        as_ada.delete_user(tenant, &ada).await.err().map(|error| error.to_string()),
        as_ada.claim_channel(ChannelType::Teams, "app").await.err().map(|error| error.to_string()),
    ];
    for (number, refusal) in writes.into_iter().enumerate() {
        assert_eq!(refusal, Some(CallError::Forbidden.to_string()), "write {number}");
    }
}

#[test]
fn every_pattern_of_the_document_has_its_test() {
    let page = include_str!("../../../../docs/systems/t3nets.md");
    let table = page.split("|---|---|\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let listed: Vec<&str> =
        table.lines().map(|line| line.trim_start_matches("| ").split(" | ").next().unwrap()).collect();
    let named: Vec<&str> = PATTERNS.iter().map(|(pattern, _)| *pattern).collect();
    assert_eq!(named, listed);
    let source = include_str!("access_patterns.rs");
    for (pattern, test) in PATTERNS {
        assert!(source.contains(&format!("#[test]\nfn {test}() {{")), "{pattern} has no test {test}");
    }
}
