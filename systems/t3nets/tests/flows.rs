//! Flows: onboarding, message resolution, turns recorded once, conversations that end; in Rust and over HTTP.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![expect(clippy::disallowed_methods, reason = "the test gives up after real time")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use keyform::application::Application;
use keyform::serde_json::{Value, json};
use keyform::server::FlowError;
use keyform::{CallError, Ulid};
use keyform_scenario::{Scene, Site, on_embedded, on_every_store};
use keyform_t3nets::channels::{self, Channel, ChannelType};
use keyform_t3nets::conversations::{self, Recorder};
use keyform_t3nets::messages::{self, Incoming, Resolved};
use keyform_t3nets::model::{Caller, IdentityChannelType, SaveTurnError, T3nets, TenantId, TenantStatus, UserRole};
use keyform_t3nets::tenants::{self, NewTenant};
use keyform_t3nets::{application, sample, settings};
use tokio::sync::Notify;

use support::{active_tenant, default, fresh, handle, id, operator, person, system, turn, user};

fn outcome(error: FlowError) -> String {
    match error {
        FlowError::Refused { outcome, .. } => outcome,
        other => panic!("{other}"),
    }
}

fn newcomer(tenant: &str) -> NewTenant {
    keyform::serde_json::from_value(json!({
        "tenant_id": tenant,
        "name": "Outlocks",
        "user_id": "ada",
        "email": format!("Ada@{tenant}.example"),
        "display_name": "Ada",
        "settings": { "messages_per_day": 5 },
    }))
    .unwrap()
}

#[test]
fn a_tenant_is_taken_in_with_defaults_and_once() {
    on_every_store(async |scene| {
        let t3nets = system(&scene).await;
        let name = fresh("team");
        let tenant = tenants::onboard(&t3nets, newcomer(&name), false).await.unwrap();
        assert_eq!((tenant.status, tenant.settings.messages_per_day), (TenantStatus::Onboarding, 5));
        assert_eq!(tenant.settings.enabled_channels, settings::defaults().enabled_channels);
        let again = tenants::onboard(&t3nets, newcomer(&name), true).await.unwrap();
        assert_eq!(again, tenant, "a repeated call finds what it made");
        let taken = tenants::onboard(&t3nets, newcomer(&name), false).await.unwrap_err();
        assert_eq!(outcome(taken), "TenantExists");
        let other = NewTenant { name: "Somebody else".to_owned(), ..newcomer(&name) };
        assert_eq!(outcome(tenants::onboard(&t3nets, other, true).await.unwrap_err()), "TenantExists");
        for wrong in ["ab", "Team", "-team", "team-", "te am", "te_am", ""] {
            let refused = tenants::onboard(&t3nets, newcomer(wrong), false).await.unwrap_err();
            assert!(matches!(&refused, FlowError::Arguments(why) if why.contains("hyphen")), "{wrong}: {refused}");
        }
    });
}

/// Creates a tenant with a channel, and with Grace as a user.
async fn with_channel(t3nets: &T3nets, kind: ChannelType, channel: &str) -> TenantId {
    let tenant = active_tenant(t3nets).await.tenant_id;
    user(t3nets, &tenant, "grace").await;
    let ada = t3nets.as_caller(person(&tenant, "ada"));
    channels::connect(&ada, &tenant, &Channel::new(kind, channel)).await.unwrap();
    tenant
}

fn from(kind: ChannelType, channel: &str, sender: &str) -> Incoming {
    Incoming { channel_type: kind, channel_id: channel.to_owned(), sender_id: sender.to_owned(), sender_name: None }
}

async fn resolved(scene: &Scene, t3nets: &T3nets, message: &Incoming) -> Result<Resolved, String> {
    messages::resolve(t3nets, &scene.host, message).await.map_err(outcome)
}

#[test]
fn a_message_is_of_the_tenant_of_its_channel_and_of_the_user_who_is_known_there() {
    on_every_store(async |scene| {
        let t3nets = system(&scene).await;
        let phone = fresh("phone");
        let tenant = with_channel(&t3nets, ChannelType::Whatsapp, &phone).await;
        t3nets.link_identity(&tenant, IdentityChannelType::Whatsapp, "15550001111", &id("grace")).await.unwrap();
        let known = resolved(&scene, &t3nets, &from(ChannelType::Whatsapp, &phone, "+1 555 000-1111")).await.unwrap();
        assert_eq!((&known.tenant_id, known.user_id.as_str()), (&tenant, "grace"));
        assert_eq!((known.role, known.guest), (Some(UserRole::Member), false));

        let unknown = from(ChannelType::Whatsapp, &phone, "+49 30 1234");
        let guest = resolved(&scene, &t3nets, &unknown).await.unwrap();
        assert_eq!((guest.role, guest.guest, guest.display_name.as_str()), (None, true, "49301234"));
        assert!(guest.user_id.as_str().starts_with("guest-"));
        let again = resolved(&scene, &t3nets, &unknown).await.unwrap();
        assert_eq!(again.user_id, guest.user_id, "the same guest each time");
        assert_eq!(t3nets.user_by_id(&tenant, &guest.user_id).await, Ok(None), "and nothing is stored");
    });
}

#[test]
fn a_message_of_an_unknown_channel_or_an_inactive_tenant_is_refused() {
    on_every_store(async |scene| {
        let t3nets = system(&scene).await;
        let app = fresh("app");
        let message = from(ChannelType::Teams, &app, "aad-1");
        assert_eq!(resolved(&scene, &t3nets, &message).await, Err("UnknownChannel".to_owned()));
        let tenant = with_channel(&t3nets, ChannelType::Teams, &app).await;
        assert!(resolved(&scene, &t3nets, &message).await.is_ok());
        tenants::suspend(&t3nets, &tenant).await.unwrap();
        assert_eq!(resolved(&scene, &t3nets, &message).await, Err("TenantNotActive".to_owned()));
        tenants::activate(&t3nets, &tenant).await.unwrap();
        channels::disconnect(&t3nets.as_caller(person(&tenant, "ada")), &Channel::new(ChannelType::Teams, app))
            .await
            .unwrap();
        assert_eq!(resolved(&scene, &t3nets, &message).await, Err("UnknownChannel".to_owned()));
    });
}

#[test]
fn a_guest_may_talk_and_nothing_else() {
    on_every_store(async |scene| {
        let t3nets = system(&scene).await;
        let tenant = active_tenant(&t3nets).await.tenant_id;
        let guest = Caller { guest: Some(true), ..person(&tenant, "guest-1") };
        let as_guest = t3nets.as_caller(guest.clone());
        conversations::record(&as_guest, &turn(0)).await.unwrap();
        assert_eq!(conversations::history(&as_guest, &guest, &default()).await.unwrap().turns, 1);
        assert_eq!(as_guest.users_of_tenant(&tenant).await.unwrap_err(), CallError::Forbidden);
        assert!(as_guest.remember("s1", "x", &[]).await.is_err());
        assert!(as_guest.finish_onboarding().await.is_err());
        tenants::suspend(&t3nets, &tenant).await.unwrap();
        let refused = conversations::record(&as_guest, &turn(1)).await;
        assert_eq!(refused, Err(SaveTurnError::Failed(CallError::Forbidden)));
    });
}

#[test]
fn a_turn_that_is_sent_again_under_its_key_is_saved_and_counted_once() {
    on_every_store(async |scene| {
        let t3nets = system(&scene).await;
        let tenant = active_tenant(&t3nets).await.tenant_id;
        t3nets.set_daily_limit(&tenant, 2).await.unwrap();
        let ada = person(&tenant, "ada");
        let recorder = Recorder::new(t3nets.clone(), &scene.host);
        let first = recorder.record(ada.clone(), &turn(0), Some("key-1")).await.unwrap();
        for _ in 0..3 {
            assert_eq!(recorder.record(ada.clone(), &turn(0), Some("key-1")).await.unwrap(), first);
        }
        let other = recorder.record(ada.clone(), &turn(1), Some("key-1")).await.unwrap_err();
        assert!(matches!(other, SaveTurnError::Failed(CallError::Arguments(_))), "{other:?}");
        recorder.record(ada.clone(), &turn(1), Some("key-2")).await.unwrap();
        let over = recorder.record(ada.clone(), &turn(2), Some("key-3")).await;
        assert_eq!(over, Err(SaveTurnError::DailyLimitReached));
        assert_eq!(recorder.record(ada.clone(), &turn(0), Some("key-1")).await.unwrap(), first, "past the limit too");
        let history = conversations::history(&t3nets.as_caller(ada.clone()), &ada, &default()).await.unwrap();
        assert_eq!((history.turns, history.messages.len()), (2, 4));
    });
}

#[test]
fn a_conversation_that_is_over_begins_anew() {
    on_every_store(async |scene| {
        let t3nets = system(&scene).await;
        let tenant = active_tenant(&t3nets).await.tenant_id;
        let ada = person(&tenant, "ada");
        let as_ada = t3nets.as_caller(ada.clone());
        let old = conversations::record(&as_ada, &turn(0)).await.unwrap();
        scene.clock.advance(Duration::from_secs(31 * 86_400));
        assert_eq!(conversations::history(&as_ada, &ada, &default()).await.unwrap().messages, []);
        let new = conversations::record(&as_ada, &turn(1)).await.unwrap();
        assert_ne!(new.thread_id, old.thread_id);
        let history = conversations::history(&as_ada, &ada, &default()).await.unwrap();
        assert_eq!((history.turns, history.messages.len()), (1, 2), "nothing of what was over comes back");
    });
}

/// Returns an application with the model's handler, which notifies after each call.
fn telling(scene: &Scene, t3nets: &T3nets, told: &Arc<Notify>) -> Application {
    let (t3nets, told) = (t3nets.clone(), told.clone());
    Application::new(&scene.host, handle(scene).calls()).handler("forgetTurns", move |change| {
        let (t3nets, told) = (t3nets.clone(), told.clone());
        async move {
            let done = conversations::forget_turns(&t3nets, &change).await;
            told.notify_one();
            done
        }
    })
}

#[test]
fn the_turns_of_a_cleared_conversation_are_removed_by_the_handler() {
    on_every_store(async |scene| {
        let t3nets = system(&scene).await;
        let tenant = active_tenant(&t3nets).await.tenant_id;
        let ada = person(&tenant, "ada");
        let as_ada = t3nets.as_caller(ada.clone());
        let told = Arc::new(Notify::new());
        let running = telling(&scene, &t3nets, &told).start().await.unwrap();
        let mut thread: Option<Ulid> = None;
        for number in 0..45 {
            thread = Some(conversations::record(&as_ada, &turn(number)).await.unwrap().thread_id);
        }
        conversations::clear(&as_ada, &default()).await.unwrap();
        let kept = conversations::record(&as_ada, &turn(45)).await.unwrap();
        let left = async |thread: &Ulid| t3nets.turns(&tenant, &ada.user_id, thread).all().await.unwrap().len();
        let gone = async {
            while left(thread.as_ref().unwrap()).await > 0 {
                told.notified().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), gone).await.unwrap();
        assert_eq!(left(&kept.thread_id).await, 1, "those of the new conversation stay");
        running.stop().await;
    });
}

fn bearer(scene: &Scene, caller: &Caller) -> String {
    let claims = keyform::serde_json::to_value(caller).unwrap().as_object().unwrap().clone();
    format!("Bearer {}", scene.host.issue_token(claims, Duration::from_secs(600)).unwrap())
}

#[test]
fn a_message_goes_its_way_over_http() {
    on_embedded(async |scene| {
        let application = application(&scene.host).unwrap();
        let site = Site::start(&application, &scene.host);
        let (tenant, app) = (fresh("team"), fresh("app"));
        let call = |token: &str, name: &str, body: &Value| {
            site.post(&format!("/v1/t3nets/{name}"), &[("authorization", token)], body)
        };
        let support = bearer(&scene, &operator());
        let ada = bearer(&scene, &person(&id(&tenant), "ada"));
        let new = json!({ "tenant_id": tenant, "name": "Outlocks", "user_id": "ada", "email": "ada@example.com",
            "display_name": "Ada" });
        assert_eq!(call(&ada, "onboardTenant", &new).status, 403, "for operators");
        let made = call(&support, "onboardTenant", &new);
        assert_eq!((made.status, &made.body["status"]), (200, &json!("onboarding")), "{made:?}");
        let again = call(&support, "onboardTenant", &new);
        assert_eq!((again.status, &again.body["outcome"]), (409, &json!("TenantExists")));
        assert_eq!(call(&ada, "finishOnboarding", &json!({})).status, 200);
        let channel = json!({ "channel_type": "teams", "channel_id": app });
        assert_eq!(call(&ada, "connectChannel", &channel).body, channel);
        let changed = call(&ada, "changeSettings", &json!({ "messages_per_day": 1 }));
        assert_eq!(changed.body["settings"]["messages_per_day"], 1, "{changed:?}");
        let wrong = call(&ada, "changeSettings", &json!({ "messages_per_day": 0 }));
        assert_eq!(wrong.status, 400, "{wrong:?}");

        let message =
            json!({ "channel_type": "teams", "channel_id": app, "sender_id": "aad-7", "sender_name": "Grace" });
        assert_eq!(call(&ada, "resolveMessage", &message).status, 403);
        let guest = call(&support, "resolveMessage", &message).body;
        assert_eq!((&guest["tenant_id"], &guest["guest"]), (&json!(tenant), &json!(true)));
        let token = format!("Bearer {}", guest["token"].as_str().unwrap());
        let said = json!({ "conversation_id": "teams-1", "user_message": "Hello?", "answer": "Hello, Grace." });
        let keyed = [("authorization", token.as_str()), ("idempotency-key", "message-1")];
        let saved = site.post("/v1/t3nets/recordTurn", &keyed, &said);
        assert_eq!(saved.status, 200, "{saved:?}");
        assert_eq!(site.post("/v1/t3nets/recordTurn", &keyed, &said), saved, "once");
        let over = call(&token, "recordTurn", &said);
        assert_eq!((over.status, &over.body["outcome"]), (409, &json!("DailyLimitReached")), "{over:?}");
        let history = call(&token, "history", &json!({ "conversation_id": "teams-1" })).body;
        assert_eq!(history["messages"][1], json!({ "role": "assistant", "content": "Hello, Grace." }));
        assert_eq!(history["turns"], 1);
        assert_eq!(call(&ada, "disconnectChannel", &channel).status, 200);
        let lost = call(&support, "resolveMessage", &message);
        assert_eq!((lost.status, &lost.body["outcome"]), (409, &json!("UnknownChannel")));
    });
}

#[test]
fn the_sample_is_there_once() {
    on_embedded(async |scene| {
        let t3nets = system(&scene).await;
        let lines = sample::make(&t3nets, &scene.host).await.unwrap();
        assert_eq!(sample::make(&t3nets, &scene.host).await.unwrap(), lines);
        assert!(lines.iter().all(|line| line.starts_with("curl ")), "{lines:?}");
        assert_eq!(t3nets.tenants().all().await.unwrap().len(), 1);
        let grace = person(&id("outlocks"), "grace");
        let history = conversations::history(&t3nets.as_caller(grace.clone()), &grace, &default()).await.unwrap();
        assert_eq!(history.turns, 2);
    });
}
